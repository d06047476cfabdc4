"""Who sees code or prompts in one run, worked out from the configuration: settings, policies in force, workflows.

Nobody is listed by habit and nobody left out for being obvious: a row appears because a setting, a key of a policy, a
workflow or a report of a runner says so, and names that as its source.
"""
