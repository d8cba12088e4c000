// Operators of te: result types and errors.
#include "schedule/operation/operators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/check.h"
#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::BinaryOp;
using ir::Expr;
using ir::kBool;
using ir::kFloat32;
using ir::kInt32;
using ir::make_var;
using ir::Type;

constexpr Type kBFloat16{ir::TypeCode::BFloat, 16, 1};

Expr var(Type type) { return make_var("v", type); }

std::string common(Type a, Type b) {
  const auto [x, y] = match_types(var(a), var(b), line(5));
  EXPECT_EQ(x->type, y->type);
  return to_string(x->type);
}

TEST(Operators, CommonType) {
  EXPECT_EQ(common(kInt32, kInt32), "int32");
  EXPECT_EQ(common(kInt32, kBool), "int32");
  EXPECT_EQ(common(kBool, kInt32), "int32");
  EXPECT_EQ(common(kBool, Type::f(16)), "float16");
  EXPECT_EQ(common(Type::f(16), kInt32), "float16");
  EXPECT_EQ(common(Type::i(64), Type::f(16)), "float16");
  EXPECT_EQ(common(Type::f(16), kFloat32), "float32");
  EXPECT_EQ(common(kFloat32, Type::f(16)), "float32");
  EXPECT_EQ(common(Type::i(8), Type::u(16)), "uint16");
  EXPECT_EQ(common(Type::i(16), Type::u(8)), "int16");
  EXPECT_EQ(common(Type::i(16), Type::u(16)), "uint16");
  EXPECT_EQ(common(Type::u(16), Type::i(16)), "uint16");
  EXPECT_EQ(common(kBFloat16, kFloat32), "float32");
}

TEST(Operators, MatchedValuesKeepTheirOrder) {
  const auto [x, y] = match_types(make_var("a"), make_var("b", kFloat32), line(5));
  EXPECT_EQ(to_string(x), "float32(a)");
  EXPECT_EQ(to_string(y), "b");
  const auto [z, w] = match_types(make_var("b", kFloat32), make_var("a"), line(5));
  EXPECT_EQ(to_string(z), "b");
  EXPECT_EQ(to_string(w), "float32(a)");
}

TEST(Operators, TwoHalvesWithoutCommonType) {
  EXPECT_EQ(faults([] { match_types(var(kBFloat16), var(Type::f(16)), line(5)); }),
            "TL1003 te.py:5: operands of types bfloat16 and float16 have no common type");
  EXPECT_EQ(faults([] { match_types(var(Type::f(16)), var(kBFloat16), line(5)); }),
            "TL1003 te.py:5: operands of types float16 and bfloat16 have no common type");
  EXPECT_EQ(common(kBFloat16, kBFloat16), "bfloat16");
  EXPECT_EQ(common(kBFloat16, Type::i(16)), "bfloat16");
  EXPECT_EQ(common(Type::i(16), kBFloat16), "bfloat16");
}

std::string applied(BinaryOp op, Type a, Type b) {
  const Expr result = apply(op, make_var("a", a), make_var("b", b), line(5));
  EXPECT_EQ(result->location.line, 5);
  return to_string(result->type) + ": " + to_string(result);
}

TEST(Operators, Apply) {
  EXPECT_EQ(applied(BinaryOp::Sub, kInt32, kFloat32), "float32: float32(a) - b");
  EXPECT_EQ(applied(BinaryOp::Div, kFloat32, kInt32), "float32: a / float32(b)");
  EXPECT_EQ(applied(BinaryOp::Lt, kInt32, Type::i(64)), "bool: int64(a) < b");
  EXPECT_EQ(applied(BinaryOp::And, kBool, kBool), "bool: a && b");
  EXPECT_EQ(applied(BinaryOp::Min, kFloat32, kFloat32), "float32: min(a, b)");
  EXPECT_EQ(applied(BinaryOp::Shl, kInt32, kInt32), "int32: a << b");
}

