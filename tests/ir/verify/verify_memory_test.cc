// Tests the rules about memory, threads and plans: for each, a program that breaks only that rule.

#include "tests/ir/verify/verify_fixture.h"

namespace texloom::ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// -- Visibility.

TEST_F(VerifyTest, KernelsSeeTheirOwnMemory) {
  const Stmt use = make_store(b, {offset()}, make_load(t, {offset()}));
  EXPECT_THAT(
      faults(one_kernel(zero(local, {make_int(0)}))),
      ElementsAre("visibility | L[0] = 0.0 | L is not a parameter of kernel k, nor allocated "
                  "there"));
  // Memory of the plan or of another kernel is not visible in a kernel.
  const Kernel first =
      kernel("first", {{b, Access::Write, nullptr}}, make_allocate(local, zero(b, {offset()})));
  const Kernel second = kernel("second", {{b, Access::Write, nullptr}},
                               make_store(b, {offset()}, make_load(local, {make_int(0)})));
  EXPECT_THAT(
      faults(kernels(make_seq({make_launch(0), make_launch(1)}), {first, second})),
      ElementsAre("visibility | L[0] | L is not a parameter of kernel second, nor allocated "
                  "there"));
  const Kernel third = kernel("third", {{b, Access::Write, nullptr}},
                              make_store(b, {offset()}, make_load(a, {offset()})));
  EXPECT_THAT(
      faults(kernels(make_launch(0), {third})),
      ElementsAre("visibility | A[bx * 16 + tx] | A is not a parameter of kernel third, nor "
                  "allocated there"));
}

TEST_F(VerifyTest, MemoryIsAllocatedWhereItBelongs) {
  EXPECT_THAT(faults(kernels(make_allocate(shared, make_empty()), {})),
              ElementsAre("visibility | alloca S | a shared buffer is allocated outside a kernel"));
  const Buffer global = make_buffer("G", kFloat32, {4}, MemoryScope::Global);
  EXPECT_THAT(faults(kernels(make_allocate(global, make_empty()), {})), IsEmpty());
  EXPECT_THAT(faults(one_kernel(make_allocate(global, copy()))),
              ElementsAre("visibility | alloca G | global memory is allocated inside a kernel"));
  Program program = loops(make_empty());
  program.params = {local};
  EXPECT_THAT(faults(program), ElementsAre("visibility | L | a parameter of the program is local"));
  program = kernels(make_empty(), {kernel("k", {{shared, Access::Read, nullptr}}, make_empty())});
  EXPECT_THAT(faults(program),
              ElementsAre("visibility | S | a shared buffer is a parameter of kernel k"));
}

// Two nests become two kernels, which share no local memory.
TEST_F(VerifyTest, NestsShareNoLocalMemory) {
  const Stmt write = zero(shared, {make_int(0)});
  const Expr load = make_load(shared, {make_int(0)});
  const Stmt read = make_store(a, {make_int(0), make_int(0)}, load);
  const auto in_nest = [&](const Stmt& body) { return nest(bx, 8, kBlockX, body); };
  EXPECT_THAT(faults(loops(make_allocate(shared, make_seq({in_nest(write), in_nest(read)})))),
              ElementsAre("visibility | S[0] | the shared buffer S is used by two kernels"));
  EXPECT_THAT(faults(loops(make_allocate(shared, make_seq({in_nest(read), in_nest(read)})))),
              ElementsAre("visibility | S[0] | the shared buffer S is used by two kernels"));
  EXPECT_THAT(faults(loops(make_allocate(shared, make_seq({in_nest(write), write})))),
              ElementsAre("visibility | S[0] = 0.0 | the shared buffer S is used by two kernels"));
  EXPECT_THAT(faults(loops(make_allocate(shared, in_nest(make_seq({write, read}))))), IsEmpty());
  // Two loops in one nest become one kernel.
  const auto inner = [&](const Stmt& body) { return thread(tx, 16, kThreadX, body); };
  EXPECT_THAT(
      faults(loops(in_nest(make_allocate(shared, make_seq({inner(write), inner(read), read}))))),
      IsEmpty());
  // Nested loops over one thread index become one kernel, too.
  EXPECT_THAT(
      faults(loops(make_allocate(
          shared, nest(tx, 16, kThreadX, make_seq({write, thread(i, 16, kThreadX, read), read}))))),
      IsEmpty());
  // Global memory is visible to all.
  const Stmt store = zero(a, {bx, make_int(0)});
  EXPECT_THAT(faults(loops(make_seq({in_nest(store), in_nest(store)}))), IsEmpty());
}

