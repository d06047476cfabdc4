"""Columns for what figures need of the journal's details, and indexes that hold all that figures are made of."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

COLUMNS = (sa.Column("waiting_on", sa.Text), sa.Column("holding_back", sa.Integer))
INDEXES = {
    "journal": ["plan_uid", "id", "at", "event", "from_state", "to_state", "waiting_on", "holding_back"],
    "plans": ["repository_id", "created_at", "updated_at", "state", "uid"],
    "jobs": [
        *("plan_uid", "claimed_at", "reported_at", "closed_at", "heartbeat_at"),
        *("ran_seconds", "check_seconds", "actions_rate", "unit", "id"),
    ],
}
REPLACED = ("journal", "jobs")
"""Tables that had an index of the plan alone."""


def upgrade() -> None:
    for column in COLUMNS:
        op.add_column("journal", column)
    _fill(op.get_bind())
    for table, columns in INDEXES.items():
        op.create_index(f"ix_{table}_figures", table, columns)
    for table in REPLACED:
        op.drop_index(f"ix_{table}_plan_uid", table)


def downgrade() -> None:
    for table in REPLACED:
        op.create_index(f"ix_{table}_plan_uid", table, ["plan_uid"])
    for table in INDEXES:
        op.drop_index(f"ix_{table}_figures", table)
    for column in reversed(COLUMNS):
        op.drop_column("journal", column.name)


def _fill(connection: sa.Connection) -> None:
    """Write into the new columns what the details of older lines say."""
    batch = sa.text("SELECT id, details FROM journal WHERE id > :last ORDER BY id LIMIT 1000")
    fill = sa.text("UPDATE journal SET waiting_on = :waiting_on, holding_back = :holding_back WHERE id = :id")
    last = -1
    while lines := connection.execute(batch, {"last": last}).all():
        last = lines[-1].id
        told = [(number, json.loads(text)["data"]) for number, text in lines]
        values = [
            {"id": number, "waiting_on": data.get("waiting_on"), "holding_back": data.get("holding_back")}
            for number, data in told
        ]
        connection.execute(fill, values)
