"""How long games of a closing have waited for a bot that is away."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Adds the column: what was waited so far is forgotten once more."""
    op.add_column("game", sa.Column("waited_s", sa.Float()))
