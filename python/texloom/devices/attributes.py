"""Attributes of devices, with TVM's names."""

from __future__ import annotations

from .. import _core, errors
from .._core import Device
from ..tvm.spellings import device_number

_NO_DEVICE = "TL5006"


def _exist(self: Device) -> bool:
    """Whether the driver finds a device with this number."""
    try:
        return self.device_id < len(_core.devices_of(self.driver))
    except errors.TVMError as error:
        if error.code == _NO_DEVICE:
            return False
        raise


Device.exist = property(_exist)
Device.device_type = property(
    lambda self: device_number(self.driver), doc="TVM's number of the kind."
)
Device.device_name = property(
    lambda self: self.info["name"], doc="The name that the driver reports."
)
Device.max_threads_per_block = property(
    lambda self: self.info["max_threads_per_block"], doc="Threads that a block may have."
)
Device.max_thread_dimensions = property(
    lambda self: self.info["max_thread_dimensions"],
    doc="Threads that a block may have along x, y and z.",
)
Device.warp_size = property(lambda _: 1, doc="1: OpenCL reports it only for a compiled kernel.")
Device.max_shared_memory_per_block = property(
    lambda self: self.info["max_shared_memory_per_block"],
    doc="Bytes of shared memory that a block may have.",
)
Device.multi_processor_count = property(
    lambda self: self.info["compute_units"], doc="The number of processors that run blocks."
)
Device.texture_spatial_limit = property(
    lambda self: min(self.info["max_image_width"], self.info["max_image_height"]),
    doc="Texels that an image may have in each direction.",
)