// -- Textures.

TEST_F(VerifyTest, TexturesHaveNodesOfTheirOwn) {
  EXPECT_THAT(faults(flattened(zero(t, {make_int(0)}))),
              ElementsAre("textures | T[0] = 0.0 | the texture T is accessed like a buffer"));
  EXPECT_THAT(faults(flattened(make_store(a, {make_int(0)}, make_load(t, {make_int(0)})))),
              ElementsAre("textures | T[0] | the texture T is accessed like a buffer"));
  EXPECT_THAT(faults(loops(zero(t, {make_int(0), make_int(0), make_int(0)}))), IsEmpty());
  const Expr texel(new TextureLoad(kFloat4, a, make_int(0), make_int(0)));
  EXPECT_THAT(
      faults(flattened(make_store(b, {make_int(0)}, make_lane(texel, make_int(1))))),
      ElementsAre("textures | texture2d.load(A, x=0, y=0: float32x4) | the buffer A is accessed "
                  "like a texture"));
  auto* store = new TextureStore;
  store->texture = a;
  store->x = store->y = make_int(0);
  store->value = make_const(0, kFloat4);
  EXPECT_THAT(faults(flattened(Stmt(store))),
              ElementsAre("textures | texture2d.store(A, x=0, y=0, x4(0.0)) | the buffer A is "
                          "accessed like a texture"));
}

// -- Access.

TEST_F(VerifyTest, DeclaredAccess) {
  const auto with = [&](Access of_a, Access of_b) {
    return faults(
        kernels(make_launch(0), {kernel("k", {{a, of_a, nullptr}, {b, of_b, nullptr}}, copy())}));
  };
  EXPECT_THAT(with(Access::Read, Access::Write), IsEmpty());
  EXPECT_THAT(with(Access::Write, Access::Write),
              ElementsAre("access | A | kernel k declares write and does read"));
  EXPECT_THAT(with(Access::ReadWrite, Access::Write),
              ElementsAre("access | A | kernel k declares read_write and does read"));
  EXPECT_THAT(with(Access::Read, Access::Read),
              ElementsAre("access | B | kernel k declares read and does write"));
  const Stmt both = make_store(b, {offset()}, make_load(b, {offset()}));
  EXPECT_THAT(faults(one_kernel(both)),
              ElementsAre("access | B | kernel k declares write and does read_write"));
  const Kernel good = kernel("k", {{b, Access::ReadWrite, nullptr}}, both);
  EXPECT_THAT(faults(kernels(make_launch(0), {good})), IsEmpty());
  EXPECT_THAT(faults(one_kernel(make_empty())), IsEmpty());
}

TEST_F(VerifyTest, NoTextureIsReadAndWritten) {
  const Stmt both = make_texture_store(t, tx, bx, make_texture_load(t, tx, bx));
  for (const Access access : {Access::Read, Access::ReadWrite}) {
    EXPECT_THAT(faults(kernels(make_launch(0), {kernel("k", {{t, access, nullptr}}, both)})),
                ElementsAre("access | T | kernel k reads and writes this texture"));
  }
}

