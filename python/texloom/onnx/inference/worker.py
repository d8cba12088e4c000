"""The process of :class:`texloom.onnx.inference.ShapeInference`; it imports nothing of Texloom.

It reads questions and writes answers, each after its length: a byte that says whether errors count,
and a model; a model with types, or the length -1.
"""

from __future__ import annotations

import os
import struct

_LENGTH = struct.Struct("<q")


def _answer(question: bytes) -> bytes | None:
    import onnx
    import onnx.shape_inference

    model = onnx.ModelProto.FromString(question[1:])
    try:
        made = onnx.shape_inference.infer_shapes(
            model, strict_mode=bool(question[0]), data_prop=True
        )
    except Exception:  # of a model that contradicts itself
        return None
    return made.SerializeToString()


def _serve() -> None:
    source, sink = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the package prints is no answer
    while len(header := source.read(_LENGTH.size)) == _LENGTH.size:
        (length,) = _LENGTH.unpack(header)
        answer = _answer(source.read(length))
        sink.write(_LENGTH.pack(-1) if answer is None else _LENGTH.pack(len(answer)) + answer)
        sink.flush()


if __name__ == "__main__":
    _serve()
