// Undefined values: their sources, how they spread, and which uses are faults.
#include "ir/interpret/undefined.h"

#include <limits>

#include "tests/ir/interpret/faults.h"

namespace texloom::ir {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class UndefinedValues : public Faults {
 protected:
  // The reports of storing `value` to an output.
  Texts stored(const Expr& value) {
    threads = 1;
    return run(put_at(2, y, make_int(0), value));
  }
};

TEST_F(UndefinedValues, ReadBeforeWrite) {
  EXPECT_THAT(run(make_allocate(s, put_at(2, y, tx, read_at(3, s, tx)))),
              ElementsAre("k.py:2: undefined" + in_first +
                          "y[0] is given an undefined value: s[0] was never written (k.py:3)"));
  // An element that the caller did not set is undefined, too.
  EXPECT_THAT(stored(read_at(3, y, make_int(1))),
              ElementsAre("k.py:2: undefined" + in_first +
                          "y[0] is given an undefined value: y[1] was never written (k.py:3)"));
}

// Each thread has its own local memory, new in each iteration.
TEST_F(UndefinedValues, PrivateMemory) {
  const Buffer l = local("l", kFloat32, 1);
  EXPECT_THAT(
      run(make_allocate(l, make_seq({make_if(first_thread(), put(l, make_int(0), make_float(1))),
                                     put_at(2, y, tx, read_at(3, l, make_int(0)))}))),
      ElementsAre("k.py:2: undefined" + in_second +
                  "y[1] is given an undefined value: l[0] was never written (k.py:3)"));
  threads = 1;
  const Expr first = make_binary(BinaryOp::Eq, i, make_int(0));
  EXPECT_THAT(
      run(loop(i, 2,
               make_allocate(l, make_seq({make_if(first, put(l, make_int(0), make_float(1))),
                                          put_at(2, y, i, read_at(3, l, make_int(0)))})))),
      ElementsAre("k.py:2: undefined" + in_first +
                  "y[1] is given an undefined value: l[0] was never written (k.py:3)"));
}

// Undefined values spread through operations and temporaries; they are a fault only in an output.
TEST_F(UndefinedValues, Spreads) {
  threads = 1;
  const Buffer l = local("l", kFloat32, 2);
  const Expr bad = read_at(3, l, make_int(0)), condition = bad < make_float(1);
  const Expr vector = make_pack({bad, make_float(1)});
  const Buffer y2 = param("y2", kFloat32, 2);
  const std::string origin = " is given an undefined value: l[0] was never written (k.py:3)";
  const auto given = [&](const Expr& value) {
    return run(make_allocate(
        l, make_seq({put(l, make_int(1), make_float(0)), put_at(2, y, make_int(0), value)})));
  };
  const auto is_reported = ElementsAre("k.py:2: undefined" + in_first + "y[0]" + origin);
  EXPECT_THAT(given(bad * make_float(0)), is_reported);
  EXPECT_THAT(given(make_fma(at(a, 0), at(a, 0), bad)), is_reported);
  EXPECT_THAT(given(make_call(Intrinsic::Abs, {bad})), is_reported);
  EXPECT_THAT(given(make_select(condition, at(a, 0), at(a, 1))), is_reported);
  EXPECT_THAT(given(make_select(make_not(condition), at(a, 0), at(a, 1))), is_reported);
  EXPECT_THAT(given(make_select(condition && (at(a, 0) < at(a, 1)), at(a, 0), at(a, 1))),
              is_reported);
  EXPECT_THAT(given(make_cast(kFloat32, make_cast(kInt32, bad))), is_reported);
  EXPECT_THAT(given(make_lane(vector, at(n, 0))), is_reported);
  EXPECT_THAT(given(make_lane(make_broadcast(bad, 2), at(n, 0))), is_reported);
  EXPECT_THAT(given(make_lane(vector, at(n, 1))), IsEmpty());
  EXPECT_THAT(given(make_select(at(n, 0) < at(n, 1), at(a, 0), bad)), IsEmpty());
  const Stmt copy = make_seq({put(l, make_int(1), bad), put_at(4, y, make_int(0), at(l, 1))});
  EXPECT_THAT(run(make_allocate(l, copy)),
              ElementsAre("k.py:4: undefined" + in_first + "y[0]" + origin));
  EXPECT_THAT(run(make_allocate(l, put(l, make_int(1), bad))), IsEmpty());
}

TEST_F(UndefinedValues, Decides) {
  threads = 1;
  const Buffer l = local("l", kInt32, 1);
  const Expr bad = read_at(3, l, make_int(0));
  const auto inside = [&](const Stmt& body) { return run(make_allocate(l, body)); };
  const std::string origin = " an undefined value: l[0] was never written (k.py:3)";
  const Stmt one = put(y, make_int(0), make_float(1));
  EXPECT_THAT(inside(make_if(bad < make_int(1), one, line(2))),
              ElementsAre("k.py:2: undefined" + in_first + "the condition is" + origin));
  EXPECT_THAT(inside(make_for(i, bad, LoopKind::Serial, one, line(2))),
              ElementsAre("k.py:2: undefined" + in_first + "the extent of the loop is" + origin));
  EXPECT_THAT(inside(put_at(2, y, bad, make_float(1))),
              ElementsAre("k.py:2: undefined" + in_first + "the index into y is" + origin));
  EXPECT_THAT(inside(put_at(2, l, make_int(0), make_cast(kInt32, read_at(4, a, bad)))),
              ElementsAre("k.py:4: undefined" + in_first + "the index into a is" + origin));
  const Buffer t = param(texture("t", kFloat32, 4, 1));
  EXPECT_THAT(
      inside(put_texel(2, t, make_int(0), bad, four(1))),
      ElementsAre("k.py:2: undefined" + in_first + "a coordinate of the store to t is" + origin));
  // Reading an image at an undefined coordinate is harmless unless the value is used.
  const Expr anywhere = make_lane(read_texel(4, t, bad, make_int(0)), make_int(0));
  EXPECT_THAT(inside(put_at(2, l, make_int(0), make_cast(kInt32, anywhere))), IsEmpty());
  EXPECT_THAT(inside(put_at(2, y, make_int(0), anywhere)),
              ElementsAre("k.py:2: undefined" + in_first + "y[0] is given" + origin));
}

// Reading past a texture is not a fault; using the value is.
TEST_F(UndefinedValues, CoordinateOneTooFar) {
  const Buffer t = param(texture("t", kFloat32, 2, 1), {1, 2, 3, 4, 5, 6, 7, 8});
  const Expr texel = read_texel(3, t, tx + 1, make_int(0));
  const Stmt use = put_at(2, y, tx, make_lane(texel, make_int(0)));
  threads = 2;
  EXPECT_THAT(run(use), ElementsAre("k.py:2: undefined" + in_second +
                                    "y[1] is given an undefined value: t at x=2, y=0 lies outside "
                                    "the image of 2 x 1 texels (k.py:3)"));
  const Expr held = make_var("held", kFloat32.with_lanes(4));
  const Stmt guarded = make_if(tx < make_int(1), put_at(2, y, tx, make_lane(held, make_int(0))));
  EXPECT_THAT(run(make_let(held, texel, guarded)), IsEmpty());
}

TEST_F(UndefinedValues, AnotherRectangle) {
  threads = 1;
  Memory& both = image(kFloat32, 4, 4);
  both.define_all();
  const Layout row = texture_layout({1, 2, 4}, TextureRule::Activation);
  const TextureOrigin origin{make_var("v.x"), make_var("v.y")};
  const Buffer v = param_in(both, make_texture("v", kFloat32, row, origin), 1, 2);
  const auto lane_at = [&](const Expr& x, const Expr& y_index) {
    return make_lane(read_texel(3, v, x, y_index), make_int(0));
  };
  EXPECT_THAT(stored(lane_at(make_int(0), make_int(0))),
              ElementsAre("k.py:2: undefined" + in_first +
                          "y[0] is given an undefined value: v at x=0, y=0 lies outside its "
                          "rectangle of 2 x 1 texels at x=1, y=2 (k.py:3)"));
  EXPECT_THAT(stored(lane_at(origin.x + 2, origin.y)), SizeIs(1));
  EXPECT_THAT(stored(lane_at(origin.x, origin.y + 1)), SizeIs(1));
  EXPECT_THAT(stored(lane_at(origin.x - 1, origin.y)), SizeIs(1));
  EXPECT_THAT(stored(lane_at(origin.x + 1, origin.y)), IsEmpty());
  // Coordinates at the limits of int64 are outside, too.
  for (const int64_t far :
       {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(stored(lane_at(make_int(far, kInt64), origin.y)), SizeIs(1));
    EXPECT_THAT(stored(lane_at(origin.x, make_int(far, kInt64))), SizeIs(1));
  }
}

// A texel that this program has not written is undefined, whatever the image held before.
TEST_F(UndefinedValues, StaleTexel) {
  const Buffer t = texture("t", kFloat32, 2, 1);
  Kernel write, read;
  write.name = "write";
  write.params = {{t, Access::Write, nullptr}};
  write.body = put_texel(2, t, make_int(0), make_int(0), four(1));
  read.name = "read";
  read.params = {{t, Access::Read, nullptr}, {y, Access::Write, nullptr}};
  read.axes = {{{false, 0}, tx, make_int(2)}};
  read.block = {2, 1, 1};
  read.body = put_at(4, y, tx, make_lane(read_texel(5, t, tx, make_int(0)), make_int(1)));
  const Stmt plan = make_allocate(t, make_seq({make_launch(0), make_launch(1), make_free(t)}));
  EXPECT_THAT(run(Program{"p", ProgramStage::Kernels, {}, params_, plan, {write, read}}),
              ElementsAre("k.py:4: undefined in read, block (0, 0, 0) thread (1, 0, 0): y[1] is "
                          "given an undefined value: lane 1 of t at x=1, y=0 was never written "
                          "(k.py:5)"));
}

// Lanes past the last extent are undefined, even after a store; with zero padding, they are zero.
TEST_F(UndefinedValues, PaddingLanes) {
  Layout layout = texture_layout({1, 7}, TextureRule::Activation);
  const Buffer t = param(make_texture("t", kFloat32, layout), {1, 2, 3, 4, 5, 6, 7});
  memories_.back().define_all();
  const auto lane_of = [&](const Buffer& b, int64_t n) {
    return make_lane(read_texel(3, b, make_int(1), make_int(0)), make_int(n));
  };
  EXPECT_THAT(stored(lane_of(t, 3)),
              ElementsAre("k.py:2: undefined" + in_first +
                          "y[0] is given an undefined value: lane 3 of t at x=1, y=0 is padding "
                          "(k.py:3)"));
  EXPECT_THAT(stored(lane_of(t, 2)), IsEmpty());
  layout.padding = Padding::Zero;
  const Buffer zero = param(make_texture("zero", kFloat32, layout), {1, 2, 3, 4, 5, 6, 7});
  memories_.back().define_all();
  EXPECT_THAT(stored(lane_of(zero, 3)), IsEmpty());
  EXPECT_EQ(arguments_[1].memory->get(0).undefined, 0U);
}

// Stores to padding do not matter, unless readers rely on its zeros.
TEST_F(UndefinedValues, StoresToPadding) {
  threads = 1;
  Layout layout = texture_layout({1, 3}, TextureRule::Activation);
  const Buffer t = param(make_texture("t", kFloat32, layout));
  layout.padding = Padding::Zero;
  const Buffer zero = param(make_texture("zero", kFloat32, layout));
  const auto written = [&](const Buffer& b, const Expr& last) {
    const Expr value = make_pack({at(a, 0), at(a, 1), at(a, 2), last});
    return run(put_texel(2, b, make_int(0), make_int(0), value));
  };
  EXPECT_THAT(written(t, at(a, 3)), IsEmpty());
  EXPECT_THAT(written(t, at(y, 0)), IsEmpty());  // never written
  EXPECT_THAT(written(zero, make_float(0)), IsEmpty());
  for (const Expr& last : {at(a, 3), at(y, 0)}) {
    EXPECT_THAT(written(zero, last),
                ElementsAre("k.py:2: padding" + in_first +
                            "lane 3 of zero at x=0, y=0 is padding, which readers assume to be "
                            "zero, but is not written as zero"));
  }
}

// At stage Loops textures are accessed like arrays, also as whole texels with padding.
TEST_F(UndefinedValues, LogicalTextures) {
  stage = ProgramStage::Loops;
  const Buffer t =
      param(make_texture("t", kFloat32, texture_layout({2, 3}, TextureRule::Activation)),
            {1, 2, 3, 4, 5, 6});
  const auto stored_at = [&](int64_t row, const Expr& column) {
    return run(make_store(t, {make_int(row), column}, make_const(1, kFloat32), line(2)));
  };
  const auto given = [&](const Expr& row, int64_t column) {
    return run(put_at(2, y, make_int(0), make_load(t, {row, make_int(column)}, line(3))));
  };
  const std::string start = "k.py:2: undefined: y[0] is given an undefined value: ";
  EXPECT_THAT(given(make_int(1), 2), IsEmpty());
  EXPECT_THAT(given(make_int(1), 3), ElementsAre(start + "t[1, 3] is padding (k.py:3)"));
  EXPECT_THAT(given(make_int(1), 4),
              ElementsAre(start + "t[1, 4] lies outside t of extent 2 x 3 (k.py:3)"));
  EXPECT_THAT(given(make_int(std::numeric_limits<int64_t>::max(), kInt64), 0), SizeIs(1));
  EXPECT_THAT(given(make_int(-1), 0),
              ElementsAre(start + "t[-1, 0] lies outside t of extent 2 x 3 (k.py:3)"));
  const Buffer never = param("never", kInt32, 1);
  EXPECT_THAT(given(make_load(never, {make_int(0)}, line(4)), 0),
              ElementsAre(start + "never[0] was never written (k.py:4)"));
  EXPECT_THAT(stored_at(1, make_int(3)), IsEmpty());
  EXPECT_THAT(stored_at(1, make_int(4)),
              ElementsAre("k.py:2: out of bounds: t[1, 4] lies outside t of extent 2 x 3"));
  EXPECT_THAT(stored_at(2, make_int(0)),
              ElementsAre("k.py:2: out of bounds: t[2, 0] lies outside t of extent 2 x 3"));
}

// Elements that a run leaves undefined count as never written in the next run.
TEST_F(UndefinedValues, LastUntilTheNextRun) {
  threads = 1;
  const Buffer z = param("z", kFloat32, 1);
  EXPECT_THAT(run(put_at(2, z, make_int(0), read_at(3, y, make_int(1)))), SizeIs(1));
  EXPECT_THAT(run(put_at(2, y, make_int(0), read_at(3, z, make_int(0)))),
              ElementsAre("k.py:2: undefined" + in_first +
                          "y[0] is given an undefined value: z[0] was never written (k.py:3)"));
}

TEST_F(UndefinedValues, OpenResults) {
  const Expr by = at(n, 3) * 11;
  EXPECT_THAT(stored(make_cast(kFloat32, make_binary(BinaryOp::Shl, at(n, 1), by, line(3)))),
              ElementsAre("k.py:2: undefined" + in_first +
                          "y[0] is given an undefined value: a shift of int32 by 33 (k.py:3)"));
  const Expr large = at(a, 3) * make_float(1e9);
  EXPECT_THAT(stored(make_cast(kFloat32, make_cast(kInt32, large, line(3)))),
              ElementsAre("k.py:2: undefined" + in_first +
                          "y[0] is given an undefined value: 4000000000 is outside int32 "
                          "(k.py:3)"));
}

}  // namespace
}  // namespace texloom::ir
