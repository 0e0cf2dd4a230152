"""Bots whose Bradley-Terry values are fixed."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Adds the column; no tournament has any."""
    op.add_column("tournament", sa.Column("anchors", sa.JSON()))
