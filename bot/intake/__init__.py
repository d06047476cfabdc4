"""Webhooks in: verify, one row, 202. What a delivery means is thought about later, by the worker."""
