// Tests finding reads outside tensors.
#include "lower/schedule/check_reads.h"

#include <gtest/gtest.h>

#include "lower/build/build_loops.h"
#include "lower/schedule/check_schedule.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Expr;
using ir::Exprs;
using ir::IterVar;
using ir::make_float;
using ir::make_int;
using ir::Tensor;
using schedule::output_of;

std::string faults_of(Lowering lowering) {
  return faults([&] {
    check_schedule(lowering);
    build_nests(lowering);
  });
}

// B of 8 elements reads A of 10 elements.
class CheckReads : public ::testing::Test {
 protected:
  template <class F>
  std::string reading(F body) const {
    const Tensor b = compute("B", {8}, [&](const Exprs& i) { return body(i[0]); });
    return faults_of(lowering_of(Te({b}), {a, n}));
  }
  static std::string outside_at(int64_t index, std::string_view axes) {
    return fmt::format(
        "TL3020 te.py:4: 'B' reads axis 0 of 'A' at index {} where {}, but that axis has only the "
        "indices 0 to 9",
        index, axes);
  }
  static std::string outside(int64_t first, int64_t last) {
    return fmt::format(
        "TL3020 te.py:4: 'B' reads axis 0 of 'A' at indices {} to {}, but that axis has only the "
        "indices 0 to 9",
        first, last);
  }
  std::string reading_at(int64_t factor, int64_t offset) const {
    return reading([&](const Expr& i) { return at(a, {i * factor + offset}) + at(n, {i}); });
  }

  Tensor a = placeholder("A", {10}), n = placeholder("N", {8});
};

TEST_F(CheckReads, Inside) {
  EXPECT_EQ(reading_at(1, 0), "");
  EXPECT_EQ(reading_at(1, 2), "");
  EXPECT_EQ(reading_at(-1, 7), "");
}

TEST_F(CheckReads, Outside) {
  EXPECT_EQ(reading_at(1, 3), outside(3, 10));
  EXPECT_EQ(reading_at(1, -1), outside(-1, 6));
  EXPECT_EQ(reading_at(1, 10), outside(10, 17));
  EXPECT_EQ(reading_at(-1, -1), outside(-8, -1));
}

// If a variable occurs twice in an index, the interval of the index may be too wide. The read is an
// error if the whole interval is outside, or if a point outside is found.
TEST_F(CheckReads, Inexact) {
  const auto product = [&](int64_t offset) {
    return reading([&](const Expr& i) {
      return at(a, {ir::floordiv(i * (make_int(7) - i), 2) + offset}) + at(n, {i});
    });
  };
  EXPECT_EQ(product(0), "");
  EXPECT_EQ(product(10), outside(10, 34));
  EXPECT_EQ(product(3), "");
  EXPECT_EQ(product(9), outside_at(12, "i = 1"));
  EXPECT_EQ(product(-25), outside(-25, -1));
  EXPECT_EQ(product(-24), outside_at(-24, "i = 0"));
}

TEST_F(CheckReads, UnknownIndices) {
  const Tensor x = placeholder("X", {8}, ir::kInt32);
  const Tensor b = compute("B", {8}, [&](const Exprs& i) { return at(a, {at(x, i)}); });
  EXPECT_EQ(faults_of(lowering_of(Te({b}), {a, x})), "");
}

// An index need not reach every value of its interval, for example if it is a value from memory, a
// conversion, or the remainder of a strided axis.
TEST_F(CheckReads, IntervalsThatAreTooWide) {
  const auto by = [&](ir::Type type) {
    const Tensor x = placeholder("X", {8}, type);
    const Tensor b = compute("B", {8}, [&](const Exprs& i) {
      const Expr index = at(x, i);
      return at(a, {type.is_float() ? make_cast(ir::kInt32, index) : index});
    });
    return faults_of(lowering_of(Te({b}), {a, x}));
  };
  EXPECT_EQ(by(ir::kFloat32), "");
  EXPECT_EQ(by(ir::Type::u(8)), "");
  EXPECT_EQ(reading([&](const Expr& i) { return at(a, {floormod(i * 4, 11)}) + at(n, {i}); }), "");
  EXPECT_EQ(reading([&](const Expr& i) { return at(a, {floormod(i * 5, 11)}) + at(n, {i}); }),
            outside_at(10, "i = 2"));
  EXPECT_EQ(reading([&](const Expr& i) { return at(a, {floormod(i + 9, 11)}) + at(n, {i}); }),
            outside(0, 10));
  EXPECT_EQ(reading([&](const Expr& i) {
              return at(a, {floordiv(i, 2) + max(i, make_int(20))}) + at(n, {i});
            }),
            outside(20, 23));
}

