// Each rule has a program that breaks it alone, and there are programs that keep them all.

#include "ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/check.h"
#include "tests/ir/samples.h"

namespace texloom::ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Type kFloat4 = kFloat32.with_lanes(4);

std::vector<std::string> faults(const Program& program) {
  std::vector<std::string> texts;
  for (const Violation& v : find_violations(program)) {
    texts.push_back(std::string(to_string(v.rule)) + " | " + v.node + " | " + v.problem);
  }
  return texts;
}

Expr operator<(const Expr& a, int64_t b) { return a < make_int(b, a->type); }

// Buffers and variables, and programs of one statement over them.
class VerifyTest : public testing::Test {
 protected:
  Expr i = make_var("i"), j = make_var("j"), x = make_var("x", kFloat32);
  Expr bx = make_var("bx"), tx = make_var("tx");
  Buffer a = make_buffer("A", kFloat32, {8, 16}, MemoryScope::Global);
  Buffer b = make_buffer("B", kFloat32, {8, 16}, MemoryScope::Global);
  Buffer shared = make_buffer("S", kFloat32, {16}, MemoryScope::Shared);
  Buffer local = make_buffer("L", kFloat32, {4}, MemoryScope::Local);
  Buffer t = make_texture("T", kFloat32, texture_layout({8, 16, 4}, TextureRule::Activation));
  Buffer u = make_texture("U", kFloat32, texture_layout({8, 16, 4}, TextureRule::Activation));

  Program loops(Stmt body) { return {"p", Stage::Loops, {a, b, t}, std::move(body), {}}; }
  Program flattened(Stmt body) {
    return {"p", Stage::Flattened, {a, b, t, u}, std::move(body), {}};
  }

  // A kernel over 8 blocks of 16 threads.
  Kernel kernel(std::string name, std::vector<KernelParam> params, Stmt body) {
    Kernel k;
    k.name = std::move(name);
    k.params = std::move(params);
    k.axes = {{{true, 0}, bx, 8}, {{false, 0}, tx, 16}};
    k.grid = {8, 1, 1};
    k.block = {16, 1, 1};
    k.body = std::move(body);
    k.location = SourceLocation::make("kernel.py", 9);
    return k;
  }
  Program kernels(Stmt plan, std::vector<Kernel> list) {
    return {"p", Stage::Kernels, {a, b, t}, std::move(plan), std::move(list)};
  }
  // One kernel that reads A and writes B, with this body.
  Program one_kernel(Stmt body) {
    return kernels(
        make_launch(0),
        {kernel("k", {{a, Access::Read, nullptr}, {b, Access::Write, nullptr}}, std::move(body))});
  }
  Expr offset() { return bx * 16 + tx; }
  Stmt copy() { return make_store(b, {offset()}, make_load(a, {offset()})); }

  Stmt thread(const Expr& var, int64_t extent, ThreadTag tag, Stmt body) {
    return make_thread_for(var, make_int(extent), tag, std::move(body));
  }
  Stmt serial(const Expr& var, int64_t extent, Stmt body) {
    return make_for(var, make_int(extent), LoopKind::Serial, std::move(body));
  }
  Stmt zero(const Buffer& buffer, Exprs indices) {
    return make_store(buffer, std::move(indices), make_float(0));
  }
};

constexpr ThreadTag kBlockX{true, 0}, kThreadX{false, 0}, kThreadY{false, 1};

// -- Good programs.

// Two kernels in one nest each: the first fills a texture through shared memory, lanes vectorised,
// the second reads it. `flat` says in which stage.
TEST_F(VerifyTest, GoodProgramsOfLoops) {
  const Expr tx2 = make_var("tx"), lane = make_var("lane"), k = make_var("k");
  const Expr other_bx = make_var("bx");
  const Stmt fetch = thread(tx, 16, kThreadX, make_store(shared, {tx}, make_load(a, {bx, tx})));
  const Stmt sum =
      make_let(x, make_load(local, {make_int(0)}) * make_float(2),
               make_store(local, {make_int(0)}, make_fma(x, make_load(shared, {tx2}), x)));
  const Stmt write = make_for(lane, make_int(4), LoopKind::Vectorized,
                              make_store(t, {bx, tx2, lane}, make_load(local, {lane})));
  const Stmt use = thread(
      tx2, 16, kThreadX,
      make_allocate(local, make_seq({zero(local, {make_int(0)}), serial(k, 4, sum), write})));
  const Stmt first =
      thread(bx, 8, kBlockX, make_allocate(shared, make_seq({fetch, make_barrier(), use})));
  const Stmt guarded =
      make_if(tx < 12, make_store(b, {other_bx, tx}, make_load(t, {other_bx, tx, make_int(3)})));
  const Stmt second = thread(other_bx, 8, kBlockX, thread(tx, 16, kThreadX, guarded));
  EXPECT_THAT(faults(loops(make_seq({first, second}))), IsEmpty());
  EXPECT_NO_THROW(verify(loops(make_seq({first, second}))));
  EXPECT_THAT(faults(loops(make_empty())), IsEmpty());
}

