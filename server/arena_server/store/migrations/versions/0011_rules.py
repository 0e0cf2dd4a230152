"""Seasons tell by which rules of the pairing a stage was planned."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Adds the column: so far there was one kind."""
    op.add_column("stage", sa.Column("rules", sa.Integer(), nullable=False, server_default="1"))
