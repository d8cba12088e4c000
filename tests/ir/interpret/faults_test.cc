// Tests each kind of report on the smallest program that has the fault, and on a similar program
// without the fault.
#include "tests/ir/interpret/faults.h"

#include "ir/interpret/interpret.h"

namespace texloom::ir {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// -- Races.

TEST_F(Faults, SharedRace) {
  const Stmt write = put_at(3, s, tx, read_at(2, a, tx));
  const Stmt read = put_at(5, y, tx, read_at(4, s, next()));
  EXPECT_EQ(run(make_allocate(s, make_seq({write, read})))[1],
            "k.py:3: race" + in_second +
                "s[1] is written here and read by block (0, 0, 0) thread (0, 0, 0) (k.py:4), with "
                "no barrier between");
  EXPECT_THAT(run(make_allocate(s, make_seq({write, make_barrier(), read}))), IsEmpty());
}

// In a loop without a barrier at its end, an iteration races with the next iteration.
TEST_F(Faults, RaceWithTheNextIteration) {
  const Stmt write = put_at(3, s, tx, read_at(2, a, tx));
  const Stmt read = put_at(5, y, tx, read_at(4, s, next()));
  EXPECT_THAT(
      run(make_allocate(s, loop(i, 2, make_seq({write, make_barrier(), read})))),
      ElementsAre("k.py:3: race" + in_second +
                      "s[1] is written here and read by block (0, 0, 0) thread (0, 0, 0) (k.py:4), "
                      "with no barrier between",
                  "k.py:4: race in k, block (0, 0, 0) thread (3, 0, 0): s[0] is read here and "
                  "written by block (0, 0, 0) thread (0, 0, 0) (k.py:3), with no barrier between"));
  EXPECT_THAT(
      run(make_allocate(s, loop(i, 2, make_seq({write, make_barrier(), read, make_barrier()})))),
      IsEmpty());
}

TEST_F(Faults, TwoWritersOfOneElement) {
  EXPECT_THAT(run(put_at(2, y, make_int(0), make_float(1))),
              ElementsAre("k.py:2: race" + in_second +
                          "y[0] is written here and written by block (0, 0, 0) thread (0, 0, 0) "
                          "(k.py:2), with no barrier between"));
  EXPECT_THAT(run(make_if(first_thread(), put_at(2, y, make_int(0), make_float(1)))), IsEmpty());
}

// Neither a barrier nor the end of the first block orders two blocks.
TEST_F(Faults, RaceOfBlocks) {
  blocks = 2;
  threads = 1;
  const Stmt write = put_at(3, y, bx, make_float(1));
  EXPECT_THAT(run(make_seq({write, make_barrier(),
                            put_at(5, y, make_int(2) + bx, read_at(4, y, make_int(0)))})),
              ElementsAre("k.py:4: race in k, block (1, 0, 0) thread (0, 0, 0): y[0] is read here "
                          "and written by block (0, 0, 0) thread (0, 0, 0) (k.py:3), which is in "
                          "another block"));
  EXPECT_THAT(run(make_seq({put_at(4, y, bx + 2, read_at(4, a, make_int(1))),
                            make_if(make_binary(BinaryOp::Eq, bx, make_int(1)),
                                    put_at(5, a, make_int(1), make_float(0)))})),
              ElementsAre("k.py:5: race in k, block (1, 0, 0) thread (0, 0, 0): a[1] is written "
                          "here and read by block (0, 0, 0) thread (0, 0, 0) (k.py:4), which is in "
                          "another block"));
}

TEST_F(Faults, TexelRace) {
  const Buffer t = param(texture("t", kFloat32, 4, 1));
  EXPECT_THAT(run(put_texel(2, t, floordiv(tx, 2), make_int(0), four(1))),
              ElementsAre("k.py:2: race" + in_second +
                          "t at x=0, y=0 is written here and written by block (0, 0, 0) thread (0, "
                          "0, 0) (k.py:2), with no barrier between"));
  EXPECT_THAT(run(put_texel(2, t, tx, make_int(0), four(1))), IsEmpty());
}

// Two tensors in one image race only if they access the same texel.
TEST_F(Faults, RaceInASharedImage) {
  Memory& both = image(kFloat32, 4, 2);
  const Layout row = texture_layout({1, 4, 4}, TextureRule::Activation);
  const TextureOrigin origin{make_var("v.x"), make_var("v.y")};
  const Buffer u = param_in(both, make_texture("u", kFloat32, row), 0, 0);
  const Buffer v = param_in(both, make_texture("v", kFloat32, row, origin), 0, 1);
  const Stmt own = make_seq({put_texel(2, u, tx, make_int(0), four(1)),
                             put_texel(3, v, origin.x + tx, origin.y, four(1))});
  EXPECT_THAT(run(own), IsEmpty());
  arguments_.back().y = 0;
  EXPECT_THAT(run(make_seq({put_texel(2, u, tx, make_int(0), four(1)),
                            put_texel(3, v, origin.x + next(), origin.y, four(1))})),
              SizeIs(2));
}

// -- Barriers.

TEST_F(Faults, BarrierThatSomeSkip) {
  EXPECT_THAT(run(make_if(first_thread(), make_barrier(line(6)))),
              ElementsAre("k.py:6: divergence" + in_first +
                          "it waits at a barrier, and block (0, 0, 0) thread (1, 0, 0) has come to "
                          "the end of k"));
}

TEST_F(Faults, TwoBarriers) {
  EXPECT_THAT(run(make_seq({make_if(first_thread(), make_barrier(line(6))),
                            make_if(make_not(first_thread()), make_barrier(line(7)))})),
              ElementsAre("k.py:6: divergence" + in_first +
                          "it waits at a barrier, and block (0, 0, 0) thread (1, 0, 0) waits at "
                          "another barrier"));
}

// A barrier that thread 1 skips in the first iteration diverges, although every thread reaches it.
TEST_F(Faults, BarrierInAnotherIteration) {
  const Expr skipped =
      make_binary(BinaryOp::Eq, tx, make_int(1)) && make_binary(BinaryOp::Eq, i, make_int(0));
  EXPECT_THAT(run(loop(i, 2, make_if(make_not(skipped), make_barrier(line(6))))),
              ElementsAre("k.py:6: divergence" + in_first +
                          "it waits at a barrier, and block (0, 0, 0) thread (1, 0, 0) waits there "
                          "in another iteration"));
  EXPECT_THAT(run(loop(i, 2, make_barrier(line(6)))), IsEmpty());
}

TEST_F(Faults, ShufflesAndBarriers) {
  const auto shuffle = [&](int at, const Stmt& body) {
    return make_shuffle(make_var("s"), tx, make_int(0), 32, body, line(at));
  };
  const std::string other = "block (0, 0, 0) thread (1, 0, 0) ";
  EXPECT_THAT(run(make_if(first_thread(), shuffle(6, make_empty()))),
              ElementsAre("k.py:6: divergence" + in_first + "it waits at a shuffle, and " + other +
                          "has come to the end of k"));
  EXPECT_THAT(run(make_seq({make_if(first_thread(), shuffle(6, make_empty())),
                            make_if(make_not(first_thread()), make_barrier(line(7)))})),
              ElementsAre("k.py:6: divergence" + in_first + "it waits at a shuffle, and " + other +
                          "waits at a barrier"));
  EXPECT_THAT(run(loop(i, 2, shuffle(6, make_barrier(line(7))))), IsEmpty());
}

// -- Out of bounds.

TEST_F(Faults, ElementOneTooFar) {
  EXPECT_THAT(run(put_at(2, y, tx + 1, read_at(3, a, tx - 1))),
              ElementsAre("k.py:3: out of bounds" + in_first + "a[-1] lies outside a of extent 4",
                          "k.py:2: out of bounds in k, block (0, 0, 0) thread (3, 0, 0): y[4] lies "
                          "outside y of extent 4"));
}

// The index of the second axis is out of range, although its element is inside the array.
TEST_F(Faults, LogicalIndexOneTooFar) {
  stage = ProgramStage::Loops;
  const Buffer m = param(make_buffer("m", kFloat32, {2, 3}, MemoryScope::Global));
  EXPECT_THAT(run(make_store(m, {make_int(0), make_int(3)}, make_float(1), line(2))),
              ElementsAre("k.py:2: out of bounds: m[0, 3] lies outside m of extent 2 x 3"));
}

TEST_F(Faults, StoreOneTexelTooFar) {
  const Buffer t = param(texture("t", kFloat32, 4, 1));
  EXPECT_THAT(run(put_texel(2, t, tx + 1, make_int(0), four(1))),
              ElementsAre("k.py:2: out of bounds in k, block (0, 0, 0) thread (3, 0, 0): t at x=4, "
                          "y=0 lies outside the image of 4 x 1 texels"));
}

// A store to a texel of another tensor is a fault, although the texel is inside the image.
TEST_F(Faults, StoreIntoAnotherRectangle) {
  Memory& both = image(kFloat32, 4, 3);
  const Layout row = texture_layout({1, 4, 4}, TextureRule::Activation);
  const TextureOrigin origin{make_var("v.x"), make_var("v.y")};
  const Buffer v = param_in(both, make_texture("v", kFloat32, row, origin), 0, 2);
  EXPECT_THAT(run(put_texel(2, v, origin.x + tx, origin.y - 1, four(1))),
              ElementsAre("k.py:2: out of bounds" + in_first +
                          "v at x=0, y=1 lies outside its rectangle of 4 x 1 texels at x=0, y=2"));
}

TEST_F(Faults, LaneOutsideItsVector) {
  threads = 1;
  EXPECT_THAT(run(put_at(2, y, make_int(0),
                         make_lane(vector_at(a, make_int(0), 4), at(n, 3) + 1, line(3)))),
              ElementsAre("k.py:3: out of bounds" + in_first + "lane 4 of a vector of 4 lanes"));
}

// -- Images.

TEST_F(Faults, ImageReadAndWritten) {
  const Buffer t = param(texture("t", kFloat32, 4, 2));
  memories_.back().define_all();
  EXPECT_THAT(run(put_texel(2, t, tx, make_int(1), read_texel(3, t, tx, make_int(0)))),
              ElementsAre("k.py:2: image read and written" + in_first +
                              "t at x=0, y=1 is written here, and this kernel reads t in the same "
                              "image (k.py:3)",
                          "k.py:3: image read and written" + in_second +
                              "t at x=1, y=0 is read here, and this kernel writes t in the same "
                              "image (k.py:2)"));
}

// Reading one tensor and writing another is a fault if both share an image.
TEST_F(Faults, SharedImageReadAndWritten) {
  threads = 1;
  const Layout row = texture_layout({1, 1, 4}, TextureRule::Activation);
  const TextureOrigin origin{make_var("v.x"), make_var("v.y")};
  const Buffer u = make_texture("u", kFloat32, row), v = make_texture("v", kFloat32, row, origin);
  Memory &both = image(kFloat32, 1, 2), &other = image(kFloat32, 1, 2);
  param_in(both, u, 0, 0, {1, 2, 3, 4});
  param_in(both, v, 0, 1);
  const Stmt copy = put_texel(2, v, origin.x, origin.y, read_texel(3, u, make_int(0), make_int(0)));
  EXPECT_THAT(run(copy),
              ElementsAre("k.py:2: image read and written" + in_first +
                          "v at x=0, y=1 is written here, and this kernel reads u in the "
                          "same image (k.py:3)"));
  arguments_.back().memory = &other;
  EXPECT_THAT(run(copy), IsEmpty());
}

TEST_F(Faults, DivisionByZero) {
  threads = 1;
  EXPECT_THAT(
      run(put_at(2, n, make_int(1), make_binary(BinaryOp::FloorDiv, at(n, 2), at(n, 0), line(3)))),
      ElementsAre("k.py:3: division by zero" + in_first + "the divisor of floordiv is 0"));
}

// -- Reporting.

// A node without a location is reported at the location of the enclosing statement.
TEST_F(Faults, LinesOfStatements) {
  const Stmt store = put(y, tx + 4, make_float(1));
  EXPECT_THAT(run(make_if(tx < make_int(1), store, line(8))),
              ElementsAre("k.py:8: out of bounds" + in_first + "y[4] lies outside y of extent 4"));
  EXPECT_THAT(run(store), ElementsAre("an unknown line: out of bounds" + in_first +
                                      "y[4] lies outside y of extent 4"));
}

// Each access is reported once, up to `max_reports`.
TEST_F(Faults, AreBounded) {
  Stmts all;
  for (int each = 0; each < 10; ++each) all.push_back(put(y, tx + 4, make_float(1)));
  EXPECT_THAT(run(make_seq(all)), SizeIs(10));
  max_reports = 3;
  EXPECT_THAT(run(make_seq(all)), SizeIs(3));
}

}  // namespace
}  // namespace texloom::ir
