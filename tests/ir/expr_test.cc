// Tests the make_ functions of expressions, except those of binary operations (build/fold_test.cc).

#include "ir/expr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/check.h"
#include "support/diagnostic.h"
#include "tests/ir/samples.h"

namespace texloom::ir {
namespace {

const SourceLocation kThere = SourceLocation::make("there.py", 2);

double float_value(const Expr& e) {
  const auto* imm = as<FloatImm>(e);
  return imm == nullptr ? -12345 : imm->value;
}

TEST(Constants, WrapLikeTheirType) {
  EXPECT_TRUE(is_int(make_int(300, Type::u(8)), 44));
  EXPECT_TRUE(is_int(make_int(-1, Type::u(8)), 255));
  EXPECT_TRUE(is_int(make_int(128, Type::i(8)), -128));
  EXPECT_TRUE(is_int(make_int(127, Type::i(8)), 127));
  EXPECT_TRUE(is_int(make_int(-129, Type::i(8)), 127));
  EXPECT_TRUE(is_int(make_int(int64_t{1} << 31), std::numeric_limits<int32_t>::min()));
  EXPECT_TRUE(is_int(make_int(-1, Type::u(32)), 4294967295));
  EXPECT_TRUE(is_int(make_int(-1, kInt64), -1));
  EXPECT_TRUE(is_int(make_int(-1, Type::u(64)), -1));
  EXPECT_TRUE(is_int(make_int(3, kBool), 1));
  EXPECT_TRUE(is_int(make_int(2, kBool), 0));
  EXPECT_EQ(make_int(5)->type, kInt32);
  EXPECT_EQ(make_int(5, kInt64)->type, kInt64);
  EXPECT_THROW(make_int(1, kFloat32), InternalError);
  EXPECT_THROW(make_int(1, kInt32.with_lanes(2)), InternalError);
}

TEST(Constants, OfFloatAreRoundedToTheirType) {
  EXPECT_EQ(float_value(make_float(0.1)), static_cast<double>(0.1F));
  EXPECT_EQ(make_float(0.1)->type, kFloat32);
  EXPECT_EQ(float_value(make_float(0.1, Type::f(64))), 0.1);
  EXPECT_EQ(float_value(make_float(0.1, Type::f(16))), 0.1);
  EXPECT_THROW(make_float(1, kInt32), InternalError);
  EXPECT_THROW(make_float(1, kFloat32.with_lanes(4)), InternalError);
}

TEST(Constants, OfAnyType) {
  EXPECT_TRUE(is_int(make_const(3, kInt64), 3));
  EXPECT_EQ(make_const(3, kInt64)->type, kInt64);
  EXPECT_TRUE(is_int(make_const(-2.9, kInt32), -2));
  EXPECT_EQ(float_value(make_const(2.5, kFloat32)), 2.5);
  EXPECT_TRUE(is_true(make_const(1, kBool)));
  const Expr vector = make_const(2.5, Type::f(16).with_lanes(4));
  ASSERT_NE(as<Broadcast>(vector), nullptr);
  EXPECT_EQ(vector->type, Type::f(16).with_lanes(4));
  EXPECT_EQ(float_value(as<Broadcast>(vector)->value), 2.5);
}

TEST(Constants, OfBool) {
  EXPECT_EQ(make_bool(true)->type, kBool);
  EXPECT_TRUE(is_true(make_bool(true)));
  EXPECT_FALSE(is_false(make_bool(true)));
  EXPECT_TRUE(is_false(make_bool(false)));
  EXPECT_FALSE(is_true(make_bool(false)));
  EXPECT_TRUE(is_true(make_broadcast(make_bool(true), 4)));
  EXPECT_TRUE(is_false(make_broadcast(make_bool(false), 4)));
  EXPECT_FALSE(is_true(make_broadcast(make_bool(false), 4)));
  EXPECT_FALSE(is_true(make_int(1)));
  EXPECT_FALSE(is_false(make_int(0)));
  EXPECT_FALSE(is_true(make_var("p", kBool)));
  EXPECT_FALSE(is_false(make_var("p", kBool)));
}

TEST(Constants, AreFound) {
  EXPECT_EQ(*int_value(make_int(6)), 6);
  EXPECT_EQ(int_value(make_float(6)), nullptr);
  EXPECT_EQ(int_value(make_var("x")), nullptr);
  EXPECT_TRUE(is_int(make_int(6), 6));
  EXPECT_FALSE(is_int(make_int(6), 7));
  EXPECT_FALSE(is_int(make_var("x"), 6));
}

TEST(MakeVar, HasNameTypeAndPlace) {
  const Expr var = make_var("x", kInt64, kHere);
  ASSERT_NE(as<Var>(var), nullptr);
  EXPECT_EQ(as<Var>(var)->name, "x");
  EXPECT_EQ(var->type, kInt64);
  EXPECT_EQ(var->location.line, 1);
  EXPECT_EQ(var->depth, 1);
  EXPECT_EQ(make_var("y")->type, kInt32);
}

TEST(MakeNot, FoldsConstants) {
  EXPECT_TRUE(is_false(make_not(make_bool(true))));
  EXPECT_TRUE(is_true(make_not(make_bool(false))));
  const Expr p = make_var("p", kBool);
  const Expr e = make_not(p);
  ASSERT_NE(as<Not>(e), nullptr);
  EXPECT_TRUE(as<Not>(e)->value.same_as(p));
  EXPECT_EQ(e->type, kBool);
  EXPECT_THROW(make_not(make_int(1)), InternalError);
}

TEST(MakeSelect, FoldsConstantConditions) {
  const Expr a = make_var("a"), b = make_var("b"), p = make_var("p", kBool);
  EXPECT_TRUE(make_select(make_bool(true), a, b).same_as(a));
  EXPECT_TRUE(make_select(make_bool(false), a, b).same_as(b));
  const Expr e = make_select(p, a, b);
  const auto* n = as<Select>(e);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->condition.same_as(p) && n->if_true.same_as(a) && n->if_false.same_as(b));
  EXPECT_EQ(e->type, kInt32);
}

TEST(MakeSelect, ChecksTypesAndLanes) {
  const Expr a = make_var("a", kInt32.with_lanes(4)), p = make_var("p", kBool);
  const Expr p4 = make_var("p", kBool.with_lanes(4)), p2 = make_var("p", kBool.with_lanes(2));
  EXPECT_EQ(make_select(p, a, a)->type, kInt32.with_lanes(4));
  EXPECT_EQ(make_select(p4, a, a)->type, kInt32.with_lanes(4));
  EXPECT_TRUE(make_select(make_broadcast(make_bool(true), 4), a, a).same_as(a));
  EXPECT_THROW(make_select(p2, a, a), InternalError);
  EXPECT_THROW(make_select(a, a, a), InternalError);
  EXPECT_THROW(make_select(p, a, make_var("b")), InternalError);
}

TEST(MakeCast, FoldsConstants) {
  EXPECT_TRUE(is_int(make_cast(Type::u(8), make_int(300)), 44));
  EXPECT_EQ(make_cast(Type::u(8), make_int(300))->type, Type::u(8));
  EXPECT_TRUE(is_int(make_cast(kInt64, make_int(-5)), -5));
  EXPECT_TRUE(is_true(make_cast(kBool, make_int(4))));
  EXPECT_TRUE(is_false(make_cast(kBool, make_int(0))));
  EXPECT_TRUE(is_int(make_cast(kInt32, make_bool(true)), 1));
  EXPECT_EQ(float_value(make_cast(kFloat32, make_int(3))), 3.0);
  EXPECT_EQ(make_cast(kFloat32, make_int(3))->type, kFloat32);
  EXPECT_EQ(float_value(make_cast(Type::f(64), make_int(-3))), -3.0);
  EXPECT_EQ(float_value(make_cast(kFloat32, make_float(0.1, Type::f(64)))),
            static_cast<double>(0.1F));
  EXPECT_EQ(float_value(make_cast(Type::f(64), make_float(0.5))), 0.5);
  const Expr x = make_var("x");
  EXPECT_TRUE(make_cast(kInt32, x).same_as(x));
}

// 2^60 + 2^36 + 1 is above the midpoint of two floats; rounding to double first would give the
// midpoint.
TEST(MakeCast, RoundsOnce) {
  const int64_t value = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;
  EXPECT_EQ(float_value(make_cast(kFloat32, make_int(value, kInt64))),
            std::ldexp(1.0, 60) + std::ldexp(1.0, 37));
  EXPECT_EQ(float_value(make_cast(Type::f(64), make_int((int64_t{1} << 53) + 1, kInt64))),
            std::ldexp(1.0, 53));
}

// Conversions that the compiler cannot compute exactly as the device does are not folded.
TEST(MakeCast, KeepsWhatItCannotFold) {
  const Type half = Type::f(16), bfloat = {TypeCode::BFloat, 16, 1};
  const std::vector<std::pair<Type, Expr>> rows = {
      {half, make_int(3)},
      {bfloat, make_int(3)},
      {half, make_float(0.1)},
      {kFloat32, make_float(0.1, half)},
      {Type::f(64), make_float(0.1, bfloat)},
      {kInt32, make_float(1.5)},
      {kFloat32, make_int(-1, Type::u(64))},
      {Type::f(64), make_int(-1, Type::u(64))},
      {kFloat32, make_var("i")},
      {kFloat32.with_lanes(4), make_broadcast(make_int(1), 4)},
  };
  for (const auto& [type, value] : rows) {
    const Expr e = make_cast(type, value);
    ASSERT_NE(as<Cast>(e), nullptr) << to_string(e);
    EXPECT_EQ(e->type, type);
    EXPECT_TRUE(as<Cast>(e)->value.same_as(value));
  }
  EXPECT_TRUE(is_int(make_cast(kInt64, make_int(-1, Type::u(64))), -1));
  EXPECT_EQ(float_value(make_cast(kFloat32, make_int(7, Type::u(64)))), 7.0);
  EXPECT_THROW(make_cast(kInt32.with_lanes(2), make_var("i")), InternalError);
}

TEST(MakeCall, ChecksItsArguments) {
  const Expr x = make_var("x", kFloat32, kHere), y = make_var("y", kFloat32);
  const Expr e = make_call(Intrinsic::Fmod, {x, y});
  const auto* n = as<Call>(e);
  ASSERT_NE(n, nullptr);
  EXPECT_EQ(n->function, Intrinsic::Fmod);
  EXPECT_TRUE(n->arguments[0].same_as(x) && n->arguments[1].same_as(y));
  EXPECT_EQ(e->type, kFloat32);
  EXPECT_EQ(e->location.line, 1);
  EXPECT_THROW(make_call(Intrinsic::Exp, {x, y}), InternalError);
  EXPECT_THROW(make_call(Intrinsic::Power, {x}), InternalError);
  EXPECT_THROW(make_call(Intrinsic::Power, {x, make_var("i")}), InternalError);
}

TEST(Intrinsics, AreFoundByName) {
  const IntrinsicInfo& abs = info(Intrinsic::Abs);
  EXPECT_EQ(abs.function, Intrinsic::Abs);
  EXPECT_EQ(abs.te_name, "abs");
  EXPECT_EQ(abs.arity, 1);
  EXPECT_EQ(find_intrinsic("nearbyint")->function, Intrinsic::Nearbyint);
  EXPECT_EQ(find_intrinsic("power")->arity, 2);
  EXPECT_EQ(find_intrinsic("exp")->function, Intrinsic::Exp);
  EXPECT_EQ(find_intrinsic("fmod")->function, Intrinsic::Fmod);
  EXPECT_EQ(find_intrinsic("pow"), nullptr);
  EXPECT_EQ(find_intrinsic(""), nullptr);
}

TEST(MakeFma, WantsFloatsOfOneType) {
  const Leaves l;
  const Expr e = make_fma(l.x, l.y, l.z);
  const auto* n = as<Fma>(e);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->a.same_as(l.x) && n->b.same_as(l.y) && n->c.same_as(l.z));
  EXPECT_EQ(e->type, kFloat32);
  const Expr d = make_var("d", Type::f(64));
  EXPECT_THROW(make_fma(l.i, l.i, l.i), InternalError);
  EXPECT_THROW(make_fma(d, l.y, l.z), InternalError);
  EXPECT_THROW(make_fma(l.x, d, l.z), InternalError);
  EXPECT_THROW(make_fma(l.x, l.y, d), InternalError);
}

