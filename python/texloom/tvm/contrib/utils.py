"""Folders for the files that scripts export."""

from __future__ import annotations

import os
import tempfile


class TempDirectory(tempfile.TemporaryDirectory):
    """A temporary folder, deleted by ``remove``, at the end of a ``with`` block, or at exit."""

    @property
    def temp_dir(self) -> str:
        """The path of the folder."""
        return self.name

    @property
    def path(self) -> str:
        """The same as ``temp_dir``."""
        return self.name

    def __enter__(self) -> TempDirectory:
        super().__enter__()
        return self

    def relpath(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return os.path.join(self.name, name)

    def listdir(self) -> list[str]:
        """Return the names of the folder's entries."""
        return os.listdir(self.name)

    def remove(self) -> None:
        """Remove the folder now."""
        self.cleanup()


def tempdir() -> TempDirectory:
    """Create a temporary folder."""
    return TempDirectory()


__all__ = ["TempDirectory", "tempdir"]
