// Every expression has the expected value, and evaluates only the operands that it should.
#include "ir/interpret/evaluate.h"

#include <set>

#include "tests/ir/interpret/programs.h"

namespace texloom::ir {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Lanes = std::vector<double>;

// -- Expressions. Operands are loaded so that nothing folds.

class InterpretExpr : public InterpretTest {
 protected:
  // The lanes of the expression's value, as a kernel stores them.
  Lanes lanes(const Expr& e) {
    const Buffer out = param("out", e->type.element(), e->type.lanes);
    EXPECT_THAT(run(make_store(out, {ramp(make_int(0), e->type.lanes)}, e)), IsEmpty());
    return values(out);
  }
  Buffer n = param("n", kInt32, 4, {5, -7, 2, 0}), p = param("p", kBool, 4, {1, 0, 1, 0});
  Buffer x = param("x", kFloat32, 4, {1.5, -2, 3, 4});
  Buffer t = param(texture("t", kFloat32, 2, 1), {10, 11, 12, 13, 14, 15, 16, 17});

  Expr first = at(n, 0), second = at(n, 1);
  Expr n4 = vector_at(n, make_int(0), 4), p4 = vector_at(p, make_int(0), 4);
  Expr x4 = vector_at(x, make_int(0), 4), four_ints = make_const(4, kInt32.with_lanes(4));
};

struct ExprCase {
  Expr e;
  Lanes expected;
};

// Evaluates an expression of each kind in nodes.def.
TEST_F(InterpretExpr, EveryKind) {
  const std::vector<ExprCase> cases = {
      {make_int(7), {7}},
      {make_float(2049, Type::f(16)), {2048}},
      {bx, {0}},
      {first - second, {12}},
      {make_not(p4), {0, 1, 0, 1}},
      {make_select(at(p, 1), first, second), {-7}},
      {make_cast(Type::i(8), first * 50), {-6}},
      {make_call(Intrinsic::Fmod, {at(x, 3), at(x, 0)}), {1}},
      {make_fma(at(x, 0), at(x, 1), at(x, 2)), {0}},
      {make_ramp(first, second, 3), {5, -2, -9}},
      {make_broadcast(first, 3), {5, 5, 5}},
      {make_lane(n4, at(n, 2)), {2}},
      {make_pack({first, second}), {5, -7}},
      {at(n, ramp(make_int(3), 3, -1)), {0, 2, -7}},
      {texel(t, make_int(1), make_int(0)), {14, 15, 16, 17}},
  };
  // Kinds of stage te and of foreign code, which the interpreter refuses.
  std::set<ExprKind> kinds = {ExprKind::TensorRead, ExprKind::Reduce, ExprKind::Tuple,
                              ExprKind::ForeignCall, ExprKind::Pointer};
  for (const ExprCase& c : cases) {
    EXPECT_EQ(lanes(c.e), c.expected) << to_string(c.e);
    kinds.insert(c.e->kind);
  }
#define TL_EXPR(Name, summary) EXPECT_TRUE(kinds.contains(ExprKind::Name)) << #Name;
#define TL_STMT(Name, summary)
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
}

TEST_F(InterpretExpr, VectorsLaneByLane) {
  EXPECT_EQ(lanes(n4 + four_ints), Lanes({9, -3, 6, 4}));
  EXPECT_EQ(lanes(make_select(p4, n4, four_ints)), Lanes({5, 4, 2, 4}));
  EXPECT_EQ(lanes(make_select(at(p, 0), n4, four_ints)), Lanes({5, -7, 2, 0}));
  EXPECT_EQ(lanes(make_cast(kFloat32.with_lanes(4), n4)), Lanes({5, -7, 2, 0}));
  EXPECT_EQ(lanes(make_call(Intrinsic::Abs, {x4})), Lanes({1.5, 2, 3, 4}));
  EXPECT_EQ(lanes(make_fma(x4, x4, x4)), Lanes({3.75, 2, 12, 20}));
  EXPECT_EQ(lanes(make_binary(BinaryOp::Lt, n4, four_ints)), Lanes({0, 1, 1, 1}));
  EXPECT_EQ(lanes(make_binary(BinaryOp::Or, p4, make_not(p4))), Lanes({1, 1, 1, 1}));
}

// An operand that is not selected is not evaluated; here it would be out of bounds.
TEST_F(InterpretExpr, Laziness) {
  const Expr outside = at(n, first + 100), bad = outside < make_int(0);
  EXPECT_EQ(lanes(make_select(at(p, 0), first, outside)), Lanes({5}));
  EXPECT_EQ(lanes(make_select(at(p, 1), outside, second)), Lanes({-7}));
  EXPECT_EQ(lanes(at(p, 1) && bad), Lanes({0}));
  EXPECT_EQ(lanes(make_binary(BinaryOp::Or, at(p, 0), bad)), Lanes({1}));
  // Lanes that are not selected are not evaluated.
  const Expr partly = at(n, make_ramp(first - 5, make_int(2), 4));
  const Expr inside = make_ramp(first - 5, make_int(2), 4) < four_ints;
  EXPECT_EQ(lanes(make_select(inside, partly, four_ints)), Lanes({5, 2, 4, 4}));
  EXPECT_EQ(lanes(inside && (partly < four_ints)), Lanes({0, 1, 0, 0}));
  EXPECT_EQ(lanes(make_select(inside, make_pack({first, second, outside, outside}), four_ints)),
            Lanes({5, -7, 4, 4}));
}

// In legalized code a vector select or `and` evaluates both operands.
TEST_F(InterpretExpr, VectorsAreEagerOnceLegalized) {
  stage = ProgramStage::Legalized;
  const Buffer out = param("out", kInt32, 4);
  const Expr inside = make_ramp(first - 5, make_int(2), 4) < four_ints;
  const Expr partly = make_load(n, {make_ramp(first - 5, make_int(2), 4)}, line(3));
  const Texts outside{
      "k.py:3: out of bounds in k, block (0, 0, 0) thread (0, 0, 0): n[4] lies outside n of extent "
      "4"};
  EXPECT_EQ(run(put_vector(out, make_int(0), make_select(inside, partly, four_ints))), outside);
  EXPECT_EQ(values(out), Lanes({5, 2, 4, 4}));
  const Expr both = make_select(inside && (partly < four_ints), n4, four_ints);
  EXPECT_EQ(run(put_vector(out, make_int(0), both)), outside);
  // A scalar condition still evaluates only one operand.
  EXPECT_THAT(run(put_vector(out, make_int(0), make_select(at(p, 1), partly, n4))), IsEmpty());
}

// Values may be wider than their memory; stores round.
TEST_F(InterpretExpr, WidenedAccesses) {
  stage = ProgramStage::Legalized;
  const Buffer half = param("half", Type::f(16), 2, {0.5}), flag = param("flag", kBool, 2, {1});
  const Buffer image = param(texture("image", Type::i(8), 1, 1), {-3, 4, 5, 6});
  const Buffer copy = param(texture("copy", Type::i(8), 1, 1));
  const Buffer out = param("out", kFloat32, 6);
  const Expr wide = make_load_as(kFloat32, half, {make_int(0)});
  const Expr one = make_load_as(Type::u(8), flag, {make_int(0)});
  const Expr texel = make_texture_load_as(kInt32.with_lanes(4), image, make_int(0), make_int(0));
  const Type f4 = kFloat32.with_lanes(4);
  EXPECT_THAT(run(make_seq({
                  put(half, make_int(1), wide + make_float(2048)),
                  put(flag, make_int(1), one - make_int(1, Type::u(8))),
                  make_texture_store(copy, make_int(0), make_int(0), texel),
              })),
              IsEmpty());
  EXPECT_EQ(values(half), Lanes({0.5, 2048}));
  EXPECT_EQ(values(flag), Lanes({1, 0}));
  EXPECT_EQ(values(copy), Lanes({-3, 4, 5, 6}));
  // float32(float16(x)) rounds.
  const Expr rounded = make_cast(kFloat32, make_cast(Type::f(16), wide + make_float(2048)));
  EXPECT_THAT(
      run(make_seq({put(out, make_int(0), rounded), put(out, make_int(1), make_cast(kFloat32, one)),
                    put_vector(out, make_int(2), make_cast(f4, texel))})),
      IsEmpty());
  EXPECT_EQ(values(out), Lanes({2048, 1, -3, 4, 5, 6}));
}

}  // namespace
}  // namespace texloom::ir
