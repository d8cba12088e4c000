"""Devices over an application's own objects of OpenCL or Metal."""

from __future__ import annotations

import operator
from typing import Any

from .. import _core, errors
from .._core import Device
from ..checks.argument_kinds import shown
from ..checks.checked_calls import check_calls
from .absent import AbsentDevice, refuse


def handle(name: str, given: Any) -> int:
    """Return an object's address: an integer, or the ``int_ptr`` of an object of PyOpenCL."""
    try:
        address = operator.index(getattr(given, "int_ptr", given))
    except TypeError:
        address = 0
    if not 0 < address < 2**64:
        errors.refuse(
            "BadArgument",
            f"{name} is {shown(given)}, not an object of OpenCL or Metal",
            "pass an object of PyOpenCL, or the address of a C object as an integer",
        )
    return address


def _optional(name: str, given: Any) -> int:
    return 0 if given is None else handle(name, given)


def opencl_of(context: Any, queue: Any = None, device: Any = None) -> Device:
    """Return a device over an application's own OpenCL context and queue.

    Kernels run in the application's queue, in order with its own commands, and :func:`nd.wrap`
    makes arrays of its memory. The device retains the objects, and releases them when the device,
    its arrays, and the functions and graphs that ran on it are gone. The same objects give the same
    device while it exists.

    Parameters
    ----------
    context : pyopencl.Context or int
        The context, or the address of the ``cl_context``, which must be valid.
    queue : pyopencl.CommandQueue or int, optional
        A queue of the context whose commands are in order. Without one the device has a queue of
        its own: then finish the commands that write inputs before a call, and ``sync()`` the device
        before outputs are used.
    device : pyopencl.Device or int, optional
        The device, if the context has several and there is no queue.

    Raises
    ------
    TVMError
        TL2040 for objects that do not belong together, or a queue that is out of order; TL5006 if
        there is no OpenCL device.
    """
    return _core.device_over(
        "opencl",
        handle("context", context),
        _optional("device", device),
        _optional("queue", queue),
    )


def metal_of(device: Any, queue: Any = None) -> Device:
    """Return a device over an application's own ``MTLDevice`` and queue; see :func:`opencl_of`.

    Parameters
    ----------
    device : int
        The address of the ``id<MTLDevice>``; with PyObjC, ``objc.pyobjc_id(device)``.
    queue : int, optional
        The address of an ``id<MTLCommandQueue>`` of the device.
    """
    if "metal" not in _core.driver_names():
        refuse(AbsentDevice("metal"))
    return _core.device_over("metal", 0, handle("device", device), _optional("queue", queue))


__all__ = ["metal_of", "opencl_of"]
check_calls(globals())
