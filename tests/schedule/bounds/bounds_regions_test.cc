// Tests inferring the part of a stage that its readers need.
#include <gtest/gtest.h>

#include "tests/schedule/bounds/bounds_fixture.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Expr;
using ir::Exprs;
using ir::IterVar;
using ir::make_int;
using ir::Tensor;

// B(i) = A(i) + 1 over `inner`, and C over `outer`; the body of C reads B.
template <class F>
struct Chain {
  Chain(int64_t inner, int64_t outer, F body)
      : a(placeholder("A", {inner})),
        b(plus_one(a, "B")),
        c(compute("C", {outer}, [&](const Exprs& i) { return body(b, i[0]); })),
        te({c}) {}
  Tensor a, b, c;
  Te te;
};

TEST(BoundsRegions, RootStagesComputeWhatIsRead) {
  const Chain chain(100, 10, [](const Tensor& b, const Expr& i) { return at(b, {i * 2 + 5}); });
  EXPECT_EQ(region(chain.te, chain.b), "5 + 19");
  EXPECT_EQ(indices(chain.te, chain.b), "i + 5");
  EXPECT_EQ(positions(chain.te, chain.b), "i");
  EXPECT_EQ(loops(chain.te, chain.b), "i 19");
  EXPECT_EQ(guards(chain.te, chain.b), " | ");
}

TEST(BoundsRegions, OutputsAreComputedWhole) {
  const Tensor a = placeholder("A", {100}), b = plus_one(a, "B");
  const Tensor c = compute("C", {10}, [&](const Exprs& i) { return at(b, i); });
  EXPECT_EQ(region(Te({c}), b), "0 + 10");
  EXPECT_EQ(region(Te({b, c}), b), "0 + 100");
}

// Reads under a condition may be out of bounds: the region stays inside the tensor.
TEST(BoundsRegions, ConstantsAreClamped) {
  const auto read_at = [](int64_t offset) {
    const Chain chain(10, 12, [offset](const Tensor& b, const Expr& i) {
      return make_select(i < make_int(5), at(b, {i + offset}), ir::make_float(0));
    });
    return region(chain.te, chain.b);
  };
  EXPECT_EQ(read_at(-1), "0 + 10");
  EXPECT_EQ(read_at(-4), "0 + 8");
  EXPECT_EQ(read_at(3), "3 + 7");
  EXPECT_EQ(read_at(-20), "0 + 1");
  EXPECT_EQ(read_at(20), "9 + 1");
}

TEST(BoundsRegions, UnionOfAllReads) {
  const Chain chain(100, 10, [](const Tensor& b, const Expr& i) {
    return at(b, {i + 7}) + at(b, {i}) + at(b, {i + 3});
  });
  EXPECT_EQ(region(chain.te, chain.b), "0 + 17");
}

TEST(BoundsRegions, UnionOfAllReaders) {
  const Tensor a = placeholder("A", {100}), b = plus_one(a, "B");
  const Tensor c = compute("C", {10}, [&](const Exprs& i) { return at(b, {i[0] + 20}); });
  const Tensor d = compute("D", {10}, [&](const Exprs& i) { return at(b, {i[0] + 40}); });
  EXPECT_EQ(region(Te({c, d}), b), "20 + 30");
}

// A reader of several tensors needs a separate region of each.
TEST(BoundsRegions, TellsTensorsApart) {
  const Tensor a = placeholder("A", {100}), b = plus_one(a, "B"), c = plus_one(a, "C");
  const Tensor d =
      compute("D", {10}, [&](const Exprs& i) { return at(b, {i[0] + 20}) + at(c, {i[0] + 50}); });
  const Te te({d});
  EXPECT_EQ(region(te, b), "20 + 10");
  EXPECT_EQ(region(te, c), "50 + 10");
}

// An index read from memory may be anything, even if another read of the tensor is known.
TEST(BoundsRegions, UnknownIndicesAskForAll) {
  const Tensor a = placeholder("A", {100}), n = placeholder("N", {10}, ir::kInt32);
  const Tensor b = plus_one(a, "B");
  const Tensor c = compute("C", {10}, [&](const Exprs& i) {
    return at(b, {i[0]}) + at(b, {at(n, i)}) + at(b, {i[0] + 1});
  });
  EXPECT_EQ(region(Te({c}), b), "0 + 100");
}