TEST(MakeRamp, OfOneLaneIsItsBase) {
  const Expr i = make_var("i"), j = make_var("j");
  EXPECT_TRUE(make_ramp(i, j, 1).same_as(i));
  const Expr e = make_ramp(i, j, 8);
  const auto* n = as<Ramp>(e);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->base.same_as(i) && n->stride.same_as(j));
  EXPECT_EQ(e->type, kInt32.with_lanes(8));
  EXPECT_THROW(make_ramp(i, make_var("k", kInt64), 4), InternalError);
  EXPECT_THROW(make_ramp(e, e, 4), InternalError);
}

TEST(MakeBroadcast, OfOneLaneIsItsValue) {
  const Expr x = make_var("x", kFloat32);
  EXPECT_TRUE(make_broadcast(x, 1).same_as(x));
  const Expr e = make_broadcast(x, 4);
  ASSERT_NE(as<Broadcast>(e), nullptr);
  EXPECT_TRUE(as<Broadcast>(e)->value.same_as(x));
  EXPECT_EQ(e->type, kFloat32.with_lanes(4));
  EXPECT_TRUE(make_broadcast(e, 1).same_as(e));
  EXPECT_THROW(make_broadcast(e, 4), InternalError);
}

TEST(MakeLane, FoldsKnownLanes) {
  const Leaves l;
  EXPECT_TRUE(make_lane(l.x, l.i).same_as(l.x));
  EXPECT_TRUE(make_lane(make_broadcast(l.x, 4), make_int(3)).same_as(l.x));
  const Expr pack = make_pack({l.x, l.y, l.z});
  EXPECT_TRUE(make_lane(pack, make_int(0)).same_as(l.x));
  EXPECT_TRUE(make_lane(pack, make_int(1)).same_as(l.y));
  EXPECT_TRUE(make_lane(pack, make_int(2)).same_as(l.z));
  EXPECT_EQ(to_string(make_lane(make_ramp(l.i, make_int(5), 4), make_int(2))), "i + 10");
  EXPECT_TRUE(make_lane(make_ramp(l.i, l.j, 4), make_int(0)).same_as(l.i));
  for (const Expr& index : {make_int(0), make_int(3), l.i}) {
    const Expr e = make_lane(l.v, index);
    const auto* n = as<Lane>(e);
    ASSERT_NE(n, nullptr);
    EXPECT_TRUE(n->vector.same_as(l.v) && n->index.same_as(index));
    EXPECT_EQ(e->type, kFloat32);
  }
  EXPECT_NE(as<Lane>(make_lane(pack, l.i)), nullptr);
  // Lanes out of range stay; the verifier reports them.
  EXPECT_EQ(to_string(make_lane(pack, make_int(4))), to_string(pack) + ".lane[4]");
  EXPECT_EQ(to_string(make_lane(pack, make_int(-1))), to_string(pack) + ".lane[-1]");
}

