// Compares the definitions of functions, as the interpreter evaluates them, with double precision.
#include "codegen/legalize/function_definitions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/visit.h"

namespace texloom::codegen {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int kCount = 4000;

// C[i] = f(A[i], B[i]), with the definition of f in place of the call.
ir::Program program_of(ir::Intrinsic function) {
  ir::Program program = ir::parse_program(R"(program f stage=loops
  param A: global float32[4000]
  param B: global float32[4000]
  param C: global float32[4000]
  nest C {
    for i < 4000 {
      C[i] = A[i] + B[i]
    }
  }
)",
                                          "f.tl");
  const FunctionDefinition f = definition_of(function).value();
  program.body = rewrite(program.body, [&](const ir::Store& n, const ir::Stmt&) {
    const auto& sum = *as<ir::Binary>(n.value);
    ir::Substitution arguments{{f.parameters[0], sum.a}};
    if (f.parameters.size() == 2) arguments[f.parameters[1]] = sum.b;
    ir::Stmt body = ir::make_store(n.buffer, n.indices, f.result);
    for (size_t i = f.values.size(); i-- > 0;)
      body = ir::make_let(f.values[i].first, f.values[i].second, body);
    return substitute(body, arguments);
  });
  return program;
}

// Special cases, and values of all magnitudes.
std::vector<float> samples() {
  std::vector<float> x = {0.0F, -0.0F, 1.0F, -1.0F, kInfinity, -kInfinity, kNan, 1e-45F, 3e38F};
  for (int i = 0; x.size() < kCount; ++i) {
    const auto magnitude = static_cast<float>(std::exp2(i % 97 * 2.6 - 126));
    const float inside = static_cast<float>(i % 1201 - 600) / 57.0F;
    x.push_back(i % 3 == 0 ? (i % 2 == 0 ? magnitude : -magnitude) : inside);
  }
  return x;
}

std::vector<double> interpreted(ir::Intrinsic function, const std::vector<float>& x,
                                const std::vector<float>& y) {
  const ir::Program program = program_of(function);
  std::vector<ir::Memory> memory;
  for (int i = 0; i < 3; ++i) memory.push_back(ir::Memory::array(ir::kFloat32, kCount));
  for (int i = 0; i < kCount; ++i) {
    memory[0].set(i, ir::scalar_of(double{x[static_cast<size_t>(i)]}));
    memory[1].set(i, ir::scalar_of(double{y[static_cast<size_t>(i)]}));
  }
  EXPECT_TRUE(ir::interpret(program, {{&memory[0]}, {&memory[1]}, {&memory[2]}}).empty());
  std::vector<double> values;
  for (int i = 0; i < kCount; ++i) values.push_back(memory[2].get(i).number);
  return values;
}

// The error in units in the last place of float32.
double error_of(double value, double exact) {
  const auto rounded = static_cast<float>(exact);
  if (value == double{rounded} || (std::isnan(value) && std::isnan(exact))) return 0;
  const float next = std::nextafter(std::abs(rounded), kInfinity);
  const double unit = std::isfinite(rounded) && std::isfinite(next)
                          ? double{next} - double{std::abs(rounded)}
                          : std::exp2(104);
  return std::abs(value - exact) / unit;
}

struct Case {
  ir::Intrinsic function;
  double (*exact)(double x, double y);
  double bound;  // the error that OpenCL C 1.2 (7.4) allows
};

// The samples include signed zeros, infinities and NaNs. No value is undefined.
TEST(FunctionDefinitions, AreAsExactAsOpenClAsks) {
  const Case cases[] = {
      {ir::Intrinsic::Erf, [](double x, double) { return std::erf(x); }, 16},
      {ir::Intrinsic::Erfc, [](double x, double) { return std::erfc(x); }, 16},
      {ir::Intrinsic::Expm1, [](double x, double) { return std::expm1(x); }, 3},
      {ir::Intrinsic::Hypot, [](double x, double y) { return std::hypot(x, y); }, 4},
      {ir::Intrinsic::Log1p, [](double x, double) { return std::log1p(x); }, 2},
      {ir::Intrinsic::Cbrt, [](double x, double) { return std::cbrt(x); }, 2},
  };
  const std::vector<float> x = samples();
  const std::vector<float> y(x.rbegin(), x.rend());
  for (const auto& [function, exact, bound] : cases) {
    SCOPED_TRACE(ir::info(function).te_name);
    ASSERT_TRUE(is_defined(function));
    const std::vector<double> values = interpreted(function, x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      const double right = exact(double{x[i]}, double{y[i]});
      ASSERT_LE(error_of(values[i], right), bound) << x[i] << ", " << y[i];
      if (right == 0) {
        EXPECT_EQ(std::signbit(values[i]), std::signbit(right)) << x[i];
      }
    }
  }
}

// Other functions have no definition: they need a float's bits, loops, or a builtin function.
TEST(FunctionDefinitions, OfSomeFunctions) {
  EXPECT_FALSE(is_defined(ir::Intrinsic::Exp));
  EXPECT_FALSE(definition_of(ir::Intrinsic::Tgamma).has_value());
}

}  // namespace
}  // namespace texloom::codegen
