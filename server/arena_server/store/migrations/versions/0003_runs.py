"""What belongs to a run, and what is said of entrants and tournaments beside the contract."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Adds two tables and a column; what was played before says nothing there."""
    op.add_column("tournament", sa.Column("tags", sa.JSON()))
    op.create_table(
        "run",
        sa.Column("tournament_id", sa.Integer(), sa.ForeignKey("tournament.id"), primary_key=True),
        sa.Column("epoch", sa.Integer(), primary_key=True),
        sa.Column("started_at", sa.String(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
    )
    op.create_table(
        "about",
        sa.Column("tournament_id", sa.Integer(), primary_key=True),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("owner", sa.String()),
        sa.Column("group", sa.String()),
        sa.Column("tags", sa.JSON()),
        sa.ForeignKeyConstraint(["tournament_id", "position"], ["entrant.tournament_id", "entrant.position"]),
    )