TEST_F(VerifyTest, GoodProgramsOfFlattened) {
  const Expr index = make_ramp(offset() * 4, make_int(1), 4);
  const Buffer wide = make_buffer("W", kFloat32, {8 * 16 * 4}, MemoryScope::Global);
  Program program =
      flattened(thread(bx, 8, kBlockX,
                       thread(tx, 16, kThreadX,
                              make_seq({make_texture_store(t, tx, bx, make_load(wide, {index})),
                                        zero(b, {offset()})}))));
  program.params.push_back(wide);
  EXPECT_THAT(faults(program), IsEmpty());
}

// A plan with a temporary, a loop whose variable a kernel gets, and textures with origins.
Program good_plan(VerifyTest*, Stage stage, Type held) {
  const Expr ox = make_var("ox"), oy = make_var("oy"), step = make_var("step");
  const Expr bx = make_var("bx"), tx = make_var("tx"), tx2 = make_var("tx");
  const Layout layout = texture_layout({8, 16, 4}, TextureRule::Activation);
  const Type half = Type::f(16);
  const Buffer in = make_texture("in", half, layout, {ox, oy});
  const Buffer temporary = make_texture("tmp", half, layout);
  const Buffer out = make_buffer("out", half, {8 * 16}, MemoryScope::Global);
  const Buffer cache = make_buffer("cache", half, {16}, MemoryScope::Shared);
  const Type held4 = held.with_lanes(4);
  Kernel first;
  first.name = "first";
  first.params = {{in, Access::Read, nullptr},
                  {temporary, Access::Write, nullptr},
                  {nullptr, {}, ox},
                  {nullptr, {}, oy},
                  {nullptr, {}, step}};
  first.axes = {{{true, 0}, bx, 8}, {{false, 1}, tx, 4}};
  first.grid = {8, 1, 1};
  first.block = {1, 4, 1};
  first.body = make_texture_store(temporary, step * 4 + tx, bx,
                                  make_texture_load_as(held4, in, ox + tx, oy + bx));
  Kernel second;
  second.name = "second";
  second.params = {{temporary, Access::Read, nullptr}, {out, Access::ReadWrite, nullptr}};
  second.axes = {{{true, 0}, bx, 8}, {{false, 0}, tx2, 16}};
  second.grid = {8, 1, 1};
  second.block = {16, 1, 1};
  const Expr value = make_lane(make_texture_load_as(held4, temporary, tx2, bx), make_int(3));
  second.body =
      make_allocate(cache, make_seq({make_store(cache, {tx2}, value), make_barrier(),
                                     make_store(out, {bx * 16 + tx2},
                                                make_load_as(held, cache, {tx2}) +
                                                    make_load_as(held, out, {bx * 16 + tx2}))}));
  Program program;
  program.name = "plan";
  program.stage = stage;
  program.params = {in, out};
  program.body = make_allocate(
      temporary, make_seq({make_for(step, make_int(4), LoopKind::Serial, make_launch(0)),
                           make_launch(1), make_free(temporary), make_empty()}));
  program.kernels = {first, second};
  return program;
}

TEST_F(VerifyTest, GoodPrograms) {
  EXPECT_THAT(faults(good_plan(this, Stage::Kernels, Type::f(16))), IsEmpty());
  EXPECT_THAT(faults(good_plan(this, Stage::Legalised, Type::f(16))), IsEmpty());
  EXPECT_THAT(faults(one_kernel(copy())), IsEmpty());
}

// Legalised code may hold float16 memory in float32 variables, earlier code may not.
TEST_F(VerifyTest, OnlyLegalisedCodeWidens) {
  EXPECT_THAT(faults(good_plan(this, Stage::Legalised, kFloat32)), IsEmpty());
  EXPECT_THAT(faults(good_plan(this, Stage::Kernels, kFloat32)),
              testing::Each(testing::StartsWith("types | ")));
  EXPECT_THAT(faults(good_plan(this, Stage::Kernels, kFloat32)), testing::SizeIs(7));
}

// -- Nodes.

