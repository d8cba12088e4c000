"""Reading ONNX files."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from math import prod
from os import PathLike, fspath
from pathlib import Path

import onnx
import onnx.checker
from onnx.external_data_helper import ExternalDataInfo, uses_external_data
from onnx.helper import tensor_dtype_to_np_dtype

from ..errors import TVMError, refuse
from .nodes import refuse_model
from .nodes.types import DTYPES, element_type

# Messages of the checker that are ignored, because the importer lists all unsupported operators at
# once, needs no types of outputs, and takes the newest version of a domain that it knows, as
# onnxruntime does.
_NOT_CHECKED = (
    "No Op registered for",
    "Field 'shape' of 'type'",
    "Field 'type' of 'value_info'",
    *(
        f"No opset import for domain '{each}'"
        for each in ("ai.onnx", "ai.onnx.ml", "com.microsoft")
    ),
)

_PLAIN = frozenset(element_type(each) for each in DTYPES if each != "bfloat16")  # NumPy's types
_MOST_BYTES = 2**31 - 1  # the limit of a protobuf message


def read_model(path: str | PathLike[str]) -> onnx.ModelProto:
    """Return the model that a file contains, with the external data of its constants.

    Raises
    ------
    Unsupported
        TL3043 if the file is not a valid ONNX model.
    TVMError
        TL5018 if the file, or a file of external data, cannot be read; TL5019 if external data is
        incomplete.
    """
    name = fspath(path)
    try:
        model = onnx.load(name, load_external_data=False)
        _check_external_data(model, Path(name).parent)
        onnx.load_external_data_for_model(model, str(Path(name).parent))
    except OSError as error:
        refuse(
            "FileError",
            f"{error.filename or name}: {error.strerror}",
            "give the path of an ONNX file that can be read",
        )
    except TVMError:
        raise
    except (ValueError, onnx.checker.ValidationError) as error:
        refuse(
            "BadFile",
            f"{name}: {_first_line(error)}",
            "correct the external data that the model names, or export the model again",
        )
    except Exception as error:  # implementations of protobuf raise different exceptions
        refuse_model(
            f"{name} is not an ONNX file, or is incomplete: {_first_line(error)}",
            "give a file that was exported as ONNX; a package (*.tlp) is loaded by "
            "texloom.graph.load or `texloom run`",
        )
    check_model(model, name)
    return model


def _check_external_data(model: onnx.ModelProto, folder: Path) -> None:
    """Refuse constants whose external data is cut short; missing files are refused later."""
    for each in model.graph.initializer:
        if not uses_external_data(each) or each.data_type not in _PLAIN:
            continue
        info = ExternalDataInfo(each)
        file = folder / info.location
        if not file.is_file():
            continue
        there = max(file.stat().st_size - (info.offset or 0), 0)
        size = there if info.length is None else min(there, info.length)
        needed = prod(each.dims) * tensor_dtype_to_np_dtype(each.data_type).itemsize
        if size < needed:
            refuse(
                "BadFile",
                f"{info.location} has {size} bytes for the constant {each.name!r}, which needs "
                f"{needed}",
                "copy the whole file, or export the model again",
            )


def check_model(model: onnx.ModelProto, name: str = "the model") -> None:
    """Refuse a model for errors that ONNX's checker finds and the importer does not."""
    if not model.ir_version or not model.HasField("graph"):
        refuse_model(
            f"{name} is not an ONNX model: it has no {'graph' if model.ir_version else 'version'}",
            "give a file that was exported as ONNX",
        )
    if not model.graph.output:
        refuse_model(
            f"{name} computes nothing: its graph has no outputs",
            "name the results among the outputs of the graph, or export the model again",
        )
    if not all(isinstance(each, str) for each in _words(model)):
        refuse_model(f"{name} has a name that is not UTF-8 text", "export the model again")
    if model.ByteSize() > _MOST_BYTES:
        return  # the checker needs the model in one message
    try:
        onnx.checker.check_model(_of_known_version(model, name))
    except (onnx.checker.ValidationError, ValueError) as error:  # a ValueError for bad bytes
        if any(each in str(error) for each in _NOT_CHECKED):
            return
        refuse_model(f"{name}: {_in_one_line(error)}", "export the model again")


def _of_known_version(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Return the model with a format version that the checker accepts; warn if it is newer.

    This is safe: operator sets alone define the nodes, and the importer refuses unknown operators.
    """
    if model.ir_version <= onnx.IR_VERSION:
        return model
    warnings.warn(
        f"{name} has version {model.ir_version} of ONNX's format, and onnx {onnx.__version__} "
        f"supports up to {onnx.IR_VERSION}: fields that are new in this version are ignored",
        stacklevel=2,
    )
    known = onnx.ModelProto()
    known.CopyFrom(model)
    known.ir_version = onnx.IR_VERSION
    return known


def _words(model: onnx.ModelProto) -> Iterator[str]:
    """Yield the names in a model. Protobuf returns a name that is not UTF-8 as bytes."""
    for each in model.opset_import:
        yield each.domain
    for entry in model.metadata_props:
        yield from (entry.key, entry.value)
    for function in model.functions:
        yield from (function.domain, function.name, *function.input, *function.output)
        for node in function.node:
            yield from _words_of_node(node)
    yield from _words_of_graph(model.graph)


def _words_of_graph(graph: onnx.GraphProto) -> Iterator[str]:
    yield graph.name
    yield from (each.name for each in graph.initializer)
    for value in (*graph.input, *graph.output):
        yield value.name
        yield from (each.dim_param for each in value.type.tensor_type.shape.dim)
    for node in graph.node:
        yield from _words_of_node(node)


def _words_of_node(node: onnx.NodeProto) -> Iterator[str]:
    yield from (node.domain, node.op_type, node.name, *node.input, *node.output)
    for attribute in node.attribute:
        yield from (attribute.name, attribute.ref_attr_name)
        for graph in (attribute.g, *attribute.graphs):
            yield from _words_of_graph(graph)


def _in_one_line(error: Exception) -> str:
    """Return what the checker says in one line; its context, such as the node, in parentheses."""
    said, _, context = str(error).partition("==> Context:")
    message = " ".join(said.split())
    return f"{message} ({' '.join(context.split())})" if context else message


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


__all__ = ["check_model", "read_model"]