TEST(MakePack, OfOneElementIsThatOne) {
  const Leaves l;
  EXPECT_TRUE(make_pack({l.x}).same_as(l.x));
  const Expr e = make_pack({l.x, l.y});
  ASSERT_NE(as<Pack>(e), nullptr);
  EXPECT_EQ(as<Pack>(e)->elements.size(), 2U);
  EXPECT_TRUE(as<Pack>(e)->elements[1].same_as(l.y));
  EXPECT_EQ(e->type, kFloat32.with_lanes(2));
  EXPECT_THROW(make_pack({}), InternalError);
  EXPECT_THROW(make_pack({l.x, l.i}), InternalError);
  EXPECT_THROW(make_pack({l.v, l.v}), InternalError);
}

TEST(MakeTensorRead, WantsAnIndexForEachAxis) {
  const Leaves l;
  const Expr e = make_tensor_read(l.tensor, {l.i, l.j}, kHere);
  const auto* n = as<TensorRead>(e);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->tensor.same_as(l.tensor));
  EXPECT_TRUE(n->indices[0].same_as(l.i) && n->indices[1].same_as(l.j));
  EXPECT_EQ(e->type, kFloat32);
  EXPECT_EQ(e->location.line, 1);
  EXPECT_THROW(make_tensor_read(l.tensor, {l.i}), InternalError);
}

