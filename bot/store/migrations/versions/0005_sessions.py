"""Who is signed in to the dashboard."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("person_id", sa.BigInteger, nullable=False),
        sa.Column("login", sa.Text, nullable=False),
        sa.Column("token", sa.LargeBinary, nullable=False),
        sa.Column("refresh_token", sa.LargeBinary),
        sa.Column("token_ends_at", sa.Double),
        sa.Column("renewing_until", sa.Double, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("seen_at", sa.Double, nullable=False),
    )
    op.create_index("ix_sessions_person_id", "sessions", ["person_id"])


def downgrade() -> None:
    op.drop_table("sessions")
