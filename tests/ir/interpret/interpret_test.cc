// Statements and launch plans run as expected, at each stage that allows them.
#include "ir/interpret/interpret.h"

#include "support/check.h"
#include "tests/ir/interpret/programs.h"
#include "tests/ir/samples.h"

namespace texloom::ir {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Values = std::vector<double>;

class InterpretStmt : public InterpretTest {
 protected:
  Buffer a = param("a", kInt32, 8, {1, 2, 3, 4, 5, 6, 7, 8}), y = param("y", kInt32, 8);
  Stmt zero_y = loop(i, 8, put(y, i, make_int(0)));
  Expr j = make_var("j"), k = make_var("k");
};

// Runs a statement of each kind that kernels contain.
TEST_F(InterpretStmt, KernelStatements) {
  const Buffer l = local("l", kInt32, 1);
  const Buffer t = param(texture("t", kInt32, 1, 1));
  const Expr square = make_var("square");
  const Stmt body = make_let(square, j * j, put(l, make_int(0), at(l, 0) + square));
  EXPECT_THAT(run(make_seq({zero_y,
                            make_allocate(l, make_seq({put(l, make_int(0), make_int(100)),
                                                       loop(j, 3, make_if(j < make_int(2), body)),
                                                       put(y, make_int(1), at(l, 0))})),
                            make_barrier(),
                            make_texture_store(t, make_int(0), make_int(0),
                                               make_ramp(make_int(4), make_int(2), 4))})),
              IsEmpty());
  EXPECT_EQ(values(y), Values({0, 101, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values(t), Values({4, 6, 8, 10}));
}

// Runs loops of all kinds, and a thread loop nested in another loop over the same threads.
TEST_F(InterpretStmt, LoopsBeforeKernels) {
  const Buffer s = shared("s", kInt32, 4);
  const Stmt fetch = make_thread_for(j, make_int(4), {false, 0}, put(s, j, at(a, j)));
  const Stmt sum = make_for(k, make_int(4), LoopKind::Unrolled, put(y, i, at(y, i) + at(s, k)));
  const Stmt nest =
      make_nest(y, make_thread_for(i, make_int(4), {false, 0},
                                   make_allocate(s, make_seq({fetch, make_barrier(), sum}))));
  const Stmt rest = make_for(j, make_int(4), LoopKind::Vectorized, put(y, j + 4, j));
  for (const ProgramStage each : {ProgramStage::Loops, ProgramStage::Flattened}) {
    stage = each;
    EXPECT_THAT(run(make_seq({zero_y, nest, make_nest(y, rest)})), IsEmpty());
    EXPECT_EQ(values(y), Values({10, 10, 10, 10, 0, 1, 2, 3}));
  }
}

// Accesses have one index per axis, for textures as for arrays.
TEST_F(InterpretStmt, LogicalAccesses) {
  stage = ProgramStage::Loops;
  const Buffer m =
      param(make_buffer("m", kFloat32, {2, 3}, MemoryScope::Global), {1, 2, 3, 4, 5, 6});
  const Layout layout = texture_layout({2, 3}, TextureRule::Activation);
  const Buffer t = param(make_texture("t", kFloat32, layout));
  const Buffer out = param(make_buffer("out", kFloat32, {3, 2}, MemoryScope::Global));
  const Stmt copy = make_store(t, {i, j}, make_load(m, {i, j}));
  const Stmt turn = make_store(out, {j, i}, make_load(t, {i, j}));
  EXPECT_THAT(run(make_seq({loop(i, 2, loop(j, 3, copy)), loop(i, 2, loop(j, 3, turn))})),
              IsEmpty());
  EXPECT_EQ(values(out), Values({1, 4, 2, 5, 3, 6}));
}

// Runs a plan with temporaries, a loop whose variable is a kernel argument, and frees.
TEST_F(InterpretStmt, LaunchPlan) {
  const Buffer temporary = global("temporary", kInt32, 8);
  Kernel first, second;
  first.name = "first";
  first.params = {{a, Access::Read, nullptr}, {temporary, Access::Write, nullptr}};
  first.axes = {{{false, 0}, tx, make_int(8)}};
  first.block = {8, 1, 1};
  first.body = put(temporary, tx, at(a, tx) + 10);
  second.name = "second";
  second.params = {
      {temporary, Access::Read, nullptr}, {y, Access::Write, nullptr}, {nullptr, Access::Read, j}};
  second.axes = {{{true, 0}, bx, make_int(2)}, {{true, 1}, k, make_int(2)}};
  second.grid = {make_int(2), make_int(2), make_int(1)};
  second.body = put(y, j * 4 + k * 2 + bx, at(temporary, j * 4 + k * 2 + bx));
  const Stmt plan = make_allocate(
      temporary, make_seq({make_launch(0), loop(j, 2, make_launch(1)), make_free(temporary)}));
  EXPECT_THAT(run(Program{"p", ProgramStage::Kernels, {}, params_, plan, {first, second}}),
              IsEmpty());
  EXPECT_EQ(values(y), Values({11, 12, 13, 14, 15, 16, 17, 18}));
}

// Threads meet at barriers, also inside loops; each block has its own shared memory.
TEST_F(InterpretStmt, Barriers) {
  blocks = 2;
  threads = 4;
  const Buffer s = shared("s", kInt32, 4);
  const Expr left = floormod(tx + 1, 4), own = bx * 4 + tx;
  const Expr held = make_var("held");
  const Stmt rotate =
      make_let(held, at(s, left), make_seq({make_barrier(), put(s, tx, held), make_barrier()}));
  EXPECT_THAT(run(make_allocate(s, make_seq({put(s, tx, at(a, own)), make_barrier(),
                                             loop(i, 2, rotate), put(y, own, at(s, tx))}))),
              IsEmpty());
  EXPECT_EQ(values(y), Values({3, 4, 1, 2, 7, 8, 5, 6}));
}

// Origins are scalar kernel parameters; temporaries have nonzero origins.
TEST_F(InterpretStmt, Origins) {
  const TextureOrigin origin{make_var("t.x"), make_var("t.y")};
  const Buffer t =
      make_texture("t", kInt32, texture_layout({1, 2, 4}, TextureRule::Activation), origin);
  Kernel write, read;
  write.name = "write";
  write.params = {{t, Access::Write, nullptr},
                  {nullptr, Access::Read, origin.x},
                  {nullptr, Access::Read, origin.y}};
  write.body =
      loop(i, 2, make_texture_store(t, origin.x + i, origin.y, make_ramp(i * 4, make_int(1), 4)));
  read = write;
  read.name = "read";
  read.body = loop(i, 2, put_vector(y, i * 4, texel(t, origin.x + i, origin.y)));
  const Stmt plan = make_allocate(t, make_seq({make_launch(0), make_launch(1), make_free(t)}));
  EXPECT_THAT(run(Program{"p", ProgramStage::Kernels, {}, params_, plan, {write, read}}),
              IsEmpty());
  EXPECT_EQ(values(y), Values({0, 1, 2, 3, 4, 5, 6, 7}));
}

// -- What the caller must provide.

using InterpretArguments = InterpretStmt;

TEST_F(InterpretArguments, AreChecked) {
  Program program{"p", ProgramStage::Te, {}, params_, make_empty(), {}};
  EXPECT_THROW(interpret(program, arguments_), InternalError);
  program.stage = ProgramStage::Flattened;
  EXPECT_THAT(interpret(program, arguments_), IsEmpty());
  EXPECT_THROW(interpret(program, {}), InternalError);
  std::vector<Placement> arguments = arguments_;
  Memory small = Memory::array(kInt32, 7), other = Memory::array(kFloat32, 8);
  Memory wide = Memory::image(kInt32, 8, 8);
  for (const Placement& wrong : {Placement{}, Placement{&small}, Placement{&other},
                                 Placement{&wide}, Placement{arguments[0].memory, 1, 0}}) {
    arguments[0] = wrong;
    EXPECT_THROW(interpret(program, arguments), InternalError);
  }
  program.params = {texture("t", kInt32, 2, 2)};
  EXPECT_THAT(interpret(program, {{&wide}}), IsEmpty());
  EXPECT_THROW(interpret(program, {{&wide, 1, 0}}), InternalError);  // t has no origin
}

TEST_F(InterpretArguments, NodesOfStageTe) {
  const Leaves l;
  stage = ProgramStage::Loops;
  for (const Expr& e : {make_tensor_read(l.tensor, {make_int(0), make_int(0)}),
                        make_reduce(l.sum, {make_float(1)}, {l.axis}, nullptr)}) {
    const Buffer out = param("out", kFloat32, 1);
    EXPECT_THROW(run(put(out, make_int(0), e)), InternalError);
  }
}

}  // namespace
}  // namespace texloom::ir