TEST(MakeReduce, WantsAReducerOfItsType) {
  const Leaves l;
  const Expr e = make_reduce(l.sum, {l.x}, {l.axis}, nullptr, {}, kHere);
  const auto* n = as<Reduce>(e);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->sources.at(0).same_as(l.x));
  EXPECT_TRUE(n->axes.at(0).same_as(l.axis));
  EXPECT_FALSE(n->condition);
  EXPECT_EQ(n->reducer.name, "sum");
  EXPECT_EQ(e->type, kFloat32);
  EXPECT_EQ(e->location.line, 1);
  EXPECT_THROW(make_reduce(l.sum, {l.i}, {l.axis}, nullptr), InternalError);
}

TEST(MakeLoad, HasTheLanesOfItsWidestIndex) {
  const Leaves l;
  const Expr scalar = make_load(l.a, {l.i, l.j}, kHere);
  const auto* n = as<Load>(scalar);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->buffer.same_as(l.a));
  EXPECT_TRUE(n->indices[0].same_as(l.i) && n->indices[1].same_as(l.j));
  EXPECT_EQ(scalar->type, kFloat32);
  EXPECT_EQ(scalar->location.line, 1);
  const Expr ramp = make_ramp(l.j, make_int(1), 4);
  EXPECT_EQ(make_load(l.a, {l.i, ramp})->type, kFloat32.with_lanes(4));
  const Expr wide = make_load_as(Type::f(64), l.a, {l.i, l.j}, kThere);
  EXPECT_EQ(wide->type, Type::f(64));
  EXPECT_EQ(wide->location.line, 2);
  EXPECT_THROW(make_load_as(kFloat32, l.a, {l.i, ramp}), InternalError);
  EXPECT_THROW(make_load_as(kFloat32.with_lanes(4), l.a, {l.i, l.j}), InternalError);
}

