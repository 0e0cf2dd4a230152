"""Games of arenas that parked nobody: bots went on there that would be parked today."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_THREE_IN_A_ROW = """
    UPDATE tournament SET unparked = watermark
    WHERE NOT EXISTS (SELECT 1 FROM entrant WHERE entrant.tournament_id = tournament.id AND parked IS NOT NULL)
    AND id IN (
        SELECT tournament_id FROM (
            SELECT tournament_id, failure,
                lag(failure, 1) OVER theirs AS last_failure, lag(failure, 2) OVER theirs AS failure_before
            FROM seat WHERE mu IS NOT NULL
            WINDOW theirs AS (PARTITION BY tournament_id, entrant ORDER BY number)
        ) AS rated
        WHERE failure = 'start_failure' AND last_failure = 'start_failure' AND failure_before = 'start_failure'
    )
"""


def upgrade() -> None:
    """Keeps up to which game that holds; nowhere else is anything to keep."""
    op.add_column("tournament", sa.Column("unparked", sa.Integer(), nullable=False, server_default="0"))
    op.execute(_THREE_IN_A_ROW)
