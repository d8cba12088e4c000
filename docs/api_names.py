"""The public names of the package: which modules have them, their docstrings and signatures.

A name is public if it is in a module's ``__all__`` or, in a module without one, if the module
defines it and it does not begin with an underscore.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import texloom

# The modules that users import, in the order of the reference. A name that several of them have is
# documented with the first one.
MODULES = (
    "texloom",
    "texloom.te",
    "texloom.tir",
    "texloom.tir.ir_builder",
    "texloom.nd",
    "texloom.runtime",
    "texloom.custom",
    "texloom.target",
    "texloom.tvm.transform",
    "texloom.tvm.ir",
    "texloom.tvm.arith",
    "texloom.te.schedule",
    "texloom.te.tensor",
    "texloom.te.tag",
    "texloom.errors",
    "texloom.tvm.error",
    "texloom.measure",
    "texloom.plan",
    "texloom.show",
    "texloom.trace",
    "texloom.graph",
    "texloom.costs",
    "texloom.profiles",
    "texloom.records",
    "texloom.ops",
    "texloom.ops.broadcast",
    "texloom.ops.attention",
    "texloom.ops.convolution",
    "texloom.ops.counted",
    "texloom.ops.elementwise",
    "texloom.ops.estimators",
    "texloom.ops.indexing",
    "texloom.ops.movement",
    "texloom.ops.normalization",
    "texloom.ops.pooling",
    "texloom.ops.products",
    "texloom.ops.quantization",
    "texloom.ops.random",
    "texloom.ops.recurrent",
    "texloom.ops.reductions",
    "texloom.ops.resize",
    "texloom.ops.schedules",
    "texloom.ops.signal",
    "texloom.ops.sorting",
    "texloom.ops.tiled",
    "texloom.onnx",
    "texloom.onnx.backend",
    "texloom.autotvm",
    "texloom.autotvm.task",
    "texloom.autotvm.task.space",
    "texloom.autotvm.task.task",
    "texloom.autotvm.measure",
    "texloom.autotvm.tuner",
    "texloom.autotvm.tuner.callback",
    "texloom.autotvm.record",
    "texloom.autotvm.database",
    "texloom.autotvm.env",
    "texloom.tune",
    "texloom.tuning",
    "texloom.tvm.testing",
    "texloom.tvm.contrib",
    "texloom.tvm.contrib.cc",
    "texloom.tvm.contrib.nvcc",
    "texloom.tvm.contrib.utils",
)

# Classes that users get from functions but do not import, with the module whose page has them.
RETURNED = {
    "texloom": (("devices.absent", "AbsentDevice"),),
    "texloom.te": (
        ("_core", "CommReducer"),
        ("te.intrinsic_call", "IntrinsicCall"),
        ("te.intrinsic_call", "TensorRegion"),
    ),
    "texloom.nd": (("arrays.host_array", "HostArray"),),
    "texloom.records": (
        ("records.database", "Records"),
        ("records.database", "Average"),
    ),
    "texloom.runtime": (
        ("functions.group", "FunctionGroup"),
        ("_core", "Kernel"),
    ),
}

# Modules that implement the others; users see their names there.
INTERNAL = (
    "texloom.__main__",
    "texloom._core",
    "texloom.checks.argument_kinds",
    "texloom.arrays",
    "texloom.arrays.arguments",
    "texloom.arrays.bfloat16",
    "texloom.arrays.dlpack",
    "texloom.arrays.host_array",
    "texloom.autotvm.history",
    "texloom.autotvm.measure.log",
    "texloom.autotvm.measure.measure",
    "texloom.autotvm.measure.measure_methods",
    "texloom.autotvm.measure.options",
    "texloom.autotvm.task.dispatcher",
    "texloom.autotvm.task.flops",
    "texloom.autotvm.task.settings",
    "texloom.autotvm.task.transforms",
    "texloom.autotvm.tuner.ga_tuner",
    "texloom.autotvm.tuner.index_based_tuner",
    "texloom.autotvm.tuner.searching",
    "texloom.autotvm.tuner.tuner",
    "texloom.autotvm.tuner.xgboost_tuner",
    "texloom.building",
    "texloom.checks",
    "texloom.checks.checked_calls",
    "texloom.compilation",
    "texloom.costs.runs",
    "texloom.custom.declaration",
    "texloom.custom.files",
    "texloom.custom.operators",
    "texloom.devices",
    "texloom.devices.absent",
    "texloom.devices.attributes",
    "texloom.devices.lookup",
    "texloom.devices.shared",
    "texloom.dtypes",
    "texloom.functions",
    "texloom.functions.files",
    "texloom.functions.group",
    "texloom.functions.methods",
    "texloom.graph.calls",
    "texloom.graph.checks",
    "texloom.costs.choosing",
    "texloom.costs.measured",
    "texloom.costs.estimated",
    "texloom.costs.fitted",
    "texloom.costs.measuring",
    "texloom.costs.table",
    "texloom.graph.compilation",
    "texloom.graph.compiled",
    "texloom.graph.concatenation",
    "texloom.graph.cost_model",
    "texloom.graph.declarations",
    "texloom.graph.evaluation",
    "texloom.graph.given_kernels",
    "texloom.graph.graph",
    "texloom.graph.graph_passes",
    "texloom.graph.kernel_library",
    "texloom.graph.builder",
    "texloom.graph.loop_body",
    "texloom.graph.node_functions",
    "texloom.graph.placement",
    "texloom.graph.precision",
    "texloom.graph.progress",
    "texloom.graph.scheduler",
    "texloom.extents",
    "texloom.extents.conditions",
    "texloom.extents.expressions",
    "texloom.graph.short_launches",
    "texloom.graph.symbols",
    "texloom.graph.recorded_knobs",
    "texloom.graph.tuned_knobs",
    "texloom.graph.tensor",
    "texloom.costs.timed_run",
    "texloom.inspect",
    "texloom.inspect.__main__",
    "texloom.inspect.describe",
    "texloom.inspect.picture",
    "texloom.inspect.schedule",
    "texloom.inspect.scopes",
    "texloom.inspect.storage_table",
    "texloom.checks.instances",
    "texloom.onnx.attributes",
    "texloom.onnx.comparison",
    "texloom.onnx.compile_options",
    "texloom.onnx.seeds",
    "texloom.onnx.converter_errors",
    "texloom.onnx.count_propagation",
    "texloom.onnx.count_readers",
    "texloom.onnx.emission",
    "texloom.onnx.empty_outputs",
    "texloom.onnx.files",
    "texloom.onnx.function_bodies",
    "texloom.onnx.importer",
    "texloom.onnx.inference",
    "texloom.onnx.inference.worker",
    "texloom.onnx.initializers",
    "texloom.onnx.microsoft_schemas",
    "texloom.onnx.model",
    "texloom.onnx.network",
    "texloom.onnx.quantized_nodes",
    "texloom.onnx.quantized_tensors",
    "texloom.onnx.schemas",
    "texloom.onnx.scope",
    "texloom.onnx.structured",
    "texloom.onnx.operators",
    "texloom.onnx.signature",
    "texloom.onnx.sizes",
    "texloom.onnx.stand_ins",
    "texloom.onnx.specialization",
    "texloom.onnx.specializer",
    "texloom.measure.benchmark",
    "texloom.measure.device_kernels",
    "texloom.measure.device_profile",
    "texloom.measure.device_rates",
    "texloom.measure.child",
    "texloom.measure.evaluator",
    "texloom.measure.loop",
    "texloom.measure.measurement",
    "texloom.measure.processes",
    "texloom.measure.quantities",
    "texloom.ops.coordinates",
    "texloom.ops.extrema",
    "texloom.ops.contraction",
    "texloom.ops.divisors",
    "texloom.ops.moves",
    "texloom.ops.precision",
    "texloom.ops.raveling",
    "texloom.ops.stages",
    "texloom.ops.threads",
    "texloom.ops.windows",
    "texloom.profiles.choice",
    "texloom.profiles.device_profile",
    "texloom.profiles.families",
    "texloom.profiles.kept",
    "texloom.profiles.kernel_limits",
    "texloom.records.address",
    "texloom.records.autotvm",
    "texloom.records.best_file",
    "texloom.records.database",
    "texloom.records.engine",
    "texloom.records.foreign",
    "texloom.records.here",
    "texloom.records.json_objects",
    "texloom.records.lines",
    "texloom.records.points",
    "texloom.records.migrating",
    "texloom.records.rows",
    "texloom.records.schema",
    "texloom.records.t4",
    "texloom.records.trial",
    "texloom.records.wanted",
    "texloom.tuning.arguments",
    "texloom.tuning.build_pool",
    "texloom.tuning.choices",
    "texloom.tuning.declared",
    "texloom.tuning.device_child",
    "texloom.tuning.device_process",
    "texloom.tuning.features",
    "texloom.tuning.kernel_build",
    "texloom.tuning.kernel_trial",
    "texloom.tuning.measuring",
    "texloom.tuning.operator",
    "texloom.tuning.program_trial",
    "texloom.tuning.reference",
    "texloom.tuning.report",
    "texloom.tuning.report.charts",
    "texloom.tuning.report.courses",
    "texloom.tuning.report.findings",
    "texloom.tuning.report.page",
    "texloom.tuning.report.style",
    "texloom.tuning.search",
    "texloom.tuning.session",
    "texloom.tuning.splits",
    "texloom.tuning.tuned",
    "texloom.tuning.user_kernel",
    "texloom.tuning.verification",
    "texloom.tuning.working_time",
    "texloom.plan.__main__",
    "texloom.plan.buffers",
    "texloom.plan.network",
    "texloom.plan.picture",
    "texloom.plan.scopes",
    "texloom.plan.textures",
    "texloom.show.__main__",
    "texloom.show.loops",
    "texloom.show.picture",
    "texloom.show.source",
    "texloom.show.svg",
    "texloom.show.texels",
    "texloom.show.traffic",
    "texloom.show.units",
    "texloom.te.attributes",
    "texloom.te.directive_arguments",
    "texloom.te.external",
    "texloom.te.fragments",
    "texloom.te.intrinsic",
    "texloom.te.intrinsic_call",
    "texloom.te.layouts",
    "texloom.te.not_provided",
    "texloom.te.operation",
    "texloom.te.prefetch",
    "texloom.te.read_graph",
    "texloom.te.recurrence",
    "texloom.te.specialized_condition",
    "texloom.te.statement_function",
    "texloom.te.tracing",
    "texloom.text_file",
    "texloom.version",
    "texloom.whole_file",
    "texloom.tir.buffer",
    "texloom.tir.calls",
    "texloom.tir.fragments",
    "texloom.tir.expr",
    "texloom.tir.number_functions",
    "texloom.tir.op",
    "texloom.tir.opencl_functions",
    "texloom.tir.reducers",
    "texloom.tir.string_imm",
    "texloom.trace.__main__",
    "texloom.trace.script",
    "texloom.trace.table",
    "texloom.tvm",
    "texloom.tvm._ffi",
    "texloom.tvm._ffi.base",
    "texloom.tvm.out_of_scope",
    "texloom.tvm.registry",
    "texloom.tvm.spellings",
)

# Packages of programs, which nobody imports.
PROGRAMS = ("texloom.command_line",)

# Operators to read and to copy, which may change with any version.
EXAMPLES = ("texloom.examples",)

# Packages whose modules are internal: what users need is named in the package itself.
INTERNAL_PACKAGES = (
    "texloom.onnx.converters",
    "texloom.onnx.nodes",
    "texloom.ops.attention.",
    "texloom.ops.convolution.",
    "texloom.ops.counted.",
    "texloom.ops.elementwise.",
    "texloom.ops.estimators.",
    "texloom.ops.indexing.",
    "texloom.ops.movement.",
    "texloom.ops.normalization.",
    "texloom.ops.pooling.",
    "texloom.ops.products.",
    "texloom.ops.quantization.",
    "texloom.ops.random.",
    "texloom.ops.recurrent.",
    "texloom.ops.reductions.",
    "texloom.ops.resize.",
    "texloom.ops.schedules.",
    "texloom.ops.signal.",
    "texloom.ops.sorting.",
    "texloom.ops.tiled.",
)

# Classes of the compiled module that no public function takes or returns.
INTERNAL_CLASSES = (
    "CallArgument",
    "CustomOperator",
    "Location",
    "PlacedBuffer",
    "Profile",
    "ReductionDomain",
    "_CompiledGraph",
    "_CompiledSites",
    "_GraphOptions",
    "_GraphPassReport",
    "_KernelWork",
    "_OperationReads",
    "_RunnableGraph",
    "_StoredGraph",
    "_Alternative",
    "_Computation",
    "_CostModel",
    "_Graph",
    "_Task",
)

SPECIAL_METHODS = ("__call__", "__getitem__", "__setitem__")

# The first line of the docstring of a compiled function, as pybind11 writes it.
COMPILED = re.compile(r"\A(\w*)\((.*)\)(?: -> (.+))?(?:\n|\Z)")
# What such a line says of types, and what users call them.
_TYPES = (
    (re.compile(r"texloom::python::Py(\w+)"), r"\1"),
    (re.compile(r"\b(?:texloom\.\w+|collections\.abc|typing|_core)\.(?=\w)"), ""),
    (re.compile(r"SupportsInt \| SupportsIndex"), "int"),
    (re.compile(r"SupportsFloat \| SupportsIndex"), "float"),
)
_VAGUE = {"Any", "Operand", "Operand | None", "object", "None"}  # annotations that say nothing


def modules() -> Iterator[str]:
    """Every module of the package, except those of programs and of internal packages."""
    yield "texloom"
    for found in pkgutil.walk_packages(texloom.__path__, "texloom."):
        if not found.name.startswith(PROGRAMS + EXAMPLES + INTERNAL_PACKAGES):
            yield found.name


def imported(name: str) -> ModuleType:
    """Return a module, also where a function of its package has the same name."""
    return importlib.import_module(name)


def names_of(module: str) -> dict[str, Any]:
    """The public names of a module and their values, and the classes that its functions return."""
    own = imported(module)
    listed = getattr(own, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, value in vars(own).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module
        ]
    names = {name: getattr(own, name) for name in listed if not name.startswith("_")}
    for place, name in RETURNED.get(module, ()):
        names[name] = getattr(imported(f"texloom.{place}"), name)
    return names


def documentation(value: Any) -> str:
    """Return the docstring of a value, without the signature of a compiled function."""
    if isinstance(value, property):
        text = value.__doc__ or getattr(value.fget, "__doc__", None)
    elif isinstance(value, (staticmethod, classmethod)):
        text = value.__func__.__doc__
    elif is_constant(value):
        text = type(value).__doc__ if type(value).__module__.startswith("texloom") else None
    else:
        text = value.__doc__
    text = inspect.cleandoc(text or "")
    while (line := COMPILED.match(text)) is not None:
        text = text[line.end() :].strip()
    return text


def is_constant(value: Any) -> bool:
    """Whether a value is neither a class, a function, a property nor a module."""
    described = (property, staticmethod, classmethod, type, ModuleType)
    return not callable(value) and not isinstance(value, described)


def fields(cls: type) -> list[str]:
    """The fields of a dataclass or of a named tuple, which its docstring explains."""
    if dataclasses.is_dataclass(cls):
        return [field.name for field in dataclasses.fields(cls)]
    return list(getattr(cls, "_fields", ()))


def members(cls: type) -> dict[str, Any]:
    """The public members of a class and of its bases in this package, by name."""
    found: dict[str, Any] = {}
    if type(cls).__module__.startswith("texloom"):
        return found  # classes for isinstance
    for base in cls.__mro__:
        if base.__module__.startswith("texloom"):
            for name, value in vars(base).items():
                if name in SPECIAL_METHODS or not name.startswith("_"):
                    found.setdefault(name, value)
    for field in fields(cls):
        found.pop(field, None)
    return {name: value for name, value in sorted(found.items()) if value is not None}


def _without_types(parameter: str) -> str:
    """Drop a type that says nothing from a parameter such as ``begin: object = None``."""
    for pattern, replacement in _TYPES:
        parameter = pattern.sub(replacement, parameter)
    name, colon, rest = parameter.partition(": ")
    kind, equals, default = rest.partition(" = ")
    if not colon:
        return parameter
    if kind in _VAGUE:
        return f"{name}={default}" if equals else name
    return f"{name}: {kind}" + (f" = {default}" if equals else "")


def _split(parameters: str) -> list[str]:
    """Split at the commas that are not inside brackets."""
    parts, depth = [""], 0
    for letter in parameters:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _compiled_signature(text: str) -> tuple[list[str], str]:
    line = COMPILED.match(text)
    assert line is not None
    given = [part for part in _split(line[2]) if not re.match(r"self\b", part)]
    return [_without_types(part) for part in given], _without_types(f"r: {line[3]}")[3:]


def _python_signature(function: Any, is_method: bool) -> tuple[list[str], str]:
    signature = inspect.signature(function)
    parts: list[str] = []
    keyword_only = False
    for each in list(signature.parameters.values())[is_method:]:
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        if each.kind is each.KEYWORD_ONLY and not keyword_only:
            parts.append("*")
        keyword_only |= each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        text = star + each.name
        if each.annotation is not each.empty:
            text += f": {each.annotation}"
        if each.default is not each.empty:
            text += f" = {each.default!r}" if ": " in text else f"={each.default!r}"
        parts.append(_without_types(text))
    returned = signature.return_annotation
    result = "" if returned is signature.empty else _without_types(f"r: {returned}")[3:]
    return parts, result


def signature(value: Any, is_method: bool = False) -> tuple[list[str], str] | None:
    """Return the parameters of a call, with their types, and the type of the result.

    A method's first parameter is left out. None for what is not called, or only by the package
    itself.
    """
    if isinstance(value, (staticmethod, classmethod)):
        is_method = isinstance(value, classmethod)
        value = value.__func__
    if isinstance(value, type):
        own = vars(value).get("__init__") or vars(value).get("__new__")
        if type(value).__module__.startswith("texloom") or not inspect.isfunction(own):
            return None
        return _python_signature(value, is_method=False)[0], ""
    if COMPILED.match(value.__doc__ or ""):
        return _compiled_signature(value.__doc__)
    return _python_signature(value, is_method) if callable(value) else None