// Each kernel's declared access is checked against its own loads and stores.
TEST_F(VerifyTest, AccessIsThatOfEachKernel) {
  const Expr shared_load = make_load(a, {make_int(0)});
  const Kernel first = kernel("first", {{a, Access::Read, nullptr}, {b, Access::Write, nullptr}},
                              make_store(b, {make_int(0)}, shared_load));
  const Kernel second = kernel("second", {{a, Access::Write, nullptr}}, zero(a, {make_int(0)}));
  const Kernel third = kernel("third", {{a, Access::Write, nullptr}, {b, Access::Write, nullptr}},
                              make_store(b, {make_int(1)}, shared_load));
  EXPECT_THAT(faults(kernels(make_empty(), {first, second})), IsEmpty());
  EXPECT_THAT(faults(kernels(make_empty(), {first, third})),
              ElementsAre("access | A | kernel third declares write and does read"));
}

// -- Axes.

TEST_F(VerifyTest, AxesOfKernels) {
  const auto with = [&](std::vector<ThreadAxis> axes, std::array<int64_t, 3> grid,
                        std::array<int64_t, 3> block) {
    Kernel k = kernel("k", {}, make_empty());
    k.axes = std::move(axes);
    for (size_t dim = 0; dim < grid.size(); ++dim) k.grid[dim] = make_int(grid[dim]);
    k.block = block;
    return faults(kernels(make_empty(), {k}));
  };
  const ThreadAxis block_x{kBlockX, bx, make_int(8)}, thread_x{kThreadX, tx, make_int(16)},
      thread_y{kThreadY, i, make_int(2)};
  const ThreadAxis block_z{{true, 2}, j, make_int(3)};
  EXPECT_THAT(with({block_x, block_z, thread_x, thread_y}, {8, 1, 3}, {16, 2, 1}), IsEmpty());
  EXPECT_THAT(with({}, {1, 1, 1}, {1, 1, 1}), IsEmpty());
  EXPECT_THAT(with({block_x, thread_y}, {8, 1, 1}, {1, 2, 1}), IsEmpty());
  EXPECT_THAT(with({thread_x, block_x}, {8, 1, 1}, {16, 1, 1}),
              ElementsAre("axes | k | blockIdx.x occurs twice or out of order"));
  EXPECT_THAT(with({block_z, block_x}, {8, 1, 3}, {1, 1, 1}),
              ElementsAre("axes | k | blockIdx.x occurs twice or out of order"));
  EXPECT_THAT(with({thread_x, {kThreadX, i, make_int(16)}}, {1, 1, 1}, {16, 1, 1}),
              ElementsAre("axes | k | threadIdx.x occurs twice or out of order"));
  EXPECT_THAT(
      with({block_x, thread_x}, {4, 1, 1}, {16, 1, 1}),
      ElementsAre("axes | k | its grid is (4, 1, 1), but its blockIdx axes have (8, 1, 1)"));
  EXPECT_THAT(
      with({block_x}, {8, 2, 1}, {1, 1, 1}),
      ElementsAre("axes | k | its grid is (8, 2, 1), but its blockIdx axes have (8, 1, 1)"));
  EXPECT_THAT(
      with({block_x, thread_x}, {8, 1, 1}, {16, 1, 2}),
      ElementsAre("axes | k | its block is (16, 1, 2), but its threadIdx axes have (16, 1, 1)"));
  EXPECT_THAT(
      with({}, {1, 1, 1}, {2, 1, 1}),
      ElementsAre("axes | k | its block is (2, 1, 1), but its threadIdx axes have (1, 1, 1)"));
  EXPECT_THAT(with({{kBlockX, bx, make_int(0)}}, {0, 1, 1}, {1, 1, 1}),
              ElementsAre("axes | k | the extent of blockIdx.x is 0, less than 1"));
  EXPECT_THAT(with({{kBlockX, bx, make_int(1)}}, {1, 1, 1}, {1, 1, 1}), IsEmpty());
  EXPECT_THAT(with({{kBlockX, x, make_int(8)}}, {8, 1, 1}, {1, 1, 1}),
              ElementsAre("types | x | a thread axis is not an index variable"));
  EXPECT_THAT(with({block_x, {kThreadX, bx, make_int(16)}}, {8, 1, 1}, {16, 1, 1}),
              ElementsAre("definitions | bx | it is defined again inside its scope"));
}

// -- Barriers.

