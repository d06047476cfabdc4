"""What an agent may call beside its own tools: say what it does, hand in its result, keep a lesson, recommend, ask.

What runs inside the sandbox is a small client (:mod:`runner.tools.client`): executables on PATH, and a server of the
Model Context Protocol on standard input and output. It passes on what it is given to a unix socket
(:mod:`runner.tools.server`), where the runner's process decides by its own models and rules
(:mod:`runner.tools.toolbox`). Nothing of the bot and no secret is behind it: what a hostile process says there can
spoil the result of its own run, which it could do anyway.
"""

from runner.tools.folder import Executables, furnish, own_executables
from runner.tools.records import Records
from runner.tools.server import ToolServer, prepare
from runner.tools.toolbox import Answer, Toolbox

__all__ = ["Answer", "Executables", "Records", "ToolServer", "Toolbox", "furnish", "own_executables", "prepare"]
