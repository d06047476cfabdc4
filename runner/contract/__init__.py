"""What bot and runner say to each other: versioned, frozen, validated on both sides.

This package is data alone: what a job is told (:mod:`runner.contract.job`), what it answers
(:mod:`runner.contract.report`), what is said meanwhile (:mod:`runner.contract.exchange`). The bot imports it,
:mod:`runner.results` and :mod:`runner.terms`, and nothing else of the runner; the runner imports nothing of the bot.
Times are seconds since the epoch, durations seconds, commits full hexadecimal object names.
A field that is ``None`` where a number is expected means *unknown*, which is never the same as zero.
"""

from runner.contract.base import (
    CONTRACT_VERSION,
    MAX_PATHS,
    MAX_TAIL,
    JobId,
    Sha,
    Tail,
)
from runner.contract.exchange import (
    EndedPlans,
    Phase,
    Progress,
    ProgressAnswer,
    PushToken,
    PushTokenRequest,
)
from runner.contract.job import (
    BRANCH,
    MOST_KNOWN,
    REGRESSION_DAYS,
    Branch,
    Claim,
    Feedback,
    Issue,
    JobKind,
    JobSpec,
    KnownPlan,
    Ledger,
    Repository,
)
from runner.contract.report import (
    MAX_ATTEMPT,
    MAX_PATCH,
    MAX_USD,
    Collision,
    Count,
    FileChange,
    GateResult,
    GateStatus,
    Outcome,
    Report,
    SandboxReport,
    Usage,
    UsdSource,
    Work,
)

__all__ = [
    "BRANCH",
    "CONTRACT_VERSION",
    "MAX_ATTEMPT",
    "MAX_PATCH",
    "MAX_PATHS",
    "MAX_TAIL",
    "MAX_USD",
    "MOST_KNOWN",
    "REGRESSION_DAYS",
    "Branch",
    "Claim",
    "Collision",
    "Count",
    "EndedPlans",
    "Feedback",
    "FileChange",
    "GateResult",
    "GateStatus",
    "Issue",
    "JobId",
    "JobKind",
    "JobSpec",
    "KnownPlan",
    "Ledger",
    "Outcome",
    "Phase",
    "Progress",
    "ProgressAnswer",
    "PushToken",
    "PushTokenRequest",
    "Report",
    "Repository",
    "SandboxReport",
    "Sha",
    "Tail",
    "Usage",
    "UsdSource",
    "Work",
]
