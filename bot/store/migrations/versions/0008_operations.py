"""What GitHub's rate limits leave, and indexes for what is counted at each look at the figures of operation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

PARKED = sa.text("parked_at IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        "rate_limits",
        sa.Column("gate", sa.Text, primary_key=True),
        sa.Column("resource", sa.Text, primary_key=True),
        sa.Column("allowed", sa.BigInteger, nullable=False),
        sa.Column("remaining", sa.BigInteger, nullable=False),
        sa.Column("resets_at", sa.Double, nullable=False),
        sa.Column("told_at", sa.Double, nullable=False),
    )
    for table in ("deliveries", "outbox"):
        op.create_index(f"ix_{table}_parked", table, ["parked_at"], sqlite_where=PARKED, postgresql_where=PARKED)
    op.create_index("ix_usage_at", "usage", ["at"])
    op.create_index("ix_plans_state_waiting_on_held", "plans", ["state", "waiting_on", "held"])


def downgrade() -> None:
    op.drop_index("ix_plans_state_waiting_on_held", "plans")
    op.drop_index("ix_usage_at", "usage")
    for table in ("outbox", "deliveries"):
        op.drop_index(f"ix_{table}_parked", table)
    op.drop_table("rate_limits")