// A condition guards a read, but not the reads in the condition itself.
TEST_F(CheckReads, Conditions) {
  EXPECT_EQ(reading([&](const Expr& i) {
              return make_select(i < make_int(7), at(a, {i + 3}), at(n, {i}));
            }),
            "");
  EXPECT_EQ(reading([&](const Expr& i) {
              return make_select(i < make_int(7), at(n, {i}), at(a, {i + 3}));
            }),
            outside(10, 10));
  EXPECT_EQ(reading([&](const Expr& i) {
              return make_select(at(a, {i + 3}) < make_float(0), at(n, {i}), make_float(0));
            }),
            outside(3, 10));
}

// Reads are checked only at the points where a condition on axes holds.
TEST_F(CheckReads, ConditionsThatDoNotGuard) {
  const auto guarded = [&](const auto& condition, int64_t offset) {
    return reading(
        [&](const Expr& i) { return make_select(condition(i), at(a, {i + offset}), at(n, {i})); });
  };
  const auto always = [](const Expr& i) { return i >= make_int(0); };
  EXPECT_EQ(guarded(always, 2), "");
  EXPECT_EQ(guarded(always, 3), outside(3, 10));
  EXPECT_EQ(guarded(always, 100), outside(100, 107));
  const auto middle = [](const Expr& i) { return i >= make_int(2) && i < make_int(6); };
  EXPECT_EQ(guarded(middle, -2), "");
  EXPECT_EQ(guarded(middle, 4), "");
  EXPECT_EQ(guarded(middle, -3), outside(-1, 2));
  EXPECT_EQ(guarded(middle, 5), outside(7, 10));
  EXPECT_EQ(guarded([&](const Expr& i) { return make_not(middle(i)); }, 2), "");
  EXPECT_EQ(guarded([&](const Expr& i) { return make_not(middle(i)); }, 5),
            outside_at(11, "i = 6"));
  // Conditions that are always true do not guard, whatever their form.
  EXPECT_EQ(guarded([&](const Expr& i) { return i * 2 < make_int(16); }, 3), outside(3, 10));
  EXPECT_EQ(guarded([&](const Expr& i) { return i * i < make_int(60); }, 3), outside(3, 10));
  EXPECT_EQ(guarded([&](const Expr& i) { return i * i < make_int(50); }, 3), outside(3, 10));
  EXPECT_EQ(guarded([&](const Expr& i) { return i * i < make_int(49); }, 3), "");
  EXPECT_EQ(guarded([&](const Expr& i) { return i * i < make_int(30); }, 5),
            outside_at(10, "i = 5"));
  EXPECT_EQ(guarded([](const Expr& i) { return i >= make_int(9); }, 5), "");  // never
  const auto moved = [](const Expr& i) { return i - 2 >= make_int(0) && i - 2 < make_int(4); };
  EXPECT_EQ(guarded(moved, 4), "");
  EXPECT_EQ(guarded(moved, 5), outside(7, 10));
  const auto both = [&](const Expr& i) { return i - 1 >= make_int(0) && i - 1 < make_int(1); };
  EXPECT_EQ(guarded([&](const Expr& i) { return both(i) && moved(i); }, 100), "");
  const Tensor one = compute("B", {1}, [&](const Exprs& i) {
    return make_select(i[0] >= make_int(3), at(a, {i[0] - 3}), make_float(0));
  });
  EXPECT_EQ(faults_of(lowering_of(Te({one}), {a})), "");
  // An axis of symbolic extent may end before the condition does.
  const Tensor s =
      output_of(schedule::make_placeholder("S", ir::kFloat32, {ir::make_var("n")}, line(1)));
  const IterVar row =
      make_iter_var(ir::make_var("i"), make_int(0), s->shape[0], ir::IterKind::Data, line(2));
  const Expr body = make_select(row->var < make_int(20), at(a, {row->var}), at(s, {row->var}));
  const Tensor copy = output_of(schedule::make_compute("B", "", {row}, body, line(4)));
  EXPECT_EQ(faults_of(lowering_of(Te({copy}), {a, s})), "");
  EXPECT_EQ(guarded([](const Expr& i) { return i * 2 < make_int(8); }, 5), "");
  EXPECT_EQ(guarded([&](const Expr& i) { return at(n, {i}) < make_float(0); }, 5), "");
}

// The right side of a conjunction is evaluated only if the left side holds.
TEST_F(CheckReads, Conjunctions) {
  const auto guarded_by = [&](const auto& combine) {
    return reading([&](const Expr& i) {
      return make_select(combine(i >= make_int(1), at(n, {i - 1}) < make_float(0)), at(a, {i}),
                         at(n, {i}));
    });
  };
  EXPECT_EQ(guarded_by([](const Expr& x, const Expr& y) { return x && y; }), "");
  EXPECT_EQ(guarded_by([](const Expr& x, const Expr& y) { return y && x; }),
            "TL3020 te.py:4: 'B' reads axis 0 of 'N' at indices -1 to 6, but that axis has only "
            "the indices 0 to 7");
}