TEST(MakeTextureLoad, IsOneTexel) {
  const Leaves l;
  const Expr e = make_texture_load(l.t, l.i, l.j, kHere);
  const auto* n = as<TextureLoad>(e);
  ASSERT_NE(n, nullptr);
  EXPECT_TRUE(n->texture.same_as(l.t) && n->x.same_as(l.i) && n->y.same_as(l.j));
  EXPECT_EQ(e->type, kFloat32.with_lanes(4));
  EXPECT_EQ(e->location.line, 1);
  const Expr ramp = make_ramp(l.i, l.j, 4);
  const Type half4 = Type::f(16).with_lanes(4);
  const Expr converted = make_texture_load_as(half4, l.t, l.i, l.j, kThere);
  EXPECT_EQ(converted->type, half4);
  EXPECT_EQ(converted->location.line, 2);
  EXPECT_THROW(make_texture_load(l.a, l.i, l.j), InternalError);
  EXPECT_THROW(make_texture_load(l.t, ramp, l.j), InternalError);
  EXPECT_THROW(make_texture_load(l.t, l.i, ramp), InternalError);
  EXPECT_THROW(make_texture_load_as(kFloat32, l.t, l.i, l.j), InternalError);
}

// A node without its own location takes the first known location of its operands.
TEST(Locations, AreThoseOfTheOperands) {
  const Expr none = make_var("i"), here = make_var("i", kInt32, kHere);
  const Expr there = make_var("i", kInt32, kThere);
  EXPECT_FALSE((none + none)->location.known());
  EXPECT_EQ((none + here)->location.line, 1);
  EXPECT_EQ((there + here)->location.line, 2);
  EXPECT_EQ(make_binary(BinaryOp::Add, here, here, kThere)->location.line, 2);
  EXPECT_EQ(make_cast(kFloat32, here)->location.line, 1);
  EXPECT_EQ(make_not(here < here)->location.line, 1);
  EXPECT_EQ(make_select(none < none, none, here)->location.line, 1);
  EXPECT_EQ(make_ramp(none, here, 4)->location.line, 1);
  EXPECT_EQ(make_broadcast(here, 4)->location.line, 1);
  EXPECT_EQ(make_lane(make_broadcast(none, 4), here)->location.line, 1);
  EXPECT_EQ(make_pack({here, there})->location.line, 1);
  const Expr x = make_cast(kFloat32, here), y = make_var("y", kFloat32);
  EXPECT_EQ(make_fma(y, y, x)->location.line, 1);
  EXPECT_EQ(make_call(Intrinsic::Fmod, {y, x})->location.line, 1);
  const Leaves l;
  EXPECT_EQ(make_load(l.a, {none, here})->location.line, 1);
  EXPECT_EQ(make_load(l.a, {there, here})->location.line, 2);
  EXPECT_EQ(make_texture_load(l.t, none, here)->location.line, 1);
  EXPECT_EQ(make_tensor_read(l.tensor, {here, there})->location.line, 1);
}

