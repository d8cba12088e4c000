"""The first version: trials, what they share, and the best of each subject."""

import sqlalchemy as sa
from alembic import op

revision = "trials"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "tasks",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.UniqueConstraint("identity", "kind"),
    )
    op.create_table(
        "subjects",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("identity", sa.Text, nullable=False, unique=True),
        sa.Column("task_id", sa.Integer, sa.ForeignKey("tasks.id"), nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("family", sa.Text, nullable=False),
        sa.Column("facts", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
    )
    op.create_index("ix_subjects_task_id", "subjects", ["task_id"])
    op.create_table(
        "devices",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("platform", sa.Text, nullable=False),
        sa.Column("driver", sa.Text, nullable=False),
        sa.Column("compiler", sa.Text, nullable=False),
        sa.UniqueConstraint("name", "platform", "driver", "compiler"),
    )
    op.create_table(
        "hosts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("versions_json", sa.Text, nullable=False),
        sa.UniqueConstraint("name", "versions_json"),
    )
    op.create_table(
        "trials",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("id", sa.Uuid, nullable=False, unique=True),
        sa.Column("subject_id", sa.Integer, sa.ForeignKey("subjects.id"), nullable=False),
        sa.Column("device_id", sa.Integer, sa.ForeignKey("devices.id"), nullable=False),
        sa.Column("host_id", sa.Integer, sa.ForeignKey("hosts.id"), nullable=False),
        sa.Column("knobs_json", sa.Text, nullable=False),
        sa.Column("kernels_json", sa.Text, nullable=False),
        sa.Column("times_json", sa.Text, nullable=False),
        sa.Column("samples", sa.Integer, nullable=False),
        sa.Column("runs", sa.Integer, nullable=False),
        sa.Column("clock", sa.Text, nullable=False),
        sa.Column("seconds", sa.Double),
        sa.Column("spread", sa.Double),
        sa.Column("verification", sa.Text, nullable=False),
        sa.Column("difference", sa.Double),
        sa.Column("failure", sa.Text),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("phases_json", sa.Text, nullable=False),
        sa.Column("parent", sa.Uuid),
        sa.Column("begun", sa.BigInteger, nullable=False),
    )
    op.create_index("trials_by_subject", "trials", ["subject_id", "device_id", "seconds"])
    op.create_table(
        "bests",
        sa.Column("subject_id", sa.Integer, sa.ForeignKey("subjects.id"), primary_key=True),
        sa.Column("device_id", sa.Integer, sa.ForeignKey("devices.id"), primary_key=True),
        sa.Column("trial", sa.Uuid, sa.ForeignKey("trials.id"), nullable=False, unique=True),
        sa.Column("seconds", sa.Double, nullable=False),
    )
