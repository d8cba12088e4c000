"""Names of TVM that Texloom omits; using one raises a diagnostic with an alternative.

Texloom compiles tensor expressions with schedules, and graphs of them. It has one tuner
(:mod:`texloom.autotvm`) in place of three, no remote devices, and neither TVM's operators and
graphs (topi, relay) nor its other front ends (TVMScript, TensorIR).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from typing import NoReturn

from ..errors import MissingModuleError, MissingNameError, TVMError, refuse


@dataclass(frozen=True)
class Omission:
    """The reason for an omission, and the alternative."""

    reason: str
    way_out: str


_COMPUTE = "write it as a te.compute with a schedule"
_OPERATORS = Omission("its operators are texloom.ops", f"call those, or {_COMPUTE}")
_GRAPHS = Omission(
    "graphs are built by texloom.graph or come from ONNX",
    "build one by texloom.graph.Graph, or load a model by texloom.compile",
)
_TUNING = Omission(
    "schedules are searched over the knobs that users declare",
    "declare them by texloom.tune.space, or by texloom.autotvm.template",
)
_NETWORKS = Omission("networks are tuned as a whole", "use `texloom tune model.onnx`")
_REMOTE = Omission(
    "it does not access remote devices",
    "write the module by export_library, and run it there by runtime.load_module",
)
_TENSORIR = Omission("there is no TensorIR: programs are schedules of te", _COMPUTE)
_STATEMENTS = Omission(
    "statements are made and printed, but have no classes",
    "make them by tir.ir_builder, and read the text of what texloom.lower returns",
)
_LIBRARIES = Omission("kernels cannot call libraries", _COMPUTE)
_HOST = Omission("there is no host code to compile", 'build for the target "opencl"')
_CALLS = Omission(
    "kernels can call only OpenCL C functions",
    'call it by tir.call_pure_extern("float32", "fma", a, b, c)',
)

# Omissions, by the name after "texloom.".
OMITTED: dict[str, Omission] = {
    "auto_scheduler": _TUNING,
    "autotvm.LocalExecutor": _TUNING,
    "autotvm.RPCRunner": _REMOTE,
    "autotvm.feature": _TUNING,
    "autotvm.graph_tuner": _NETWORKS,
    "autotvm.task.extract_from_program": _NETWORKS,
    "autotvm.task.topi_integration": _OPERATORS,
    "autotvm.tuner.xgboost_cost_model": Omission(
        "its model is LightGBM, which learns from knobs",
        "call load_history of autotvm.tuner.XGBTuner",
    ),
    "autotvm.tophub": Omission("it loads no logs", "give a log to autotvm.apply_history_best"),
    "meta_schedule": _TUNING,
    "micro": _REMOTE,
    "relay": _GRAPHS,
    "rpc": _REMOTE,
    "script": _TENSORIR,
    "topi": _OPERATORS,
    **{
        f"contrib.{name}": _LIBRARIES
        for name in "cblas cublas cublaslt cudnn dnnl miopen mkl mps nnpack random rocblas "
        "sort sparse thrust".split()
    },
    **{f"contrib.{name}": _GRAPHS for name in "debugger graph_executor pipeline_executor".split()},
    **{f"contrib.{name}": _HOST for name in "clang emcc hexagon ndk spirv tar xcode".split()},
    "contrib.dlpack": Omission(
        "functions take arrays of a device", "nd.from_dlpack(x, device) makes them"
    ),
    "contrib.tedd": Omission("schedules are not drawn by tedd", "texloom.show draws them"),
    "te.create_prim_func": _TENSORIR,
    "te.extern_primfunc": _TENSORIR,
    "te.gradient": Omission("derivatives are not computed", "write the derivative as a te.compute"),
    "te.hybrid": Omission(
        "Python functions are not compiled",
        "write a te.compute, or a te.extern whose statement tir.ir_builder makes",
    ),
    **{
        f"tir.{name}": _TENSORIR
        for name in "Block BlockRealize BlockScope BufferRegion MatchBufferRegion PrimFunc "
        "Schedule ScheduleState StmtSRef schedule".split()
    },
    **{
        f"tir.{name}": _STATEMENTS
        for name in "Allocate AllocateConst AssertStmt AttrStmt BufferLoad BufferRealize "
        "BufferStore Evaluate For IfThenElse Let LetStmt Load Prefetch ProducerRealize "
        "ProducerStore SeqStmt Shuffle Store While stmt_functor stmt_list stmt_seq".split()
    },
    **{
        f"tir.{name}": _CALLS
        for name in "CallEffectKind call_cpacked call_llvm_intrin call_llvm_pure_intrin "
        "call_packed lookup_param ret tvm_stack_make_array tvm_tuple".split()
    },
    "tir.analysis": _STATEMENTS,
    "tir.reinterpret": Omission(
        "expressions convert values, not bits", "use .astype, or te.const for constants"
    ),
    "tir.transform": Omission(
        "passes cannot be called individually", "texloom.lower_texts shows what each does"
    ),
}


def _refuse(name: str, what: Omission, raised_as: type[TVMError]) -> NoReturn:
    refuse("NotProvided", f"there is no {name} in Texloom: {what.reason}", what.way_out, raised_as)


def _path_in_tvm(name: str) -> str:
    """Return TVM's spelling of a name in this package or in :mod:`texloom.tvm`."""
    return name.removeprefix("texloom.").removeprefix("tvm.")


def refuse_name(module: str, name: str) -> NoReturn:
    """Refuse a missing attribute of a module.

    Raises
    ------
    AttributeError
        A TVMError with the code TL2042 for a name that is omitted.
    """
    path = _path_in_tvm(f"{module}.{name}")
    if path in OMITTED:
        _refuse(path, OMITTED[path], MissingNameError)
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


class _Finder(MetaPathFinder):
    """A finder that Python asks for missing modules."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> None:
        """Return None, or raise an ImportError, also a TVMError, for an omitted module."""
        del path, target
        name = _path_in_tvm(fullname)
        if fullname.startswith("texloom.") and name in OMITTED:
            _refuse(name, OMITTED[name], MissingModuleError)


sys.meta_path.append(_Finder())

__all__ = ["OMITTED", "Omission", "refuse_name"]
