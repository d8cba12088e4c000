// Legalizes all programs of this repository for Metal.
#include "codegen/msl/legalize.h"

#include <gtest/gtest.h>

#include "codegen/legalize/verify_dialect.h"
#include "codegen/msl/msl_dialect.h"
#include "support/diagnostic.h"
#include "tests/codegen/corpus.h"
#include "tests/codegen/interpreted.h"
#include "tests/codegen/legalize.h"

namespace texloom::codegen::msl {
namespace {

// legalize() also verifies its results. The targets differ in half arithmetic and SIMD-groups.
TEST(MslLegalize, KeepsWhatProgramsCompute) {
  for (const char* text : {"metal", "metal -msl=3.1 -float16_arithmetic=0 -simd_width=4"}) {
    const ir::Target target = ir::parse_target(text, {});
    int programs = 0, runs = 0;
    for (const testing::CorpusProgram& each : testing::kernel_corpus()) {
      SCOPED_TRACE(each.name);
      try {
        const ir::Program legal = testing::legalize(each.program, target);
        ++programs;
        const auto expected = testing::interpreted(each.program);
        if (!expected) continue;
        EXPECT_EQ(testing::interpreted(legal), expected);
        ++runs;
      } catch (const UserError& error) {
        EXPECT_EQ(error.diagnostics().front().code, Code::UnsupportedType) << error.what();
      }
    }
    EXPECT_GT(programs, 4);
    EXPECT_GT(runs, 2);
  }
}

TEST(MslDialect, FollowsTheTarget) {
  const auto of = [](const char* text) { return msl_dialect(ir::parse_target(text, {})); };
  EXPECT_EQ(of("metal").half, HalfSupport::Values);
  EXPECT_EQ(of("metal -float16_arithmetic=0").half, HalfSupport::Memory);
  EXPECT_FALSE(of("metal -msl=3.0").bfloat16);
  EXPECT_TRUE(of("metal -msl=3.1").bfloat16);
  EXPECT_FALSE(of("metal").float64);
  EXPECT_TRUE(of("metal").int64);
}

}  // namespace
}  // namespace texloom::codegen::msl