TEST_F(VerifyTest, AllThreadsComeToABarrier) {
  const std::vector<std::string> divergent = {
      "barriers | Barrier | not all threads of a block reach it"};
  const Stmt barrier = make_barrier();
  const auto body = [&](const Stmt& s) { return faults(one_kernel(make_seq({copy(), s}))); };
  EXPECT_THAT(body(barrier), IsEmpty());
  EXPECT_EQ(body(make_if(tx < 8, barrier)), divergent);
  EXPECT_EQ(body(make_while(tx < 8, barrier)), divergent);
  EXPECT_EQ(body(make_if(bx + tx < 8, serial(i, 4, barrier))), divergent);
  EXPECT_EQ(body(serial(i, 4, make_if(tx < i, make_seq({make_empty(), barrier, make_empty()})))),
            divergent);
  EXPECT_EQ(body(make_for(i, tx, LoopKind::Serial, barrier)), divergent);
  // Values computed from the thread index or from local memory differ between threads, too.
  EXPECT_EQ(body(make_let(i, tx * 2, make_if(i < 4, barrier))), divergent);
  EXPECT_EQ(body(make_if(make_load(a, {offset()}) < make_float(0), barrier)), divergent);
  EXPECT_EQ(body(make_for(i, tx + 1, LoopKind::Serial,
                          make_seq({zero(b, {i}), make_if(i < 1, barrier)}))),
            divergent);
  const Stmt own = make_store(local, {make_int(0)}, make_cast(kFloat32, tx));
  const Stmt decided = make_if(make_load(local, {make_int(0)}) < make_float(0), barrier);
  EXPECT_EQ(body(make_allocate(local, make_seq({own, decided}))), divergent);
  // Block indices, loops with constant extents and shared memory are the same for all threads.
  EXPECT_THAT(body(make_if(bx < 4, barrier)), IsEmpty());
  EXPECT_THAT(body(make_while(bx < 4, barrier)), IsEmpty());
  EXPECT_THAT(body(make_if(tx < 8, zero(b, {tx}))), IsEmpty());
  EXPECT_THAT(body(make_seq({make_if(tx < 8, zero(b, {tx})), barrier})), IsEmpty());
  EXPECT_THAT(body(make_seq({make_for(i, tx, LoopKind::Serial, zero(b, {i})), barrier})),
              IsEmpty());
  EXPECT_THAT(body(serial(i, 4, make_if(i < 2, barrier))), IsEmpty());
  EXPECT_THAT(body(make_let(i, bx * 2, make_if(i < 4, barrier))), IsEmpty());
  EXPECT_THAT(body(make_if(make_load(a, {bx}) < make_float(0), barrier)), IsEmpty());
  EXPECT_THAT(body(make_for(i, bx, LoopKind::Serial, barrier)), IsEmpty());
}

TEST_F(VerifyTest, BarriersOfThreadLoops) {
  const Stmt barrier = make_barrier();
  EXPECT_THAT(faults(loops(nest(bx, 8, kBlockX, thread(tx, 16, kThreadX, barrier)))), IsEmpty());
  EXPECT_THAT(
      faults(loops(nest(bx, 8, kBlockX, thread(tx, 16, kThreadX, make_if(tx < 3, barrier))))),
      ElementsAre("barriers | Barrier | not all threads of a block reach it"));
  EXPECT_THAT(
      faults(loops(nest(bx, 8, kBlockX, thread(tx, 16, kThreadX, make_if(bx < 3, barrier))))),
      IsEmpty());
}

// -- Bounds.

TEST_F(VerifyTest, ConstantIndicesLieInside) {
  const auto logical = [&](int64_t row, int64_t col) {
    return faults(loops(zero(a, {make_int(row), make_int(col)})));
  };
  EXPECT_THAT(logical(7, 15), IsEmpty());
  EXPECT_THAT(logical(0, 0), IsEmpty());
  EXPECT_THAT(logical(8, 15),
              ElementsAre("bounds | A[8, 15] = 0.0 | 8 is not proven to lie in 0..8 of A"));
  EXPECT_THAT(logical(7, 16),
              ElementsAre("bounds | A[7, 16] = 0.0 | 16 is not proven to lie in 0..16 of A"));
  EXPECT_THAT(logical(-1, 0),
              ElementsAre("bounds | A[-1, 0] = 0.0 | -1 is not proven to lie in 0..8 of A"));
  EXPECT_THAT(faults(flattened(zero(a, {make_int(127)}))), IsEmpty());
  EXPECT_THAT(faults(flattened(make_store(b, {make_int(0)}, make_load(a, {make_int(128)})))),
              ElementsAre("bounds | A[128] | 128 is not proven to lie in 0..128 of A"));
}

