"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _deliveries()
    _plans()
    _journal()
    _outbox()
    _timers()
    _throttles()
    _writes()
    _jobs()
    _usage()


def downgrade() -> None:
    for table in ("usage", "jobs", "writes", "throttles", "timers", "outbox", "journal", "plans", "deliveries"):
        op.drop_table(table)


def _serial() -> sa.Column[int]:
    return sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True)


def _partial(name: str, *columns: str, where: str) -> sa.Index:
    return sa.Index(name, *columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        _serial(),
        sa.Column("guid", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("lane", sa.Text, nullable=False),
        sa.Column("installation_id", sa.BigInteger),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("received_at", sa.Double, nullable=False),
        sa.Column("not_before", sa.Double, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("done_at", sa.Double),
        sa.Column("parked_at", sa.Double),
        sa.Column("outcome", sa.Text),
        sa.Column("error", sa.Text),
        _partial("ix_deliveries_open_due", "not_before", "id", where="done_at IS NULL"),
        _partial("ix_deliveries_open_lane", "lane", "id", where="done_at IS NULL"),
        _partial("ix_deliveries_done", "done_at", where="done_at IS NOT NULL"),
        sa.UniqueConstraint("guid", name="uq_deliveries_guid"),
        sqlite_autoincrement=True,
    )


def _plans() -> None:
    op.create_table(
        "plans",
        sa.Column("uid", sa.Text, primary_key=True),
        sa.Column("repository_id", sa.BigInteger, nullable=False),
        sa.Column("issue_number", sa.BigInteger, nullable=False),
        sa.Column("try_number", sa.Integer, nullable=False),
        sa.Column("installation_id", sa.BigInteger, nullable=False),
        sa.Column("lane", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("waiting_on", sa.Text),
        sa.Column("held", sa.Boolean, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("approved_at", sa.Double),
        sa.Column("branch", sa.Text, nullable=False),
        sa.Column("pull_request", sa.BigInteger),
        sa.Column("poll_at", sa.Double),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("updated_at", sa.Double, nullable=False),
        sa.UniqueConstraint("repository_id", "issue_number", "try_number"),
        sa.Index("ix_plans_repository_id_state", "repository_id", "state"),
        sa.Index("ix_plans_repository_id_branch", "repository_id", "branch"),
        _partial("ix_plans_poll_at", "poll_at", where="poll_at IS NOT NULL"),
        sa.Index("ix_plans_installation_id", "installation_id"),
        sa.Index("ix_plans_lane", "lane"),
    )


def _journal() -> None:
    op.create_table(
        "journal",
        _serial(),
        sa.Column("ref", sa.Text, nullable=False),
        sa.Column("plan_uid", sa.Text),
        sa.Column("lane", sa.Text, nullable=False),
        sa.Column("version", sa.Integer),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("actor_id", sa.BigInteger),
        sa.Column("actor_login", sa.Text),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("from_state", sa.Text),
        sa.Column("to_state", sa.Text),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.UniqueConstraint("ref", name="uq_journal_ref"),
        sa.Index("ix_journal_plan_uid", "plan_uid"),
        sa.Index("ix_journal_lane", "lane"),
        sqlite_autoincrement=True,
    )


def _outbox() -> None:
    op.create_table(
        "outbox",
        _serial(),
        sa.Column("lane", sa.Text, nullable=False),
        sa.Column("plan_uid", sa.Text),
        sa.Column("installation_id", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("not_before", sa.Double, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("tried", sa.Boolean, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("token", sa.Text),
        sa.Column("lease_until", sa.Double),
        sa.Column("done_at", sa.Double),
        sa.Column("parked_at", sa.Double),
        sa.Column("result", sa.Text),
        sa.Column("error", sa.Text),
        _partial("ix_outbox_open_due", "priority", "not_before", "id", where="done_at IS NULL"),
        _partial("ix_outbox_open_lane", "lane", "priority", "id", where="done_at IS NULL"),
        _partial("ix_outbox_done", "done_at", where="done_at IS NOT NULL"),
        sa.UniqueConstraint("key", name="uq_outbox_key"),
        sqlite_autoincrement=True,
    )


def _timers() -> None:
    op.create_table(
        "timers",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("lane", sa.Text, nullable=False),
        sa.Column("installation_id", sa.BigInteger),
        sa.Column("due_at", sa.Double, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Index("ix_timers_lane", "lane"),
        sa.Index("ix_timers_due_at", "due_at"),
    )


def _throttles() -> None:
    op.create_table(
        "throttles",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("until", sa.Double, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
    )


def _writes() -> None:
    op.create_table(
        "writes",
        _serial(),
        sa.Column("installation_id", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Index("ix_writes_installation_id_at", "installation_id", "at"),
        sqlite_autoincrement=True,
    )


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("plan_uid", sa.Text, sa.ForeignKey("plans.uid"), nullable=False),
        sa.Column("repository_id", sa.BigInteger, nullable=False),
        sa.Column("lane", sa.Text, nullable=False),
        sa.Column("installation_id", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("unit", sa.Text),
        sa.Column("spec", sa.Text),
        sa.Column("opened_at", sa.Double, nullable=False),
        sa.Column("dispatched_at", sa.Double),
        sa.Column("run_id", sa.BigInteger),
        sa.Column("run_attempt", sa.Integer),
        sa.Column("claimed_at", sa.Double),
        sa.Column("key_hash", sa.Text),
        sa.Column("used_jtis", sa.Text, nullable=False),
        sa.Column("heartbeat_at", sa.Double),
        sa.Column("phase", sa.Text),
        sa.Column("progress", sa.Text),
        sa.Column("deadline_at", sa.Double, nullable=False),
        sa.Column("stop_reason", sa.Text),
        sa.Column("push_sha", sa.Text),
        sa.Column("push_token", sa.LargeBinary),
        sa.Column("report", sa.Text),
        sa.Column("reported_at", sa.Double),
        sa.Column("closed_at", sa.Double),
        sa.Index("ix_jobs_repository_id_run_id", "repository_id", "run_id"),
        _partial("ix_jobs_open_deadline", "deadline_at", where="closed_at IS NULL"),
        sa.Index("ix_jobs_plan_uid", "plan_uid"),
    )


def _usage() -> None:
    op.create_table(
        "usage",
        _serial(),
        sa.Column("job", sa.Text, sa.ForeignKey("jobs.id"), nullable=False),
        sa.Column("final", sa.Boolean, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("plan_uid", sa.Text, nullable=False),
        sa.Column("repository_id", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("model", sa.Text),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("input_tokens", sa.BigInteger),
        sa.Column("output_tokens", sa.BigInteger),
        sa.Column("cache_read_tokens", sa.BigInteger),
        sa.Column("cache_write_tokens", sa.BigInteger),
        sa.Column("reasoning_tokens", sa.BigInteger),
        sa.Column("usd", sa.Text),
        sa.Column("usd_source", sa.Text, nullable=False),
        sa.Column("price_date", sa.Text),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("complete", sa.Boolean, nullable=False),
        sa.UniqueConstraint("job", "final", "number"),
        sa.Index("ix_usage_repository_id_at", "repository_id", "at"),
        sa.Index("ix_usage_plan_uid", "plan_uid"),
        sqlite_autoincrement=True,
    )
