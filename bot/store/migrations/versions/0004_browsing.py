"""What lists are made from: plans in brief, repositories by number, journal and jobs by repository."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _repositories()
    for table, column in (
        ("plans", sa.Column("requester_id", sa.BigInteger)),
        ("plans", sa.Column("brief", sa.Text)),
        ("plans", sa.Column("ideas", sa.Integer, nullable=False, server_default="0")),
        ("journal", sa.Column("repository_id", sa.BigInteger)),
        ("jobs", sa.Column("runner", sa.Text)),
    ):
        op.add_column(table, column)
    _fill(op.get_bind())
    op.drop_index("ix_plans_repository_id_state", "plans")
    for name, table, columns in INDEXES:
        op.create_index(name, table, columns)
    having = sa.text("ideas > 0")
    op.create_index(
        "ix_plans_ideas", "plans", ["repository_id", "created_at"], sqlite_where=having, postgresql_where=having
    )


def downgrade() -> None:
    op.drop_index("ix_plans_ideas", "plans")
    for name, table, _ in INDEXES:
        op.drop_index(name, table)
    op.create_index("ix_plans_repository_id_state", "plans", ["repository_id", "state"])
    for table, column in (
        ("jobs", "runner"),
        ("journal", "repository_id"),
        ("plans", "ideas"),
        ("plans", "brief"),
        ("plans", "requester_id"),
    ):
        op.drop_column(table, column)
    op.drop_table("repositories")


INDEXES = (
    ("ix_plans_browse", "plans", ["repository_id", "created_at", "uid", "waiting_on", "held", "requester_id"]),
    (
        "ix_plans_browse_state",
        "plans",
        ["repository_id", "state", "created_at", "uid", "waiting_on", "held", "requester_id"],
    ),
    ("ix_journal_browse", "journal", ["repository_id", "id", "event", "actor_login", "at"]),
    ("ix_jobs_repository_id_opened_at_id", "jobs", ["repository_id", "opened_at", "id"]),
)


def _repositories() -> None:
    op.create_table(
        "repositories",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("installation_id", sa.BigInteger, nullable=False),
    )


def _fill(connection: sa.Connection) -> None:
    """Write into the new columns what the documents and lanes of older releases say."""
    repositories: dict[int, dict[str, object]] = {}
    rows = connection.execute(sa.text("SELECT uid, document FROM plans ORDER BY created_at")).all()
    for uid, text in rows:
        plan = json.loads(text)["data"]
        repositories[plan["repo"]["id"]] = plan["repo"]
        ideas = sum(not (r.get("issue") or r.get("job") or r.get("making")) for r in plan.get("recommended", ()))
        connection.execute(
            sa.text("UPDATE plans SET requester_id = :by, ideas = :ideas WHERE uid = :uid"),
            {"by": plan["requester"]["id"], "ideas": ideas, "uid": uid},
        )
    for repo in repositories.values():
        connection.execute(
            sa.text("INSERT INTO repositories VALUES (:id, :owner, :name, :installation_id)"),
            {name: repo[name] for name in ("id", "owner", "name", "installation_id")},
        )
    lanes = connection.execute(sa.text("SELECT DISTINCT lane FROM journal")).scalars().all()
    for lane in lanes:
        number = lane.partition(":")[0]
        if number.isdecimal():
            connection.execute(
                sa.text("UPDATE journal SET repository_id = :id WHERE lane = :lane"), {"id": int(number), "lane": lane}
            )
    for job, text in connection.execute(sa.text("SELECT id, report FROM jobs WHERE report IS NOT NULL")).all():
        connection.execute(
            sa.text("UPDATE jobs SET runner = :runner WHERE id = :id"),
            {"runner": json.loads(text)["data"]["runner"], "id": job},
        )