// Arithmetic on bools converts them to int32; comparisons do not.
TEST(Operators, TruthValues) {
  EXPECT_EQ(applied(BinaryOp::Add, kBool, kBool), "int32: int32(a) + int32(b)");
  EXPECT_EQ(applied(BinaryOp::BitAnd, kBool, kBool), "int32: int32(a) & int32(b)");
  EXPECT_EQ(applied(BinaryOp::Eq, kBool, kBool), "bool: a == b");
  EXPECT_EQ(applied(BinaryOp::Or, kBool, kBool), "bool: a || b");
}

std::string refused(BinaryOp op, Type a, Type b) {
  return faults([&] { apply(op, var(a), var(b), line(5)); });
}

TEST(Operators, LogicWantsBools) {
  EXPECT_EQ(refused(BinaryOp::And, kInt32, kInt32),
            "TL1003 te.py:5: operator && does not take operands of type int32");
  EXPECT_EQ(refused(BinaryOp::Or, kBool, kFloat32),
            "TL1003 te.py:5: operator || does not take operands of type float32");
}

TEST(Operators, SomeWantIntegers) {
  for (const BinaryOp op : {BinaryOp::Mod, BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::Shl,
                            BinaryOp::Shr, BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor}) {
    EXPECT_EQ(refused(op, kInt32, kFloat32),
              fmt::format("TL1003 te.py:5: operator {} does not take operands of type float32",
                          spelling(op)));
    EXPECT_EQ(refused(op, kInt32, kInt32), "");
  }
  for (const BinaryOp op : {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div,
                            BinaryOp::Max, BinaryOp::Eq, BinaryOp::Ge}) {
    EXPECT_EQ(refused(op, kFloat32, kFloat32), "");
  }
}

TEST(Operators, DivisionSaysHowItRounds) {
  const std::string problem =
      "TL1006 te.py:5: operator / between integers does not say how it rounds";
  EXPECT_EQ(refused(BinaryOp::Div, kInt32, kInt32), problem);
  EXPECT_EQ(refused(BinaryOp::Div, kBool, kBool), problem);
}

TEST(Operators, TruncatingDiv) {
  const Expr result = truncating_div(make_var("a"), make_var("b", Type::i(8)), line(5));
  EXPECT_EQ(to_string(result), "a / int32(b)");
  EXPECT_EQ(result->location.line, 5);
  EXPECT_EQ(faults([] { truncating_div(var(kInt32), var(kFloat32), line(5)); }),
            "TL1003 te.py:5: operator floordiv does not take operands of type float32");
}

TEST(Operators, DivisionByZero) {
  for (const BinaryOp op : {BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::Mod}) {
    EXPECT_EQ(faults([&] { apply(op, make_var("a"), ir::make_int(0), line(5)); }),
              fmt::format("TL1008 te.py:5: operator {} divides by zero", spelling(op)));
  }
  EXPECT_EQ(faults([] { truncating_div(make_var("a"), ir::make_int(0), line(5)); }),
            "TL1008 te.py:5: operator / divides by zero");
  const Expr x = make_var("x", kFloat32);
  EXPECT_EQ(faults([&] { apply(BinaryOp::Div, x, ir::make_float(0), line(5)); }), "");
  EXPECT_EQ(faults([] { apply(BinaryOp::Sub, make_var("a"), ir::make_int(0), line(5)); }), "");
}

TEST(Operators, Negate) {
  const auto negated = [](Type type) {
    const Expr value = negate(make_var("v", type), line(5));
    return to_string(value->type) + ": " + to_string(value);
  };
  EXPECT_EQ(negated(kFloat32), "float32: v * -1.0");
  EXPECT_EQ(negated(Type::i(8)), "int8: int8(0) - v");
  EXPECT_EQ(negated(Type::u(16)), "uint16: uint16(0) - v");
  EXPECT_EQ(negated(ir::kBool), "int32: 0 - int32(v)");
}

