"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Creates every table."""
    op.create_table(
        "tournament",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("name_key", sa.String(), nullable=False, unique=True),
        sa.Column("contract", sa.Text(), nullable=False),
        sa.Column("contract_sha256", sa.String(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("commitment", sa.String(), nullable=False),
        sa.Column("public_seed", sa.Boolean(), nullable=False),
        sa.Column("rules", sa.String(), nullable=False),
        sa.Column("ratings", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("planned", sa.Integer(), nullable=False),
        sa.Column("watermark", sa.Integer(), nullable=False),
        sa.Column("commits", sa.Integer(), nullable=False),
        sa.Column("chain_head", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("started_at", sa.String()),
        sa.Column("finished_at", sa.String()),
    )
    op.create_table(
        "entrant",
        sa.Column("tournament_id", sa.Integer(), sa.ForeignKey("tournament.id"), primary_key=True),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("margin_total", sa.Integer(), nullable=False),
        sa.Column("margin_games", sa.Integer(), nullable=False),
        sa.Column("failures", sa.JSON(), nullable=False),
    )
    op.create_table(
        "game",
        sa.Column("tournament_id", sa.Integer(), sa.ForeignKey("tournament.id"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("stage", sa.Integer(), nullable=False),
        sa.Column("pairing", sa.Integer(), nullable=False),
        sa.Column("deal", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("ending", sa.String()),
        sa.Column("plies", sa.Integer()),
        sa.Index("game_by_status", "tournament_id", "status", "number"),
        sa.Index("game_by_pairing", "tournament_id", "pairing"),
    )
    op.create_table(
        "seat",
        sa.Column("tournament_id", sa.Integer(), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("seat", sa.Integer(), primary_key=True),
        sa.Column("entrant", sa.Integer(), nullable=False),
        sa.Column("score", sa.Integer()),
        sa.Column("rank", sa.Integer()),
        sa.Column("failure", sa.String()),
        sa.Column("mu", sa.Float()),
        sa.Column("sigma", sa.Float()),
        sa.Column("flagged", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["tournament_id", "number"], ["game.tournament_id", "game.number"]),
        sa.ForeignKeyConstraint(["tournament_id", "entrant"], ["entrant.tournament_id", "entrant.position"]),
        sa.Index("seat_by_entrant", "tournament_id", "entrant", "number"),
    )
    op.create_table(
        "attempt",
        sa.Column("tournament_id", sa.Integer(), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("attempt", sa.Integer(), primary_key=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("ending", sa.String(), nullable=False),
        sa.Column("journal", sa.LargeBinary(), nullable=False),
        sa.Column("chain_hash", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["tournament_id", "number"], ["game.tournament_id", "game.number"]),
        sa.UniqueConstraint("tournament_id", "sequence"),
    )
