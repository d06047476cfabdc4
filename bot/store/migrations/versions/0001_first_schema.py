"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("guid", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("done_at", sa.Double(), nullable=True),
        sa.Column("parked_at", sa.Double(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("guid", name=op.f("uq_deliveries_guid")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.create_index(
            "ix_deliveries_done",
            ["done_at"],
            unique=False,
            sqlite_where=sa.text("done_at IS NOT NULL"),
            postgresql_where=sa.text("done_at IS NOT NULL"),
        )
        batch_op.create_index(
            "ix_deliveries_open_due",
            ["not_before", "id"],
            unique=False,
            sqlite_where=sa.text("done_at IS NULL"),
            postgresql_where=sa.text("done_at IS NULL"),
        )
        batch_op.create_index(
            "ix_deliveries_open_lane",
            ["lane", "id"],
            unique=False,
            sqlite_where=sa.text("done_at IS NULL"),
            postgresql_where=sa.text("done_at IS NULL"),
        )

    op.create_table(
        "journal",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("plan_uid", sa.Text(), nullable=True),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("actor_id", sa.BigInteger(), nullable=True),
        sa.Column("actor_login", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("from_state", sa.Text(), nullable=True),
        sa.Column("to_state", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_journal")),
        sa.UniqueConstraint("ref", name=op.f("uq_journal_ref")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("journal", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_journal_lane"), ["lane"], unique=False)
        batch_op.create_index(batch_op.f("ix_journal_plan_uid"), ["plan_uid"], unique=False)

    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("plan_uid", sa.Text(), nullable=True),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("tried", sa.Boolean(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("token", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("done_at", sa.Double(), nullable=True),
        sa.Column("parked_at", sa.Double(), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint("key", name=op.f("uq_outbox_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.create_index(
            "ix_outbox_done",
            ["done_at"],
            unique=False,
            sqlite_where=sa.text("done_at IS NOT NULL"),
            postgresql_where=sa.text("done_at IS NOT NULL"),
        )
        batch_op.create_index(
            "ix_outbox_open_due",
            ["priority", "not_before", "id"],
            unique=False,
            sqlite_where=sa.text("done_at IS NULL"),
            postgresql_where=sa.text("done_at IS NULL"),
        )
        batch_op.create_index(
            "ix_outbox_open_lane",
            ["lane", "priority", "id"],
            unique=False,
            sqlite_where=sa.text("done_at IS NULL"),
            postgresql_where=sa.text("done_at IS NULL"),
        )

    op.create_table(
        "plans",
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("issue_number", sa.BigInteger(), nullable=False),
        sa.Column("try_number", sa.Integer(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("waiting_on", sa.Text(), nullable=True),
        sa.Column("held", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("approved_at", sa.Double(), nullable=True),
        sa.Column("branch", sa.Text(), nullable=False),
        sa.Column("pull_request", sa.BigInteger(), nullable=True),
        sa.Column("poll_at", sa.Double(), nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("uid", name=op.f("pk_plans")),
        sa.UniqueConstraint(
            "repository_id", "issue_number", "try_number", name=op.f("uq_plans_repository_id_issue_number_try_number")
        ),
    )
    with op.batch_alter_table("plans", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_plans_installation_id"), ["installation_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_plans_lane"), ["lane"], unique=False)
        batch_op.create_index(
            "ix_plans_poll_at",
            ["poll_at"],
            unique=False,
            sqlite_where=sa.text("poll_at IS NOT NULL"),
            postgresql_where=sa.text("poll_at IS NOT NULL"),
        )
        batch_op.create_index("ix_plans_repository_id_branch", ["repository_id", "branch"], unique=False)
        batch_op.create_index("ix_plans_repository_id_state", ["repository_id", "state"], unique=False)

    op.create_table(
        "throttles",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_throttles")),
    )
    op.create_table(
        "timers",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=True),
        sa.Column("due_at", sa.Double(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_timers")),
    )
    with op.batch_alter_table("timers", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_timers_due_at"), ["due_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_timers_lane"), ["lane"], unique=False)

    op.create_table(
        "writes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_writes")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("writes", schema=None) as batch_op:
        batch_op.create_index("ix_writes_installation_id_at", ["installation_id", "at"], unique=False)

    op.create_table(
        "jobs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("plan_uid", sa.Text(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=True),
        sa.Column("spec", sa.Text(), nullable=True),
        sa.Column("opened_at", sa.Double(), nullable=False),
        sa.Column("dispatched_at", sa.Double(), nullable=True),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("run_attempt", sa.Integer(), nullable=True),
        sa.Column("claimed_at", sa.Double(), nullable=True),
        sa.Column("key_hash", sa.Text(), nullable=True),
        sa.Column("used_jtis", sa.Text(), nullable=False),
        sa.Column("heartbeat_at", sa.Double(), nullable=True),
        sa.Column("phase", sa.Text(), nullable=True),
        sa.Column("progress", sa.Text(), nullable=True),
        sa.Column("deadline_at", sa.Double(), nullable=False),
        sa.Column("stop_reason", sa.Text(), nullable=True),
        sa.Column("push_sha", sa.Text(), nullable=True),
        sa.Column("push_token", sa.LargeBinary(), nullable=True),
        sa.Column("report", sa.Text(), nullable=True),
        sa.Column("reported_at", sa.Double(), nullable=True),
        sa.Column("closed_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["plan_uid"], ["plans.uid"], name=op.f("fk_jobs_plan_uid")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.create_index(
            "ix_jobs_open_deadline",
            ["deadline_at"],
            unique=False,
            sqlite_where=sa.text("closed_at IS NULL"),
            postgresql_where=sa.text("closed_at IS NULL"),
        )
        batch_op.create_index(batch_op.f("ix_jobs_plan_uid"), ["plan_uid"], unique=False)
        batch_op.create_index("ix_jobs_repository_id_run_id", ["repository_id", "run_id"], unique=False)

    op.create_table(
        "usage",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("plan_uid", sa.Text(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=True),
        sa.Column("output_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cache_read_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cache_write_tokens", sa.BigInteger(), nullable=True),
        sa.Column("reasoning_tokens", sa.BigInteger(), nullable=True),
        sa.Column("usd", sa.Text(), nullable=True),
        sa.Column("usd_source", sa.Text(), nullable=False),
        sa.Column("price_date", sa.Text(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name=op.f("fk_usage_job")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_usage")),
        sa.UniqueConstraint("job", "final", "number", name=op.f("uq_usage_job_final_number")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("usage", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_usage_plan_uid"), ["plan_uid"], unique=False)
        batch_op.create_index("ix_usage_repository_id_at", ["repository_id", "at"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("usage", schema=None) as batch_op:
        batch_op.drop_index("ix_usage_repository_id_at")
        batch_op.drop_index(batch_op.f("ix_usage_plan_uid"))

    op.drop_table("usage")
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.drop_index("ix_jobs_repository_id_run_id")
        batch_op.drop_index(batch_op.f("ix_jobs_plan_uid"))
        batch_op.drop_index(
            "ix_jobs_open_deadline",
            sqlite_where=sa.text("closed_at IS NULL"),
            postgresql_where=sa.text("closed_at IS NULL"),
        )

    op.drop_table("jobs")
    with op.batch_alter_table("writes", schema=None) as batch_op:
        batch_op.drop_index("ix_writes_installation_id_at")

    op.drop_table("writes")
    with op.batch_alter_table("timers", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_timers_lane"))
        batch_op.drop_index(batch_op.f("ix_timers_due_at"))

    op.drop_table("timers")
    op.drop_table("throttles")
    with op.batch_alter_table("plans", schema=None) as batch_op:
        batch_op.drop_index("ix_plans_repository_id_state")
        batch_op.drop_index("ix_plans_repository_id_branch")
        batch_op.drop_index(
            "ix_plans_poll_at",
            sqlite_where=sa.text("poll_at IS NOT NULL"),
            postgresql_where=sa.text("poll_at IS NOT NULL"),
        )
        batch_op.drop_index(batch_op.f("ix_plans_lane"))
        batch_op.drop_index(batch_op.f("ix_plans_installation_id"))

    op.drop_table("plans")
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_outbox_open_lane", sqlite_where=sa.text("done_at IS NULL"), postgresql_where=sa.text("done_at IS NULL")
        )
        batch_op.drop_index(
            "ix_outbox_open_due", sqlite_where=sa.text("done_at IS NULL"), postgresql_where=sa.text("done_at IS NULL")
        )
        batch_op.drop_index(
            "ix_outbox_done",
            sqlite_where=sa.text("done_at IS NOT NULL"),
            postgresql_where=sa.text("done_at IS NOT NULL"),
        )

    op.drop_table("outbox")
    with op.batch_alter_table("journal", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_journal_plan_uid"))
        batch_op.drop_index(batch_op.f("ix_journal_lane"))

    op.drop_table("journal")
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_deliveries_open_lane",
            sqlite_where=sa.text("done_at IS NULL"),
            postgresql_where=sa.text("done_at IS NULL"),
        )
        batch_op.drop_index(
            "ix_deliveries_open_due",
            sqlite_where=sa.text("done_at IS NULL"),
            postgresql_where=sa.text("done_at IS NULL"),
        )
        batch_op.drop_index(
            "ix_deliveries_done",
            sqlite_where=sa.text("done_at IS NOT NULL"),
            postgresql_where=sa.text("done_at IS NOT NULL"),
        )

    op.drop_table("deliveries")
