"""Owners may let games of a bot be watched while they are played."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Adds the column: so far nobody did."""
    op.add_column("bot", sa.Column("is_open", sa.Boolean(), nullable=False, server_default=sa.false()))