TEST(BoundsRegions, InlinedReadersAskForNothing) {
  const Tensor a = placeholder("A", {100}), b = plus_one(a, "B"), c = plus_one(b, "C");
  const Tensor d = compute("D", {10}, [&](const Exprs& i) { return at(b, i) + at(c, i); });
  Te te({d});
  te.compute_inline(c);
  te.s.set_body(te.id(d), at(b, {te.axis(d, 0)->var}));
  EXPECT_EQ(region(te, b), "0 + 10");
  EXPECT_EQ(loops(te, c), "");
}

TEST(BoundsRegions, AttachedStagesFollowTheLoops) {
  Chain chain(64, 60, [](const Tensor& b, const Expr& i) { return at(b, {i}) + at(b, {i + 4}); });
  Te& te = chain.te;
  const auto [outer, inner] = te.split(chain.c, te.axis(chain.c, 0), 10);
  te.compute_at(chain.b, chain.c, outer);
  EXPECT_EQ(region(te, chain.b), "i.outer * 10 + 14");
  EXPECT_EQ(indices(te, chain.b), "i.outer * 10 + i");
  EXPECT_EQ(positions(te, chain.b), "i");
  EXPECT_EQ(guards(te, chain.b), " | ");
  te.compute_at(chain.b, chain.c, inner);
  EXPECT_EQ(region(te, chain.b), "i.outer * 10 + i.inner + 5");
}

// Elements past the end of the tensor are guarded.
TEST(BoundsRegions, AttachedStagesAreGuarded) {
  Chain chain(10, 10, [](const Tensor& b, const Expr& i) { return at(b, {i}); });
  Te& te = chain.te;
  const auto [outer, inner] = te.split(chain.c, te.axis(chain.c, 0), 4);
  te.compute_at(chain.b, chain.c, outer);
  EXPECT_EQ(region(te, chain.b), "i.outer * 4 + 4");
  EXPECT_EQ(guards(te, chain.b), "i.outer * 4 + i < 10 | ");
}

TEST(BoundsRegions, BeforeTheFirstElement) {
  Chain chain(20, 20, [](const Tensor& b, const Expr& i) {
    return make_select(i >= make_int(1), at(b, {i - 1}), ir::make_float(0));
  });
  Te& te = chain.te;
  const auto [outer, inner] = te.split(chain.c, te.axis(chain.c, 0), 4);
  te.compute_at(chain.b, chain.c, outer);
  EXPECT_EQ(region(te, chain.b), "i.outer * 4 - 1 + 4");
  EXPECT_EQ(guards(te, chain.b), "i.outer * 4 + i - 1 >= 0 | ");
}

// A region as large as the tensor becomes the tensor.
TEST(BoundsRegions, LargeRegionsAreTheTensor) {
  const auto window = [](int64_t size) {
    const IterVar k = reduce_axis("k", size);
    Chain chain(16, 16, [&](const Tensor& b, const Expr& i) {
      const Expr index = i + k->var;
      return sum(at(b, {index}), {k}, index < make_int(16));
    });
    chain.te.compute_at(chain.b, chain.c, chain.te.axis(chain.c, 0));
    return region(chain.te, chain.b);
  };
  EXPECT_EQ(window(15), "i + 15");
  EXPECT_EQ(window(16), "0 + 16");
  EXPECT_EQ(window(17), "0 + 16");
}

// One end of the region is a constant, but the other end is not.
TEST(BoundsRegions, HalfConstant) {
  const IterVar k = reduce_axis("k", 16);
  Chain chain(64, 16,
              [&](const Tensor& b, const Expr& i) { return sum(at(b, {max(i, k->var)}), {k}); });
  chain.te.compute_at(chain.b, chain.c, chain.te.axis(chain.c, 0));
  EXPECT_EQ(region(chain.te, chain.b), "i + 16");
}

// The second of two axes has a constant region, but the first does not.
TEST(BoundsRegions, EachAxisByItself) {
  const Tensor a = placeholder("A", {8, 30}), b = plus_one(a, "B");
  const Tensor c = compute("C", {8, 20}, [&](const Exprs& i) { return at(b, {i[0], i[1] + 3}); });
  Te te({c});
  te.compute_at(b, c, te.axis(c, 0));
  EXPECT_EQ(region(te, b), "i + 1, 3 + 20");
  EXPECT_EQ(indices(te, b), "i, j + 3");
}