TEST(Operators, Invert) {
  EXPECT_EQ(to_string(invert(make_var("a"), line(5))), "a ^ -1");
  EXPECT_EQ(to_string(invert(make_var("c", ir::kBool), line(5))), "!c");
  EXPECT_EQ(faults([] { invert(make_var("x", kFloat32), line(5)); }),
            "TL1003 te.py:5: operator ^ does not take operands of type float32");
}

TEST(Operators, Constants) {
  const auto value = [](auto number, Type type) {
    return to_string(schedule::constant(number, type, line(5)));
  };
  const auto refused = [](auto number, Type type) {
    return faults([&] { schedule::constant(number, type, line(5)); });
  };
  EXPECT_EQ(value(int64_t{127}, Type::i(8)), value(127.0, Type::i(8)));
  EXPECT_EQ(refused(int64_t{128}, Type::i(8)),
            "TL1009 te.py:5: the constant 128 does not fit int8");
  EXPECT_EQ(refused(int64_t{-128}, Type::i(8)), "");
  EXPECT_EQ(refused(int64_t{255}, Type::u(8)), "");
  EXPECT_EQ(refused(int64_t{-1}, Type::u(8)), "TL1009 te.py:5: the constant -1 does not fit uint8");
  EXPECT_EQ(refused(int64_t{-1}, Type::u(32)),
            "TL1009 te.py:5: the constant -1 does not fit uint32");
  EXPECT_EQ(refused(0.5, kInt32), "TL1009 te.py:5: the constant 0.5 does not fit int32");
  EXPECT_EQ(refused(1e30, Type::i(64)), "TL1009 te.py:5: the constant 1e+30 does not fit int64");
  EXPECT_EQ(refused(std::nan(""), kInt32), "TL1009 te.py:5: the constant nan does not fit int32");
  EXPECT_EQ(refused(0.5, kFloat32), "");
}

TEST(Operators, LogicalNot) {
  EXPECT_EQ(to_string(logical_not(make_var("p", kBool), line(5))), "!p");
  EXPECT_EQ(faults([] { logical_not(var(kInt32), line(5)); }),
            "TL1003 te.py:5: logical negation does not take a value of type int32");
}

TEST(Operators, Select) {
  const Expr result = select(make_var("p", kBool), make_var("a"), make_var("b", kFloat32), line(5));
  EXPECT_EQ(to_string(result), "select(p, float32(a), b)");
  EXPECT_EQ(result->location.line, 5);
  EXPECT_EQ(faults([] { select(var(kInt32), var(kInt32), var(kInt32), line(5)); }),
            "TL1003 te.py:5: the condition has type int32, not bool");
}

std::string called(std::string_view name, Type type) {
  return to_string(call(name, {make_var("a", type)}, line(5)));
}

TEST(Operators, Calls) {
  const Expr result = call("power", {make_var("a"), make_var("b", kFloat32)}, line(5));
  EXPECT_EQ(to_string(result), "power(float32(a), b)");
  EXPECT_EQ(result->location.line, 5);
  EXPECT_EQ(called("exp", kFloat32), "exp(a)");
  EXPECT_EQ(faults([] { call("exp", {var(kInt32)}, line(5)); }),
            "TL1003 te.py:5: te.exp does not take a value of type int32");
  EXPECT_EQ(faults([] { call("erf", {var(kInt32)}, line(5)); }),
            "TL1003 te.py:5: te.erf does not take a value of type int32");
  EXPECT_EQ(faults([] { call("power", {var(kInt32), var(kInt32)}, line(5)); }),
            "TL1003 te.py:5: te.power does not take a value of type int32");
  EXPECT_THROW(call("exp", {var(kFloat32), var(kFloat32)}, line(5)), InternalError);
  EXPECT_THROW(call("no such function", {var(kFloat32)}, line(5)), InternalError);
}

