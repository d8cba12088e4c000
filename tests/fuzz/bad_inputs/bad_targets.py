"""Invalid targets, and programs that exceed a target's limits."""

from __future__ import annotations

from bad_input import block, case, copy_of, thread

import texloom as tvm
from texloom import te


@case("TL4001")
def block_larger_than_the_target_allows() -> None:
    x, y, s = copy_of((8, 2048))
    s[y].bind(s[y].op.axis[0], block())
    s[y].bind(s[y].op.axis[1], thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL4001")
def block_too_large_in_two_dimensions() -> None:
    x, y, s = copy_of((64, 64))
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.y"))  # wrong
    s[y].bind(s[y].op.axis[1], thread())
    tvm.lower(s, [x, y])


@case("TL4002")
def texture_that_no_fold_brings_under_the_limit() -> None:
    x, y, s = copy_of((100, 100, 4))
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture", [y])  # wrong
    tvm.lower(s, [x, y], target="opencl -texture_spatial_limit=64")


@case("TL4002")
def array_that_no_fold_brings_under_the_limit() -> None:
    limited = tvm.target.Target("opencl -texture_spatial_limit=16")
    tvm.nd.empty((100, 100, 4), mem_scope="texture", target=limited)  # wrong


@case("TL4003")
def unknown_target() -> None:
    tvm.target.Target("opengl")  # wrong


@case("TL4003")
def unknown_target_of_a_build() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    tvm.build(s, [x, y], "cuda")  # wrong


@case("TL4003")
def unknown_target_attribute() -> None:
    tvm.target.Target("opencl -texture_limit=16")  # wrong


@case("TL4003", says="the target is not valid JSON")
def target_that_is_no_json() -> None:
    tvm.target.Target('{"kind": opencl}')  # wrong


@case("TL4003", says="unexpected 'mali' in the target")
def value_of_a_target_option_twice() -> None:
    tvm.target.Target("opencl -device=adreno mali")  # wrong


@case("TL4003")
def target_limit_of_zero() -> None:
    tvm.target.Target("opencl -max_num_threads=0")  # wrong


@case("TL4003", says="no device of Metal has more than 31")
def more_buffers_than_metal_has_slots() -> None:
    tvm.target.Target("metal -max_buffers=32")  # wrong


@case("TL4003", says="the name of a device, not with a kind")
def a_dict_that_names_a_device() -> None:
    tvm.target.Target({"kind": "metal:0", "max_buffers": 1})  # wrong


@case("TL4004")
def shared_memory_beyond_the_limit() -> None:
    x, y, s = copy_of((8, 64, 256))
    cache = s.cache_read(x, "shared", [y])  # wrong
    s[y].bind(s[y].op.axis[0], block())
    s[cache].compute_at(s[y], s[y].op.axis[0])
    tvm.lower(s, [x, y])


@case("TL4004")
def arrays_of_one_thread_beyond_the_limit() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((1_000_000,), lambda i: x[i % 8] + i, name="P")  # wrong
    y = te.compute((8,), lambda i: p[i * 1000] + p[999_999 - i], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[p].compute_at(s[y], s[y].op.axis[0])
    s[p].set_scope("local")
    tvm.lower(s, [x, y])


@case("TL4001")
def more_threads_along_z_than_any_device_has() -> None:
    x, y, s = copy_of((128, 4))
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.z"))  # wrong
    tvm.lower(s, [x, y])


@case("TL4005")
def element_type_that_metal_does_not_have() -> None:
    x = te.placeholder((8, 4), "float64", name="X")  # wrong
    y = te.compute((8, 4), lambda i, j: x[i, j].astype("float32"), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.build(s, [x, y], "metal")


@case("TL4006")
def too_many_textures_in_one_kernel() -> None:
    xs = [te.placeholder((8, 4), name=f"X{n}") for n in range(3)]
    y = te.compute((8, 4), lambda i, j: xs[0][i, j] + xs[1][i, j] + xs[2][i, j], name="Y")  # wrong
    s = te.create_schedule(y.op)
    for x in xs:
        cache = s.cache_read(x, "texture", [y])
        s[cache].bind(s[cache].op.axis[0], block())
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [*xs, y], target="opencl -max_image_reads=2")


@case("TL4007")
def tensor_beyond_64_bit_sizes() -> None:
    n = 2**31 - 1
    x = te.placeholder((n, n), name="X")  # wrong
    y = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


@case("TL4007")
def split_beyond_32_bit_indices() -> None:
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[i] + 1, name="Y")  # wrong
    s = te.create_schedule(y.op)
    outer, _ = s[y].split(s[y].op.axis[0], factor=2**40)
    s[y].bind(outer, block())
    tvm.lower(s, [x, y])


@case("TL4002")
def layout_over_the_limit() -> None:
    x, y, s = copy_of((100, 4))
    s.cache_read(x, "texture", [y], layout="texture[(h, c) -> rows=h, lanes=c]")  # wrong
    tvm.lower(s, [x, y], target="opencl -texture_spatial_limit=64")


@case("TL4008")
def texture_on_a_target_without_images() -> None:
    x, y, s = copy_of((8, 4))
    s.cache_read(x, "texture", [y])  # wrong
    tvm.lower(s, [x, y], target="opencl -images=0")


@case("TL4005")
def float64_on_a_target_without() -> None:
    x = te.placeholder((8,), "float64", name="X")  # wrong
    y = te.compute((8,), lambda i: x[i] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y], target="opencl -float64=0")