// The range of an index that overflows is unknown, so only the overflow is reported.
TEST_F(CheckReads, AnIndexThatOverflowsIsNotComparedWithItsAxis) {
  EXPECT_EQ(reading([&](const Expr& i) { return at(a, {i * int64_t{306783379}}); }),
            "TL4007 te.py:4: 'B' computes values between 0 and 2147483653 from its axes, "
            "outside the range of int32");
}

// Lowering treats index arithmetic as unbounded, so overflow is an error.
TEST_F(CheckReads, IndicesThatOverflow) {
  const auto scaled = [&](int64_t factor) {
    return reading([&](const Expr& i) {
      return make_select(i * factor < make_int(0), at(n, {i}), at(a, {i}));
    });
  };
  EXPECT_EQ(scaled(306783378), "");  // 7 times this is 2147483646
  EXPECT_EQ(scaled(306783379),
            "TL4007 te.py:4: 'B' computes values between 0 and 2147483653 from its axes, outside "
            "the range of int32");
  const auto computed = [&](const auto& value) {
    return reading(
        [&](const Expr& i) { return make_select(value(i) < make_int(0), at(n, {i}), at(a, {i})); });
  };
  EXPECT_EQ(computed([](const Expr& i) { return (i + 46333) * (i + 46333); }), "");
  EXPECT_EQ(computed([](const Expr& i) { return (i + 46334) * (i + 46334); }).substr(0, 6),
            "TL4007");
  EXPECT_EQ(computed([](const Expr& i) { return (i - 4) * (i * 100000000); }), "");
  EXPECT_EQ(computed([](const Expr& i) { return i * (i * 100000000); }).substr(0, 6), "TL4007");
  const auto shifted = [&](int64_t by) {
    return computed(
        [&](const Expr& i) { return make_binary(ir::BinaryOp::Shl, i * i, make_int(by)); });
  };
  EXPECT_EQ(shifted(25), "");
  EXPECT_EQ(shifted(26).substr(0, 6), "TL4007");
  EXPECT_EQ(scaled(-306783378), "");
  EXPECT_EQ(scaled(-306783379).substr(0, 6), "TL4007");
  // Each intermediate value must fit, but two uses of an axis are not treated as independent.
  EXPECT_EQ(reading([&](const Expr& i) {
              return at(a, {floordiv(i * 300000000 - i * 299999999, 2)}) + at(n, {i});
            }),
            "");
  // Values from memory may wrap, and so may expressions that are not evaluated.
  const Tensor x = placeholder("X", {8}, ir::kInt32);
  const Tensor b = compute("B", {8}, [&](const Exprs& i) { return at(x, i) * 2000000000 + i[0]; });
  EXPECT_EQ(faults_of(lowering_of(Te({b}), {x})), "");
  EXPECT_EQ(reading([&](const Expr& i) {
              return make_select(i < make_int(1), at(a, {i * 2000000000}), at(n, {i}));
            }),
            "");
}

TEST_F(CheckReads, Reductions) {
  const auto summed = [&](int64_t extent, int64_t min, const Expr& where) {
    const IterVar k = reduce_axis("k", extent, min);
    return reading([&](const Expr& i) { return sum(at(a, {k->var}) + at(n, {i}), {k}, where); });
  };
  EXPECT_EQ(summed(10, 0, nullptr), "");
  EXPECT_EQ(summed(8, 2, nullptr), "");
  EXPECT_EQ(summed(9, 2, nullptr), outside(2, 10));
  EXPECT_EQ(summed(3, -1, nullptr), outside(-1, 1));
  EXPECT_EQ(summed(11, 0, ir::make_bool(true)), outside(0, 10));
}

// Each axis is checked separately, also for reads inside the index of another read.
TEST_F(CheckReads, EachAxis) {
  const Tensor m = placeholder("M", {4, 8}), x = placeholder("X", {4}, ir::kInt32);
  const Tensor b = compute("B", {8}, [&](const Exprs& i) { return at(m, {at(x, i), i[0] + 1}); });
  EXPECT_EQ(faults_of(lowering_of(Te({b}), {m, x})),
            "TL3020 te.py:4: 'B' reads axis 0 of 'X' at indices 0 to 7, but that axis has only the "
            "indices 0 to 3\n"
            "TL3020 te.py:4: 'B' reads axis 1 of 'M' at indices 1 to 8, but that axis has only the "
            "indices 0 to 7");
}