TEST_F(VerifyTest, NodesOfAnotherStage) {
  const Expr read = make_tensor_read(Leaves::make_tensor("X", {make_int(8)}), {make_int(0)});
  EXPECT_THAT(faults(loops(make_store(a, {make_int(0), make_int(0)}, read))),
              ElementsAre("nodes | X(0) | TensorRead does not stand in stage loops"));
  const IterVar axis = make_iter_var(make_var("k"), make_int(0), make_int(4), IterKind::Reduction);
  const Expr sum = make_reduce(Leaves::make_sum(), make_float(1), {axis}, nullptr);
  EXPECT_THAT(faults(flattened(make_store(a, {make_int(0)}, sum))),
              ElementsAre("nodes | sum(1.0, axis=[k in 0..4]) | Reduce does not stand in stage "
                          "flattened"));
  EXPECT_THAT(
      faults(loops(make_texture_store(t, make_int(0), make_int(0), make_const(0, kFloat4)))),
      ElementsAre("nodes | texture2d.store(T, x=0, y=0, x4(0.0)) | TextureStore does not "
                  "stand in stage loops"));
  EXPECT_THAT(faults(kernels(make_barrier(), {})),
              ElementsAre("nodes | Barrier | Barrier does not stand in a launch plan"));
  EXPECT_THAT(faults(flattened(make_free(a))),
              testing::Contains("nodes | free A | Free does not stand in stage flattened"));
}

TEST_F(VerifyTest, LoopsOfAnotherStage) {
  const Stmt body = zero(b, {i});
  const std::vector<Program> programs = {
      one_kernel(make_for(i, make_int(4), LoopKind::Vectorized, body)),
      one_kernel(thread(i, 4, kThreadY, body))};
  for (const Program& program : programs) {
    EXPECT_THAT(faults(program), ElementsAre("nodes | loop i < 4 | a loop of this kind does not "
                                             "stand in stage kernels"));
  }
  Program legal = one_kernel(make_for(i, make_int(4), LoopKind::Vectorized, body));
  legal.stage = Stage::Legalised;
  EXPECT_THAT(faults(legal), ElementsAre("nodes | loop i < 4 | a loop of this kind does not stand "
                                         "in stage legalised"));
  EXPECT_THAT(faults(kernels(make_for(i, make_int(4), LoopKind::Unrolled, make_empty()), {})),
              ElementsAre("nodes | loop i < 4 | a loop of this kind does not stand in a launch "
                          "plan"));
}

// -- Types.

TEST_F(VerifyTest, Types) {
  const Expr wrong(new Binary(kInt32, BinaryOp::Add, i, make_int(1, kInt64)));
  EXPECT_THAT(faults(loops(serial(i, 8, zero(a, {wrong, i})))),
              ElementsAre("types | i + int64(1) | operands are int32 and int64"));
  EXPECT_THAT(faults(loops(serial(i, 8, zero(a, {i})))),
              ElementsAre("types | A[i] = 0.0 | A takes 2 indices here"));
  EXPECT_THAT(faults(flattened(serial(i, 8, zero(a, {i, i})))),
              ElementsAre("types | A[i, i] = 0.0 | A takes 1 indices here"));
  EXPECT_THAT(faults(flattened(make_let(x, make_float(1), make_if(x < x, make_empty())))),
              IsEmpty());
}

TEST_F(VerifyTest, MissingParts) {
  auto* sum = new Fma(x, x, x);
  sum->c = nullptr;
  EXPECT_THAT(faults(loops(make_let(x, make_float(1),
                                    make_store(a, {make_int(0), make_int(0)}, Expr(sum))))),
              ElementsAre("types | Fma | an operand is missing"));
  auto* store = new Store;
  store->buffer = a;
  store->indices = {make_int(0), make_int(0)};
  EXPECT_THAT(faults(loops(Stmt(store))),
              ElementsAre("types | A[0, 0] = null | an operand is missing"));
  EXPECT_THAT(faults(loops(nullptr)), ElementsAre("types | p | a statement is missing"));
}

// -- Buffers.

TEST_F(VerifyTest, Buffers) {
  const_cast<BufferNode&>(*a).shape = {16, 8};
  EXPECT_THAT(faults(loops(make_empty())),
              ElementsAre("buffers | A | its layout is of another shape"));
  const_cast<BufferNode&>(*local).origin.x = make_var("o");
  EXPECT_THAT(faults(one_kernel(make_allocate(local, copy()))),
              ElementsAre("buffers | A | its layout is of another shape",
                          "buffers | L | only a texture has an origin"));
}

// -- Definitions.

