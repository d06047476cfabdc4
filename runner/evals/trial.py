"""One trial: a case with one version of the unit, through a runner's whole job."""

from __future__ import annotations

import base64
import io
import secrets
import tarfile
import tempfile
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from runner.contract import Claim, Issue, JobKind, JobSpec, Outcome, Report, Repository
from runner.evals.case import DESCRIBING, WORK, Case
from runner.evals.checks import first_failure, result_of
from runner.evals.hidden import failing_command
from runner.evals.offline import BRANCH, Nobody, make_repository
from runner.folders import remove
from runner.git import GitError
from runner.job import Runner
from runner.results import Line, Message, Unit
from runner.store import StoreError
from runner.terms import AgentSpec, Budget, CheckMode, Network, Price, SandboxMode, Tier
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.evals.purse import Purse
    from runner.evals.versions import Version
    from runner.settings import Settings

KINDS = {
    Unit.EXECUTE_PLAN: JobKind.EXECUTE,
    Unit.CREATE_PR: JobKind.EXECUTE,
    Unit.INSPECT_DIFF: JobKind.EXECUTE,
    Unit.CREATE_ISSUE: JobKind.WRITE_ISSUE,
}
"""The kind of job that a unit is part of; all others are planned with."""
NOT_MEASURED = frozenset(
    {
        Outcome.RUNNER_FAILED,
        Outcome.SANDBOX_UNAVAILABLE,
        Outcome.AGENT_FAILED,
        Outcome.STOPPED,
        Outcome.LOST,
        Outcome.BRANCH_MOVED,
    }
)
"""Ends that say nothing about instructions."""
LAY = """printf %s "$1" | base64 -d | tar -x --no-same-owner -f - &&
printf '{"status": "done", "summary": "As planned."}' > "$2" """
"""Shell: what stands in for an agent where a case brings the change along that is to be described."""
MAX_WORK = 45_000
"""Bytes of ``work/`` as an archive: it travels as one argument of a command."""


class Terms(Message):
    """What the policy says of a job, apart from its checks."""

    agent: AgentSpec
    sandbox: SandboxMode = SandboxMode.REQUIRED
    network: Network = Network.ON
    budget: Budget = Budget()
    tiers: dict[Line, dict[Tier, Line]] = Field(default_factory=dict)
    prices: dict[Line, Price] = Field(default_factory=dict)
    protected: tuple[Line, ...] = ()
    checks: dict[Line, CheckMode] = Field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """What came of one trial."""

    case: str
    version: str
    failed: str = ""
    """The first expectation that did not hold."""
    fault: str = ""
    """Why it says nothing about the instructions; then it counts with its cost alone."""
    tokens: int = 0
    usd: Decimal | None = Decimal(0)
    """None where nothing is known."""
    complete: bool = True
    """False where tokens and dollars read "at least"."""
    seconds: float = 0.0
    """That the unit's agent worked."""
    prompt_sha256: str = ""

    @property
    def passed(self) -> bool:
        """Whether every expectation held."""
        return not (self.failed or self.fault)


@dataclass(frozen=True)
class Bench:
    """What all trials of a measurement share."""

    settings: Settings
    terms: Terms
    purse: Purse
    now: Callable[[], float]
    say: Callable[[str], None]


def try_out(bench: Bench, case: Case, version: Version) -> Trial:
    """Run a case once; raises nothing that the case or the agent could bring about."""
    if used_up := bench.purse.empty():
        return Trial(case.name, version.name, fault=f"Not begun: {used_up}.")
    folder = Path(tempfile.mkdtemp(prefix="twogate-eval-"))
    folder.chmod(0o711)  # another user's agent has to come through
    try:
        return _run(bench, case, version, folder)
    except (OSError, GitError, StoreError, Ending) as error:
        return Trial(case.name, version.name, fault=f"The case could not be set up: {error}")
    finally:
        remove(folder)


