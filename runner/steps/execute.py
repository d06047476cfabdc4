"""An execution job: the agent works, the runner commits and judges, until every blocking gate passes on one commit.

What goes back to the agent, each time an attempt: an invalid result, failing gates, a conflict with a default branch
that moved meanwhile. From the commit that passed on, only its SHA counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from runner.contract import MAX_PATHS, GateResult, Outcome, Phase
from runner.gates.scope import never
from runner.git import GitError, display
from runner.leftovers import kept_sentence
from runner.publish import publish
from runner.results import ExecutionSummary, Unit
from runner.steps.agent import Conversation, Reply
from runner.steps.checks import Checks
from runner.steps.commit import commit_afresh, commit_lessons, commit_work, inspect
from runner.steps.describe import describe
from runner.steps.inspection import inspected
from runner.steps.lessons import inherited, written_of
from runner.steps.logs import commit_logs, inherited_logs
from runner.steps.prepare import fetch
from runner.steps.prompt import prompt_of
from runner.store import StoreError
from runner.watch import Ending
from runner.worktree import Workspace

if TYPE_CHECKING:
    from runner.contract import JobSpec
    from runner.promptware import FailedGate, PromptInput
    from runner.results import WrittenLesson
    from runner.steps.context import Job


WAITING = "-next"
"""How the branch ends on which work for an open pull request waits for its approval."""


@dataclass(frozen=True)
class News:
    """What the agent has to answer in its next attempt."""

    fault: str = ""
    facts: tuple[str, ...] = ()
    failed_gates: tuple[FailedGate, ...] = ()
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Back:
    """An attempt that did not pass: what goes back to the agent, and how the job ends where no attempt is left."""

    news: News
    ending: Ending


@dataclass
class Execution:
    """One run of the plan: its work tree, and where it stands."""

    job: Job
    workspace: Workspace
    base: str
    """The commit of the default branch that the work is compared with; moves when a newer one is merged in."""
    tip: str
    """Where the default branch was seen last."""
    summary: ExecutionSummary | None = None
    gates: tuple[GateResult, ...] = ()
    own: dict[bytes, bytes] = field(default_factory=dict)
    """Files that the runner wrote into the branch, path to content: the scope gate lets those very bytes pass."""
    lessons: tuple[WrittenLesson, ...] = ()
    """What it wrote of them in this job is lessons."""


def run(job: Job, expected: str | None) -> Ending:
    """Carry out a job of kind ``execute``; ``expected`` is where the remote branch must stand at the push."""
    spec = job.spec
    _require_sound(spec)
    base = _compared_with(job)
    workspace = Workspace.open(
        job.store,
        plan_uid=spec.plan_uid,
        branch=spec.branch,
        base=base,
        head=spec.head,
        owner=job.sandbox.owner,
        job=spec.job,
    )
    own = inherited(job, spec.head, base) | inherited_logs(job, spec.head, base) if spec.head else {}
    execution = Execution(job, workspace, base, spec.base, own=own)
    try:
        talk = _work(execution)
        publish(job, workspace.head, execution.gates, expected)
        talk.keep(workspace.head)
        work = describe(job, execution)
        inspection = inspected(job, execution, work.head)
    except BaseException:
        _salvage(job, workspace)
        raise
    finally:
        workspace.remove()
    sentence = f"Every blocking check passed; {spec.branch} is at {work.head[:10]}."
    return Ending(Outcome.VERIFIED, sentence, work=work, inspection=inspection)


def _require_sound(spec: JobSpec) -> None:
    """End a job that can't end well, before anything is spent."""
    fault = None
    if spec.plan is None:
        fault = "The job names no plan to carry out."
    elif spec.shown is not None and not spec.branch.endswith(WAITING):
        fault = f"The job would move {spec.branch}, whose pull request is open."
    if fault:
        raise Ending(Outcome.RUNNER_FAILED, f"{fault} This is a fault of the bot: report it.")
    files = spec.plan.files if spec.plan else ()
    if refused := next(filter(None, map(never, files)), None):
        raise Ending(Outcome.GATES_FAILED, f"Nothing was started: {refused} Say /update to take it out of the plan.")