TEST_F(VerifyTest, ConstantRampsLieInside) {
  const auto ramp = [&](int64_t base, int64_t stride, int lanes) {
    return faults(flattened(make_store(a, {make_ramp(make_int(base), make_int(stride), lanes)},
                                       make_const(0, kFloat32.with_lanes(lanes)))));
  };
  EXPECT_THAT(ramp(124, 1, 4), IsEmpty());
  EXPECT_THAT(ramp(0, 16, 8), IsEmpty());
  EXPECT_THAT(ramp(3, -1, 4), IsEmpty());
  EXPECT_THAT(ramp(125, 1, 4), ElementsAre("bounds | A[ramp(125, 1, 4)] = x4(0.0) | "
                                           "ramp(125, 1, 4) is not proven to lie in 0..128 of A"));
  EXPECT_THAT(ramp(16, 16, 8), testing::SizeIs(1));
  EXPECT_THAT(ramp(2, -1, 4), testing::SizeIs(1));
  EXPECT_THAT(ramp(128, -1, 4), testing::SizeIs(1));
  const Expr same = make_broadcast(make_int(128), 4);
  EXPECT_THAT(
      faults(flattened(make_store(a, {same}, make_const(0, kFloat4)))),
      ElementsAre("bounds | A[x4(128)] = x4(0.0) | x4(128) is not proven to lie in 0..128 of "
                  "A"));
  // Indices that overflow int64 are out of bounds.
  const int64_t large = int64_t{1} << 62;
  const auto wide = [](int64_t v) { return make_int(v, kInt64); };
  for (const Expr& index :
       {make_ramp(wide(0), wide(large), 4), make_ramp(wide(large), wide(large), 2),
        make_ramp(make_int(0), make_var("s"), 4)}) {
    const Stmt store =
        make_store(a, {index}, make_const(0, kFloat32.with_lanes(index->type.lanes)));
    EXPECT_THAT(faults(flattened(store)), testing::SizeIs(1));
  }
}

TEST_F(VerifyTest, ConstantTexelsLieInside) {
  const auto texel = [&](int64_t col, int64_t row) {
    return faults(
        flattened(make_texture_store(t, make_int(col), make_int(row), make_const(0, kFloat4))));
  };
  EXPECT_THAT(texel(15, 7), IsEmpty());
  EXPECT_THAT(texel(16, 7), ElementsAre("bounds | texture2d.store(T, x=16, y=7, x4(0.0)) | 16 is "
                                        "not proven to lie in 0..16 of T"));
  EXPECT_THAT(texel(15, 8), ElementsAre("bounds | texture2d.store(T, x=15, y=8, x4(0.0)) | 8 is "
                                        "not proven to lie in 0..8 of T"));
  const Expr load = make_texture_load(t, make_int(0), make_int(-1));
  // An out-of-bounds read gives some value, which may be unused.
  EXPECT_THAT(faults(flattened(make_texture_store(u, make_int(0), make_int(0), load))), IsEmpty());
}

// A texture that has an origin in its image is written starting at that origin.
TEST_F(VerifyTest, TexelsLieInsideTheTexturesOwnRectangle) {
  const Expr ox = make_var("ox"), oy = make_var("oy");
  const Buffer moved = make_texture("M", kFloat32, t->layout, {ox, oy});
  const auto store = [&](const Expr& col, const Expr& row) {
    return faults(flattened(
        make_allocate(moved, make_texture_store(moved, col, row, make_const(0, kFloat4)))));
  };
  EXPECT_THAT(store(ox + 15, oy + 7), IsEmpty());
  EXPECT_THAT(store(ox + 16, oy), testing::SizeIs(1));
  EXPECT_THAT(store(ox, oy - 1), testing::SizeIs(1));
  EXPECT_THAT(store(make_int(0), oy), testing::SizeIs(1));
}