def _run(bench: Bench, case: Case, version: Version, folder: Path) -> Trial:
    home = bench.settings.home
    settings = replace(bench.settings, home=folder / "home", github_token=None, identity=None, min_free=0)
    settings.home.mkdir(mode=0o711)
    if (home / "logins").is_dir():
        (settings.home / "logins").symlink_to(home / "logins")
    remote = folder / "remote.git"
    spec = _spec(bench, case, remote, make_repository(case, version, remote))
    jobs = settings.home / "jobs" / spec.job
    jobs.mkdir(mode=0o700, parents=True)
    runner = Runner(settings, bench.now, lambda line: bench.say(f"{case.name}, {version.name}: {line}"))
    report = runner.carry_out(Claim(spec=spec, job_key="none"), Nobody(bench.purse), jobs)
    bench.purse.spend(spec.job, sum((row.usd for row in report.usage if row.usd), Decimal(0)))
    trial = _trial(case, version, report)
    if fault := _fault(bench, case, report):
        return replace(trial, fault=fault)
    failed = first_failure(case, report)
    if not failed and report.work is not None:
        failed = failing_command(case, spec, settings, report.work.head)
    return replace(trial, failed=failed)


def _fault(bench: Bench, case: Case, report: Report) -> str:
    """Return why the trial says nothing about the instructions, empty where it does."""
    if report.outcome in NOT_MEASURED:
        return report.sentence
    if report.outcome in {Outcome.OVER_BUDGET, Outcome.TIMED_OUT} and (used_up := bench.purse.empty()):
        return f"Ended: {used_up}."
    if report.outcome is Outcome.OVER_BUDGET and not any(row.tokens for row in report.usage):
        return report.sentence
    silent = not any(row.tokens for row in report.usage if row.unit is case.unit)
    return " ".join(report.notes) if case.unit in DESCRIBING and silent and result_of(case.unit, report) is None else ""


def _trial(case: Case, version: Version, report: Report) -> Trial:
    rows = [row for row in report.usage if row.unit is case.unit]
    known = [row.usd for row in rows if row.usd is not None]
    prompts = [used.sha256 for used in report.prompts if used.unit is case.unit]
    return Trial(
        case.name,
        version.name,
        tokens=sum(row.tokens for row in rows),
        usd=sum(known, Decimal(0)) if known or not rows else None,
        complete=all(row.complete and row.usd is not None and row.input_tokens is not None for row in rows),
        seconds=sum(row.seconds for row in rows),
        prompt_sha256=prompts[0] if prompts else "",
    )


def _spec(bench: Bench, case: Case, remote: Path, base: str) -> JobSpec:
    terms, told, uid = bench.terms, case.told, secrets.token_hex(8)
    kind = KINDS.get(case.unit, JobKind.PLAN)
    minutes = max(0.1, min(terms.budget.minutes, bench.purse.minutes))
    agents = {case.unit: terms.agent}
    if case.unit in DESCRIBING:
        agents[Unit.EXECUTE_PLAN] = _layer(case.folder / WORK)
    budget = {"minutes": minutes, "usd_today": bench.purse.spend(f"{uid}-1", Decimal(0))}
    return JobSpec(
        job=f"{uid}-1",
        kind=kind,
        unit=Unit.EXECUTE_PLAN if kind is JobKind.EXECUTE else case.unit,
        repository=Repository(
            id=1, owner="twogate", name=case.name, default_branch=BRANCH, clone_url=f"file://{remote}"
        ),
        plan_uid=uid,
        revision=1,
        base=base,
        branch="plan/1",
        issue=Issue(number=1, **told.issue.model_dump()),
        plan=told.plan,
        feedback=told.feedback,
        known=told.known,
        recommendation=told.recommendation,
        inspector=terms.agent if case.unit is Unit.INSPECT_DIFF else None,
        agents=agents,
        gates=told.gates,
        protected=terms.protected,
        checks=terms.checks,
        sandbox=terms.sandbox,
        network=terms.network,
        budget=terms.budget.model_copy(update=budget),
        tiers=terms.tiers,
        prices=terms.prices,
    )


def _layer(work: Path) -> AgentSpec:
    """Return what makes the change of a case in the place of an agent; raises OSError where it is too large."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(work.rglob("*")):
            tar.add(path, path.relative_to(work).as_posix(), recursive=False)
    if len(archive.getvalue()) > MAX_WORK:
        raise OSError(f"{work} has more than {MAX_WORK} bytes as an archive: make the case smaller.")
    told = base64.b64encode(archive.getvalue()).decode()
    return AgentSpec(name="case", command=("sh", "-c", LAY, "sh", told, "{result_file}"))
