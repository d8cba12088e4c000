// Tests the rules about nodes, types and definitions, and how violations are reported.

#include "support/check.h"
#include "tests/ir/verify/verify_fixture.h"

namespace texloom::ir {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// -- Valid programs.

// Two nests, each of which becomes a kernel: the first fills a texture through shared memory with
// vectorized lanes, the second reads it.
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
      nest(bx, 8, kBlockX, make_allocate(shared, make_seq({fetch, make_barrier(), use})));
  const Stmt guarded =
      make_if(tx < 12, make_store(b, {other_bx, tx}, make_load(t, {other_bx, tx, make_int(3)})));
  const Stmt second = nest(other_bx, 8, kBlockX, thread(tx, 16, kThreadX, guarded));
  EXPECT_THAT(faults(loops(make_seq({first, second}))), IsEmpty());
  EXPECT_NO_THROW(verify(loops(make_seq({first, second}))));
  EXPECT_THAT(faults(loops(make_empty())), IsEmpty());
}

TEST_F(VerifyTest, GoodProgramsOfFlattened) {
  const Expr index = make_ramp(offset() * 4, make_int(1), 4);
  const Buffer wide = make_buffer("W", kFloat32, {8 * 16 * 4}, MemoryScope::Global);
  Program program =
      flattened(nest(bx, 8, kBlockX,
                     thread(tx, 16, kThreadX,
                            make_seq({make_texture_store(t, tx, bx, make_load(wide, {index})),
                                      zero(b, {offset()})}))));
  program.params.push_back(wide);
  EXPECT_THAT(faults(program), IsEmpty());
}

// A plan with a temporary, a loop whose variable is a kernel argument, and textures with origins.
Program good_plan(VerifyTest*, ProgramStage stage, Type held) {
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
  first.axes = {{{true, 0}, bx, make_int(8)}, {{false, 1}, tx, make_int(4)}};
  first.grid[0] = make_int(8);
  first.block = {1, 4, 1};
  first.body = make_texture_store(temporary, step * 4 + tx, bx,
                                  make_texture_load_as(held4, in, ox + tx, oy + bx));
  Kernel second;
  second.name = "second";
  second.params = {{temporary, Access::Read, nullptr}, {out, Access::ReadWrite, nullptr}};
  second.axes = {{{true, 0}, bx, make_int(8)}, {{false, 0}, tx2, make_int(16)}};
  second.grid[0] = make_int(8);
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
  EXPECT_THAT(faults(good_plan(this, ProgramStage::Kernels, Type::f(16))), IsEmpty());
  EXPECT_THAT(faults(good_plan(this, ProgramStage::Legalized, Type::f(16))), IsEmpty());
  EXPECT_THAT(faults(one_kernel(copy())), IsEmpty());
}

// Legalized code may hold float16 memory in float32 variables; earlier code may not.
TEST_F(VerifyTest, OnlyLegalizedCodeWidens) {
  EXPECT_THAT(faults(good_plan(this, ProgramStage::Legalized, kFloat32)), IsEmpty());
  EXPECT_THAT(faults(good_plan(this, ProgramStage::Kernels, kFloat32)),
              testing::Each(testing::StartsWith("types | ")));
  EXPECT_THAT(faults(good_plan(this, ProgramStage::Kernels, kFloat32)), testing::SizeIs(7));
}

// -- Nodes.

TEST_F(VerifyTest, NodesOfAnotherStage) {
  const Expr read = make_tensor_read(Leaves::make_tensor("X", {make_int(8)}), {make_int(0)});
  EXPECT_THAT(faults(loops(make_store(a, {make_int(0), make_int(0)}, read))),
              ElementsAre("nodes | X[0] | TensorRead is not allowed in stage loops"));
  const IterVar axis = make_iter_var(make_var("k"), make_int(0), make_int(4), IterKind::Reduction);
  const Expr sum = make_reduce(Leaves::make_sum(), {make_float(1)}, {axis}, nullptr);
  EXPECT_THAT(faults(flattened(make_store(a, {make_int(0)}, sum))),
              Contains("nodes | reduce(sum, [k < 4], 1.0) | Reduce is not allowed in stage "
                       "flattened"));
  EXPECT_THAT(
      faults(loops(make_texture_store(t, make_int(0), make_int(0), make_const(0, kFloat4)))),
      ElementsAre("nodes | texture2d.store(T, x=0, y=0, x4(0.0)) | TextureStore is not "
                  "allowed in stage loops"));
  EXPECT_THAT(faults(kernels(make_barrier(), {})),
              ElementsAre("nodes | Barrier | Barrier is not allowed in a launch plan"));
  EXPECT_THAT(faults(flattened(make_free(a))),
              testing::Contains("nodes | free A | Free is not allowed in stage flattened"));
}

