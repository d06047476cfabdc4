"""One scenario's machine: a lab, a scripted model, and the real agent between them, through the runner's whole job."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner import process
from runner.agents.copilot import UNPACKED
from runner.job import Runner
from runner.results import Unit
from runner.settings import from_environment
from runner.terms import Api, Budget, Price, SandboxMode
from tests.agents.clis import COPILOT, FOLDER, Cli, tools
from tests.agents.model_api import ModelApi, Tokens, Turn, model_api
from tests.runner.lab import TESTS, UID, Lab, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.contract import JobSpec, Report, Usage

KEY = "sk-the-real-key-of-the-provider"
"""The only key that the model API lets in; no agent may ever see it."""
PRICE = Price(input=Decimal(3), output=Decimal(15), cache_read=Decimal("0.3"), cache_write=Decimal("3.75"))
"""What every model costs here, in dollars a million tokens, by the policy."""


@dataclass
class Stage:
    """What a scenario plays on."""

    lab: Lab
    cli: Cli
    api: ModelApi
    job: JobSpec
    metered: bool = True
    """Whether the runner has keys."""

    @property
    def tree(self) -> Path:
        """The agent's work tree, while the job runs."""
        return tree_of(self.lab)

    @property
    def environment(self) -> dict[str, str]:
        """What the machine tells the runner: programs, addresses and keys."""
        return {
            **self.lab.environment,
            "PATH": f"{FOLDER / '.bin'}:{os.environ['PATH']}",
            "TWOGATE_TOOLS": ":".join(map(str, tools())),
            **(dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), KEY) if self.metered else {}),
            **dict.fromkeys(("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"), self.api.url),
            "OPENAI_BASE_URL": f"{self.api.url}/v1",
            "PROBE_PORT": str(self.api.port),
            "TWOGATE_AGENT_ENV": "PROBE_PORT",
            **({UNPACKED: str(COPILOT)} if COPILOT.is_dir() else {}),
        }

    def run(self) -> Report:
        """Run the job in this process; return the report that reached the bot."""
        settings = from_environment(self.environment)
        assert Runner(settings, time.time, self.lab.said.append).run(self.job.job)
        return self._ended()

    def go_on(self, **changes: Any) -> Report:
        """Run the plan's next job, which begins with what the last one pushed."""
        work = self.report.work
        assert work, self.report
        update = {"job": self.lab.spec("good").job, "head": work.head, "branch_head": work.head, **changes}
        self.job = self.lab.bot.specs[update["job"]] = self.job.model_copy(update=update)
        return self.run()

    def run_and_cancel(self, when: Callable[[], object], seconds: float) -> Report:
        """Run the job as a process of its own, and end it as GitHub ends a cancelled run."""
        with subprocess.Popen(
            [sys.executable, "-m", "runner", "run", "--job", self.job.job],
            env=self.environment,
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as runner:
            try:
                wait_until(when, seconds)
                runner.send_signal(signal.SIGINT)
                runner.communicate(timeout=seconds)
            finally:
                runner.kill()
        return self._ended()

    def _ended(self) -> Report:
        assert process.kill_leftovers(self.job.job) == 0, "no process of the run is left"
        return self.report

    @property
    def report(self) -> Report:
        return self.lab.bot.reports[self.job.job]

    @property
    def rows(self) -> list[Usage]:
        """The rows of the cost table that the agent made, in all of the plan's jobs."""
        reports = self.lab.bot.reports.values()
        return [row for report in reports for row in report.usage if row.agent == self.cli.name]

    def billed(self) -> Tokens:
        """Return what the model's answers billed, as far as the wire format can tell."""
        total = Tokens(0, 0)
        for seen in self.api.billed:
            total += _as_told(seen.tokens or Tokens(0, 0), seen.api)
        return total

    def require_equal_ledger(self) -> None:
        """Compare what the report says was spent with what the model's answers billed."""
        billed, rows = self.billed(), self.rows
        counted = {
            "input": sum(row.input_tokens or 0 for row in rows),
            "output": sum(row.output_tokens or 0 for row in rows),
            "cache_read": sum(row.cache_read_tokens or 0 for row in rows),
            "cache_write": sum(row.cache_write_tokens or 0 for row in rows),
        }
        assert counted == {name: getattr(billed, name) for name in counted}
        usd = sum((row.usd or Decimal(0) for row in rows), Decimal(0))
        assert usd.quantize(Decimal("0.0001")) == dollars(billed)


def tree_of(lab: Lab) -> Path:
    return lab.home / "worktrees" / "1" / UID / "tree"


def result_of(lab: Lab, job: str, unit: Unit = Unit.EXECUTE_PLAN) -> str:
    """Return the path of the typed result."""
    return str(lab.home / "exchange" / job / "out" / unit / "result.json")


def result_of_next(path: str) -> str:
    """Return the path of the typed result of the next job, from that of a job."""
    return re.sub(r"(?<=-)[0-9]+(?=/out/)", lambda number: str(int(number[0]) + 1), path)


def dollars(tokens: Tokens) -> Decimal:
    """Return what the tokens cost, to a hundredth of a cent."""
    read, write = PRICE.cache_read or Decimal(0), PRICE.cache_write or Decimal(0)
    parts = (
        tokens.input * PRICE.input,
        tokens.output * PRICE.output,
        tokens.cache_read * read,
        tokens.cache_write * write,
    )
    return (sum(parts, Decimal(0)) / 1_000_000).quantize(Decimal("0.0001"))


def _as_told(tokens: Tokens, api: Api) -> Tokens:
    """Return the tokens as a client of ``api`` can know them: two formats have no place for cache writes."""
    if api in {Api.CHAT, Api.GEMINI}:
        return Tokens(tokens.input + tokens.cache_write, tokens.output, tokens.cache_read, 0, tokens.reasoning)
    return tokens


@contextmanager
def stage(folder: Path, cli: Cli, script: Any, **changes: Any) -> Iterator[Stage]:
    """Set up a job whose plan is carried out by ``cli``; ``script`` makes the turns from the result's path.

    ``changes`` override fields of the job. The pull request's text is written by a scripted agent.
    """
    lab = Lab(folder)
    fields: dict[str, Any] = {
        "gates": (TESTS,),
        "sandbox": SandboxMode.AUTO,
        "budget": Budget(minutes=5, attempts=2, usd=Decimal(5)),
        "prices": {cli.model.rpartition("/")[2]: PRICE},
        **changes,
    }
    try:
        job = lab.spec("good", **fields)
        unit = job.unit or Unit.EXECUTE_PLAN
        job = job.model_copy(update={"agents": {**job.agents, unit: cli.spec}})
        lab.bot.specs[job.job] = job
        turns: tuple[Turn, ...] = script(result_of(lab, job.job, unit))
        with model_api(*turns, cwd=str(tree_of(lab)), key=KEY) as api:
            yield Stage(lab, cli, api, job)
    finally:
        lab.close()
