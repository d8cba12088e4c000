"""Devices over an application's own OpenCL context and queue, and arrays of its memory."""

import gc
import subprocess
import sys

import numpy as np
import onnx.parser
import pytest

import texloom
from texloom import te

cl = pytest.importorskip("pyopencl")
N = 256


@pytest.fixture
def own():
    """The application's context, and a queue of it."""
    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    return context, cl.CommandQueue(context)


def doubled(mem_scope="global", shape=(N,)):
    x = te.placeholder(shape, name="x")
    y = te.compute(shape, lambda *i: x[i] * 2, name="y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    if mem_scope != "global":
        s[x].set_scope(mem_scope)
    return texloom.build(s, [x, y], "opencl", name="doubled")


def buffer(context, flags=0, nbytes=N * 4):
    return cl.Buffer(context, cl.mem_flags.READ_WRITE | flags, nbytes)


def test_a_function_runs_in_the_queue_of_the_application(own):
    """Only the order in the queue makes the values right: nothing waits before the last read."""
    context, queue = own
    device = texloom.opencl_of(context, queue)
    ins, outs = buffer(context), buffer(context)
    x, y = (texloom.nd.wrap(each, N, device=device) for each in (ins, outs))
    function = doubled()
    given = [np.arange(N, dtype="float32") + i for i in range(10)]
    results = [np.zeros(N, "float32") for _ in given]
    for values, result in zip(given, results, strict=True):
        cl.enqueue_copy(queue, ins, values, is_blocking=False)
        function(x, y)
        cl.enqueue_copy(queue, result, outs, is_blocking=False)
    queue.finish()
    for values, result in zip(given, results, strict=True):
        assert np.array_equal(result, values * 2)
    assert np.array_equal(y.numpy(), given[-1] * 2)


def test_a_graph_runs_in_a_context_without_a_queue(own):
    context, _ = own
    device = texloom.opencl_of(context)
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 20]>
        twice (float[4, 8] x) => (float[4, 8] y) { y = Add(x, x) }"""
    )
    values = np.arange(32, dtype="float32").reshape(4, 8)
    (result,) = texloom.compile(model).run({"x": values}, device=device).values()
    assert np.array_equal(result, values * 2)


def test_an_image_is_a_texture(own):
    context, queue = own
    device = texloom.opencl_of(context, queue)
    rgba = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
    image = cl.create_image(context, cl.mem_flags.READ_WRITE, rgba, shape=(12, 10))
    shape = (8, 8, 4)
    x = texloom.nd.wrap(image, shape, mem_scope="texture", device=device, origin=(4, 2))
    y = texloom.nd.empty(shape, device=device)
    values = np.random.default_rng(1).standard_normal((10, 12, 4), "float32")
    cl.enqueue_copy(queue, image, values, origin=(0, 0), region=(12, 10), is_blocking=False)
    assert np.array_equal(x.numpy(), values[2:, 4:])
    x[:] = 3
    cl.enqueue_copy(queue, values, image, origin=(0, 0), region=(12, 10))
    assert (values[2:, 4:] == 3).all() and not (values[:2] == 3).any()
    assert y.device == x.device


def test_the_array_keeps_the_memory_and_the_device_the_context(own):
    context, queue = own
    start = context.reference_count
    device = texloom.opencl_of(context, queue)
    assert device == texloom.opencl_of(context.int_ptr, queue.int_ptr)
    assert hash(device) == hash(texloom.opencl_of(context, queue))
    assert device != texloom.opencl(0) and device != texloom.opencl_of(context)
    memory = buffer(context)
    array = texloom.nd.wrap(memory.int_ptr, N, device=device)
    assert memory.reference_count == 2
    cl.enqueue_copy(queue, memory, np.ones(N, "float32"))
    memory.release()
    assert (array.numpy() == 1).all()
    assert context.reference_count > start
    del array, device, memory
    gc.collect()
    assert context.reference_count == start


def test_a_part_of_a_buffer(own):
    context, queue = own
    device = texloom.opencl_of(context, queue)
    step = context.devices[0].mem_base_addr_align // 8
    memory = buffer(context, nbytes=2 * step)
    part = memory[step : 2 * step]
    whole = texloom.nd.wrap(memory, step // 4, device=device, offset=step)
    assert np.array_equal(
        whole.copyfrom(np.arange(step // 4)).numpy(),
        texloom.nd.wrap(part, step // 4, device=device).numpy(),
    )


def refused(code, part, call):
    with pytest.raises(texloom.TVMError) as error:
        call()
    assert error.value.code == code
    assert part in str(error.value)


def test_what_does_not_fit_is_refused(own):
    context, queue = own
    device = texloom.opencl_of(context, queue)
    memory, wrap = buffer(context), texloom.nd.wrap
    refused("TL2040", "context is 'x', not an object of OpenCL", lambda: texloom.opencl_of("x"))
    refused("TL2040", "queue is 0, not an object", lambda: texloom.opencl_of(context, 0))
    other = cl.Context(context.devices)
    refused(
        "TL2040",
        "the queue belongs to another cl_context",
        lambda: texloom.opencl_of(other, queue),
    )
    unordered = cl.CommandQueue(
        context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    )
    refused("TL2040", "the queue is out of order", lambda: texloom.opencl_of(context, unordered))
    refused("TL5003", "does not fit memory of 1024 bytes", lambda: wrap(memory, 257, device=device))
    refused("TL2040", "cannot begin at byte 4", lambda: wrap(memory, 2, device=device, offset=4))
    refused(
        "TL2040",
        "the object is a buffer, expected a 2-D image",
        lambda: wrap(memory, (4, 4, 4), device=device, mem_scope="texture"),
    )
    refused("TL2040", "belongs to another cl_context", lambda: wrap(memory, N, device="opencl"))
    refused("TL2040", "cannot be an array of cpu(0)", lambda: wrap(memory, N, device=texloom.cpu()))
    hidden = wrap(buffer(context, cl.mem_flags.HOST_NO_ACCESS), N, device=device)
    refused("TL5007", "so that the host cannot read it", hidden.numpy)
    array = wrap(memory, N, device=device)
    refused("TL5011", "overlap in memory", lambda: doubled()(array, array))
    refused("TL5005", "is on opencl(0), but", lambda: doubled()(array, texloom.nd.empty(N)))


def test_a_device_without_metal_objects_is_refused():
    if "metal" in texloom._core.driver_names():
        refused("TL2040", "device is 0, not an object", lambda: texloom.metal_of(0))
    else:
        refused("TL5006", "metal(0) cannot be used", lambda: texloom.metal_of(1))


def test_a_process_ends_with_work_in_the_queue(own, tmp_path):
    """The device is closed at the end, when the application may have released its objects."""
    script = tmp_path / "shares.py"
    script.write_text(
        "import pyopencl as cl, texloom\n"
        "context = cl.Context([cl.get_platforms()[0].get_devices()[0]])\n"
        "device = texloom.opencl_of(context, cl.CommandQueue(context))\n"
        f"array = texloom.nd.empty({N}, device=device)\n"
        "del context\n"
        "array[:] = 1\n"
        "print(array.numpy().sum())\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"{float(N)}\n"), done.stderr