TEST_F(VerifyTest, VariablesAreDefined) {
  EXPECT_THAT(faults(loops(zero(a, {i, make_int(0)}))),
              ElementsAre("definitions | i | it is not defined here"));
  // Neither in its own extent or value,
  EXPECT_THAT(faults(loops(make_for(i, i, LoopKind::Serial, make_empty()))),
              ElementsAre("definitions | i | it is not defined here"));
  EXPECT_THAT(faults(loops(make_let(x, x + x, make_empty()))),
              ElementsAre("definitions | x | it is not defined here"));
  // nor behind its scope, though the same expression was good inside it.
  const Stmt store = zero(a, {i + 1, make_int(0)});
  EXPECT_THAT(faults(loops(make_seq({serial(i, 4, store), store}))),
              ElementsAre("definitions | i | it is not defined here"));
  EXPECT_THAT(faults(loops(make_seq({make_let(i, make_int(0), store), serial(j, 4, store)}))),
              ElementsAre("definitions | i | it is not defined here"));
  EXPECT_THAT(faults(loops(make_seq({serial(i, 4, store), serial(i, 4, store)}))), IsEmpty());
}

TEST_F(VerifyTest, BuffersAreDefined) {
  EXPECT_THAT(faults(loops(zero(local, {make_int(0)}))),
              ElementsAre("definitions | L[0] = 0.0 | L is not defined here"));
  const Expr load = make_load(local, {make_int(0)});
  const Stmt use = make_store(a, {make_int(0), make_int(0)}, load);
  EXPECT_THAT(faults(loops(make_seq({make_allocate(local, use), use}))),
              ElementsAre("definitions | L[0] | L is not defined here"));
}

TEST_F(VerifyTest, NothingIsDefinedTwice) {
  EXPECT_THAT(faults(loops(serial(i, 4, serial(i, 4, zero(a, {i, i}))))),
              ElementsAre("definitions | i | it is defined again inside its scope"));
  EXPECT_THAT(faults(loops(make_let(i, make_int(1), serial(i, 4, make_empty())))),
              ElementsAre("definitions | i | it is defined again inside its scope"));
  EXPECT_THAT(faults(loops(make_allocate(local, make_allocate(local, make_empty())))),
              ElementsAre("definitions | L | it is defined again inside its scope"));
  EXPECT_THAT(faults(loops(make_allocate(a, make_empty()))),
              ElementsAre("definitions | A | it is defined again inside its scope"));
  // The inner scope's end does not end the outer one.
  EXPECT_THAT(faults(loops(serial(i, 4, make_seq({serial(i, 4, make_empty()), zero(a, {i, i})})))),
              ElementsAre("definitions | i | it is defined again inside its scope"));
}

TEST_F(VerifyTest, OriginsAreDefinedByTheirTexture) {
  const Expr ox = make_var("ox"), oy = make_var("oy");
  const Buffer moved = make_texture("M", kFloat32, t->layout, {ox, oy});
  const Stmt store = make_texture_store(moved, ox + 1, oy, make_const(0, kFloat4));
  Program program = flattened(store);
  program.params = {moved};
  EXPECT_THAT(faults(program), IsEmpty());
  EXPECT_THAT(faults(flattened(make_allocate(moved, store))), IsEmpty());

  // In a kernel they are parameters of their own.
  program =
      kernels(make_launch(0),
              {kernel("k", {{moved, Access::Write, nullptr}, {nullptr, {}, ox}}, make_empty())});
  program.params = {moved};
  EXPECT_THAT(faults(program), ElementsAre("definitions | M | its origin oy is no parameter"));
}

TEST_F(VerifyTest, ParametersOfKernels) {
  EXPECT_THAT(faults(kernels(make_empty(), {kernel("k", {{nullptr, {}, nullptr}}, make_empty())})),
              ElementsAre("definitions | k | a parameter is a buffer or a scalar, and not both"));
  EXPECT_THAT(faults(kernels(make_empty(), {kernel("k", {{a, Access::Read, i}}, make_empty())})),
              ElementsAre("definitions | k | a parameter is a buffer or a scalar, and not both"));
  EXPECT_THAT(faults(kernels(make_empty(), {kernel("k", {{nullptr, {}, x}}, make_empty())})),
              ElementsAre("types | x | a scalar parameter is no index variable"));
  EXPECT_THAT(faults(kernels(make_empty(),
                             {kernel("k", {{a, {}, nullptr}, {a, {}, nullptr}}, make_empty())})),
              ElementsAre("definitions | A | it is defined again inside its scope"));
}

// -- Visibility.

