"""CUDA's compiler: importable, but calls are refused, because kernels are not in CUDA C."""

from __future__ import annotations

from typing import Any, NoReturn

from ...errors import refuse

_WAY_OUT = 'build for the target "opencl", whose kernels the driver compiles'


def compile_cuda(*args: Any, **options: Any) -> NoReturn:
    """Refused: kernels are not in CUDA C."""
    del args, options
    refuse("NotProvided", "nvcc.compile_cuda: kernels are not in CUDA C", _WAY_OUT)


def find_cuda_path() -> NoReturn:
    """Refused: Texloom does not use CUDA."""
    refuse("NotProvided", "nvcc.find_cuda_path: Texloom does not use CUDA", _WAY_OUT)


def get_target_compute_version(target: Any = None) -> NoReturn:
    """Refused: no target has a compute capability."""
    del target
    refuse("NotProvided", "nvcc.get_target_compute_version: there are no CUDA targets", _WAY_OUT)


__all__ = ["compile_cuda", "find_cuda_path", "get_target_compute_version"]
