"""Stop rules: what they have seen so far, and the game after which they stopped a tournament."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Adds two columns."""
    op.add_column("tournament", sa.Column("sums", sa.JSON()))
    op.add_column("tournament", sa.Column("stopped", sa.Integer()))