TEST_F(VerifyTest, KernelsSeeTheirOwnMemory) {
  const Stmt use = make_store(b, {offset()}, make_load(t, {offset()}));
  EXPECT_THAT(faults(one_kernel(zero(local, {make_int(0)}))),
              ElementsAre("visibility | L[0] = 0.0 | L is no parameter of kernel k, nor allocated "
                          "there"));
  // What the plan or another kernel has is not seen.
  const Kernel first =
      kernel("first", {{b, Access::Write, nullptr}}, make_allocate(local, zero(b, {offset()})));
  const Kernel second = kernel("second", {{b, Access::Write, nullptr}},
                               make_store(b, {offset()}, make_load(local, {make_int(0)})));
  EXPECT_THAT(faults(kernels(make_seq({make_launch(0), make_launch(1)}), {first, second})),
              ElementsAre("visibility | L[0] | L is no parameter of kernel second, nor allocated "
                          "there"));
  const Kernel third = kernel("third", {{b, Access::Write, nullptr}},
                              make_store(b, {offset()}, make_load(a, {offset()})));
  EXPECT_THAT(faults(kernels(make_launch(0), {third})),
              ElementsAre("visibility | A[bx * 16 + tx] | A is no parameter of kernel third, nor "
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

// Two nests of thread loops will be two kernels, which share no local memory.
TEST_F(VerifyTest, NestsShareNoLocalMemory) {
  const Stmt write = zero(shared, {make_int(0)});
  const Expr load = make_load(shared, {make_int(0)});
  const Stmt read = make_store(a, {make_int(0), make_int(0)}, load);
  const auto nest = [&](const Stmt& body) { return thread(bx, 8, kBlockX, body); };
  EXPECT_THAT(faults(loops(make_allocate(shared, make_seq({nest(write), nest(read)})))),
              ElementsAre("visibility | S[0] | the shared buffer S is used by two kernels"));
  EXPECT_THAT(faults(loops(make_allocate(shared, make_seq({nest(read), nest(read)})))),
              ElementsAre("visibility | S[0] | the shared buffer S is used by two kernels"));
  EXPECT_THAT(faults(loops(make_allocate(shared, make_seq({nest(write), write})))),
              ElementsAre("visibility | S[0] = 0.0 | the shared buffer S is used by two kernels"));
  EXPECT_THAT(faults(loops(make_allocate(shared, nest(make_seq({write, read}))))), IsEmpty());
  // Two loops in one nest are one kernel.
  const auto inner = [&](const Stmt& body) { return thread(tx, 16, kThreadX, body); };
  EXPECT_THAT(
      faults(loops(nest(make_allocate(shared, make_seq({inner(write), inner(read), read}))))),
      IsEmpty());
  // Also when the inner one is over the same index.
  EXPECT_THAT(faults(loops(make_allocate(
                  shared, thread(tx, 16, kThreadX,
                                 make_seq({write, thread(i, 16, kThreadX, read), read}))))),
              IsEmpty());
  // Global memory is for all.
  const Stmt store = zero(a, {bx, make_int(0)});
  EXPECT_THAT(faults(loops(make_seq({nest(store), nest(store)}))), IsEmpty());
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

// What one kernel does is not held against another one.
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
    k.grid = grid;
    k.block = block;
    return faults(kernels(make_empty(), {k}));
  };
  const ThreadAxis block_x{kBlockX, bx, 8}, thread_x{kThreadX, tx, 16}, thread_y{kThreadY, i, 2};
  const ThreadAxis block_z{{true, 2}, j, 3};
  EXPECT_THAT(with({block_x, block_z, thread_x, thread_y}, {8, 1, 3}, {16, 2, 1}), IsEmpty());
  EXPECT_THAT(with({}, {1, 1, 1}, {1, 1, 1}), IsEmpty());
  EXPECT_THAT(with({block_x, thread_y}, {8, 1, 1}, {1, 2, 1}), IsEmpty());
  EXPECT_THAT(with({thread_x, block_x}, {8, 1, 1}, {16, 1, 1}),
              ElementsAre("axes | k | blockIdx.x is there twice or out of order"));
  EXPECT_THAT(with({block_z, block_x}, {8, 1, 3}, {1, 1, 1}),
              ElementsAre("axes | k | blockIdx.x is there twice or out of order"));
  EXPECT_THAT(with({thread_x, {kThreadX, i, 16}}, {1, 1, 1}, {16, 1, 1}),
              ElementsAre("axes | k | threadIdx.x is there twice or out of order"));
  EXPECT_THAT(with({block_x, thread_x}, {4, 1, 1}, {16, 1, 1}),
              ElementsAre("axes | k | its grid is not the extents of its blockIdx axes"));
  EXPECT_THAT(with({block_x}, {8, 2, 1}, {1, 1, 1}),
              ElementsAre("axes | k | its grid is not the extents of its blockIdx axes"));
  EXPECT_THAT(with({block_x, thread_x}, {8, 1, 1}, {16, 1, 2}),
              ElementsAre("axes | k | its block is not the extents of its threadIdx axes"));
  EXPECT_THAT(with({}, {1, 1, 1}, {2, 1, 1}),
              ElementsAre("axes | k | its block is not the extents of its threadIdx axes"));
  EXPECT_THAT(with({{kBlockX, bx, 0}}, {0, 1, 1}, {1, 1, 1}),
              ElementsAre("axes | k | the extent of blockIdx.x is less than 1"));
  EXPECT_THAT(with({{kBlockX, bx, 1}}, {1, 1, 1}, {1, 1, 1}), IsEmpty());
  EXPECT_THAT(with({{kBlockX, x, 8}}, {8, 1, 1}, {1, 1, 1}),
              ElementsAre("types | x | a thread axis is no index variable"));
  EXPECT_THAT(with({block_x, {kThreadX, bx, 16}}, {8, 1, 1}, {16, 1, 1}),
              ElementsAre("definitions | bx | it is defined again inside its scope"));
}

// -- Barriers.

TEST_F(VerifyTest, AllThreadsComeToABarrier) {
  const std::vector<std::string> divergent = {
      "barriers | Barrier | not all threads of a block come here"};
  const Stmt barrier = make_barrier();
  const auto body = [&](const Stmt& s) { return faults(one_kernel(make_seq({copy(), s}))); };
  EXPECT_THAT(body(barrier), IsEmpty());
  EXPECT_EQ(body(make_if(tx < 8, barrier)), divergent);
  EXPECT_EQ(body(make_if(bx + tx < 8, serial(i, 4, barrier))), divergent);
  EXPECT_EQ(body(serial(i, 4, make_if(tx < i, make_seq({make_empty(), barrier, make_empty()})))),
            divergent);
  EXPECT_EQ(body(make_for(i, tx, LoopKind::Serial, barrier)), divergent);
  // What is computed from the thread's index, or from memory of its own, differs as well.
  EXPECT_EQ(body(make_let(i, tx * 2, make_if(i < 4, barrier))), divergent);
  EXPECT_EQ(body(make_if(make_load(a, {offset()}) < make_float(0), barrier)), divergent);
  EXPECT_EQ(body(make_for(i, tx + 1, LoopKind::Serial,
                          make_seq({zero(b, {i}), make_if(i < 1, barrier)}))),
            divergent);
  EXPECT_EQ(
      body(make_allocate(local, make_if(make_load(local, {make_int(0)}) < make_float(0), barrier))),
      divergent);
  // The block's index, loops over constants and shared memory are the same for all.
  EXPECT_THAT(body(make_if(bx < 4, barrier)), IsEmpty());
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
  EXPECT_THAT(faults(loops(thread(bx, 8, kBlockX, thread(tx, 16, kThreadX, barrier)))), IsEmpty());
  EXPECT_THAT(
      faults(loops(thread(bx, 8, kBlockX, thread(tx, 16, kThreadX, make_if(tx < 3, barrier))))),
      ElementsAre("barriers | Barrier | not all threads of a block come here"));
  EXPECT_THAT(
      faults(loops(thread(bx, 8, kBlockX, thread(tx, 16, kThreadX, make_if(bx < 3, barrier))))),
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
              ElementsAre("bounds | A[8, 15] = 0.0 | 8 is not below the extent 8 of A"));
  EXPECT_THAT(logical(7, 16),
              ElementsAre("bounds | A[7, 16] = 0.0 | 16 is not below the extent 16 of A"));
  EXPECT_THAT(logical(-1, 0),
              ElementsAre("bounds | A[-1, 0] = 0.0 | -1 is not below the extent 8 of A"));
  EXPECT_THAT(faults(flattened(zero(a, {make_int(127)}))), IsEmpty());
  EXPECT_THAT(faults(flattened(make_store(b, {make_int(0)}, make_load(a, {make_int(128)})))),
              ElementsAre("bounds | A[128] | 128 is not below the extent 128 of A"));
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
                                           "ramp(125, 1, 4) is not below the extent 128 of A"));
  EXPECT_THAT(ramp(16, 16, 8), testing::SizeIs(1));
  EXPECT_THAT(ramp(2, -1, 4), testing::SizeIs(1));
  EXPECT_THAT(ramp(128, -1, 4), testing::SizeIs(1));
  const Expr same = make_broadcast(make_int(128), 4);
  EXPECT_THAT(faults(flattened(make_store(a, {same}, make_const(0, kFloat4)))),
              ElementsAre("bounds | A[x4(128)] = x4(0.0) | x4(128) is not below the extent 128 of "
                          "A"));
  EXPECT_THAT(faults(flattened(serial(
                  i, 9, make_store(a, {make_ramp(i, make_int(200), 4)}, make_const(0, kFloat4))))),
              IsEmpty());
  // Ends that no int64 holds are not judged.
  const int64_t large = int64_t{1} << 62;
  const auto wide = [](int64_t v) { return make_int(v, kInt64); };
  for (const Expr& index :
       {make_ramp(wide(0), wide(large), 4), make_ramp(wide(large), wide(large), 2),
        make_ramp(make_int(0), make_var("s"), 4)}) {
    const Stmt store =
        make_store(a, {index}, make_const(0, kFloat32.with_lanes(index->type.lanes)));
    for (const std::string& fault : faults(flattened(store))) {
      EXPECT_THAT(fault, testing::StartsWith("definitions"));
    }
  }
}