TEST_F(VerifyTest, LoopsOfAnotherStage) {
  const Stmt body = zero(b, {i});
  const std::vector<Program> programs = {
      one_kernel(make_for(i, make_int(4), LoopKind::Vectorized, body)),
      one_kernel(thread(i, 4, kThreadY, body))};
  for (const Program& program : programs) {
    EXPECT_THAT(faults(program), ElementsAre("nodes | loop i < 4 | a loop of this kind is not "
                                             "allowed in stage kernels"));
  }
  Program legal = one_kernel(make_for(i, make_int(4), LoopKind::Vectorized, body));
  legal.stage = ProgramStage::Legalized;
  EXPECT_THAT(faults(legal), ElementsAre("nodes | loop i < 4 | a loop of this kind is not allowed "
                                         "in stage legalized"));
  EXPECT_THAT(faults(kernels(make_for(i, make_int(4), LoopKind::Unrolled, make_empty()), {})),
              ElementsAre("nodes | loop i < 4 | a loop of this kind is not allowed in a launch "
                          "plan"));
}

TEST_F(VerifyTest, NestsHoldAllLoopsOfAKernel) {
  EXPECT_THAT(faults(loops(thread(tx, 16, kThreadX, make_empty()))),
              ElementsAre("nodes | loop tx < 16 | a loop over threadIdx.x is outside a nest"));
  const Stmt inner = make_nest(a, make_empty());
  EXPECT_THAT(faults(loops(make_nest(b, serial(i, 4, inner)))),
              ElementsAre("nodes | nest A | it is inside another nest"));
  EXPECT_THAT(faults(loops(make_seq({make_nest(b, make_empty()), inner}))), IsEmpty());
  EXPECT_THAT(faults(loops(serial(i, 4, inner))), IsEmpty());
  EXPECT_THAT(faults(loops(make_nest(local, make_empty()))),
              ElementsAre("definitions | nest L | L is not defined here"));
  EXPECT_THAT(faults(kernels(inner, {})),
              ElementsAre("nodes | nest A | Nest is not allowed in a launch plan"));
  // The end of the inner loop does not end the outer one.
  EXPECT_THAT(faults(loops(make_nest(b, make_seq({inner, thread(tx, 16, kThreadX, inner)})))),
              ElementsAre("nodes | nest A | it is inside another nest"));
}

TEST_F(VerifyTest, NothingIsAskedOfTheTeStage) {
  EXPECT_THAT(faults({"p", ProgramStage::Te, {}, {}, nullptr, {}}), IsEmpty());
}

// -- Types.

TEST_F(VerifyTest, Types) {
  const Expr wrong(new Binary(kInt32, BinaryOp::Add, i, make_int(0, kInt64)));
  EXPECT_THAT(faults(loops(serial(i, 8, zero(a, {wrong, i})))),
              ElementsAre("types | i + int64(0) | the operands are int32 and int64"));
  EXPECT_THAT(faults(loops(serial(i, 8, zero(a, {i})))),
              ElementsAre("types | A[i] = 0.0 | A takes 2 indices here, not 1"));
  EXPECT_THAT(faults(flattened(serial(i, 8, zero(a, {i, i})))),
              ElementsAre("types | A[i, i] = 0.0 | A takes 1 indices here, not 2"));
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
              ElementsAre("buffers | A | its layout has another shape"));
  const_cast<BufferNode&>(*local).origin.x = make_var("o");
  EXPECT_THAT(faults(one_kernel(make_allocate(local, copy()))),
              ElementsAre("buffers | A | its layout has another shape",
                          "buffers | L | only a texture has an origin"));
}

// -- Definitions.

