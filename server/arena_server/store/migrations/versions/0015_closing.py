"""Which round-robin decides a season."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Adds the column: no season has ended yet."""
    op.add_column("tournament", sa.Column("closing", sa.Integer()))