TEST(Depth, IsThatOfTheDeepestOperand) {
  const Leaves l;
  EXPECT_EQ(l.i->depth, 1);
  EXPECT_EQ(make_int(3)->depth, 1);
  const Expr deep = (l.i + l.j) * l.n;
  EXPECT_EQ(deep->depth, 3);
  EXPECT_EQ((l.i + deep)->depth, 4);
  EXPECT_EQ((deep + l.i)->depth, 4);
  EXPECT_EQ(make_select(l.p, l.i, deep)->depth, 4);
  EXPECT_EQ(make_load(l.a, {deep, l.i})->depth, 4);
  EXPECT_EQ(make_load(l.a, {l.i, deep})->depth, 4);
  EXPECT_EQ(make_pack({l.i, deep})->depth, 4);
}

// A shared part counts at each use; sizes saturate at 32 bits.
TEST(Size, CountsAllParts) {
  const Leaves l;
  EXPECT_EQ(l.i->size, 1U);
  EXPECT_EQ(make_int(3)->size, 1U);
  const Expr sum = l.i + l.j;
  EXPECT_EQ(sum->size, 3U);
  EXPECT_EQ((sum * sum)->size, 7U);
  EXPECT_EQ(make_load(l.a, {sum, l.i})->size, 5U);
  EXPECT_EQ(make_reduce(l.sum, {l.x}, {l.axis}, nullptr)->size, 6U);
  Expr e = l.i;
  for (int n = 0; n < 31; ++n) e = e + e;
  EXPECT_EQ(e->size, 4294967295U);
  EXPECT_EQ((e + e)->size, 4294967295U);
  EXPECT_EQ(make_not((e + e) < l.i)->size, 4294967295U);
}

Expr chain(int length) {
  const Expr x = make_var("x", kInt32, kHere);
  Expr sum = x;
  for (int i = 1; i < length; ++i) sum = sum + x;
  return sum;
}

TEST(Depth, IsLimited) {
  static_assert(kMaxDepth == 1000);
  const Expr deepest = chain(kMaxDepth);
  EXPECT_EQ(deepest->depth, kMaxDepth);
  const auto refused = [](const auto& build) {
    try {
      build();
    } catch (const UserError& error) {
      const Diagnostic& d = error.diagnostics().front();
      EXPECT_EQ(d.code, Code::ProgramTooDeep);
      EXPECT_EQ(d.message, "this expression is nested more than 1000 levels deep");
      EXPECT_EQ(d.help, "split the computation into several te.compute stages");
      return d.location.line;
    }
    ADD_FAILURE() << "it was accepted";
    return 0;
  };
  EXPECT_EQ(refused([] { chain(5'000); }), 1);
  EXPECT_EQ(refused([&] { chain(kMaxDepth) + 1; }), 1);
  EXPECT_EQ(refused([&] { make_cast(kFloat32, deepest); }), 1);
  const Buffer a = make_buffer("A", kFloat32, {8}, MemoryScope::Global);
  EXPECT_EQ(refused([&] { make_load(a, {deepest}, kThere); }), 2);
  EXPECT_EQ(refused([&] { make_pack({make_int(1), deepest}); }), 1);
}

}  // namespace
}  // namespace texloom::ir
