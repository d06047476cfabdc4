"""Indexes for lists that would read what they do not show: jobs under way, runners, recommendations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_plans_ideas", "plans")
    _partial("ix_plans_ideas", "plans", ["repository_id", "created_at", "uid"], "ideas > 0")
    _partial("ix_jobs_open", "jobs", ["repository_id", "opened_at", "id"], "closed_at IS NULL")
    _partial("ix_jobs_runner", "jobs", ["repository_id", "runner", "opened_at", "reported_at"], "runner IS NOT NULL")


def downgrade() -> None:
    op.drop_index("ix_jobs_runner", "jobs")
    op.drop_index("ix_jobs_open", "jobs")
    op.drop_index("ix_plans_ideas", "plans")
    _partial("ix_plans_ideas", "plans", ["repository_id", "created_at"], "ideas > 0")


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