TEST_F(VerifyTest, VariablesAreDefined) {
  EXPECT_THAT(faults(loops(zero(a, {i, make_int(0)}))),
              ElementsAre("definitions | i | it is not defined here"));
  // A variable is not defined in its own extent or value.
  EXPECT_THAT(faults(loops(make_for(i, i, LoopKind::Serial, make_empty()))),
              ElementsAre("definitions | i | it is not defined here"));
  EXPECT_THAT(faults(loops(make_let(x, x + x, make_empty()))),
              ElementsAre("definitions | x | it is not defined here"));
  // A variable is not defined after its scope, even in an expression that also occurs inside.
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
  // The end of the inner scope does not end the outer one.
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

  // In a kernel the origins are parameters of the kernel.
  program =
      kernels(make_launch(0),
              {kernel("k", {{moved, Access::Write, nullptr}, {nullptr, {}, ox}}, make_empty())});
  program.params = {moved};
  EXPECT_THAT(faults(program), ElementsAre("definitions | M | its origin oy is not a parameter"));
}

TEST_F(VerifyTest, ParametersOfKernels) {
  const Expr half = make_var("h", Type::f(16));
  EXPECT_THAT(faults(kernels(make_empty(), {kernel("k", {{nullptr, {}, nullptr}}, make_empty())})),
              ElementsAre("definitions | k | a parameter is a buffer or a scalar, and not both"));
  EXPECT_THAT(faults(kernels(make_empty(), {kernel("k", {{a, Access::Read, i}}, make_empty())})),
              ElementsAre("definitions | k | a parameter is a buffer or a scalar, and not both"));
  EXPECT_THAT(faults(kernels(make_empty(), {kernel("k", {{nullptr, {}, half}}, make_empty())})),
              ElementsAre("types | h | a scalar parameter is not a variable of 32 or 64 bits"));
  EXPECT_THAT(faults(kernels(make_empty(),
                             {kernel("k", {{a, {}, nullptr}, {a, {}, nullptr}}, make_empty())})),
              ElementsAre("definitions | A | it is defined again inside its scope"));
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
  // A node without a location gets the location of the enclosing statement.
  const Stmt bare = make_store(a, {i, make_int(0)}, make_float(0));
  EXPECT_EQ(line_of(make_for(j, make_int(4), LoopKind::Serial, bare, outer)), 1);
  EXPECT_EQ(line_of(make_for(j, make_int(4), LoopKind::Serial, of_store, outer)), 2);
  const Stmt seq = make_seq({make_barrier(inner), bare});
  EXPECT_EQ(line_of(make_for(j, make_int(4), LoopKind::Serial, seq, outer)), 2);
  EXPECT_EQ(line_of(bare), 0);
  // In a kernel, a node without a location gets at least the location of the kernel.
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
                 "Texloom, please report it with the script that reproduces it\n"
                 "  [definitions] i: it is not defined here (a.py:2)\n"
                 "  [bounds] A[i, 16] = 0.0: 16 is not proven to lie in 0..16 of A (a.py:2)");
  }
  try {
    verify(loops(zero(a, {i, make_int(0)})));
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::EndsWith("\n  [definitions] i: it is not defined here"));
  }
}

// The number of reports is limited, and each node is reported once per rule.
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
    auto* cast = new Cast(kFloat4, e);  // too many lanes
    const auto found = find_violations(
        loops(make_store(a, {make_int(0), make_int(0)}, make_lane(Expr(cast), make_int(0)))));
    std::string node;
    for (const Violation& v : found) {
      if (v.problem == "int32 cannot be converted to float32x4, which has other lanes")
        node = v.node;
    }
    return node;
  };
  // A cast and n constants with n - 1 operations between them: 2 * n nodes.
  EXPECT_EQ(node_of(sum(50)), to_string(Expr(new Cast(kFloat4, sum(50)))));
  EXPECT_EQ(node_of(sum(51)), "Cast");
}

// 60 nodes form 2^60 paths; neither walking nor reporting follows each of them.
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
                               "barriers",   "bounds",   "padding", "plan"};
  for (size_t i = 0; i < std::size(names); ++i) {
    EXPECT_EQ(to_string(static_cast<Rule>(i)), names[i]);
  }
}

}  // namespace
}  // namespace texloom::ir