TEST(Operators, Fma) {
  const auto of = [](Type type) {
    return to_string(fma(make_var("a", type), make_var("b", type), make_var("c", type), line(5)));
  };
  EXPECT_EQ(of(kFloat32), "fma(a, b, c)");
  EXPECT_EQ(of(Type::f(64)), "fma(a, b, c)");
  EXPECT_EQ(faults([&] { of(Type::f(16)); }),
            "TL1003 te.py:5: fma is called for float16, but is a function of float32 and float64");
  EXPECT_EQ(faults([&] { of(kInt32); }),
            "TL1003 te.py:5: fma is called for int32, but is a function of float32 and float64");
}

TEST(Operators, CallsOfIntegers) {
  for (const std::string_view name : {"floor", "ceil", "trunc", "round", "nearbyint"}) {
    EXPECT_EQ(called(name, kInt32), "a");
    EXPECT_EQ(called(name, kFloat32), std::string(name) + "(a)");
    EXPECT_NE(faults([&] { call(name, {var(kBool)}, line(5)); }), "");
  }
  EXPECT_EQ(called("abs", Type::u(8)), "a");
  EXPECT_EQ(called("abs", Type::i(8)), "select(a < int8(0), int8(0) - a, a)");
  EXPECT_EQ(called("abs", kFloat32), "abs(a)");
}

Expr identity(Reduction kind, Type type) {
  const Expr e = reduce(kind, var(type), {{reduce_axis("k", 4)}}, line(5));
  return ir::as<ir::Reduce>(e)->reducer.identities.at(0);
}
double number(const Expr& e) { return ir::as<ir::FloatImm>(e)->value; }

TEST(Operators, IdentitiesOfFloats) {
  EXPECT_EQ(number(identity(Reduction::Sum, kFloat32)), 0);
  EXPECT_EQ(number(identity(Reduction::Max, kFloat32)), std::numeric_limits<float>::lowest());
  EXPECT_EQ(number(identity(Reduction::Min, kFloat32)), std::numeric_limits<float>::max());
  EXPECT_EQ(number(identity(Reduction::Max, Type::f(64))), std::numeric_limits<double>::lowest());
  EXPECT_EQ(number(identity(Reduction::Min, Type::f(64))), std::numeric_limits<double>::max());
  EXPECT_EQ(number(identity(Reduction::Max, Type::f(16))), -65504);
  EXPECT_EQ(number(identity(Reduction::Min, Type::f(16))), 65504);
  EXPECT_FLOAT_EQ(static_cast<float>(number(identity(Reduction::Max, kBFloat16))), -3.3895314e38F);
  EXPECT_EQ(identity(Reduction::Min, Type::f(16))->type, Type::f(16));
}

