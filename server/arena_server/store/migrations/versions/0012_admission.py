"""What became of the admission tests of bots from elsewhere."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Adds the table; whoever has played so far is tested once, too."""
    op.create_table(
        "admission",
        sa.Column("bot_id", sa.Integer(), primary_key=True),
        sa.Column("version", sa.String(), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("contract", sa.Text()),
        sa.Column("journal", sa.LargeBinary()),
        sa.ForeignKeyConstraint(["bot_id", "version"], ["version.bot_id", "version.name"]),
    )
