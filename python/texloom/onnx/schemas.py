"""The definition of an operator: its inputs, their types, its attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx
import onnx.defs

from .microsoft_schemas import schemas
from .nodes import Unsupported, Value
from .nodes.types import dtype_name, element_type


def schema_of(node: onnx.NodeProto, version: int) -> onnx.defs.OpSchema | None:
    """Return the schema of an operator; None if neither ONNX nor onnxruntime defines it."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        return onnx.defs.get_schema(node.op_type, version, domain)
    except onnx.defs.SchemaError:
        return schemas().get((domain, node.op_type))


def check_node(node: onnx.NodeProto, inputs: Sequence[Value | None], version: int) -> None:
    """Refuse a node whose inputs or attributes the operator does not take.

    These are too many or too few inputs, inputs of wrong element types, a required attribute that
    is missing, attributes of wrong types, and attributes that the operator does not have.

    Raises
    ------
    Unsupported
    """
    schema = schema_of(node, version)
    if schema is None:
        return
    _check_inputs(schema, inputs)
    _check_attributes(schema, node)


def _check_attributes(schema: onnx.defs.OpSchema, node: onnx.NodeProto) -> None:
    given = {each.name: each for each in node.attribute}
    for name in given:
        if name not in schema.attributes:
            raise Unsupported(f"it has the attribute {name!r}, which the operator does not have")
    for name, formal in schema.attributes.items():
        attribute = given.get(name)
        if attribute is None:
            if formal.required:
                raise Unsupported(f"it lacks the attribute {name!r}, which the operator needs")
            continue
        own = attribute.type
        if own and not attribute.ref_attr_name and own != formal.type.value:
            kind = onnx.AttributeProto.AttributeType.Name(own).lower()
            needed = formal.type.name.lower()
            raise Unsupported(f"its attribute {name!r} is of type {kind}, not {needed}")


def _check_inputs(schema: onnx.defs.OpSchema, inputs: Sequence[Value | None]) -> None:
    given = len(inputs)
    while given and inputs[given - 1] is None:
        given -= 1
    if not schema.min_input <= given <= schema.max_input:
        raise Unsupported(f"it has {given} inputs, but the operator takes {_range(schema)}")
    allowed = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
    types: dict[str, str] = {}  # dtypes, by type parameter
    for number, (value, formal) in enumerate(zip(inputs, _formals(schema, given), strict=False)):
        if value is None or not value.is_tensor:
            continue
        own = _type_of(value)
        if own is None:
            continue
        possible = allowed.get(formal.type_str, [formal.type_str])
        if own not in possible and f"optional({own})" not in possible:  # or optional
            why = f"its input {number} is {value.dtype}, but the operator takes {_list(possible)}"
            raise Unsupported(why)
        is_alike = formal.type_str in allowed and formal.is_homogeneous
        first = types.setdefault(formal.type_str, value.dtype) if is_alike else value.dtype
        if value.dtype != first:
            raise Unsupported(f"its inputs are of different types: {first}, {value.dtype}")


def _range(schema: onnx.defs.OpSchema) -> str:
    least, most = schema.min_input, schema.max_input
    if least == most:
        return str(least)
    return f"at least {least}" if most > 1 << 20 else f"{least} to {most}"


def _formals(
    schema: onnx.defs.OpSchema, count: int
) -> Iterator[onnx.defs.OpSchema.FormalParameter]:
    """Return the standard's declaration of each input; the last declaration may be variadic."""
    for number in range(count):
        yield schema.inputs[min(number, len(schema.inputs) - 1)]


def _type_of(value: Value) -> str | None:
    """Return the type of a tensor as the standard writes it; None if the standard lacks it."""
    try:
        return f"tensor({onnx.TensorProto.DataType.Name(element_type(value.dtype)).lower()})"
    except ValueError:
        return None


def _list(types: Sequence[str]) -> str:
    """Return a list of the element types in type strings such as ``tensor(float)``, as text."""
    elements = [each[len("tensor(") : -1] for each in types if each.startswith("tensor(")]
    values = [onnx.TensorProto.DataType.Value(each.upper()) for each in elements]
    return ", ".join(sorted(map(dtype_name, values))) or "no tensor"


__all__ = ["check_node", "schema_of"]
