"""The tables, for SQLite and PostgreSQL alike.

Times are seconds since the epoch. A row of ``deliveries`` or ``outbox`` is *open* while ``done_at`` is null; a parked
row is done as well, so that nothing waits behind it. The partial indexes cover open rows alone: finished ones may pile
up without a look at the queue growing slower.
Those named ``browse`` hold whatever a list is filtered by, so that a rare row is found without a look at the others;
those named ``figures`` hold all that figures need, so that no document is read for them.
A column that holds JSON is text; :mod:`bot.store.documents` says how it stays readable for later releases.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _serial() -> Column[int]:
    return Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


def _partial(name: str, *columns: str, where: str) -> Index:
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


deliveries = Table(
    "deliveries",
    metadata,
    _serial(),
    Column("guid", Text, nullable=False, unique=True),
    Column("source", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("lane", Text, nullable=False),
    Column("installation_id", BigInteger),
    Column("body", Text, nullable=False),
    Column("received_at", Double, nullable=False),
    Column("not_before", Double, nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("done_at", Double),
    Column("parked_at", Double),
    Column("outcome", Text),
    Column("error", Text),
    _partial("ix_deliveries_open_due", "not_before", "id", where="done_at IS NULL"),
    _partial("ix_deliveries_open_lane", "lane", "id", where="done_at IS NULL"),
    _partial("ix_deliveries_done", "done_at", where="done_at IS NOT NULL"),
    _partial("ix_deliveries_parked", "parked_at", where="parked_at IS NOT NULL"),
    sqlite_autoincrement=True,
)

repositories = Table(
    "repositories",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("installation_id", BigInteger, nullable=False),
)
"""Every repository that GitHub has told of, as it was named last."""

plans = Table(
    "plans",
    metadata,
    Column("uid", Text, primary_key=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("issue_number", BigInteger, nullable=False),
    Column("try_number", Integer, nullable=False),
    Column("installation_id", BigInteger, nullable=False, index=True),
    Column("lane", Text, nullable=False, index=True),
    Column("state", Text, nullable=False),
    Column("waiting_on", Text),
    Column("held", Boolean, nullable=False, default=False),
    Column("version", Integer, nullable=False),
    Column("approved_at", Double),
    Column("branch", Text, nullable=False),
    Column("pull_request", BigInteger),
    Column("poll_at", Double),
    Column("document", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("requester_id", BigInteger),
    Column("brief", Text),
    Column("ideas", Integer, nullable=False, default=0, server_default="0"),
    UniqueConstraint("repository_id", "issue_number", "try_number"),
    Index("ix_plans_browse", "repository_id", "created_at", "uid", "waiting_on", "held", "requester_id"),
    Index("ix_plans_figures", "repository_id", "created_at", "updated_at", "state", "uid"),
    Index("ix_plans_browse_state", "repository_id", "state", "created_at", "uid", "waiting_on", "held", "requester_id"),
    _partial("ix_plans_ideas", "repository_id", "created_at", "uid", where="ideas > 0"),
    Index("ix_plans_state_waiting_on_held", "state", "waiting_on", "held"),
    Index("ix_plans_repository_id_branch", "repository_id", "branch"),
    _partial("ix_plans_poll_at", "poll_at", where="poll_at IS NOT NULL"),
)

journal = Table(
    "journal",
    metadata,
    _serial(),
    Column("ref", Text, nullable=False, unique=True),
    Column("plan_uid", Text),
    Column("lane", Text, nullable=False, index=True),
    Column("version", Integer),
    Column("at", Double, nullable=False),
    Column("event", Text, nullable=False),
    Column("actor_id", BigInteger),
    Column("actor_login", Text),
    Column("source", Text, nullable=False),
    Column("from_state", Text),
    Column("to_state", Text),
    Column("note", Text, nullable=False, default=""),
    Column("details", Text, nullable=False),
    Column("repository_id", BigInteger),
    Column("waiting_on", Text),
    Column("holding_back", Integer),
    Index(
        "ix_journal_figures", "plan_uid", "id", "at", "event", "from_state", "to_state", "waiting_on", "holding_back"
    ),
    Index("ix_journal_browse", "repository_id", "id", "event", "actor_login", "at"),
    sqlite_autoincrement=True,
)

outbox = Table(
    "outbox",
    metadata,
    _serial(),
    Column("lane", Text, nullable=False),
    Column("plan_uid", Text),
    Column("installation_id", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False, unique=True),
    Column("priority", Integer, nullable=False),
    Column("payload", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("not_before", Double, nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("tried", Boolean, nullable=False, default=False),
    Column("owner", Text),
    Column("token", Text),
    Column("lease_until", Double),
    Column("done_at", Double),
    Column("parked_at", Double),
    Column("result", Text),
    Column("error", Text),
    _partial("ix_outbox_open_due", "priority", "not_before", "id", where="done_at IS NULL"),
    _partial("ix_outbox_open_lane", "lane", "priority", "id", where="done_at IS NULL"),
    _partial("ix_outbox_done", "done_at", where="done_at IS NOT NULL"),
    _partial("ix_outbox_parked", "parked_at", where="parked_at IS NOT NULL"),
    sqlite_autoincrement=True,
)

timers = Table(
    "timers",
    metadata,
    Column("key", Text, primary_key=True),
    Column("lane", Text, nullable=False, index=True),
    Column("installation_id", BigInteger),
    Column("due_at", Double, nullable=False, index=True),
    Column("event", Text, nullable=False),
    Column("body", Text, nullable=False),
)

throttles = Table(
    "throttles",
    metadata,
    Column("name", Text, primary_key=True),
    Column("until", Double, nullable=False),
    Column("reason", Text, nullable=False),
)

rate_limits = Table(
    "rate_limits",
    metadata,
    Column("gate", Text, primary_key=True),
    Column("resource", Text, primary_key=True),
    Column("allowed", BigInteger, nullable=False),
    Column("remaining", BigInteger, nullable=False),
    Column("resets_at", Double, nullable=False),
    Column("told_at", Double, nullable=False),
)
"""What GitHub said last of what is left of its limits."""

writes = Table(
    "writes",
    metadata,
    _serial(),
    Column("installation_id", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
    Index("ix_writes_installation_id_at", "installation_id", "at"),
    sqlite_autoincrement=True,
)
"""Writes to GitHub of the last hour: what the pacing counts."""

jobs = Table(
    "jobs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("plan_uid", Text, ForeignKey("plans.uid"), nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("lane", Text, nullable=False),
    Column("installation_id", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("unit", Text),
    Column("spec", Text),
    Column("opened_at", Double, nullable=False),
    Column("dispatched_at", Double),
    Column("run_id", BigInteger),
    Column("run_attempt", Integer),
    Column("claimed_at", Double),
    Column("key_hash", Text),
    Column("used_jtis", Text, nullable=False, default="[]"),
    Column("heartbeat_at", Double),
    Column("phase", Text),
    Column("progress", Text),
    Column("deadline_at", Double, nullable=False),
    Column("stop_reason", Text),
    Column("push_sha", Text),
    Column("push_token", LargeBinary),
    Column("report", Text),
    Column("reported_at", Double),
    Column("closed_at", Double),
    Column("outcome", Text),
    Column("ran_seconds", Double),
    Column("check_seconds", Double),
    Column("actions_rate", Text),
    Column("runner", Text),
    Column("ending", Text),
    Index(
        *("ix_jobs_figures", "plan_uid", "claimed_at", "reported_at", "closed_at", "heartbeat_at"),
        *("ran_seconds", "check_seconds", "actions_rate", "unit", "id"),
    ),
    Index("ix_jobs_repository_id_run_id", "repository_id", "run_id"),
    Index("ix_jobs_repository_id_opened_at_id", "repository_id", "opened_at", "id"),
    _partial("ix_jobs_open", "repository_id", "opened_at", "id", where="closed_at IS NULL"),
    _partial("ix_jobs_runner", "repository_id", "runner", "opened_at", "reported_at", where="runner IS NOT NULL"),
    _partial("ix_jobs_open_deadline", "deadline_at", where="closed_at IS NULL"),
)

usage = Table(
    "usage",
    metadata,
    _serial(),
    Column("job", Text, ForeignKey("jobs.id"), nullable=False),
    Column("final", Boolean, nullable=False),
    Column("number", Integer, nullable=False),
    Column("plan_uid", Text, nullable=False, index=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
    Column("unit", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("model", Text),
    Column("attempt", Integer, nullable=False),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("cache_read_tokens", BigInteger),
    Column("cache_write_tokens", BigInteger),
    Column("reasoning_tokens", BigInteger),
    Column("usd", Text),
    Column("usd_source", Text, nullable=False),
    Column("price_date", Text),
    Column("seconds", Double, nullable=False),
    Column("complete", Boolean, nullable=False),
    Column("calls", BigInteger),
    UniqueConstraint("job", "final", "number"),
    Index("ix_usage_repository_id_at", "repository_id", "at"),
    Index("ix_usage_at", "at"),
    sqlite_autoincrement=True,
)

policies = Table(
    "policies",
    metadata,
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("document", Text, nullable=False),
    Column("read_at", Double, nullable=False),
)
"""The last valid policy of each repository, resolved."""

lessons = Table(
    "lessons",
    metadata,
    _serial(),
    Column("repository_id", BigInteger, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("at", Double, nullable=False),
    UniqueConstraint("repository_id", "sha256"),
    sqlite_autoincrement=True,
)
"""What people adopted from rejected plans, until a plan on its paths takes it."""

sessions = Table(
    "sessions",
    metadata,
    Column("key", Text, primary_key=True),
    Column("person_id", BigInteger, nullable=False, index=True),
    Column("login", Text, nullable=False),
    Column("token", LargeBinary, nullable=False),
    Column("refresh_token", LargeBinary),
    Column("token_ends_at", Double),
    Column("renewing_until", Double, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
)
"""Who is signed in to the dashboard: ``key`` is a hash of what the browser has, the tokens are encrypted."""

hooks = Table(
    "hooks",
    metadata,
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
    Column("document", Text, nullable=False),
    Column("signs_with", LargeBinary),
    Column("generation", Integer, nullable=False, default=0),
    Column("hour_began", Double, nullable=False),
    Column("taken", Integer, nullable=False),
)
"""Repositories whose hooks take reports, by their names when the secret was shown, with the reports of this hour."""
