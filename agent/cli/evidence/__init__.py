"""Commands on evidence: texts and claims checked, bundles verified, sources trusted."""
