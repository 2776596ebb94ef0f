"""From drafts to answers: the plan, facts, verdict and revision that all flows share."""
