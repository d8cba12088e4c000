"""The shape inference of the `onnx` package, in a process of its own.

The inference is native code. For some invalid nodes, such as a slice of an empty axis with a
negative step, it ends its process: here, only a child process.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import onnx

_WORKER = Path(__file__).with_name("worker.py")
_LENGTH = struct.Struct("<q")
_NONE = -1
"""The length in an answer that has no model, because the inference failed."""


class ShapeInference:
    """Infers types of values in a child process, which starts with the first request.

    A context manager; threads may not share it.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ShapeInference:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self._end()

    def inferred(self, model: onnx.ModelProto, *, strict: bool) -> onnx.ModelProto | None:
        """Return the model with the types of its values.

        Parameters
        ----------
        model : ModelProto
        strict : bool
            Whether a node without an inferred type is an error.

        Returns
        -------
        ModelProto or None
            None if the inference fails, if it ends its process, or if no process can be started.
        """
        try:
            answer = self._asked(bytes([strict]) + model.SerializeToString())
        except (OSError, ValueError, struct.error):  # no process, a dead one, or a large model
            self._end()
            return None
        return None if answer is None else onnx.ModelProto.FromString(answer)

    def _asked(self, question: bytes) -> bytes | None:
        if self._process is None:
            paths = [str(Path.cwd()) if not each else each for each in sys.path]
            self._process = subprocess.Popen(
                [sys.executable, str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None and sink is not None
        sink.write(_LENGTH.pack(len(question)) + question)
        sink.flush()
        (length,) = _LENGTH.unpack(source.read(_LENGTH.size))
        return None if length == _NONE else source.read(length)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        with suppress(OSError):  # the process may not have read all of the request
            process.communicate()


__all__ = ["ShapeInference"]
