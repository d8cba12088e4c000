"""Wrong statements of externs, and directives that an extern does not support."""

from __future__ import annotations

from bad_input import block, case, extern_of

import texloom as tvm
from texloom import te


@case("TL1020", says="index 8 is out of bounds for axis 0 of 'extern' (0 to 7)")
def extern_that_writes_past_its_output() -> None:
    x = te.placeholder((8,), name="X")
    te.extern((8,), [x], lambda ins, outs: outs[0].vstore(8, ins[0].vload(0)))  # wrong


@case("TL1020", says="index j is out of bounds for axis 1 of 'X' (0 to 3)")
def extern_whose_loop_leaves_its_input() -> None:
    x = te.placeholder((8, 4), name="X")

    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        ib = tvm.tir.ir_builder.create()
        y = ib.buffer_ptr(outs[0])
        with ib.for_range(0, 5, "j") as j:
            y[0] = ins[0].vload((0, j))  # wrong
        return ib.get()

    te.extern((8,), [x], body)


@case("TL1020", says="cannot be called with its 2 lists: too many positional arguments")
def extern_of_a_function_of_its_inputs() -> None:
    x = te.placeholder((8,), name="X")
    te.extern((8,), [x], lambda ins: ins[0].vload(0))  # wrong


@case("TL1021", says="missing a required argument: 'scalars'")
def intrinsic_of_a_function_of_scalars_without_any() -> None:
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i] + 1, name="Y")
    te.decl_tensor_intrin(y.op, lambda ins, outs, scalars: outs[0].vstore(0, 1.0))  # wrong


@case("TL1020", says="the element [0] of the buffer 'Y' is assigned")
def buffer_that_is_assigned() -> None:
    y = tvm.tir.decl_buffer((8,), name="Y")
    y[0] = 1.0  # wrong


@case("TL1020", says="the buffer 'Y' is indexed by [0, i]")
def buffer_that_is_indexed() -> None:
    y = tvm.tir.decl_buffer((8, 8), name="Y")
    y[0, te.var("i")]  # wrong


@case("TL1020")
def extern_that_writes_its_input() -> None:
    x = te.placeholder((8,), name="X")
    te.extern((8,), [x], lambda ins, outs: ins[0].vstore(0, ins[0].vload(1)))  # wrong


@case("TL1020")
def extern_that_reads_a_tensor_itself() -> None:
    x = te.placeholder((8,), name="X")
    te.extern((8,), [x], lambda ins, outs: outs[0].vstore(0, x[0]))  # wrong


@case("TL1020")
def buffer_of_another_shape_than_its_tensor() -> None:
    x = te.placeholder((8,), name="X")
    buffer = tvm.tir.decl_buffer((4,))  # wrong
    te.extern((8,), [x], lambda ins, outs: outs[0].vstore(0, 1.0), in_buffers=buffer)


@case("TL1020", says="'Y' uses 'k', which is neither defined in it")
def extern_that_uses_a_scalar_of_nowhere() -> None:
    k, x = te.var("k", "float32"), te.placeholder((te.var("n"),), name="X")
    y = te.extern(x.shape, [x], lambda ins, outs: outs[0].vstore(0, k), name="Y")  # wrong
    tvm.lower(te.create_schedule(y.op), [x, y])


@case("TL1001")
def extern_of_an_extent_that_nothing_tells() -> None:
    y = te.extern(
        (te.var("n"),), [], lambda ins, outs: outs[0].vstore(0, 1.0), dtype="float32", name="Y"
    )
    z = te.compute((8,), lambda i: y[0], name="Z")
    tvm.lower(te.create_schedule(z.op), [z])  # wrong


@case("TL1001")
def shared_memory_of_a_symbolic_size() -> None:
    ib = tvm.tir.ir_builder.create()
    ib.allocate("float32", te.var("n"), name="tile", scope="shared")  # wrong


@case("TL1001", says="the shape of 'tile' has the extent true, which cannot be an extent")
def memory_of_a_truth_value() -> None:
    ib = tvm.tir.ir_builder.create()
    ib.allocate("float32", True, name="tile", scope="local")  # wrong


@case("TL3001")
def threads_of_an_extern_of_a_symbolic_number() -> None:
    x = te.placeholder((te.var("n"),), name="X")

    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        ib = tvm.tir.ir_builder.create()
        thread = te.thread_axis("threadIdx.x")
        ib.scope_attr(thread, "thread_extent", x.shape[0])  # wrong
        ib.emit(outs[0].vstore(thread, 1.0))
        return ib.get()

    y = te.extern(x.shape, [x], body, name="Y")
    tvm.build(te.create_schedule(y.op), [x, y])


@case("TL1020")
def global_memory_that_threads_allocate() -> None:
    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        ib = tvm.tir.ir_builder.create()
        ib.scope_attr(te.thread_axis("threadIdx.x"), "thread_extent", 8)
        ib.allocate("float32", 8, scope="global")  # wrong
        return ib.get()

    te.extern((8,), [], body, dtype="float32")


