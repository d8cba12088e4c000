"""An index in the order in which trials are exported, so that they need not be sorted first."""

from alembic import op

revision = "export_order"
down_revision = "trials"


def upgrade() -> None:
    """Add the index."""
    op.create_index("trials_by_beginning", "trials", ["begun", "id"])
