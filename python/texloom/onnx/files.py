"""Reading ONNX files."""

from __future__ import annotations

from os import PathLike, fspath

import onnx
import onnx.checker

from ..errors import refuse
from .nodes import refuse_model

# The importer says which operators are not supported, all of them, and needs no types of outputs.
_NOT_CHECKED = ("No Op registered for", "Field 'shape' of 'type'", "Field 'type' of 'value_info'")

_MOST_BYTES = 2**31 - 1  # that protobuf stores in one message


def read_model(path: str | PathLike[str]) -> onnx.ModelProto:
    """Return the model that a file contains, with the external data of its constants.

    Raises
    ------
    Unsupported
        TL3040 if the file is no ONNX model, or an invalid one.
    TVMError
        TL5012 if the file, or a file that it names, cannot be read.
    """
    name = fspath(path)
    try:
        model = onnx.load(name)
    except OSError as error:
        refuse("BadModuleFile", f"{error.filename or name}: {error.strerror}", "give a file")
    except (ValueError, onnx.checker.ValidationError) as error:
        refuse("BadModuleFile", f"{name}: {_first_line(error)}", "correct the external data")
    except Exception as error:  # protobuf has several implementations, each with its exceptions
        refuse_model(
            f"{name} is no ONNX file, or not a whole one: {_first_line(error)}",
            "give a file that was exported as ONNX; *.tlp files are run as they are",
        )
    check_model(model, name)
    return model


def check_model(model: onnx.ModelProto, name: str = "the model") -> None:
    """Refuse a model that ONNX's checker refuses for what the importer does not find itself."""
    if not model.ir_version or not model.graph.output:
        refuse_model(
            f"{name} is no ONNX model: it has no {'graph' if model.ir_version else 'version'}",
            "give a file that was exported as ONNX",
        )
    if model.ByteSize() > _MOST_BYTES:
        return  # the checker takes one message
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        if any(each in str(error) for each in _NOT_CHECKED):
            return
        refuse_model(f"{name}: {_first_line(error)}", "export the model again")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


__all__ = ["check_model", "read_model"]
