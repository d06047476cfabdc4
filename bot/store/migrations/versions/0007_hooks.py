"""Repositories whose hooks take reports from outside of GitHub."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "hooks",
        sa.Column("repository_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("signs_with", sa.LargeBinary),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("hour_began", sa.Double, nullable=False),
        sa.Column("taken", sa.Integer, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("hooks")