// Indices are checked over all values of the enclosing loops.
TEST_F(VerifyTest, IndicesAreProvenByTheirRanges) {
  const auto in_loops = [&](int64_t outer, int64_t inner, const Expr& offset) {
    return faults(flattened(serial(i, outer, serial(j, inner, zero(a, {offset})))));
  };
  EXPECT_THAT(in_loops(8, 16, i * 16 + j), IsEmpty());
  EXPECT_THAT(in_loops(8, 17, i * 16 + j),
              ElementsAre("bounds | A[i * 16 + j] = 0.0 | i * 16 + j is not proven to lie in "
                          "0..128 of A"));
  EXPECT_THAT(in_loops(9, 16, i * 16 + j), testing::SizeIs(1));
  EXPECT_THAT(in_loops(8, 16, i * 16 + j - 1), testing::SizeIs(1));
  EXPECT_THAT(in_loops(100, 2, floordiv(i, 1) + (j - i) * 100), testing::SizeIs(1));
  // Equal terms cancel.
  EXPECT_THAT(in_loops(100, 128, i + j - i), IsEmpty());
  // A term cancels with the same term inside a min or max.
  EXPECT_THAT(in_loops(8, 16, i - min(i, j)), IsEmpty());
  EXPECT_THAT(in_loops(8, 16, max(i, j) - i), IsEmpty());
  EXPECT_THAT(in_loops(8, 16, j - max(i, j) + 7), IsEmpty());
  // An upper bound that may be too high does not prove that the index is out of bounds.
  EXPECT_THAT(in_loops(8, 16, max(make_int(5) - i, i - 5)), IsEmpty());
  EXPECT_THAT(in_loops(200, 16, max(i, j)), IsEmpty());
  EXPECT_THAT(in_loops(8, 16, max(i, j) + 128), testing::SizeIs(1));
  EXPECT_THAT(in_loops(8, 16, j - max(i, j) - 1), testing::SizeIs(1));
  // Bit operations.
  EXPECT_THAT(in_loops(8, 16, make_binary(BinaryOp::BitAnd, i - j, make_int(127))), IsEmpty());
  EXPECT_THAT(in_loops(8, 256, make_binary(BinaryOp::Shr, j, make_int(1))), IsEmpty());
  const Expr v = make_var("v");
  const auto let = [&](const Expr& value) {
    return faults(flattened(serial(i, 16, make_let(v, value, zero(a, {v})))));
  };
  EXPECT_THAT(let(i * 8), IsEmpty());
  EXPECT_THAT(let(i * 9), testing::SizeIs(1));
}

// Indices read from memory are not checked, since only the user knows their values.
TEST_F(VerifyTest, IndicesReadFromMemoryAreTrusted) {
  const Expr index = make_cast(kInt32, make_load(a, {i}));
  EXPECT_THAT(faults(flattened(serial(i, 128, zero(b, {index})))), IsEmpty());
  const Expr v = make_var("v"), w = make_var("w");
  EXPECT_THAT(
      faults(flattened(serial(i, 128, make_let(v, index, make_let(w, v + 1, zero(b, {w + i})))))),
      IsEmpty());
}

// Thread indices, and kernel arguments that are loop variables of the plan, have ranges too.
TEST_F(VerifyTest, KernelsIndicesAreProven) {
  const auto store = [&](const Expr& offset) {
    return faults(one_kernel(make_store(b, {offset}, make_load(a, {tx}))));
  };
  EXPECT_THAT(store(bx * 16 + tx), IsEmpty());
  EXPECT_THAT(store(bx * 17 + tx), testing::SizeIs(1));
  const auto launched_in_loop = [&](int64_t extent) {
    return faults(
        kernels(serial(i, extent, make_launch(0)),
                {kernel("k", {{a, Access::Read, nullptr}, {b, Access::Write, nullptr}, {{}, {}, i}},
                        make_store(b, {i}, make_load(a, {i})))}));
  };
  EXPECT_THAT(launched_in_loop(128), IsEmpty());
  EXPECT_THAT(launched_in_loop(129), testing::SizeIs(2));
}