// B is attached to the thread loop of C; the more threads share B's scope, the larger its region.
TEST(BoundsRegions, SharedBuffersServeAllThreads) {
  const auto in = [](std::string_view scope) {
    Chain chain(256, 256, [](const Tensor& b, const Expr& i) { return at(b, {i}); });
    Te& te = chain.te;
    const auto [block, rest] = te.split(chain.c, te.axis(chain.c, 0), 64);
    const auto [thread, step] = te.split(chain.c, rest, 4);
    te.bind(chain.c, block, "blockIdx.x");
    te.bind(chain.c, thread, "threadIdx.x");
    te.compute_at(chain.b, chain.c, thread);
    te.set_scope(chain.b, scope);
    return region(te, chain.b);
  };
  EXPECT_EQ(in("local"), "i.outer * 64 + i.inner.outer * 4 + 4");
  EXPECT_EQ(in("shared"), "i.outer * 64 + 64");
  EXPECT_EQ(in("global"), "0 + 256");
}

// A block computes 3 x 8 elements with 16 threads, so half of the second iteration does nothing.
// The idle half must not extend the region of B, which the block shares, by a row. If `own` is
// true, a stage in local memory is between B and D.
std::string region_of_shared(bool own) {
  const Tensor a = placeholder("A", {6, 32}), b = plus_one(a, "B"), c = plus_one(b, "C");
  const Tensor d = compute("D", {6, 32}, [&](const Exprs& i) { return at(own ? c : b, i); });
  Te te({d});
  const auto [rows, row] = te.split(d, te.axis(d, 0), 3);
  const auto [columns, column] = te.split(d, te.axis(d, 1), 8);
  te.reorder(d, {rows, columns, row, column});
  const IterVar block = te.fuse(d, {rows, columns});
  const auto [turn, thread] = te.split(d, te.fuse(d, {row, column}), 16);
  te.bind(d, block, "blockIdx.x");
  te.bind(d, thread, "threadIdx.x");
  te.set_scope(b, "shared");
  te.compute_at(b, d, block);
  if (own) {
    te.set_scope(c, "local");
    te.compute_at(c, d, thread);
    const std::string guard = "i.inner.j.inner.fused.outer * 16 + i.inner.j.inner.fused.inner < 24";
    EXPECT_TRUE(guards(te, c).starts_with(guard)) << guards(te, c);
  }
  return region(te, b);
}

TEST(BoundsRegions, PointsPastAGuardAskForNothing) {
  const std::string_view expected =
      "floordiv(i.outer.j.outer.fused, 4) * 3 + 3, floormod(i.outer.j.outer.fused, 4) * 8 + 8";
  EXPECT_EQ(region_of_shared(false), expected);
  EXPECT_EQ(region_of_shared(true), expected);
}

// In any scope, a region covers one iteration of the serial loops outside the attachment.
TEST(BoundsRegions, SerialLoopsStandStill) {
  Chain chain(64, 64, [](const Tensor& b, const Expr& i) { return at(b, {i}); });
  const auto [outer, inner] = chain.te.split(chain.c, chain.te.axis(chain.c, 0), 8);
  chain.te.compute_at(chain.b, chain.c, outer);
  chain.te.set_scope(chain.b, "global");
  EXPECT_EQ(region(chain.te, chain.b), "i.outer * 8 + 8");
}

TEST(BoundsRegions, ReadersOutsideTheLoop) {
  const Tensor a = placeholder("A", {8}), b = plus_one(a, "B");
  const Tensor c = plus_one(b, "C"),
               d = compute("D", {8}, [&](const Exprs& i) { return at(b, i) * at(c, i); });
  Te te({d});
  te.compute_at(b, c, te.axis(c, 0));
  EXPECT_EQ(faults([&] { infer_bounds(te.s); }),
            "TL3005 te.py:18: 'B' is computed at the loop 'i' of 'C', but its reader 'D' runs "
            "outside that loop");
  te.compute_at(c, d, te.axis(d, 0));
  EXPECT_EQ(faults([&] { infer_bounds(te.s); }),
            "TL3005 te.py:18: 'B' is computed at the loop 'i' of 'C', but its reader 'D' runs "
            "outside that loop");
  te.compute_at(b, d, te.axis(d, 0));
  EXPECT_EQ(faults([&] { infer_bounds(te.s); }), "");
}

