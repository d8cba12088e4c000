// Legalizes for the toy dialect by the steps that backends share, and verifies the results.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "codegen/legalize/steps.h"
#include "ir/text/parse.h"
#include "ir/verify/verify.h"
#include "support/diagnostic.h"
#include "tests/codegen/corpus.h"
#include "tests/codegen/interpreted.h"
#include "tests/codegen/toy/toy_dialect.h"

namespace texloom::codegen::toy {
namespace {

using testing::interpreted;
using testing::kernel_corpus;
using Shared = Steps<toy_dialect>;

// The steps of legalization that a backend lists. Integers wrap, so no step promotes them.
constexpr std::array kSteps = {
    Shared::unique_definitions, Shared::distribute_fragments,
    Shared::copy_at_once,       Shared::split_lanes,
    Shared::bind_texels,        Shared::widen_storage,
    Shared::align_accesses,     Shared::make_divisions_explicit,
    Shared::drop_unused_values,
};

ir::Program legalized(const ir::Program& program) {
  lower::Lowering lowering;
  lowering.program = program;
  lower::run_passes(kSteps, lowering, [](const lower::Pass&, const lower::Lowering&) {});
  return lowering.program;
}

ir::Program parsed(std::string_view text) { return ir::parse_program(text, "toy.tl"); }

// The text of the kernels after legalizing, which must keep all rules.
std::string legal(std::string_view text) {
  const ir::Program program = legalized(parsed(text));
  EXPECT_TRUE(ir::find_violations(program, {.check_accesses = false}).empty());
  for (const DialectViolation& v : find_violations(program, toy_dialect({})))
    ADD_FAILURE() << to_string(v.rule) << ": " << v.node << ": " << v.problem;
  std::string kernels;
  for (const ir::Kernel& kernel : program.kernels) kernels += to_string(kernel);
  return kernels;
}

Code refusal(std::string_view text) {
  try {
    legalized(parsed(text));
  } catch (const UserError& error) {
    return error.diagnostics().front().code;
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Programs keep their results; those with small elements in memory are refused.
TEST(Toy, KeepsTheResultsOfTheCorpus) {
  int runs = 0;
  for (const testing::CorpusProgram& each : kernel_corpus()) {
    SCOPED_TRACE(each.name);
    ir::Program program;
    try {
      program = legalized(each.program);
    } catch (const UserError& error) {
      EXPECT_EQ(error.diagnostics().front().code, Code::UnsupportedType) << error.what();
      continue;
    }
    for (const DialectViolation& v : find_violations(program, toy_dialect({}))) {
      EXPECT_TRUE(v.rule == DialectRule::Functions || v.rule == DialectRule::Foreign)
          << to_string(v.rule) << ": " << v.node << ": " << v.problem;
    }
    const auto expected = interpreted(each.program);
    if (!expected) continue;
    EXPECT_EQ(interpreted(program), expected);
    ++runs;
  }
  EXPECT_GT(runs, 2);
}

constexpr std::string_view kWide = R"(program wide stage=kernels
  param A: global float32[128]
  param B: global float32[128]
  launch k(A, B) grid=(2, 1, 1) block=(1, 1, 1)

kernel k grid=(2, 1, 1) block=(1, 1, 1)
  param A: read global float32[128]
  param B: write global float32[128]
  axis i = blockIdx.x < 2
  B[ramp(i * 64, 1, 64)] = A[ramp(i * 64, 1, 64)] + x64(1.0)
)";

// The interpreter runs vectors of 64 lanes, too, with the results of single elements.
TEST(Toy, HasVectorsOf64Lanes) {
  EXPECT_TRUE(contains(legal(kWide), "B[ramp(i * 64, 1, 64)] = A[ramp(i * 64, 1, 64)] + x64(1.0)"));
  const auto wide = interpreted(legalized(parsed(kWide)));
  std::string text(kWide);
  const std::string_view vector = "B[ramp(i * 64, 1, 64)] = A[ramp(i * 64, 1, 64)] + x64(1.0)";
  text.replace(text.find(vector), vector.size(),
               "for j < 64 {\n    B[i * 64 + j] = A[i * 64 + j] + 1.0\n  }");
  ASSERT_TRUE(wide.has_value());
  EXPECT_EQ(wide, interpreted(parsed(text)));
}

// A is read in two vector widths, so it becomes an array of single elements; B keeps its vectors.
TEST(Toy, AccessesAnArrayInOneWidth) {
  constexpr std::string_view kMixed = R"(program mixed stage=kernels
  param A: global float32[8]
  param B: global float32[8]
  launch k(A, B) grid=(1, 1, 1) block=(1, 1, 1)

kernel k grid=(1, 1, 1) block=(1, 1, 1)
  param A: read global float32[8]
  param B: write global float32[8]
  B[ramp(0, 1, 4)] = A[ramp(0, 1, 4)]
  B[ramp(4, 1, 4)] = pack(A[4], A[5], A[6], A[7])
)";
  const std::string text = legal(kMixed);
  EXPECT_TRUE(contains(text, "B[ramp(0, 1, 4)] = pack(A[0], A[1], A[2], A[3])")) << text;
  const std::vector<DialectViolation> found = [&] {
    ir::Program program = parsed(kMixed);
    program.stage = ir::ProgramStage::Legalized;
    return find_violations(program, toy_dialect({}));
  }();
  ASSERT_EQ(found.size(), 4U);  // one for each access to a single element
  EXPECT_EQ(found[0].rule, DialectRule::Accesses);
  EXPECT_EQ(found[0].problem, "A is accessed by 4 and by 1 elements");
}

TEST(Toy, HasNoSmallElementsInMemory) {
  EXPECT_EQ(refusal(R"(program bytes stage=kernels
  param A: global int8[8]
  launch k(A) grid=(1, 1, 1) block=(1, 1, 1)

kernel k grid=(1, 1, 1) block=(1, 1, 1)
  param A: read_write global int8[8]
  A[0] = A[1]
)"),
            Code::UnsupportedType);
}

// Small integers wrap, so they are computed in their own type.
TEST(Toy, PromotesNothing) {
  EXPECT_TRUE(contains(legal(R"(program small stage=kernels
  param A: global int32[8]
  launch k(A) grid=(1, 1, 1) block=(1, 1, 1)

kernel k grid=(1, 1, 1) block=(1, 1, 1)
  param A: read_write global int32[8]
  A[0] = int32(int8(A[1]) + int8(A[2]))
)"),
                       "A[0] = int32(int8(A[1]) + int8(A[2]))"));
}

TEST(Toy, CallsSymbols) {
  EXPECT_TRUE(contains(legal(R"(program calls stage=kernels
  foreign symbol twice(float32): float32 in "kernels.o"
  param A: global float32[8]
  launch k(A) grid=(1, 1, 1) block=(1, 1, 1)

kernel k grid=(1, 1, 1) block=(1, 1, 1)
  param A: read_write global float32[8]
  A[0] = call_pure_extern(twice, A[1]: float32)
)"),
                       "call_pure_extern(twice, A[1]: float32)"));
}

// The verifier reports foreign C text and missing functions. A missing function that has a
// definition, such as erf, is allowed if the backend prints definitions.
TEST(Toy, LacksCAndSomeFunctions) {
  const ir::Program program = legalized(parsed(R"(program lacks stage=kernels
  foreign "float f(float x) { return x; }"
  param A: global float32[8]
  launch k(A) grid=(1, 1, 1) block=(1, 1, 1)

kernel k grid=(1, 1, 1) block=(1, 1, 1)
  param A: read_write global float32[8]
  A[0] = erf(A[1]) + tgamma(A[2])
)"));
  Dialect dialect = toy_dialect({});
  const std::vector<DialectViolation> found = find_violations(program, dialect);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].rule, DialectRule::Foreign);
  EXPECT_EQ(found[1].rule, DialectRule::Functions);
  EXPECT_EQ(found[1].problem, "there is no function erf");
  EXPECT_EQ(found[2].problem, "there is no function tgamma");
  dialect.defines_functions = true;
  EXPECT_EQ(find_violations(program, dialect).size(), 2U);
}

TEST(Toy, EmitsOneCodeOfAllKernels) {
  ir::Program program = parsed(kWide);
  program.kernels.push_back(program.kernels.front());
  program.kernels.back().name = "again";
  const std::vector<CompiledCode> codes = emit(program);
  ASSERT_EQ(codes.size(), 1U);
  EXPECT_EQ(codes[0].entries.size(), 2U);
  EXPECT_EQ(codes[0].bytes, "toy k again");
  EXPECT_EQ(codes[0].listing(), codes[0].text);
}

}  // namespace
}  // namespace texloom::codegen::toy
