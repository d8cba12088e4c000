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


def repeated_convolutions(
    data: NDArray[Any], weight: NDArray[Any], padding: int, runs: int
) -> dict[str, Arm]:
    """`runs` convolutions of ``[N, H, W, I]`` with ``[KH, KW, I, O]`` in one CUDA graph.

    With weights ``[KH, KW, C]`` each channel has a filter of its own. One arm for each of the
    orders in memory that PyTorch has: ``"NCHW"`` and ``"channels last"``. float32, TF32 off.
    """
    import torch

    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    groups = data.shape[3] if weight.ndim == 3 else 1
    x = torch.from_numpy(data).cuda().permute(0, 3, 1, 2)
    w = torch.from_numpy(weight).cuda()
    w = w.permute(2, 0, 1)[:, None] if weight.ndim == 3 else w.permute(3, 2, 0, 1)
    orders = {"NCHW": torch.contiguous_format, "channels last": torch.channels_last}

    def graph(order: Any) -> Arm:
        own_x, own_w = (t.contiguous(memory_format=order) for t in (x, w))

        def run() -> None:
            torch.nn.functional.conv2d(own_x, own_w, padding=padding, groups=groups)

        with torch.no_grad():
            for _ in range(3):  # cuDNN measures its algorithms, which a graph cannot hold
                run()
            torch.cuda.synchronize()
            recorded = torch.cuda.CUDAGraph()
            with torch.cuda.graph(recorded):
                for _ in range(runs):
                    run()
        return Arm(recorded.replay, torch.cuda.synchronize)

    return {name: graph(order) for name, order in orders.items()}
