"""Compiling whole models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from ._core import Device
from .checks.argument_kinds import shown
from .checks.checked_calls import check_calls
from .costs import Costs, costs_for
from .devices.lookup import present
from .errors import refuse
from .graph.recorded_knobs import Knobs, knobs_for
from .target import Target, for_models, target_for

if TYPE_CHECKING:
    import onnx as onnx_package

    from .custom import Operator
    from .onnx import Model


def compile(
    model: onnx_package.ModelProto | str | PathLike[str],
    target: str | Target | None = None,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    storage: Literal["auto", "buffer", "texture"] = "auto",
    values: Mapping[str, Any] | None = None,
    costs: str | PathLike[str] | Costs | None = None,
    measure: Device | str | bool = False,
    precision: Literal["fp32", "fp16"] = "fp32",
    operators: Sequence[Operator] = (),
    seed: int | str = 0,
    placed: Mapping[str, str | Target] | None = None,
    tuned: Knobs = None,
) -> Model:
    """Compile an ONNX model. Needs the package ``onnx``, but no device.

    ``compile("model.onnx").run({"x": array})`` runs it, and ``compile("model.onnx").save(path)``
    writes a package, which :func:`texloom.graph.load` and programs in C++ run.

    Parameters
    ----------
    model : ModelProto, str or path
        A model, or the name of a file.
    target : str or Target, optional
        As for :func:`texloom.build`; ``"opencl:0"`` is the target of that device. The default is
        the target of `measure`; without `measure` and `costs`, it is ``"llvm -mcpu=native"``,
        native code for this machine's processor. In an installation without LLVM, with `costs`, and
        with `operators` that are kernels, it is ``"opencl"``, whose kernels run on every OpenCL
        device, but suit processors.
    shapes : mapping of str to sequence of int, optional
        The shapes of inputs, such as ``{"x": (1, 3, 640, 640)}``. A model with open extents that
        are not given here is compiled at each run with new shapes.
    storage : "auto", "buffer" or "texture"
        Where tensors are stored: by cost, in buffers, or in textures wherever a kernel can.
    values : mapping of str to array, optional
        The values of inputs that thereby become constants, such as the shape for a Reshape.
    costs : str, path or texloom.costs.Costs, optional
        The records that have costs of kernels, for ``storage="auto"``: a file or a URL. By default
        the file ``records.sqlite`` in the folder TEXLOOM_CACHE_DIR, but none for native code.
        Without a file, costs are estimated.
    measure : Device, str or bool
        The device on which kernels without costs in the file are measured; true for the first
        OpenCL device. The measured costs are added to the file.
    precision : "fp32" or "fp16"
        With "fp16", weights and the tensors between operators are stored as float16. Operators
        compute in float32 as before, and inputs and outputs keep their types.
    operators : sequence of texloom.custom.Operator
        Custom operators, one for each kind of node that ONNX does not have: the node ``op`` of a
        domain calls the operator ``"domain::op"`` whose version is that of the domain in the model.
        The caller that loads the package passes them again.
    seed : int or str
        The seed of the random numbers that nodes without an attribute ``seed`` draw. With a number
        from 0 to 2**64 - 1 (or an int64), every run draws the same numbers. With a name, the model
        gets an input of this name, an int64 scalar, that is the seed of the run.
    placed : mapping of str to str or Target, optional
        Nodes that run on the host beside the target's device, by name or by operation, as for
        :meth:`texloom.graph.Graph.compile`: ``{"Softmax": "llvm -mcpu=native"}``.
    tuned : str, path, texloom.graph.TunedKnobs or False, optional
        The best knobs of kernels: a file that ``texloom db export --best`` wrote, or a database of
        records, a file or a URL, whose best verified trials on the device of `target` or `measure`
        count. By default the file ``records.sqlite`` in the folder TEXLOOM_CACHE_DIR, if it exists;
        False stands for none. Other kernels have the defaults of their families.

    Returns
    -------
    texloom.onnx.Model

    Raises
    ------
    texloom.onnx.Unsupported
        If the file is not a model, or if nodes cannot be converted: the text lists all of them.
    TVMError
        TL5018 if a file cannot be read; TL5016, TL5003 or TL5002 for `shapes` and `values` that
        do not fit the model; TL2040 or TL2044 for a wrong `seed`.
    """
    if not isinstance(model, (str, PathLike)) and not hasattr(model, "ir_version"):
        refuse(
            "BadArgument",
            f"compile: model is {shown(model)}, not an ONNX model",
            "give the name of a file, or what onnx.load returned",
        )
    from .custom.operators import checked_operators
    from .onnx import Model
    from .onnx.files import check_model, read_model

    if isinstance(model, (str, PathLike)):
        model = read_model(model)
    else:
        check_model(model)
    if measure is False or measure is None:
        device = None
        # Costs choose textures, and the text of a kernel is for the compiler of a device.
        operators = checked_operators(operators)
        if costs is None and all(each._core.is_on_host for each in operators):
            target = for_models(target)
    else:
        device = present(None if measure is True else measure)
        target = target_for(device, target)
    if not isinstance(costs, Costs):
        costs = costs_for(target, costs, measure=device)
    return Model(
        model,
        target,
        storage,
        shapes,
        values,
        precision=precision,
        costs=costs,
        measure=device,
        operators=operators,
        seed=seed,
        placed=placed,
        tuned=knobs_for(tuned, [target], device),
    )


__all__ = ["compile"]

check_calls(globals())