// Points that no reader needs are not computed and may read outside.
TEST_F(CheckReads, PointsThatAreNotComputed) {
  const auto read_at = [&](int64_t offset, bool attached) {
    const Tensor b = compute("B", {11}, [&](const Exprs& i) { return at(a, {i[0] - 1}); });
    const Tensor c = compute("C", {10}, [&](const Exprs& i) { return at(b, {i[0] + offset}); });
    Te te({c});
    if (attached) te.s.compute_at(te.id(b), te.id(c), te.axis(c, 0), line(7));
    return faults_of(lowering_of(te, {a}));
  };
  const std::string below =
      "TL3020 te.py:4: 'B' reads axis 0 of 'A' at indices -1 to 8, but that axis has only the "
      "indices 0 to 9";
  for (const bool attached : {false, true}) {
    EXPECT_EQ(read_at(1, attached), "");
    EXPECT_EQ(read_at(0, attached), below);
  }
}

// The guards of a stage that is computed in tiles of 4 of its reader.
std::string guards_in_tiles(const Tensor& stage, const Tensor& reader) {
  Te te({reader});
  const auto [outer, inner] = te.split(reader, te.axis(reader, 0), 4);
  te.s.compute_at(te.id(stage), te.id(reader), outer, line(7));
  const schedule::Bounds bounds = infer_checked_bounds(te.s);
  std::string guards;
  for (const Expr& guard : bounds.of(te.id(stage)).guards) guards += to_string(guard) + "; ";
  return guards;
}

// A tile that exceeds the reader's shape is computed whole, without a guard, except if its last
// points would read outside.
TEST_F(CheckReads, GuardsOfLengthenedStages) {
  const auto guards_of = [](int64_t extent) {
    const Tensor x = placeholder("X", {extent});
    const Tensor b = compute("B", {16}, [&](const Exprs& i) { return at(x, {i[0]}); });
    const Tensor c = compute("C", {14}, [&](const Exprs& i) { return at(b, {i[0]}); });
    return guards_in_tiles(b, c);
  };
  EXPECT_EQ(guards_of(16), "");
  EXPECT_EQ(guards_of(14), "i.outer * 4 + i < 14; ");
  EXPECT_EQ(
      faults([&] { guards_of(13); }),
      "TL3020 te.py:4: 'B' reads axis 0 of 'X' at indices 0 to 13, but that axis has only the "
      "indices 0 to 12");
}

// If the stage's condition is too complex to bound the reads of the last tile, a guard bounds them.
// The reader's condition determines which elements are needed.
TEST_F(CheckReads, ConditionsAroundLengthenedStages) {
  const Tensor x = placeholder("X", {14});
  const auto guards_of = [&](const auto& condition, int64_t needed) {
    const Tensor b = compute("B", {16}, [&](const Exprs& i) {
      return make_select(condition(i[0]), at(x, {i[0]}), make_float(0));
    });
    const Tensor c = compute("C", {16}, [&](const Exprs& i) {
      return make_select(i[0] < make_int(needed), at(b, {i[0]}), make_float(0));
    });
    return guards_in_tiles(b, c);
  };
  const auto unclear = [](const Expr& i) { return i * i < make_int(200); };
  EXPECT_EQ(guards_of(unclear, 14), "i.outer * 4 + i < 14; ");
  EXPECT_EQ(faults([&] { guards_of(unclear, 16); }),
            "TL3020 te.py:4: 'B' reads axis 0 of 'X' at index 14 where i = 14, but that axis has "
            "only the "
            "indices 0 to 13");
  EXPECT_EQ(guards_of([](const Expr& i) { return i * i < make_int(190); }, 16), "");
  EXPECT_EQ(guards_of([](const Expr& i) { return i >= make_int(0); }, 14),
            "i.outer * 4 + i < 14; ");
}

// Symbolic extents have no known value.
TEST_F(CheckReads, SymbolicExtents) {
  const Tensor s =
      output_of(schedule::make_placeholder("S", ir::kFloat32, {ir::make_var("n")}, line(1)));
  const IterVar k = make_iter_var(ir::make_var("k"), make_int(0), ir::make_var("m"),
                                  ir::IterKind::Reduction, line(3));
  const Tensor b = compute(
      "B", {8}, [&](const Exprs& i) { return sum(at(s, {i[0] - 1}) + at(a, {k->var}), {k}); });
  EXPECT_EQ(
      faults_of(lowering_of(Te({b}), {s, a})),
      "TL1001 te.py:90: extents depend on 'm', which is neither an argument nor known from an "
      "argument's shape");
}

}  // namespace
}  // namespace texloom::lower
