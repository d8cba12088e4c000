#include "codegen/legalize/function_definitions.h"

#include <initializer_list>
#include <limits>
#include <string>

namespace texloom::codegen {

using namespace ir;  // the whole file builds expressions

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Expr number(double value) { return make_float(value, kFloat32); }

Expr binary(BinaryOp op, const Expr& a, const Expr& b) { return make_binary(op, a, b); }
Expr operator-(double a, const Expr& b) { return binary(BinaryOp::Sub, number(a), b); }
Expr operator-(const Expr& a, double b) { return binary(BinaryOp::Sub, a, number(b)); }
Expr operator+(double a, const Expr& b) { return binary(BinaryOp::Add, number(a), b); }
Expr operator*(const Expr& a, double b) { return binary(BinaryOp::Mul, a, number(b)); }
Expr operator<(const Expr& a, double b) { return binary(BinaryOp::Lt, a, number(b)); }
Expr operator>(const Expr& a, double b) { return binary(BinaryOp::Gt, a, number(b)); }
Expr negative(const Expr& a) { return a * -1.0; }
Expr divided(const Expr& a, const Expr& b) { return binary(BinaryOp::Div, a, b); }
Expr is_equal(const Expr& a, const Expr& b) { return binary(BinaryOp::Eq, a, b); }
Expr is_nan(const Expr& a) { return binary(BinaryOp::Ne, a, a); }
Expr either(const Expr& a, const Expr& b) { return binary(BinaryOp::Or, a, b); }
Expr both(const Expr& a, const Expr& b) { return binary(BinaryOp::And, a, b); }
Expr select(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  return make_select(condition, if_true, if_false);
}
Expr select(const Expr& condition, double if_true, const Expr& if_false) {
  return make_select(condition, number(if_true), if_false);
}
Expr abs(const Expr& a) { return make_call(Intrinsic::Abs, {a}); }

// Builds a definition.
class FunctionBuilder {
 public:
  Expr parameter(const char* name) {
    definition_.parameters.push_back(make_var(name, kFloat32));
    return definition_.parameters.back();
  }

  // Names a value.
  Expr value(const char* name, Expr e) {
    Expr var = make_var(name, kFloat32);
    definition_.values.emplace_back(var, std::move(e));
    return var;
  }

  // The coefficients go from the highest power down.
  Expr polynomial(const char* name, const Expr& x, std::initializer_list<float> coefficients) {
    Expr sum;
    for (const float each : coefficients) sum = sum ? make_fma(sum, x, number(each)) : number(each);
    return value(name, sum);
  }

  FunctionDefinition returning(Expr result) && {
    definition_.result = std::move(result);
    return std::move(definition_);
  }

