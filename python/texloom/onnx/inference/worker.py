"""The process of :class:`texloom.onnx.inference.ShapeInference`; it imports nothing of Texloom.

The process reads requests and writes answers, each preceded by its length. A request is a byte that
says whether the inference is strict, and a model. An answer is the model with types; if there is
none, the length is -1.
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
    except Exception:  # the model is invalid
        return None
    return made.SerializeToString()


def _serve() -> None:
    source, sink = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that output of the package is not mistaken for an answer
    while len(header := source.read(_LENGTH.size)) == _LENGTH.size:
        (length,) = _LENGTH.unpack(header)
        answer = _answer(source.read(length))
        sink.write(_LENGTH.pack(-1) if answer is None else _LENGTH.pack(len(answer)) + answer)
        sink.flush()


if __name__ == "__main__":
    _serve()
