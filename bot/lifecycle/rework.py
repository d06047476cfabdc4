"""The table of transitions where it differs while a plan works on for its open pull request (``Plan.rework``).

Such a plan goes through executing, verifying, in review and failed as any other. What would leave its pull request
behind (a plan written anew, the icebox, the end of the plan) is refused or ends the further work alone; what happens to
the pull request comes first. All else is as :mod:`bot.lifecycle.transitions` has it.
"""

from __future__ import annotations

from bot.lifecycle import events as ev
from bot.lifecycle.moves import pulls, recommendations, rework
from bot.lifecycle.rules import Cells, Rule, at, go, refuse, stay
from bot.lifecycle.states import State

X, V, R, F = State.EXECUTING, State.VERIFYING, State.IN_REVIEW, State.FAILED
P, M, N = State.PR_OPEN, State.MERGED, State.REJECTED
STATES = frozenset({X, V, R, F})
"""Where further work can be."""
IS_OPEN = "its pull request is open: /revise changes the work, /reject drops what is done on it beside"

ROWS: dict[type, tuple[Cells, ...]] = {
    ev.Approved: (refuse(F, "it failed; /retry it, or /reject drops the further work"),),
    ev.Rejected: (go(STATES, rework.reject, to=P),),
    ev.CancelRequested: (go(STATES, rework.cancel, to=P),),
    ev.RetryRequested: (go(F, rework.retry, to={X, V, R}),),
    ev.UpdateRequested: (refuse(STATES, IS_OPEN),),
    ev.ExpandRequested: (refuse(STATES, IS_OPEN),),
    ev.SplitRequested: (refuse(STATES, IS_OPEN),),
    ev.Shelved: (refuse(STATES, IS_OPEN),),
    ev.ApprovalVoid: (stay({X, V}, "further work goes by the policy of today, and its diff is decided on"),),
    ev.IssueEdited: (stay(STATES, "its work is done"),),
    ev.PullRequestOpened: (stay({R, F}, "its pull request is open already"),),
    ev.BranchAdvanced: (go(STATES, rework.joined, to=P),),
    ev.BranchMoved: (at(STATES, rework.branch_moved, to={F, P}),),
    ev.RecommendationsAccepted: (at(STATES, recommendations.accept),),
    ev.PullRequestMerged: (go(STATES, rework.merged, to=M),),
    ev.PullRequestClosed: (go(STATES, rework.closed, to=N),),
    ev.PullRequestQueued: (at(STATES, pulls.queued),),
}

REWORK: dict[tuple[State, type], Rule] = {
    (state, event): cell.rule for event, cells in ROWS.items() for cell in cells for state in cell.states
}
"""(state, event) -> rule, for the pairs that differ."""
