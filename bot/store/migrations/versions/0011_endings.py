"""How a job ended, in short, so that no list reads reports; what was reported before is read from there."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("ending", sa.Text))


def downgrade() -> None:
    op.drop_column("jobs", "ending")