// -- Limits.

TEST_F(VerifyTest, KernelsStayWithinTheTarget) {
  const Program program = one_kernel(copy());
  Target target;
  target.limits.max_threads = 16;
  target.limits.max_parameter_bytes = 16;
  EXPECT_THAT(find_violations(program, {.target = &target}), IsEmpty());
  target.limits.max_threads = 15;
  target.limits.max_parameter_bytes = 15;
  std::vector<std::string> found;
  for (const Violation& v : find_violations(program, {.target = &target})) {
    EXPECT_EQ(v.rule, Rule::Limits);
    EXPECT_EQ(v.node, "k");
    found.push_back(v.problem);
  }
  // Each node is reported once per rule.
  EXPECT_THAT(found, ElementsAre("it needs 16 threads in a block, the target has 15"));
}

TEST_F(VerifyTest, EachTextureFitsTheTarget) {
  const auto columns = [](const char* name, int64_t count) {
    return make_texture(name, kFloat32, texture_layout({1, count, 4}, TextureRule::Activation));
  };
  const Program program =
      kernels(make_launch(0), {kernel("k",
                                      {{columns("R", 9), Access::Read, nullptr},
                                       {columns("S", 8), Access::Read, nullptr},
                                       {columns("W", 10), Access::Write, nullptr}},
                                      make_barrier())});
  Target target;
  target.limits.max_image_size = 8;
  std::vector<std::string> found;
  for (const Violation& v : find_violations(program, {.target = &target})) {
    if (v.rule == Rule::Limits) found.push_back(v.problem);
  }
  EXPECT_THAT(found, ElementsAre("it needs 9 texels along an axis, the target has 8",
                                 "it needs 10 texels along an axis, the target has 8"));
}

TEST_F(VerifyTest, ConstantLanesLieInside) {
  const Expr lane(new Lane(make_const(0, kFloat4), make_int(4)));
  EXPECT_THAT(faults(loops(make_store(a, {make_int(0), make_int(0)}, lane))),
              ElementsAre("bounds | x4(0.0).lane[4] | 4 is not proven to lie in 0..4 of a vector"));
}

// A guarded access is not reported, since it may never happen.
TEST_F(VerifyTest, GuardedAccessesAreNotJudged) {
  const Expr outside = make_load(a, {make_int(8), make_int(0)}), p = i < 3;
  const Stmt store = make_store(b, {i, i}, outside);
  const std::vector<std::string> fault = {"bounds | A[8, 0] | 8 is not proven to lie in 0..8 of A"};
  const auto in_loop = [&](const Stmt& s) { return faults(loops(serial(i, 8, s))); };
  EXPECT_EQ(in_loop(store), fault);
  EXPECT_THAT(in_loop(make_if(p, store)), IsEmpty());
  EXPECT_THAT(in_loop(make_store(b, {i, i}, make_select(p, outside, make_float(0)))), IsEmpty());
  EXPECT_THAT(in_loop(make_store(b, {i, i}, make_select(p, make_float(0), outside))), IsEmpty());
  const Expr test = outside < make_float(0);
  EXPECT_THAT(in_loop(make_if(p && test, make_empty())), IsEmpty());
  EXPECT_THAT(in_loop(make_if(make_binary(BinaryOp::Or, p, test), make_empty())), IsEmpty());
  EXPECT_EQ(in_loop(make_if(test && p, make_empty())), fault);
  EXPECT_EQ(in_loop(make_if(make_binary(BinaryOp::Eq, p, test), make_empty())), fault);
  EXPECT_EQ(in_loop(make_store(b, {i, i}, make_select(test, make_float(0), make_float(1)))), fault);
  // One node may occur both with and without a guard, in either order.
  const Stmt within = make_store(b, {i, i}, make_select(p, outside, make_float(0)));
  EXPECT_EQ(in_loop(make_seq({make_if(p, store), store})), fault);
  EXPECT_EQ(in_loop(make_seq({store, make_if(p, store)})), fault);
  EXPECT_EQ(in_loop(make_seq({within, store})), fault);
  EXPECT_EQ(in_loop(make_seq({store, within})), fault);
  const Expr guarded = make_select(p, outside, make_float(0));
  EXPECT_EQ(in_loop(make_store(b, {i, i}, guarded + outside)), fault);
}