TEST_F(VerifyTest, ConstantTexelsLieInside) {
  const auto texel = [&](int64_t col, int64_t row) {
    return faults(
        flattened(make_texture_store(t, make_int(col), make_int(row), make_const(0, kFloat4))));
  };
  EXPECT_THAT(texel(15, 7), IsEmpty());
  EXPECT_THAT(texel(16, 7), ElementsAre("bounds | texture2d.store(T, x=16, y=7, x4(0.0)) | 16 is "
                                        "not below the extent 16 of T"));
  EXPECT_THAT(texel(15, 8), ElementsAre("bounds | texture2d.store(T, x=15, y=8, x4(0.0)) | 8 is "
                                        "not below the extent 8 of T"));
  const Expr load = make_texture_load(t, make_int(0), make_int(-1));
  EXPECT_THAT(faults(flattened(make_texture_store(u, make_int(0), make_int(0), load))),
              ElementsAre("bounds | texture2d.load(T, x=0, y=-1: float32x4) | -1 is not below the "
                          "extent 8 of T"));
  // Somewhere in its image.
  const Buffer moved = make_texture("M", kFloat32, t->layout, {make_var("ox"), make_var("oy")});
  EXPECT_THAT(
      faults(flattened(make_allocate(
          moved, make_texture_store(moved, make_int(99), make_int(99), make_const(0, kFloat4))))),
      IsEmpty());
}

