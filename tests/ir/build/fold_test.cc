// Tests how make_binary folds constants.

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "ir/expr.h"
#include "support/check.h"
#include "tests/ir/build/exact_integers.h"

namespace texloom::ir {
namespace {

void expect_folds(Type type, BinaryOp op, int64_t a, int64_t b) {
  const std::string what = to_string(type) + " " + std::to_string(a) + " " +
                           std::string(spelling(op)) + " " + std::to_string(b);
  const Expr e = make_binary(op, make_int(a, type), make_int(b, type));
  const std::optional<Wide> value = exact(op, a, b, type.bits);
  const bool yields_bool = is_comparison(op) || is_logical(op);
  ASSERT_EQ(e->type, yields_bool ? kBool : type) << what;
  const bool overflow = type.bits == 64 && b == -1 && a == std::numeric_limits<int64_t>::min() &&
                        op >= BinaryOp::Div && op <= BinaryOp::FloorMod;
  if (!value || overflow) {
    ASSERT_NE(as<Binary>(e), nullptr) << what;
  } else {
    ASSERT_NE(int_value(e), nullptr) << what;
    ASSERT_EQ(*int_value(e), wrapped(*value, type)) << what;
  }
}

TEST(Fold, AgreesWithArithmeticModuloTheType) {
  for (const Type type :
       {Type::i(8), Type::i(16), kInt32, kInt64, Type::u(8), Type::u(16), Type::u(32)}) {
    for (const BinaryOp op : kAllOps) {
      if (is_logical(op)) continue;
      for (const int64_t a : edges(type)) {
        for (const int64_t b : edges(type)) {
          ASSERT_NO_FATAL_FAILURE(expect_folds(type, op, a, b));
        }
      }
    }
  }
  for (const int64_t a : {0, 1}) {
    for (const int64_t b : {0, 1}) {
      for (const BinaryOp op : {BinaryOp::And, BinaryOp::Or, BinaryOp::Eq, BinaryOp::Ne}) {
        ASSERT_NO_FATAL_FAILURE(expect_folds(kBool, op, a, b));
      }
    }
  }
}

// IntImm stores values from 2^63 as negative: only rules that hold for any value fold them.
TEST(Fold, LeavesLargeUnsignedConstantsAlone) {
  const Type u64 = Type::u(64);
  const Expr large = make_int(-1, u64), small = make_int(3, u64);
  for (const BinaryOp op : kAllOps) {
    if (is_logical(op)) continue;
    EXPECT_NE(as<Binary>(make_binary(op, large, small)), nullptr) << spelling(op);
    EXPECT_NE(as<Binary>(make_binary(op, small, large)), nullptr) << spelling(op);
  }
  EXPECT_TRUE((large + 0).same_as(large));
  EXPECT_TRUE(is_int(large * 0, 0));
  EXPECT_TRUE(is_int(make_int(1, u64) - 2, -1));
  EXPECT_TRUE(is_int(make_int(std::numeric_limits<int64_t>::max(), u64) + 1,
                     std::numeric_limits<int64_t>::min()));
  EXPECT_TRUE(is_int(small * 5, 15));
  EXPECT_TRUE(is_true(make_binary(BinaryOp::Lt, small, make_int(4, u64))));
}

TEST(Fold, FloatsAreNotFolded) {
  const Expr one = make_float(1), zero = make_float(0), x = make_var("x", kFloat32);
  for (const BinaryOp op :
       {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Min, BinaryOp::Lt}) {
    EXPECT_NE(as<Binary>(make_binary(op, one, zero)), nullptr) << spelling(op);
    EXPECT_NE(as<Binary>(make_binary(op, x, zero)), nullptr) << spelling(op);
    EXPECT_NE(as<Binary>(make_binary(op, one, x)), nullptr) << spelling(op);
  }
}

TEST(Fold, NeutralAndAbsorbingOperands) {
  const Expr x = make_var("x");
  const Expr zero = make_int(0), one = make_int(1);
  const auto same = [&](BinaryOp op, const Expr& a, const Expr& b, const Expr& expected) {
    EXPECT_TRUE(make_binary(op, a, b).same_as(expected)) << spelling(op);
  };
  const auto kept = [&](BinaryOp op, const Expr& a, const Expr& b) {
    const Expr e = make_binary(op, a, b);
    const auto* n = as<Binary>(e);
    ASSERT_NE(n, nullptr) << spelling(op);
    EXPECT_EQ(n->op, op);
    EXPECT_TRUE(n->a.same_as(a) && n->b.same_as(b));
  };
  same(BinaryOp::Add, x, zero, x);
  same(BinaryOp::Add, zero, x, x);
  same(BinaryOp::Sub, x, zero, x);
  kept(BinaryOp::Sub, zero, x);
  same(BinaryOp::Mul, x, one, x);
  same(BinaryOp::Mul, one, x, x);
  same(BinaryOp::Mul, x, zero, zero);
  same(BinaryOp::Mul, zero, x, zero);
  same(BinaryOp::Div, x, one, x);
  same(BinaryOp::FloorDiv, x, one, x);
  for (const BinaryOp op : {BinaryOp::Div, BinaryOp::FloorDiv}) {
    kept(op, one, x);
    kept(op, zero, x);
    kept(op, x, zero);
  }
  for (const BinaryOp op : {BinaryOp::Mod, BinaryOp::FloorMod, BinaryOp::Min, BinaryOp::Max,
                            BinaryOp::Shl, BinaryOp::BitAnd, BinaryOp::Lt, BinaryOp::Eq}) {
    for (const Expr& c : {zero, one}) {
      kept(op, x, c);
      kept(op, c, x);
    }
  }
  kept(BinaryOp::Add, x, one);
  kept(BinaryOp::Add, one, x);
  kept(BinaryOp::Sub, x, one);
  kept(BinaryOp::Mul, x, make_int(2));
  kept(BinaryOp::Mul, make_int(2), x);
}

TEST(Fold, ConstantsDecideLogicalOperations) {
  const Expr p = make_var("p", kBool), yes = make_bool(true), no = make_bool(false);
  const auto same = [&](BinaryOp op, const Expr& a, const Expr& b, const Expr& expected) {
    EXPECT_TRUE(make_binary(op, a, b).same_as(expected));
  };
  same(BinaryOp::And, yes, p, p);
  same(BinaryOp::And, p, yes, p);
  same(BinaryOp::And, no, p, no);
  same(BinaryOp::And, p, no, no);
  same(BinaryOp::Or, yes, p, yes);
  same(BinaryOp::Or, p, yes, yes);
  same(BinaryOp::Or, no, p, p);
  same(BinaryOp::Or, p, no, p);
  EXPECT_NE(as<Binary>(make_binary(BinaryOp::And, p, p)), nullptr);
}

TEST(Fold, VectorsKeepTheirLanes) {
  const Expr v = make_var("v", kInt32.with_lanes(4));
  EXPECT_EQ((v + v)->type, kInt32.with_lanes(4));
  EXPECT_EQ((v < v)->type, kBool.with_lanes(4));
  const Expr p = v < v;
  EXPECT_EQ((p && p)->type, kBool.with_lanes(4));
}

TEST(Operators, AreClassifiedAndSpelled) {
  const std::string spellings[] = {"+",        "-",   "*",   "/",  "truncmod", "floordiv",
                                   "floormod", "min", "max", "==", "!=",       "<",
                                   "<=",       ">",   ">=",  "&&", "||",       "<<",
                                   ">>",       "&",   "|",   "^"};
  ASSERT_EQ(kAllOps.size(), std::size(spellings));
  for (size_t i = 0; i < kAllOps.size(); ++i) {
    const BinaryOp op = kAllOps[i];
    EXPECT_EQ(static_cast<size_t>(op), i);
    EXPECT_EQ(spelling(op), spellings[i]);
    EXPECT_EQ(is_infix(op), !std::isalpha(spellings[i][0])) << spellings[i];
    EXPECT_EQ(is_comparison(op), i >= 9 && i <= 14) << spellings[i];
    EXPECT_EQ(is_logical(op), i == 15 || i == 16) << spellings[i];
  }
}

TEST(Operators, MakeTheirNodes) {
  const Expr a = make_var("a", kInt64), b = make_var("b", kInt64);
  const Expr p = make_var("p", kBool), q = make_var("q", kBool);
  const auto expect = [](const Expr& e, BinaryOp op, const Expr& x, const Expr& y) {
    const auto* n = as<Binary>(e);
    ASSERT_NE(n, nullptr);
    EXPECT_EQ(n->op, op);
    EXPECT_TRUE(n->a.same_as(x) && n->b.same_as(y));
  };
  expect(a + b, BinaryOp::Add, a, b);
  expect(a - b, BinaryOp::Sub, a, b);
  expect(a * b, BinaryOp::Mul, a, b);
  expect(floordiv(a, b), BinaryOp::FloorDiv, a, b);
  expect(floormod(a, b), BinaryOp::FloorMod, a, b);
  expect(min(a, b), BinaryOp::Min, a, b);
  expect(max(a, b), BinaryOp::Max, a, b);
  expect(a < b, BinaryOp::Lt, a, b);
  expect(a <= b, BinaryOp::Le, a, b);
  expect(a >= b, BinaryOp::Ge, a, b);
  expect(p && q, BinaryOp::And, p, q);
  // A plain number gets the type of the other operand.
  for (const auto& [e, op] :
       std::vector<std::pair<Expr, BinaryOp>>{{a + 5, BinaryOp::Add},
                                              {a - 5, BinaryOp::Sub},
                                              {a * 5, BinaryOp::Mul},
                                              {floordiv(a, 5), BinaryOp::FloorDiv},
                                              {floormod(a, 5), BinaryOp::FloorMod}}) {
    const auto* n = as<Binary>(e);
    ASSERT_NE(n, nullptr);
    EXPECT_EQ(n->op, op);
    EXPECT_TRUE(n->a.same_as(a));
    EXPECT_TRUE(is_int(n->b, 5));
    EXPECT_EQ(n->b->type, kInt64);
  }
}

TEST(Operators, RefuseOtherTypes) {
  const Expr i = make_var("i"), x = make_var("x", kFloat32);
  try {
    make_binary(BinaryOp::FloorDiv, i, x);
    FAIL() << "no check";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("floordiv: the operands are int32 and float32"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW(i && i, InternalError);
  EXPECT_THROW(make_binary(BinaryOp::Or, x, x), InternalError);
}

}  // namespace
}  // namespace texloom::ir
