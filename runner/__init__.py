"""Executes jobs on the self-hosted runner; imports nothing of the bot."""
