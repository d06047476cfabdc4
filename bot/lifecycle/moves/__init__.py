"""The moves of a plan, one function each; :mod:`bot.lifecycle.transitions` says which event makes which."""