def _compared_with(job: Job) -> str:
    """Return the commit of the default branch that the work is compared with.

    Work that is gone on with, and into which nothing newer is merged, is compared with what it was begun from: what
    others have changed since is not its doing.
    """
    spec = job.spec
    if spec.head is None or spec.merge_base_in:
        return spec.base
    return job.store.fork(spec.base, spec.head) or spec.base


def _salvage(job: Job, workspace: Workspace) -> None:
    """Keep what was not pushed, and say where, or why it could not be kept."""
    try:
        saved = workspace.salvage()
    except (GitError, StoreError, OSError) as error:
        job.ledger.note(f"What was not pushed could not be kept: {error}")
        return
    if saved:
        job.ledger.fields["salvaged"] = saved
        job.ledger.note(kept_sentence(job.spec, job.settings.runner, saved))


def _work(execution: Execution) -> Conversation:
    """Let the agent work until a commit passes, and return it; raises :class:`~runner.watch.Ending` otherwise."""
    job, spec = execution.job, execution.job.spec
    conflicts = _merge(execution, spec.base) if spec.merge_base_in else ()
    checks = Checks(job, execution.base)
    _furnish(execution, checks)
    job.enter(Phase.PREPARE, f"running the checks on the base {execution.base[:10]}")
    checks.run_before(execution.base)
    talk = Conversation(job, Unit.EXECUTE_PLAN, execution.workspace.mounts())
    news = News(conflicts=conflicts)
    for attempt in range(1, spec.budget.attempts + 1):
        job.ledger.attempts = attempt
        back = _attempt(execution, talk, checks, news)
        if back is None:
            return talk
        news, ending = back.news, back.ending
        if attempt < spec.budget.attempts:
            job.ledger.note(_sent_back(attempt, news))
    raise ending


def _sent_back(attempt: int, news: News) -> str:
    """Say why an attempt was not the last, which whoever reads the end would not know."""
    failed = ", ".join(f"{gate.name} ({gate.summary})" if gate.summary else gate.name for gate in news.failed_gates)
    if failed:
        return f"Attempt {attempt} went back to the agent, since checks failed: {failed}."
    conflicting = ", ".join(news.conflicts)
    return f"Attempt {attempt} went back to the agent: {news.fault or f'it conflicts in {conflicting}.'}"


def _furnish(execution: Execution, checks: Checks) -> None:
    """Make the agent's work tree ready to run the checks; what is brought along is never committed.

    While a newer default branch is being merged in, the tree's packages are that one's.
    """
    workspace = execution.workspace
    merged = execution.job.store.is_ancestor(execution.base, workspace.head)
    sha = workspace.head if merged else execution.base
    checks.ready.check()
    checks.ready.provide(sha)
    workspace.keep_out(checks.ready.furnish(sha, workspace.tree, workspace.home))


def _attempt(execution: Execution, talk: Conversation, checks: Checks, news: News) -> Back | None:
    """Make one attempt; None where its commit passed."""
    job, attempt = execution.job, execution.job.ledger.attempts
    job.enter(Phase.AGENT, f"{talk.name}, attempt {attempt}")
    execution.workspace.freeze()
    reply = talk.ask(_prompt(execution, talk, news), attempt)
    left_out = inspect(job, execution.workspace)
    _take(execution, reply)
    if isinstance(reply.result, ExecutionSummary):
        back = _judge(execution, checks)
        return back and replace(back, news=replace(back.news, facts=(*back.news.facts, *left_out)))
    sentence = f"The agent's result can't be used. {reply.fault} Say /retry to try again."
    return Back(News(fault=reply.fault), Ending(Outcome.INVALID_RESULT, sentence))


