"""Folders for the files that scripts export."""

from __future__ import annotations

import os
import tempfile


class TempDirectory(tempfile.TemporaryDirectory):
    """A folder that is removed with its files: by ``remove``, by leaving ``with``, or at exit."""

    @property
    def temp_dir(self) -> str:
        """Where it is."""
        return self.name

    @property
    def path(self) -> str:
        """Where it is."""
        return self.name

    def __enter__(self) -> TempDirectory:
        super().__enter__()
        return self

    def relpath(self, name: str) -> str:
        """The path of a file in it."""
        return os.path.join(self.name, name)

    def listdir(self) -> list[str]:
        """The names of what is in it."""
        return os.listdir(self.name)

    def remove(self) -> None:
        """Removes it now."""
        self.cleanup()


def tempdir() -> TempDirectory:
    """A new folder."""
    return TempDirectory()


__all__ = ["TempDirectory", "tempdir"]
