// Tests strides and offsets of compact arrays, and the values of the variables in them.
#include "schedule/operation/compact_view.h"

#include <gtest/gtest.h>

#include "ir/program.h"

namespace texloom::schedule {
namespace {

using ir::Expr;
using ir::Exprs;
using ir::make_int;
using ir::make_var;

class CompactView : public ::testing::Test {
 protected:
  // Returns the error, or the value of `s`.
  std::string of(const Exprs& shape, const Exprs& strides, const Expr& offset = {}) {
    CompactViews views({n, m});
    if (const auto problem = views.add(shape, strides, offset)) return *problem;
    const auto known = views.values().find(s);
    return known == views.values().end() ? "" : to_string(known->second);
  }

  const Expr n = make_var("n"), m = make_var("m"), s = make_var("s");
};

TEST_F(CompactView, VariablesHaveTheValuesOfArrays) {
  EXPECT_EQ(of({n, make_int(4)}, {s, make_int(1)}), "4");
  EXPECT_EQ(of({make_int(4), n}, {s, make_int(1)}), "n");
  EXPECT_EQ(of({n, m, make_int(2)}, {s, make_int(2), make_int(1)}), "m * 2");
  EXPECT_EQ(of({n, m}, {m, s}), "1");
  EXPECT_EQ(of({n, m}, {}, s), "0");
  EXPECT_EQ(of({n}, {}), "");
}

TEST_F(CompactView, WhatSomeArraysDoNotFulfil) {
  EXPECT_EQ(of({n, m}, {n, make_int(1)}),
            "has the stride n along axis 0, but arrays are compact and have m");
  EXPECT_EQ(of({n, make_int(4)}, {make_int(8), make_int(1)}),
            "has the stride 8 along axis 0, but arrays are compact and have 4");
  EXPECT_EQ(of({n, make_int(4)}, {s, s}),
            "has the stride s along axis 1, but arrays are compact and have 1");
  EXPECT_EQ(of({n, m}, {make_int(1)}), "has 2 axes and 1 strides");
  EXPECT_EQ(of({n}, {}, make_int(3)), "begins at element 3, but arrays begin at 0");
}

// Strides may exceed 32 bits.
TEST_F(CompactView, LargeStrides) {
  const Exprs large = {make_int(2), make_int(1 << 20), make_int(1 << 20)};
  EXPECT_EQ(of(large, {make_int(int64_t{1} << 40, ir::kInt64), make_int(1 << 20), make_int(1)}),
            "");
}

// A variable has the same value in all declarations.
TEST_F(CompactView, OneValue) {
  CompactViews views({n, m});
  EXPECT_FALSE(views.add({n, m}, {s, make_int(1)}, {}));
  EXPECT_FALSE(views.add({make_int(3), m}, {s, make_int(1)}, {}));
  EXPECT_TRUE(views.add({n, n}, {s, make_int(1)}, {}));
}

}  // namespace
}  // namespace texloom::schedule
