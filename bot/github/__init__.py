"""The only place that speaks to GitHub."""
