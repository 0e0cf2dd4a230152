"""Who may play on a standing server, and what the stages of a season were planned upon."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Adds the tables; nobody is registered yet."""
    op.create_table(
        "owner",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("name_key", sa.String(), nullable=False, unique=True),
    )
    op.create_table(
        "bot",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("owner_id", sa.Integer(), sa.ForeignKey("owner.id"), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("name_key", sa.String(), nullable=False, unique=True),
    )
    op.create_table(
        "version",
        sa.Column("bot_id", sa.Integer(), sa.ForeignKey("bot.id"), primary_key=True),
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("retired_at", sa.String()),
    )
    op.create_table(
        "token",
        sa.Column("sha256", sa.LargeBinary(), primary_key=True),
        sa.Column("bot_id", sa.Integer(), sa.ForeignKey("bot.id"), nullable=False),
        sa.Column("hint", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("revoked_at", sa.String()),
    )
    op.create_index("token_by_bot", "token", ["bot_id"])
    op.create_table(
        "stage",
        sa.Column("tournament_id", sa.Integer(), sa.ForeignKey("tournament.id"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("known", sa.Integer(), nullable=False),
        sa.Column("present", sa.JSON(), nullable=False),
        sa.Column("room", sa.Integer(), nullable=False),
    )
