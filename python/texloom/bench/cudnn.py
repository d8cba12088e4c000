"""cuDNN's convolution through PyTorch, where both are there: the time to beat on NVIDIA's GPUs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from numpy.typing import NDArray

from .timing import Arm


def device_name() -> str | None:
    """The CUDA device that PyTorch would use; None without PyTorch or such a device."""
    if find_spec("torch") is None:
        return None
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def convolution(data: NDArray[Any], weight: NDArray[Any], *, padding: int = 1) -> Arm:
    """A float32 convolution ``[N, I, H, W]`` with ``[O, I, KH, KW]``, TF32 off.

    cuDNN measures its algorithms in the unmeasured first run, and takes the fastest.
    """
    import torch

    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    x, w = (torch.from_numpy(array).cuda() for array in (data, weight))

    def run() -> None:
        with torch.no_grad():
            torch.nn.functional.conv2d(x, w, padding=padding)

    return Arm(run, torch.cuda.synchronize)