 private:
  FunctionDefinition definition_;
};

// The polynomials are least-squares fits in Chebyshev points, of relative error below 2^-26. The
// comment above each polynomial gives the function that it approximates.

// erf(x) for magnitudes below 0.84, where z = x * x.
Expr central_erf(FunctionBuilder& f, const Expr& x, const Expr& z) {
  // erf(x) / x - 1
  const Expr p = f.polynomial("p", z,
                              {8.853866e-05F, -0.00082481315F, 0.005209613F, -0.0268626F,
                               0.11283749F, -0.37612638F, 0.12837917F});
  return f.value("central", make_fma(x, p, x));
}

FunctionDefinition erf() {
  FunctionBuilder f;
  const Expr x = f.parameter("x");
  const Expr z = f.value("z", x * x);
  const Expr central = central_erf(f, x, z);
  const Expr tail = 1.0 - make_call(Intrinsic::Erfc, {abs(x)});
  return std::move(f).returning(select(
      z < double{0.7F}, central, select(is_nan(x), x, make_call(Intrinsic::Copysign, {tail, x}))));
}

// The exponent a * a is the sum of `square`, which is rounded, and `rest`, its rounding error. The
// sum has twice the digits of x.
FunctionDefinition erfc() {
  FunctionBuilder f;
  const Expr x = f.parameter("x");
  const Expr a = f.value("a", abs(x));
  const Expr square = f.value("square", a * a);
  const Expr central = central_erf(f, x, square);
  const Expr t = f.value("t", divided(number(2), 2.0 + a));
  const Expr u = f.value("u", t - 0.5);
  // exp(a * a) * erfc(a) / t
  const Expr q = f.polynomial("q", u,
                              {-0.062962726F, 0.050954208F, 0.09654252F, -0.10346703F, -0.17198245F,
                               0.14576355F, 0.5589426F, 0.68716073F, 0.51079136F});
  const Expr rest = f.value("rest", make_fma(a, a, negative(square)));
  const Expr tail =
      f.value("tail", make_call(Intrinsic::Exp, {negative(square)}) * (q * t * (1.0 - rest)));
  const Expr far = select(is_nan(x), x, select(x < 0.0, 2.0, number(0)));
  return std::move(f).returning(select(
      a < 0.5, 1.0 - central, select(a < double{10.1F}, select(x < 0.0, 2.0 - tail, tail), far)));
}

// x = k * log(2) + r
FunctionDefinition expm1() {
  constexpr double kMost = 88.73F, kLeast = -17.4F;  // the result is infinity above, -1 below
  FunctionBuilder f;
  const Expr x = f.parameter("x");
  const Expr is_between = both(x >= number(kLeast), x <= number(kMost));
  const Expr y = f.value("y", select(is_between, x, number(0)));
  const Expr k = f.value("k", make_call(Intrinsic::Nearbyint, {y * double{1.442695F}}));
  const Expr minus = f.value("minus", negative(k));
  const Expr r = f.value(
      "r", make_fma(minus, number(1.4286068e-06F), make_fma(minus, number(0.69314575F), y)));
  // (exp(r) - 1 - r) / r^2
  const Expr p = f.polynomial(
      "p", r, {0.00019900444F, 0.0013934545F, 0.008333297F, 0.041666456F, 0.16666667F, 0.5F});
  const Expr q = f.value("q", make_fma(p * r, r, r));
  const Expr half_power = f.value("half_power", make_call(Intrinsic::Ldexp, {number(1), k - 1.0}));
  const Expr near = make_fma(q, half_power, half_power - 0.5) * 2.0;
  const Expr is_itself = either(is_nan(x), is_equal(x, number(0)));
  return std::move(f).returning(
      select(x > kMost, kInfinity, select(x < kLeast, -1.0, select(is_itself, x, near))));
}

// Scales the operands by a power of two, so that squares neither overflow nor vanish.
FunctionDefinition hypot() {
  constexpr double kUp = 1.2676506e+30F, kDown = 7.888609e-31F;
  FunctionBuilder f;
  const Expr x = f.parameter("x"), y = f.parameter("y");
  const Expr a = f.value("a", abs(x)), b = f.value("b", abs(y));
  const Expr large = f.value("large", max(a, b)), small = f.value("small", min(a, b));
  const auto scale = [&](double of_small, double of_large) {
    return select(large < double{1e-15F}, of_small,
                  select(large > double{1e15F}, of_large, number(1)));
  };
  const Expr up = f.value("up", scale(kUp, kDown)), down = f.value("down", scale(kDown, kUp));
  const Expr l = f.value("l", large * up), s = f.value("s", small * up);
  const Expr length = make_call(Intrinsic::Sqrt, {make_fma(l, l, s * s)}) * down;
  const Expr infinity = number(kInfinity);
  return std::move(f).returning(select(either(is_equal(a, infinity), is_equal(b, infinity)),
                                       kInfinity,
                                       select(either(is_nan(a), is_nan(b)), a + b, length)));
}

// 1 + x = 2^k * (1 + f); c is what rounding 1 + x loses, and s = f / (2 + f).
FunctionDefinition log1p() {
  FunctionBuilder f;
  const Expr x = f.parameter("x");
  const Expr is_between = both(x > -1.0, x < kInfinity);
  const Expr y = f.value("y", select(is_between, x, number(0)));
  const Expr sum = f.value("sum", 1.0 + y);
  const Expr k = f.value("k", make_call(Intrinsic::Nearbyint, {make_call(Intrinsic::Log2, {sum})}));
  const Expr lost = f.value("lost", select(y < 1.0, y - (sum - 1.0), 1.0 - (sum - y)));
  const Expr is_near = is_equal(k, number(0));
  const Expr c = f.value("c", select(is_near, 0.0, divided(lost, sum)));
  const Expr scaled = make_call(Intrinsic::Ldexp, {sum, negative(k)}) - 1.0;
  const Expr fraction = f.value("f", select(is_near, y, scaled));
  const Expr s = f.value("s", divided(fraction, 2.0 + fraction));
  const Expr z = f.value("z", s * s);
  const Expr h = f.value("h", fraction * 0.5 * fraction);
  // (log((1 + s) / (1 - s)) / s - 2) / z
  const Expr p = f.polynomial("p", z, {0.23342863F, 0.28550357F, 0.40000126F, 0.6666667F});
  const Expr low =
      f.value("low", make_fma(s, make_fma(p, z, h), make_fma(k, number(1.4286068e-06F), c)));
  const Expr far_from_0 = make_fma(k, number(0.69314575F), fraction - (h - low));
  const Expr near_0 = make_fma(y * -0.5, y, y);
  const Expr outside = select(is_equal(x, number(-1)), -kInfinity, select(x < -1.0, kNan, x));
  return std::move(f).returning(
      select(is_between, select(abs(y) < double{0.0001F}, near_0, far_from_0), outside));
}

// Estimates the root by logarithms, then improves the estimate with one step of Halley's iteration,
// which triples the number of correct digits. Scales by a power of two, so that cubes neither
// overflow nor vanish.
FunctionDefinition cbrt() {
  constexpr double kSmall = 1e-30F, kLarge = 1e30F;
  FunctionBuilder f;
  const Expr x = f.parameter("x");
  const Expr a = f.value("a", abs(x));
  const Expr is_between = both(a > 0.0, a < kInfinity);
  const auto scale = [&](double of_small, double of_large) {
    return select(a < kSmall, of_small, select(a > kLarge, of_large, number(1)));
  };
  const Expr up = scale(0x1p24, 0x1p-24), down = scale(0x1p-8, 0x1p8);
  const Expr b = f.value("b", select(is_between, a, number(1)) * up);
  const Expr third = make_call(Intrinsic::Log2, {b}) * double{1.0F / 3};
  const Expr t = f.value("t", make_call(Intrinsic::Exp2, {third}));
  const Expr cube = f.value("cube", t * t * t);
  const Expr step = divided(make_fma(t * t, t, negative(b)), make_fma(number(2), cube, b));
  const Expr root = f.value("root", (t - t * step) * down);
  return std::move(f).returning(select(is_between, make_call(Intrinsic::Copysign, {root, x}), x));
}

struct DefinitionRow {
  Intrinsic function;
  FunctionDefinition (*definition)();
};

constexpr DefinitionRow kDefinitions[] = {
    {Intrinsic::Erf, erf},     {Intrinsic::Erfc, erfc},   {Intrinsic::Expm1, expm1},
    {Intrinsic::Hypot, hypot}, {Intrinsic::Log1p, log1p}, {Intrinsic::Cbrt, cbrt},
};

const DefinitionRow* row_of(Intrinsic function) {
  for (const DefinitionRow& row : kDefinitions) {
    if (row.function == function) return &row;
  }
  return nullptr;
}

}  // namespace

bool is_defined(Intrinsic function) { return row_of(function) != nullptr; }

std::optional<FunctionDefinition> definition_of(Intrinsic function) {
  const DefinitionRow* row = row_of(function);
  return row == nullptr ? std::nullopt : std::optional(row->definition());
}

}  // namespace texloom::codegen