@case("TL1003")
def value_of_another_type_than_the_buffer() -> None:
    y = tvm.tir.decl_buffer((8,))
    y.vstore(0, te.const(1, "int32"))  # wrong


@case("TL1003")
def vectors_of_different_lanes() -> None:
    y = tvm.tir.decl_buffer((8,))
    y.vload(0, "float32x4") + y.vload(0, "float32x2")  # wrong


@case("TL1002")
def buffer_with_too_few_indices() -> None:
    tvm.tir.decl_buffer((8, 4)).vload(0)  # wrong


@case("TL1007")
def compute_that_reads_a_buffer() -> None:
    y = tvm.tir.decl_buffer((8,))
    te.compute((8,), lambda i: y.vload(i), name="Y")  # wrong


@case("TL2011")
def cache_write_of_an_extern() -> None:
    y = extern_of(te.placeholder((8,), name="X"))
    z = te.compute((8,), lambda i: y[i], name="Z")
    s = te.create_schedule(z.op)
    s.cache_write(y, "local")  # wrong


@case("TL2017")
def transform_layout_of_an_extern() -> None:
    y = extern_of(te.placeholder((8,), name="X"))
    z = te.compute((8,), lambda i: y[i], name="Z")
    s = te.create_schedule(z.op)
    s[y].transform_layout(lambda i: [i // 4, i % 4])  # wrong


@case("TL3003")
def extern_bound_to_no_thread() -> None:
    x = te.placeholder((8,), name="X")
    y = te.extern((8,), [x], lambda ins, outs: outs[0].vstore(0, 1.0), name="Y")  # wrong
    tvm.build(te.create_schedule(y.op), [x, y])


@case("TL3028")
def extern_computed_inside_its_reader() -> None:
    x = te.placeholder((8,), name="X")
    y = extern_of(x)
    z = te.compute((8,), lambda i: y[i], name="Z")
    s = te.create_schedule(z.op)
    s[z].bind(s[z].op.axis[0], block())
    s[y].compute_at(s[z], s[z].op.axis[0])  # wrong
    tvm.lower(s, [x, z])


@case("TL3028")
def extern_that_writes_a_texture() -> None:
    x = te.placeholder((8,), name="X")
    y = extern_of(x)
    s = te.create_schedule(y.op)
    s[y].set_scope("texture")  # wrong
    tvm.lower(s, [x, y])


@case("TL3005")
def attached_although_an_extern_reads_it() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] + 1, name="P")
    y = extern_of(p)
    z = te.compute((8,), lambda i: y[i] + p[i], name="Z")
    s = te.create_schedule(z.op)
    s[z].bind(s[z].op.axis[0], block())
    s[p].compute_at(s[z], s[z].op.axis[0])  # wrong
    s[p].set_scope("local")
    tvm.lower(s, [x, z])


@case("TL3001", says="blockIdx.x is not a positive constant: X[0]")
def blocks_of_a_number_in_memory() -> None:
    x = te.placeholder((8,), "int32", name="X")

    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        ib = tvm.tir.ir_builder.create()
        row = te.thread_axis("blockIdx.x")
        ib.scope_attr(row, "thread_extent", ins[0].vload(0))  # wrong
        ib.emit(outs[0].vstore(0, 1))
        return ib.get()

    y = te.extern((8,), [x], body, name="Y")
    tvm.build(te.create_schedule(y.op), [x, y])


@case("TL3001", says="blockIdx.x is not a positive constant: int32(q)")
def blocks_of_a_wide_symbol() -> None:
    q = te.var("q", "int64")

    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        ib = tvm.tir.ir_builder.create()
        row = te.thread_axis("blockIdx.x")
        ib.scope_attr(row, "thread_extent", q)  # wrong
        with ib.if_scope(row < 8):
            ib.emit(outs[0].vstore(row, 1.0))
        return ib.get()

    y = te.extern((8,), [], body, dtype="float32", name="Y")
    tvm.build(te.create_schedule(y.op), [q, y])


@case("TL3027")
def threads_that_would_meet_under_a_condition() -> None:
    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        ib = tvm.tir.ir_builder.create()
        tx = te.thread_axis("threadIdx.x")
        tile = ib.allocate("float32", 8, scope="shared")
        ib.scope_attr(tx, "thread_extent", 8)
        with ib.if_scope(tx < 4):  # wrong
            tile[tx] = 1.0
            ib.emit(outs[0].vstore(tx, tile[3 - tx]))
        return ib.get()

    x = te.extern((8,), [], body, dtype="float32", name="X")
    tvm.lower(te.create_schedule(x.op), [x])


@case("TL3028")
def loop_around_an_extern() -> None:
    y = extern_of(te.placeholder((8,), name="X"))
    s = te.create_schedule(y.op)
    s[y].fuse()  # wrong


@case("TL2031")
def store_predicate_of_an_extern() -> None:
    x = te.placeholder((8,), name="X")
    y = extern_of(x)
    s = te.create_schedule(y.op)
    s[y].set_store_predicate(te.thread_axis("threadIdx.x").var.equal(0))  # wrong
    tvm.lower(s, [x, y])