def _prompt(execution: Execution, talk: Conversation, news: News) -> PromptInput:
    return replace(
        prompt_of(execution.job, talk),
        fault=news.fault,
        failed_gates=news.failed_gates,
        conflicts=news.conflicts,
        facts=(*_whereabouts(execution, talk), *news.facts),
        resumed=talk.resumed,
    )


def _whereabouts(execution: Execution, talk: Conversation) -> tuple[str, ...]:
    """Tell where the work begins, once a session."""
    if talk.resumed:
        return ()
    spec = execution.job.spec
    begun = f"begun from {spec.repository.default_branch} at {execution.base}, which is the ref origin/base here"
    if spec.head is None:
        return (f"The work tree is on branch {spec.branch}, {begun}.",)
    return (f"The work tree is on branch {spec.branch} at {spec.head}, the work to be gone on with, {begun}.",)


def _take(execution: Execution, reply: Reply) -> None:
    """Commit what the agent did, and end the job where it says it is blocked or did nothing."""
    job, workspace = execution.job, execution.workspace
    summary = reply.result if isinstance(reply.result, ExecutionSummary) else None
    if summary is not None and summary.status == "blocked":
        raise Ending(Outcome.BLOCKED, f"The agent can't go on: {summary.blocked_by}")
    commit_work(job, workspace)
    same = job.store.tree(workspace.head) == job.store.tree(execution.base)
    if same or workspace.head == job.spec.head:
        raise Ending(
            Outcome.NOTHING_CHANGED,
            "The agent ended without changing anything. Say /update with what is missing, or /retry.",
        )
    if summary is not None:
        execution.summary = summary
        written = commit_lessons(job, workspace, summary.lessons)
        execution.own |= {path.encode(): content for path, content in written.files}
        execution.lessons += tuple(map(written_of, written.lessons))


def _judge(execution: Execution, checks: Checks) -> Back | None:
    """Run the gates over the commit, then look whether it still merges."""
    job = execution.job
    execution.own |= commit_logs(job, execution.workspace)
    commit_afresh(job, execution.workspace, checks.ready.values())
    head = execution.workspace.head
    job.enter(Phase.GATES, f"checking {head[:10]}")
    judged = checks.judge(execution.base, head, execution.own)
    execution.gates = job.ledger.fields["gates"] = judged.results
    for result in judged.results:
        job.say(f"gates: {result.name}: {result.status}. {result.summary}")
    if failing := judged.failing:
        names = ", ".join(gate.name for gate in failing)
        attempts = f"{job.ledger.attempts} attempt{'s' * (job.ledger.attempts > 1)}"
        sentence = f"Blocking checks still fail after {attempts}: {names}. Say /retry, /update or /reject."
        return Back(News(failed_gates=failing), Ending(Outcome.GATES_FAILED, sentence))
    return _follow_base(execution)


def _follow_base(execution: Execution) -> Back | None:
    """Look at the default branch again; what it has gained meanwhile must merge with the work."""
    job, store = execution.job, execution.job.store
    branch = job.spec.repository.default_branch
    tip = execution.tip = fetch(store, job.spec, job.read_auth).get(branch, execution.base)
    if store.is_ancestor(tip, execution.workspace.head) or not store.merge_conflicts(tip, execution.workspace.head):
        return None
    paths = _merge(execution, tip)
    job.say(f"gates: {branch} moved to {tip[:10]} and conflicts in {len(paths)} files: back to the agent")
    sentence = f"All checks passed, but {branch} moved to {tip[:10]} and conflicts with the work. Say /retry."
    facts = (f"The branch {branch} moved while you worked; it was merged into your work tree.",)
    return Back(News(facts=facts, conflicts=paths), Ending(Outcome.GATES_FAILED, sentence, conflicts=paths))


def _merge(execution: Execution, base: str) -> tuple[str, ...]:
    """Merge ``base`` into the work tree; return the conflicting paths, which hold markers now."""
    paths = execution.workspace.merge_base_in(base)
    execution.base = base
    return tuple(display(path) for path in paths[:MAX_PATHS])
