"""What jobs took beside agents, how they ended, and what a minute of Actions cost then; calls of each run."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

COLUMNS = (
    ("jobs", sa.Column("outcome", sa.Text)),
    ("jobs", sa.Column("ran_seconds", sa.Double)),
    ("jobs", sa.Column("check_seconds", sa.Double)),
    ("jobs", sa.Column("actions_rate", sa.Text)),
    ("usage", sa.Column("calls", sa.BigInteger)),
)


def upgrade() -> None:
    for table, column in COLUMNS:
        op.add_column(table, column)
    _fill(op.get_bind())


def downgrade() -> None:
    for table, column in reversed(COLUMNS):
        op.drop_column(table, column.name)


def _fill(connection: sa.Connection) -> None:
    """Write into the new columns what the reports of older releases say; they don't tell of checks."""
    reported = sa.text("SELECT id, claimed_at, reported_at, report FROM jobs WHERE report IS NOT NULL")
    fill = sa.text("UPDATE jobs SET outcome = :outcome, ran_seconds = :ran WHERE id = :id")
    for job, claimed, at, text in connection.execute(reported).all():
        report = json.loads(text)["data"]
        ran = max(0.0, report["ended_at"] - report["started_at"])
        most = ran if claimed is None else at - claimed
        connection.execute(fill, {"outcome": report["outcome"], "ran": min(ran, most), "id": job})
