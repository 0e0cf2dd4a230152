"""How long games of a closing have waited for a bot that is away."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Creates the table: what was waited so far is forgotten once more."""
    op.create_table(
        "wait",
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["tournament_id", "number"], ["game.tournament_id", "game.number"]),
        sa.PrimaryKeyConstraint("tournament_id", "number"),
    )
