"""Commands on evidence: claims checked, bundles verified, sources trusted."""
