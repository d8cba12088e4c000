// Computations have the same bits in batches as in the interpreter, and what the interpreter
// reports has no result in batches.
#include "ir/interpret/batches/batches.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "compile/te_program.h"
#include "graph/text/computation_text.h"
#include "ir/interpret/interpret.h"
#include "schedule/operation/operation.h"
#include "schedule/schedule.h"
#include "validation/unscheduled.h"

namespace texloom::graph {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::int64_t kManySteps = 1 << 22;

ir::Program program_of(const std::string& text) {
  const SharedComputation computation = parse_computation(text, "batches.tl");
  compile::TeProgramDesc desc;
  desc.schedule =
      schedule::Schedule::create({schedule::operation_of(computation->outputs.front())});
  for (const ir::Tensor& each : computation->inputs) desc.arguments.emplace_back(each);
  for (const ir::Tensor& each : computation->outputs) desc.arguments.emplace_back(each);
  desc.name = "constant";
  return validation::unscheduled_program(compile::te_program(std::move(desc)));
}

// Numbers whose sums and products round, among them zeros of both signs and infinity.
Bytes elements_for(const ir::BufferNode& buffer) {
  ir::Memory memory = ir::memory_for(buffer);
  for (std::int64_t i = 0; i < memory.size(); ++i) {
    const std::int64_t integer = (i * 7 + 3) % 11 - 5;
    double number = static_cast<double>(integer) / 3;
    if (i % 101 == 50) number = std::numeric_limits<double>::infinity();
    if (i % 89 == 40) number = -0.0;
    memory.set(i, buffer.type.is_float()  ? ir::scalar_of(number)
                  : buffer.type.is_uint() ? ir::scalar_of(integer & 1)
                                          : ir::scalar_of(integer));
  }
  return memory.bytes();
}

struct Outcome {
  bool has_result = false;
  Bytes output;  // of the last parameter
};

Outcome in_batches(const ir::Program& program, const std::vector<Bytes>& inputs,
                   std::int64_t steps = kManySteps) {
  const std::vector<std::span<const std::byte>> given(inputs.begin(), inputs.end());
  std::vector<Bytes> outputs;
  if (!ir::interpret_in_batches(program, given, outputs, {.max_steps = steps})) return {};
  return {true, outputs.back()};
}

Outcome interpreted(const ir::Program& program, const std::vector<Bytes>& inputs) {
  std::deque<ir::Memory> memories;
  std::vector<ir::Placement> places;
  for (std::size_t i = 0; i < program.params.size(); ++i) {
    memories.push_back(ir::memory_for(*program.params[i]));
    places.push_back({&memories.back()});
    if (i >= inputs.size()) continue;
    memories.back().bytes() = inputs[i];
    memories.back().define_all();
  }
  const bool is_clean = ir::interpret(program, places, {.max_steps = kManySteps}).empty();
  for (std::int64_t i = 0; is_clean && i < memories.back().size(); ++i) {
    if (memories.back().get(i).undefined != 0) return {};
  }
  return {is_clean, memories.back().bytes()};
}

std::vector<Bytes> inputs_of(const ir::Program& program) {
  std::vector<Bytes> inputs;
  for (std::size_t i = 0; i + 1 < program.params.size(); ++i)
    inputs.push_back(elements_for(*program.params[i]));
  return inputs;
}

// 700 elements are two full batches and a part of one.
std::string elementwise(const std::string& type, const std::string& result,
                        const std::string& body) {
  return "computation 0 (in0, in1) -> (out)\n"
         "placeholder in0: " +
         type + "[7, 100]\nplaceholder in1: " + type +
         "[100]\ncompute out(i < 7, j < 100): " + result + " = " + body + "\n";
}

void expect_equal(const std::string& text) {
  const ir::Program program = program_of(text);
  const std::vector<Bytes> inputs = inputs_of(program);
  const Outcome made = in_batches(program, inputs), wanted = interpreted(program, inputs);
  ASSERT_TRUE(wanted.has_result) << text;
  ASSERT_TRUE(made.has_result) << text;
  EXPECT_EQ(made.output, wanted.output) << text;
}

TEST(Batches, ComputeFloatsLikeTheInterpreter) {
  for (const char* type : {"float32", "float64", "float16", "bfloat16"}) {
    for (const char* body :
         {"in0[i, j] + in1[j]", "in0[i, j] - in1[j]", "in0[i, j] * in1[j]",
          "in0[i, j] / in1[99 - j]", "min(in0[i, j], in1[j])", "max(in0[i, j], in1[j])",
          "exp(in0[i, j])", "fma(in0[i, j], in1[j], in0[i, j])",
          "select(in0[i, j] < in1[j], in0[i, j], in1[j])"})
      expect_equal(elementwise(type, type, body));
    expect_equal(elementwise(type, "bool", "in0[i, j] >= in1[j]"));
    expect_equal(elementwise(type, "float32", "float32(in0[i, j])"));
    expect_equal(elementwise("float32", type, std::string(type) + "(in0[i, j])"));
  }
}

TEST(Batches, ComputeIntegersLikeTheInterpreter) {
  for (const std::string type : {"int32", "int64", "int8", "int16", "uint8", "uint64"}) {
    const std::string three = type + "(3)";
    for (const std::string& body :
         {std::string("in0[i, j] + in1[j]"), std::string("in0[i, j] - in1[j]"),
          "in0[i, j] * in1[j] * " + type + "(77)", "floordiv(in0[i, j], " + three + ")",
          "floormod(in0[i, j], " + three + ")", std::string("min(in0[i, j], in1[j])"),
          std::string("select(in0[i, j] == in1[j] || in0[i, j] < in1[j], in0[i, j], in1[j])"),
          std::string("in0[i, j] ^ in1[j]")})
      expect_equal(elementwise(type, type, body));
    expect_equal(elementwise(type, "float32", "float32(in0[i, j])"));
    expect_equal(elementwise(type, "bool", "in0[i, j] <= in1[j]"));
  }
}

// A branch that is not taken may read outside of a tensor, or divide by zero.
TEST(Batches, EvaluateOnlyTheBranchesThatAreTaken) {
  expect_equal(elementwise("float32", "float32", "select(j < 90, in0[i, j + 10], in1[j])"));
  expect_equal(elementwise("float32", "float32",
                           "select(j < 90 && in1[j + 10] > 0.0, in0[i, j], in1[99 - j])"));
  expect_equal(
      elementwise("int32", "int32", "select(in1[j] == 0, 7, floordiv(in0[i, j], in1[j]))"));
}

std::string sums(const std::string& condition) {
  return "computation 0 (in0, in1) -> (out)\n"
         "  reducer sum(x, y): float32 = x + y, identity=0.0\n"
         "placeholder in0: float32[300, 24]\nplaceholder in1: float32[24, 3]\n"
         "compute product(i < 300, j < 3): float32 = reduce(sum, [k < 24], in0[i, k] * in1[k, j]" +
         condition + ")\ncompute out(j < 3, i < 300): float32 = product[i, j] + 0.1\n";
}

TEST(Batches, AddUpInTheOrderOfTheInterpreter) {
  expect_equal(sums(""));
  expect_equal(sums(", where=k != i"));
}

// A reduction of two values, which are combined before one of them is stored.
TEST(Batches, FindPlaces) {
  expect_equal(
      "computation 0 (in0) -> (best)\n"
      "  reducer argmax(tuple(i, v), tuple(j, w)): tuple(int32, float32) = "
      "tuple(select(v < w, j, i), max(v, w)), identity=tuple(-1, -1000.0)\n"
      "placeholder in0: float32[300, 24]\n"
      "compute places(i < 300): tuple(int32, float32) = "
      "reduce(argmax, [k < 24], tuple(k, in0[i, k]))\n"
      "compute best(i < 300): int32 = places#0[i]\n");
}

// Each has an element that the interpreter reports, or leaves undefined.
TEST(Batches, HaveNoResultWhereTheInterpreterHasNone) {
  const std::string texts[] = {
      elementwise("float32", "float32", "in0[i, j + 1]"),
      elementwise("int32", "int32", "floordiv(in0[i, j], in1[j])"),
      elementwise("float32", "int32", "int32(in0[i, j])"),
      elementwise("int32", "int32", "in0[i, j] << in1[j]"),
  };
  for (const std::string& text : texts) {
    const ir::Program program = program_of(text);
    const std::vector<Bytes> inputs = inputs_of(program);
    EXPECT_FALSE(interpreted(program, inputs).has_result) << text;
    EXPECT_FALSE(in_batches(program, inputs).has_result) << text;
  }
}

// Nests of 1 + 7 * (1 + 100) statements and some around them, like the interpreter counts.
TEST(Batches, KeepToTheLimitOfSteps) {
  const ir::Program program = program_of(elementwise("float32", "float32", "in0[i, j] + in1[j]"));
  EXPECT_FALSE(in_batches(program, inputs_of(program), 700).has_result);
  EXPECT_TRUE(in_batches(program, inputs_of(program), 720).has_result);
}

}  // namespace
}  // namespace texloom::graph
