"""Memory shared with other array libraries by DLPack; NumPy stands for all of them."""

import numpy as np
import pytest

import texloom as tvm

CPU, OPENCL = 1, 4


def test_arrays_of_the_host_share_their_memory():
    """In both directions, a value that one side writes is visible to the other."""
    theirs = np.zeros((2, 3), "float32")
    ours = tvm.nd.from_dlpack(theirs)
    assert (ours.device, ours.shape, ours.dtype) == (tvm.cpu(), (2, 3), "float32")
    theirs[0, 1] = 1
    assert ours.numpy()[0, 1] == 1
    back = np.from_dlpack(ours)
    back[1, 2] = 2
    assert theirs[1, 2] == 2 and ours.numpy()[1, 2] == 2
    assert ours.__dlpack_device__() == (CPU, 0)


def test_memory_is_kept_by_each_side():
    """Each array keeps the memory alive after the array that allocated it is gone."""
    ours = tvm.nd.array(np.arange(1000), tvm.cpu())
    theirs = np.from_dlpack(ours)
    del ours
    again = tvm.nd.from_dlpack(theirs)
    del theirs
    np.testing.assert_array_equal(again.numpy(), np.arange(1000))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float64"])
def test_strides_and_dtypes(dtype):
    """Non-contiguous arrays are shared without a copy, with their strides."""
    base = np.arange(24).reshape(4, 6).astype(dtype)
    for view in (base.T, base[::2, 1::3], base[::-1]):
        ours = tvm.nd.from_dlpack(view)
        assert ours.dtype == dtype
        np.testing.assert_array_equal(ours.numpy(), view)
        assert np.shares_memory(np.from_dlpack(ours), base)


def test_copies_on_demand():
    theirs = np.zeros(3)
    copied = tvm.nd.from_dlpack(theirs, copy=True)
    copied[:] = 1
    assert (theirs == 0).all()
    shared = tvm.nd.from_dlpack(theirs, copy=False)
    assert np.shares_memory(np.from_dlpack(shared, copy=False), theirs)
    assert not np.shares_memory(np.from_dlpack(shared, copy=True), theirs)


def test_what_is_read_only_stays_so():
    theirs = np.zeros(3)
    theirs.flags.writeable = False
    ours = tvm.nd.from_dlpack(theirs)
    for write in (lambda: ours.copyfrom(np.ones(3)), lambda: ours.__setitem__(slice(None), 1)):
        with pytest.raises(tvm.TVMError, match=r"TL5020(.|\n)*read-only") as raised:
            write()
        assert isinstance(raised.value, ValueError)
    assert not np.from_dlpack(ours).flags.writeable
    with pytest.raises(BufferError, match="readonly"):
        ours.__dlpack__()  # for a consumer whose DLPack capsules have no flag for read-only


def test_copies_on_devices(dev):
    """A device array needs a copy of host memory, which copy=False forbids."""
    theirs = np.arange(6, dtype="float32").reshape(2, 3)
    there = tvm.nd.from_dlpack(theirs, dev)
    theirs[:] = 0
    assert there.device == dev
    np.testing.assert_array_equal(there.numpy(), np.arange(6).reshape(2, 3))
    with pytest.raises(ValueError, match="copy=False"):
        tvm.nd.from_dlpack(theirs, dev, copy=False)


def test_arrays_of_devices_are_shared_with_themselves_alone(dev):
    """Device arrays report their device; the host cannot view them, but can request copies."""
    ours = tvm.nd.array(np.arange(4, dtype="int32"), dev)
    assert ours.__dlpack_device__() == (OPENCL, dev.device_id)
    assert tvm.nd.from_dlpack(ours) is tvm.nd.from_dlpack(ours, dev, copy=False) is ours
    assert tvm.nd.from_dlpack(ours, copy=True) is not ours
    for refused in (
        lambda: np.from_dlpack(ours),
        lambda: ours.__dlpack__(dl_device=(CPU, 0), copy=False),
        lambda: ours.__dlpack__(dl_device=(OPENCL, dev.device_id)),
    ):
        with pytest.raises(BufferError, match=r"no memory to share(.|\n)*numpy\(\)"):
            refused()
    np.testing.assert_array_equal(np.from_dlpack(ours, device="cpu"), np.arange(4))
    on_host = tvm.nd.from_dlpack(ours, "cpu")
    assert on_host.device == tvm.cpu() and (on_host.numpy() == np.arange(4)).all()


def test_streams_and_other_devices_are_refused(dev):
    host, there = tvm.nd.array([1.0], tvm.cpu()), tvm.nd.array([1.0], dev)
    for ours in (host, there):
        with pytest.raises(BufferError, match="streams"):
            ours.__dlpack__(stream=1)
    with pytest.raises(BufferError, match=r"but dl_device=\(2, 0\) is requested"):
        host.__dlpack__(dl_device=(2, 0))


class OnCuda:
    """An array of another library on a GPU."""

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **_):
        raise AssertionError("it is not asked")


def test_what_cannot_be_imported():
    with pytest.raises(TypeError, match="3 does not support DLPack"):
        tvm.nd.from_dlpack(3)
    with pytest.raises(ValueError, match="kind 2, not on the host"):
        tvm.nd.from_dlpack(OnCuda())
    with pytest.raises(TypeError, match="takes numbers"):
        tvm.nd.from_dlpack(np.zeros(2, "complex64"))


@pytest.mark.parametrize("told", [None, "cpu", "ab", (1,), ("cpu", 0), (1.5, 0), 1])
def test_a_device_that_is_no_pair_of_numbers(told):
    class Lost(OnCuda):
        def __dlpack_device__(self):
            return told

    with pytest.raises(TypeError, match=r"TL2040(.|\n)*__dlpack_device__ of a value of type Lost"):
        tvm.nd.from_dlpack(Lost())