TEST_F(VerifyTest, ConstantLanesLieInside) {
  const Expr lane(new Lane(make_const(0, kFloat4), make_int(4)));
  EXPECT_THAT(faults(loops(make_store(a, {make_int(0), make_int(0)}, lane))),
              ElementsAre("bounds | x4(0.0).lane[4] | 4 is not below the extent 4 of a vector"));
}

// A guarded access may be one that never happens.
TEST_F(VerifyTest, GuardedAccessesAreNotJudged) {
  const Expr outside = make_load(a, {make_int(8), make_int(0)}), p = i < 3;
  const Stmt store = make_store(b, {i, i}, outside);
  const std::vector<std::string> fault = {"bounds | A[8, 0] | 8 is not below the extent 8 of A"};
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
  // The same node once guarded and once not, in either order.
  EXPECT_EQ(in_loop(make_seq({make_if(p, store), store})), fault);
  EXPECT_EQ(in_loop(make_seq({store, make_if(p, store)})), fault);
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
      ElementsAre("plan | k | two kernels have this name"));
}

TEST_F(VerifyTest, LaunchesNameAKernelAndItsOperands) {
  const Kernel k = kernel("k", {{a, Access::Read, nullptr}, {nullptr, {}, i}}, make_empty());
  EXPECT_THAT(faults(kernels(serial(i, 4, make_launch(0)), {k})), IsEmpty());
  EXPECT_THAT(faults(kernels(make_launch(1), {kernel("k", {}, make_empty())})),
              ElementsAre("plan | launch 1 | there is no kernel of this number"));
  EXPECT_THAT(faults(kernels(make_launch(-1), {kernel("k", {}, make_empty())})),
              ElementsAre("plan | launch -1 | there is no kernel of this number"));
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

// -- Reports.

TEST_F(VerifyTest, ViolationsHaveTheUsersLine) {
  const SourceLocation outer = SourceLocation::make("a.py", 1),
                       inner = SourceLocation::make("a.py", 2);
  const auto line_of = [&](const Stmt& s) {
    const std::vector<Violation> found = find_violations(loops(s));
    EXPECT_EQ(found.size(), 1U);
    return found.front().location.line;
  };
  const Expr here = make_var("i", kInt32, SourceLocation::make("a.py", 3));
  const Stmt of_variable = make_store(a, {here, make_int(0)}, make_float(0), inner);
  EXPECT_EQ(line_of(of_variable), 3);
  const Stmt of_store = make_store(a, {i, make_int(0)}, make_float(0), inner);
  EXPECT_EQ(line_of(of_store), 2);
  // Without one: that of the statement around it.
  const Stmt bare = make_store(a, {i, make_int(0)}, make_float(0));
  EXPECT_EQ(line_of(make_for(j, make_int(4), LoopKind::Serial, bare, outer)), 1);
  EXPECT_EQ(line_of(make_for(j, make_int(4), LoopKind::Serial, of_store, outer)), 2);
  const Stmt seq = make_seq({make_barrier(inner), bare});
  EXPECT_EQ(line_of(make_for(j, make_int(4), LoopKind::Serial, seq, outer)), 2);
  EXPECT_EQ(line_of(bare), 0);
  // In a kernel at least that of the kernel.
  const Stmt store = make_store(b, {i}, make_float(0));
  EXPECT_EQ(find_violations(one_kernel(store)).front().location.line, 9);
  const Stmt good = make_store(b, {make_int(0)}, make_float(0), inner);
  Stmt mixed = make_seq({store, good});
  EXPECT_EQ(find_violations(one_kernel(mixed)).front().location.line, 9);
}

TEST_F(VerifyTest, TheErrorListsAllOfThem) {
  const Stmt store =
      make_store(a, {i, make_int(16)}, make_float(0), SourceLocation::make("a.py", 2));
  try {
    verify(loops(store));
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(),
                 "internal error: program p breaks the rules of stage loops; this is a bug in "
                 "Texloom, please report it with the script that shows it\n"
                 "  [definitions] i: it is not defined here (a.py:2)\n"
                 "  [bounds] A[i, 16] = 0.0: 16 is not below the extent 16 of A (a.py:2)");
  }
  try {
    verify(loops(zero(a, {i, make_int(0)})));
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::EndsWith("\n  [definitions] i: it is not defined here"));
  }
}