// -- Plan.

TEST_F(VerifyTest, KernelsAreOfTheLaterStages) {
  Program program = flattened(make_empty());
  program.kernels = {kernel("k", {}, make_empty())};
  EXPECT_THAT(faults(program), ElementsAre("plan | p | it has kernels before stage kernels"));
}

TEST_F(VerifyTest, KernelsHaveNamesOfTheirOwn) {
  EXPECT_THAT(
      faults(kernels(make_empty(), {kernel("k", {}, make_empty()), kernel("k", {}, make_empty())})),
      ElementsAre("plan | k | another kernel has the same name"));
}

TEST_F(VerifyTest, LaunchesNameAKernelAndItsOperands) {
  const Kernel k = kernel("k", {{a, Access::Read, nullptr}, {nullptr, {}, i}}, make_empty());
  EXPECT_THAT(faults(kernels(serial(i, 4, make_launch(0)), {k})), IsEmpty());
  EXPECT_THAT(faults(kernels(make_launch(1), {kernel("k", {}, make_empty())})),
              ElementsAre("plan | launch 1 | there is no kernel with this number"));
  EXPECT_THAT(faults(kernels(make_launch(-1), {kernel("k", {}, make_empty())})),
              ElementsAre("plan | launch -1 | there is no kernel with this number"));
  EXPECT_THAT(faults(kernels(make_launch(0), {k})),
              ElementsAre("plan | launch 0 | the plan does not define i of kernel k"));
  EXPECT_THAT(
      faults(kernels(make_launch(0), {kernel("k", {{u, Access::Read, nullptr}}, make_empty())})),
      ElementsAre("plan | launch 0 | the plan does not define U of kernel k"));
}

TEST_F(VerifyTest, TemporariesAreFreedOnce) {
  const Kernel k = kernel("k", {{u, Access::Read, nullptr}}, make_empty());
  const auto plan = [&](const Stmt& s) { return faults(kernels(s, {k})); };
  const Stmt launch = make_launch(0), end = make_free(u);
  EXPECT_THAT(plan(make_allocate(u, make_seq({launch, end}))), IsEmpty());
  EXPECT_THAT(plan(make_allocate(u, launch)), IsEmpty());
  EXPECT_THAT(plan(serial(i, 4, make_allocate(u, make_seq({launch, end})))), IsEmpty());
  EXPECT_THAT(plan(make_allocate(u, make_seq({serial(i, 4, launch), end}))), IsEmpty());
  EXPECT_THAT(plan(make_seq({make_allocate(u, make_seq({launch, end})),
                             make_allocate(u, make_seq({launch, end}))})),
              IsEmpty());
  EXPECT_THAT(plan(make_allocate(u, make_seq({end, make_free(u)}))),
              ElementsAre("plan | free U | U is freed already"));
  EXPECT_THAT(plan(make_allocate(u, make_seq({end, launch}))),
              ElementsAre("plan | launch 0 | U of kernel k is freed already"));
  EXPECT_THAT(plan(make_allocate(u, serial(i, 4, end))),
              ElementsAre("plan | free U | U is allocated outside this loop"));
  EXPECT_THAT(plan(make_free(a)), ElementsAre("plan | free A | A is not allocated here"));
  EXPECT_THAT(plan(make_seq({make_allocate(u, launch), end})),
              ElementsAre("plan | free U | U is not allocated here"));
}

}  // namespace
}  // namespace texloom::ir