TEST(Operators, IdentitiesOfIntegers) {
  EXPECT_EQ(to_string(identity(Reduction::Sum, Type::i(8))), "int8(0)");
  EXPECT_EQ(to_string(identity(Reduction::Max, Type::i(8))), "int8(-128)");
  EXPECT_EQ(to_string(identity(Reduction::Min, Type::i(8))), "int8(127)");
  EXPECT_EQ(to_string(identity(Reduction::Max, Type::u(8))), "uint8(0)");
  EXPECT_EQ(to_string(identity(Reduction::Min, Type::u(8))), "uint8(255)");
  EXPECT_EQ(*int_value(identity(Reduction::Max, Type::i(64))), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(*int_value(identity(Reduction::Min, Type::i(64))), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(to_string(identity(Reduction::Sum, kInt32)), "0");
}

TEST(Operators, Reducers) {
  const auto reducer = [](Reduction kind) {
    const Expr e = reduce(kind, var(kFloat32), {{reduce_axis("k", 4)}}, line(5));
    const ir::Reducer& r = ir::as<ir::Reduce>(e)->reducer;
    EXPECT_EQ(to_string(r.lhs.at(0)) + ", " + to_string(r.rhs.at(0)), "lhs, rhs");
    return r.name + ": " + to_string(r.results.at(0));
  };
  EXPECT_EQ(reducer(Reduction::Sum), "sum: lhs + rhs");
  EXPECT_EQ(reducer(Reduction::Min), "min: min(lhs, rhs)");
  EXPECT_EQ(reducer(Reduction::Max), "max: max(lhs, rhs)");
}

TEST(Operators, Reductions) {
  const ir::IterVar k = reduce_axis("k", 4), r = reduce_axis("r", 2, 3);
  const Expr x = make_var("x", kFloat32), p = make_var("p", kBool);
  const Expr result = reduce(Reduction::Max, x, {{k, r}, p}, line(5));
  EXPECT_EQ(to_string(result), "reduce(max, [k < 4, r from 3 extent 2], x, where=p)");
  EXPECT_EQ(result->location.line, 5);
  EXPECT_EQ(to_string(reduce(Reduction::Sum, p, {{k}}, line(5))), "reduce(sum, [k < 4], int32(p))");
}

// The result and the initial value of a reducer are cast to the type of the reduced expression.
TEST(Operators, TypesOfReducers) {
  const Expr a = make_var("a", Type::f(16)), b = make_var("b", Type::f(16));
  const Expr x = make_var("x", Type::f(16));
  const Expr wide = make_cast(kFloat32, a) + make_cast(kFloat32, b);
  ReductionDomain domain{{reduce_axis("k", 4)}};
  domain.init = {ir::make_int(1)};
  const Expr e =
      reduce({{a}, {b}, {wide}, {ir::make_int(0)}, "f"}, {x}, std::move(domain), line(5));
  const auto* n = ir::as<ir::Reduce>(e);
  EXPECT_EQ(to_string(n->reducer.results.at(0)), "float16(float32(a) + float32(b))");
  EXPECT_EQ(n->reducer.identities.at(0)->type, Type::f(16));
  EXPECT_EQ(n->init.at(0)->type, Type::f(16));
}

// A few doublings of a reducer would make an expression too large to traverse.
TEST(Operators, SizesOfReducers) {
  const Expr x = var(kFloat32), a = make_var("a", kFloat32), b = make_var("b", kFloat32);
  const auto reduced = [&](const Expr& result, const Expr& identity) {
    return faults([&] {
      reduce({{a}, {b}, {result}, {identity}, "f"}, {x}, {{reduce_axis("k", 4)}}, line(5));
    });
  };
  const auto terms = [&](int count) {  // has 2 * count + 1 nodes
    Expr sum = a;
    for (int i = 0; i < count; ++i) sum = sum + b;
    return sum;
  };
  const Expr zero = ir::make_float(0);
  EXPECT_EQ(reduced(make_call(ir::Intrinsic::Exp, {terms(499)}), zero), "");
  const std::string large = "TL3018 te.py:5: the reducer 'f' has more than 1000 parts";
  EXPECT_EQ(reduced(terms(500), zero), large);
  Expr doubled = a + b;
  for (int i = 0; i < 60; ++i) doubled = doubled + doubled;
  EXPECT_EQ(reduced(doubled, zero), large);
  EXPECT_EQ(reduced(a, terms(500)), large);
}

TEST(Operators, BadReductions) {
  const ir::IterVar i = data_axis("i", 4), k = reduce_axis("k", 4);
  const Expr x = make_var("x", kFloat32);
  EXPECT_EQ(faults([&] { sum(x, {}); }), "TL1004 te.py:4: a reduction needs at least one axis");
  EXPECT_EQ(faults([&] { sum(x, {k, i}); }),
            "TL1004 te.py:4: cannot reduce over 'i': it is not a reduction axis");
  EXPECT_EQ(faults([&] { sum(x, {k}, make_var("n")); }),
            "TL1003 te.py:4: the condition of a reduction has type int32, not bool");
}

}  // namespace
}  // namespace texloom::schedule
