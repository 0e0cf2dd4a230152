"""What a tournament is played for, and why it was called off."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Adds both; what a server plays is a season."""
    op.add_column("tournament", sa.Column("purpose", sa.String(), nullable=False, server_default="event"))
    op.add_column("tournament", sa.Column("called_off", sa.String(), nullable=True))
    op.create_index("tournament_by_purpose", "tournament", ["purpose", "status"])
    tournament = sa.table("tournament", sa.column("id"), sa.column("contract"), sa.column("purpose"))
    for number, contract in op.get_bind().execute(sa.select(tournament.c.id, tournament.c.contract)).all():
        if _is_season(contract):
            op.execute(tournament.update().where(tournament.c.id == number).values(purpose="season"))


def _is_season(contract: str) -> bool:
    """Not where the contract is damaged."""
    try:
        return bool(json.loads(contract)["format"] == "season")
    except (ValueError, KeyError, TypeError):
        return False