// A reader may be attached deeper than the stage that it reads.
TEST(BoundsRegions, ReadersInsideTheLoop) {
  const Tensor a = placeholder("A", {64}), b = plus_one(a, "B"), c = plus_one(b, "C");
  const Tensor d = plus_one(c, "D");
  Te te({d});
  const auto [outer, inner] = te.split(d, te.axis(d, 0), 8);
  te.compute_at(b, d, outer);
  te.compute_at(c, d, inner);
  EXPECT_EQ(region(te, c), "i.outer * 8 + i.inner + 1");
  EXPECT_EQ(region(te, b), "i.outer * 8 + 8");
}

// B is longer than C, whose last tile ends past C but not past B.
struct LongerThanItsReader : Chain<Expr (*)(const Tensor&, const Expr&)> {
  LongerThanItsReader() : Chain(16, 10, [](const Tensor& b, const Expr& i) { return at(b, {i}); }) {
    const auto [outer, inner] = te.split(c, te.axis(c, 0), 4);
    te.compute_at(b, c, outer);
  }
};

// A guard skips the points of a producer that its reader does not need, so these points read
// nothing.
TEST(BoundsRegions, NeededPointsEndWithTheirReaders) {
  const LongerThanItsReader chain;
  EXPECT_EQ(region(chain.te, chain.b), "i.outer * 4 + 4");
  EXPECT_EQ(computed(chain.te, chain.b, Points::InShape), "0 to 16");
  EXPECT_EQ(guards(chain.te, chain.b, Points::InShape), " | ");
  EXPECT_EQ(computed(chain.te, chain.b, Points::Needed), "0 to 10");
  EXPECT_EQ(guards(chain.te, chain.b, Points::Needed), "i.outer * 4 + i < 10 | ");
}

// The needed points are rounded to whole texels, whose lanes are written together.
TEST(BoundsRegions, NeededPointsAreWholeTexels) {
  LongerThanItsReader chain;
  chain.te.set_scope(chain.b, "texture");
  EXPECT_EQ(computed(chain.te, chain.b, Points::Needed), "0 to 12");
}

TEST(BoundsRegions, NeededPointsFollowTheReadsAndTheirConditions) {
  const auto needed = [](auto body) {
    const Chain chain(100, 10, body);
    return computed(chain.te, chain.b, Points::Needed);
  };
  EXPECT_EQ(needed([](const Tensor& b, const Expr& i) { return at(b, {i * 2 + 5}); }), "5 to 24");
  EXPECT_EQ(needed([](const Tensor& b, const Expr& i) { return at(b, {i}) + at(b, {i + 40}); }),
            "0 to 50");
  EXPECT_EQ(needed([](const Tensor& b, const Expr& i) {
              return make_select(i < make_int(3), at(b, {i + 1}), ir::make_float(0));
            }),
            "1 to 4");
}

// A point is not needed if it is read only by points of a reader that are not computed.
TEST(BoundsRegions, NeededPointsFollowChainsOfReaders) {
  const Tensor a = placeholder("A", {64}), b = plus_one(a, "B");
  const Tensor c = compute("C", {32}, [&](const Exprs& i) { return at(b, {i[0] + 4}); });
  const Tensor d = compute("D", {10}, [&](const Exprs& i) { return at(c, {i[0] + 1}); });
  const Te te({d});
  EXPECT_EQ(computed(te, c, Points::Needed), "1 to 11");
  EXPECT_EQ(computed(te, b, Points::Needed), "5 to 15");
}

TEST(BoundsRegions, OutputsAndUnknownIndicesNeedAllPoints) {
  const Tensor a = placeholder("A", {100}), n = placeholder("N", {10}, ir::kInt32);
  const Tensor b = plus_one(a, "B");
  const Tensor c = compute("C", {10}, [&](const Exprs& i) { return at(b, {at(n, i)}); });
  EXPECT_EQ(computed(Te({c}), b, Points::Needed), "0 to 100");
  const Tensor d = compute("D", {10}, [&](const Exprs& i) { return at(b, i); });
  EXPECT_EQ(computed(Te({d}), b, Points::Needed), "0 to 10");
  EXPECT_EQ(computed(Te({b, d}), b, Points::Needed), "0 to 100");
}

}  // namespace
}  // namespace texloom::schedule
