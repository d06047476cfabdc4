"""``python -m tests.evals --unit CreatePlan``: ``twogate eval`` on the scripted model, which costs nothing.

Takes what ``twogate eval`` takes. ``--agent claude`` lets the real program speak to the scripted model. The version
``weakened`` is the unit without the words that the scripted model hangs on, those against hostile text apart.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from bot import cli
from runner.program import BUILT_IN
from tests.agents.clis import FOLDER, tools
from tests.agents.model_api import model_api
from tests.evals.model import answer
from tests.evals.script import HOSTILE, SCRIPT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
WEAKENED = "weakened"
KEY = "sk-the-key-of-the-scripted-model"
POLICY = f"""
agent: {{cli: scripted, model: claude-sonnet-4-5}}
sandbox: auto
agents:
  scripted:
    command: ["{sys.executable}", "{HERE / "agent.py"}", "{{prompt_file}}", "{{model}}"]
    api: anthropic
"""


@contextmanager
def scripted_model() -> Iterator[dict[str, str]]:
    """Serve the scripted model; yields what a runner's environment says of it."""
    with model_api(key=KEY) as api:
        api.answer = answer
        yield {
            "PATH": f"{FOLDER / '.bin'}:{os.environ['PATH']}",
            "HOME": os.environ.get("HOME", "/"),
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": api.url,
            "TWOGATE_TOOLS": ":".join(map(str, [HERE, *(path for path in tools() if path.is_dir())])),
        }


def measured(arguments: Sequence[str]) -> int:
    """Run ``twogate eval`` on the scripted model and return its exit code."""
    with scripted_model() as environment, tempfile.TemporaryDirectory() as folder:
        policy, weak = Path(folder, "policy.yml"), Path(folder, WEAKENED)
        policy.write_text(POLICY)
        if WEAKENED in arguments:
            weak.write_text(weakened(arguments[arguments.index("--unit") + 1]))
        words = [str(weak) if word == WEAKENED else word for word in arguments]
        with patch.dict(os.environ, environment):
            return cli.main(["eval", "--policy", str(policy), *words])


def weakened(unit: str) -> str:
    """Return a unit's Program.md without what the scripted model follows."""
    text = (BUILT_IN / unit / "Program.md").read_text()
    for (name, title), part in SCRIPT.items():
        if name == unit and title != HOSTILE:
            text = re.sub(part.follows.replace(" ", r"\s+"), "", text, flags=re.IGNORECASE)
    return text


if __name__ == "__main__":
    sys.exit(measured(sys.argv[1:]))
