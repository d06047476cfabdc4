"""A scripted model API on loopback, in four wire formats: the model that the agents of the conformance suite talk to.

A script is a row of :class:`Turn`, in neutral terms. A request that offers tools takes the next turn; one that offers
none (a title, a probe, a router) gets a canned answer and takes none. When the script is over its last turn repeats.
Every request is kept with the tokens that its answer billed, so that a test can compare them with what was counted.
"""

from tests.agents.model_api.script import Edit, Fault, Own, Raw, Read, Shell, Tokens, Turn, Write
from tests.agents.model_api.server import ModelApi, Seen, model_api

__all__ = ["Edit", "Fault", "ModelApi", "Own", "Raw", "Read", "Seen", "Shell", "Tokens", "Turn", "Write", "model_api"]
