"""Lists of games by how they ended, and by stage, without reading the others."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Adds two indices."""
    op.create_index("game_by_ending", "game", ["tournament_id", "ending", "number"])
    op.create_index("game_by_stage", "game", ["tournament_id", "stage", "number"])