// Many are collected, but not without end, and one node is reported once for each rule.
TEST_F(VerifyTest, ReportsAreLimited) {
  Stmts stores;
  for (int k = 0; k < 60; ++k) stores.push_back(zero(a, {make_int(8), make_int(0)}));
  EXPECT_EQ(faults(loops(make_seq(stores))).size(), 50U);
  stores.resize(49);
  EXPECT_EQ(faults(loops(make_seq(stores))).size(), 49U);
  EXPECT_EQ(faults(loops(make_seq({stores[0], stores[0], stores[0]}))).size(), 1U);
}

TEST_F(VerifyTest, LargeExpressionsShowAsTheirKind) {
  const auto sum = [&](int terms) {
    const Expr one = make_int(1);
    Expr e(new Binary(kInt32, BinaryOp::Add, one, one));
    for (int k = 2; k < terms; ++k) e = Expr(new Binary(kInt32, BinaryOp::Add, e, one));
    return e;
  };
  const auto node_of = [&](const Expr& e) {
    auto* cast = new Cast(kFloat4, e);  // of too many lanes
    const auto found = find_violations(
        loops(make_store(a, {make_int(0), make_int(0)}, make_lane(Expr(cast), make_int(0)))));
    std::string node;
    for (const Violation& v : found) {
      if (v.problem == "it is float32x4 and should be float32") node = v.node;
    }
    return node;
  };
  // A cast and n constants with n - 1 operations between them: 2 * n nodes.
  EXPECT_EQ(node_of(sum(50)), to_string(Expr(new Cast(kFloat4, sum(50)))));
  EXPECT_EQ(node_of(sum(51)), "Cast");
}

// 2^60 paths lead through 60 nodes; neither walking nor reporting goes along all of them.
TEST_F(VerifyTest, SharedPartsAreLookedAtOnce) {
  Expr e = i;
  for (int k = 0; k < 60; ++k) e = e + e;
  EXPECT_THAT(faults(loops(serial(i, 4, zero(a, {i, e})))), IsEmpty());
  EXPECT_THAT(faults(loops(zero(a, {e, e}))),
              ElementsAre("definitions | i | it is not defined here"));
  EXPECT_THAT(
      faults(loops(serial(i, 4, make_if(i < 3, make_seq({zero(a, {i, e}), zero(a, {e, i})}))))),
      IsEmpty());
  EXPECT_THAT(faults(loops(serial(i, 4, make_store(a, {i, i}, make_cast(Type::f(64), e))))),
              ElementsAre("types | A[i, i] = Cast | A holds float32, the value is float64"));
}

TEST(Rules, HaveNames) {
  const std::string names[] = {"nodes",      "types",    "buffers", "definitions",
                               "visibility", "textures", "access",  "axes",
                               "nesting",    "barriers", "bounds",  "plan"};
  for (size_t i = 0; i < std::size(names); ++i) {
    EXPECT_EQ(to_string(static_cast<Rule>(i)), names[i]);
  }
}

}  // namespace
}  // namespace texloom::ir
