"""The definition of an operator: its inputs, their types, its attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx
import onnx.defs

from .microsoft_schemas import schemas
from .nodes import Unsupported, Value
from .nodes.types import dtype_name, element_type
from .scope import canonical


def schema_of(node: onnx.NodeProto, version: int) -> onnx.defs.OpSchema | None:
    """Return the schema of an operator; None if neither ONNX nor onnxruntime defines it."""
    domain = canonical(node.domain)
    try:
        return onnx.defs.get_schema(node.op_type, version, domain)
    except onnx.defs.SchemaError:
        return schemas().get((domain, node.op_type))


@dataclass(frozen=True)
class _Definition:
    """The parts of a schema that checks read: each read of a schema copies a list or a mapping.

    Attributes
    ----------
    least, most : int
        The numbers of inputs.
    most_outputs : int
    inputs : sequence of FormalParameter
        The last one may be variadic.
    allowed : dict of str to sequence of str
        The types that each type parameter may stand for.
    attributes : dict of str to Attribute
    """

    least: int
    most: int
    most_outputs: int
    inputs: Sequence[onnx.defs.OpSchema.FormalParameter]
    allowed: Mapping[str, Sequence[str]]
    attributes: Mapping[str, onnx.defs.OpSchema.Attribute]

    @classmethod
    def of(cls, schema: onnx.defs.OpSchema) -> _Definition:
        """Read a schema."""
        allowed = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
        return cls(
            schema.min_input,
            schema.max_input,
            schema.max_output,
            schema.inputs,
            allowed,
            schema.attributes,
        )


class NodeChecks:
    """Checks of the nodes of a model, which reads the schema of each operator once."""

    def __init__(self) -> None:
        self._definitions: dict[tuple[str, str, int], _Definition | None] = {}

    def check(self, node: onnx.NodeProto, inputs: Sequence[Value | None], version: int) -> None:
        """Refuse a node whose inputs, outputs or attributes the operator does not have.

        These are too many or too few inputs, inputs of wrong element types, too many outputs, a
        required attribute that is missing, attributes of wrong types, and attributes that the
        operator does not have.

        Raises
        ------
        Unsupported
        """
        key = node.domain, node.op_type, version
        if key not in self._definitions:
            schema = schema_of(node, version)
            self._definitions[key] = None if schema is None else _Definition.of(schema)
        definition = self._definitions[key]
        if definition is not None:
            _check_inputs(definition, inputs)
            _check_outputs(definition, node)
            _check_attributes(definition, node)


def _check_attributes(definition: _Definition, node: onnx.NodeProto) -> None:
    given = {each.name: each for each in node.attribute}
    for name in given:
        if name not in definition.attributes:
            raise Unsupported(f"it has the attribute {name!r}, which the operator does not have")
    for name, formal in definition.attributes.items():
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


def _check_inputs(definition: _Definition, inputs: Sequence[Value | None]) -> None:
    given = len(inputs)
    while given and inputs[given - 1] is None:
        given -= 1
    if not definition.least <= given <= definition.most:
        raise Unsupported(f"it has {given} inputs, but the operator takes {_range(definition)}")
    allowed = definition.allowed
    types: dict[str, str] = {}  # dtypes, by type parameter
    for number, value in enumerate(inputs[:given]):
        if value is None or not value.is_tensor:
            continue
        formal = definition.inputs[min(number, len(definition.inputs) - 1)]  # or the variadic one
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


def _check_outputs(definition: _Definition, node: onnx.NodeProto) -> None:
    given = max(i for i, name in enumerate(node.output, 1) if name)
    if given > definition.most_outputs:
        raise Unsupported(f"it has {given} outputs, but the operator has {definition.most_outputs}")


def _range(definition: _Definition) -> str:
    least, most = definition.least, definition.most
    if least == most:
        return str(least)
    return f"at least {least}" if most > 1 << 20 else f"{least} to {most}"


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


__all__ = ["NodeChecks", "schema_of"]
