// Legalizes for a language without a backend yet: vectors of up to four lanes, no vectors of bools
// and no half values. The steps that backends share suffice, and keep the program's results.
#include "codegen/legalize/dialect.h"

#include <gtest/gtest.h>

#include "codegen/c/integer_promotions.h"
#include "codegen/legalize/align_access.h"
#include "codegen/legalize/distribute_fragments.h"
#include "codegen/legalize/integer_divisions.h"
#include "codegen/legalize/kernel_ranges.h"
#include "codegen/legalize/split_lanes.h"
#include "codegen/legalize/unused_values.h"
#include "codegen/legalize/verify_dialect.h"
#include "codegen/legalize/widen_storage.h"
#include "ir/text/parse.h"
#include "ir/verify/verify.h"
#include "lower/kernels/share_texels.h"
#include "lower/kernels/unique_definitions.h"
#include "lower/loops/copy_at_once.h"
#include "support/diagnostic.h"
#include "tests/codegen/corpus.h"
#include "tests/codegen/interpreted.h"
#include "tests/codegen/kernels.h"
#include "tests/ir/text/program_texts.h"

namespace texloom::codegen::testing {
namespace {

using ir::Type;

constexpr Dialect kNarrow{
    .name = "Narrow C",
    .vector_widths = {2, 3, 4},
    .vector_conditions = VectorConditions::None,
    .half = HalfSupport::Memory,
    .bools_in_memory = false,
    .float64 = true,
    .device_fence = true,
};

ir::Program legalized(const ir::Program& program, const Dialect& dialect) {
  ir::Program result = program;
  result.stage = ir::ProgramStage::Legalized;
  for (ir::Kernel& kernel : result.kernels) {
    kernel.body = lower::unique_definitions(kernel.body);
    if (!dialect.fragments) distribute_fragments(kernel);
    kernel.body = lower::copy_at_once(kernel.body);
    kernel.body = split_lanes(kernel.body, dialect);
    kernel.body = lower::bind_texels(kernel.body);
    kernel.body = widen_storage(kernel.body, dialect);
    kernel.body = align_accesses(kernel.body, ranges_of(kernel), dialect);
    kernel.body = make_promotions_explicit(kernel.body, ranges_of(kernel));
    kernel.body = make_divisions_explicit(kernel.body, ranges_of(kernel));
    kernel.body = drop_unused_values(kernel.body);
  }
  return result;
}

// Runs the steps and verifies the result; false if the program needs types that the dialect lacks.
bool check(const ir::Program& program, const Dialect& dialect) {
  ir::Program legal;
  try {
    legal = legalized(program, dialect);
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().front().code, Code::UnsupportedType) << error.what();
    return false;
  }
  for (const ir::Violation& v : ir::find_violations(legal, {.check_accesses = false})) {
    ADD_FAILURE() << to_string(v.rule) << ": " << v.node << ": " << v.problem;
  }
  for (const DialectViolation& v : find_violations(legal, dialect)) {
    ADD_FAILURE() << to_string(v.rule) << ": " << v.node << ": " << v.problem;
  }
  return true;
}

TEST(Dialect, OfALanguageWithoutABackend) {
  int programs = 0, runs = 0;
  for (const CorpusProgram& each : kernel_corpus()) {
    SCOPED_TRACE(each.name);
    if (!check(each.program, kNarrow)) continue;
    ++programs;
    const auto expected = interpreted(each.program);
    if (!expected) continue;
    EXPECT_EQ(interpreted(legalized(each.program, kNarrow)), expected);
    ++runs;
  }
  EXPECT_GT(programs, 4);
  EXPECT_GT(runs, 2);
}

TEST(Dialect, OfALanguageWithVectorsOfBools) {
  Dialect dialect = kNarrow;
  dialect.vector_conditions = VectorConditions::Bools;
  dialect.half = HalfSupport::Values;
  dialect.bools_in_memory = true;
  for (const CorpusProgram& each : kernel_corpus()) {
    SCOPED_TRACE(each.name);
    check(each.program, dialect);
  }
}

TEST(Dialect, WithoutAFenceHasNoTickets) {
  Dialect dialect = kNarrow;
  dialect.device_fence = false;
  const ir::Program program = ir::parse_program(ir::kTicketsLegalizedText, "t.tl");
  EXPECT_TRUE(find_violations(program, kNarrow).empty());
  const std::vector<DialectViolation> found = find_violations(program, dialect);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().rule, DialectRule::Fences);
}

TEST(Dialect, WithoutHalfRefusesIt) {
  Dialect dialect = kNarrow;
  dialect.half = HalfSupport::None;
  const ir::Buffer h = ir::global("h", Type::f(16), 4);
  const ir::Program program =
      opencl::testing::TestKernel().program(ir::put(h, ir::make_int(0), ir::at(h, 1)));
  try {
    legalized(program, dialect);
    FAIL() << "nothing was refused";
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().front().code, Code::UnsupportedType);
    EXPECT_EQ(error.diagnostics().front().message, "Narrow C has no type float16");
  }
}

}  // namespace
}  // namespace texloom::codegen::testing
