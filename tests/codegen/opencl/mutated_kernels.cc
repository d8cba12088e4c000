#include "tests/codegen/opencl/mutated_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "codegen/legalize/verify_dialect.h"
#include "codegen/opencl/opencl_dialect.h"
#include "codegen/opencl/print.h"
#include "ir/text/parse.h"
#include "support/check.h"
#include "support/diagnostic.h"
#include "tests/codegen/corpus.h"
#include "tests/codegen/legalize.h"
#include "tests/ir/text/mutator.h"

namespace texloom::codegen::opencl::testing {

namespace {

std::vector<std::string> legalized_texts() {
  std::vector<std::string> texts;
  for (const codegen::testing::CorpusProgram& each : codegen::testing::kernel_corpus()) {
    for (const bool half : {false, true}) {
      ir::Target target = each.target;
      target.features.float16_arithmetic = half;
      try {
        texts.push_back(to_string(codegen::testing::legalize(each.program, target)));
      } catch (const UserError&) {
        // The program uses a type that OpenCL C lacks.
      }
    }
  }
  return texts;
}

class Mutations {
 public:
  void check(const std::string& text, const ir::Target& target) {
    ++counts_.changes;
    try {
      const std::optional<ir::Program> program = parsed(text);
      if (program) check(*program, target);
    } catch (const std::exception& error) {
      throw InternalError(fmt::format("{}\n----- the text:\n{}", error.what(), text));
    }
  }

  int programs() const {
    return counts_.printed + counts_.refused_by_ir + counts_.refused_by_dialect;
  }
  MutationCounts counts_;

 private:
  // The printer does not depend on whether accesses are in bounds.
  std::optional<ir::Program> parsed(const std::string& text) {
    try {
      ir::Program program = ir::parse_program(text, "p.tl", {.check_accesses = false});
      if (program.stage == ir::ProgramStage::Legalized) return program;
    } catch (const UserError& error) {
      if (error.diagnostics().front().code == Code::BadProgram) ++counts_.refused_by_ir;
    }
    return std::nullopt;
  }

  void check(const ir::Program& program, const ir::Target& target) {
    if (!find_violations(program, opencl_dialect(target)).empty()) {
      ++counts_.refused_by_dialect;
      return;
    }
    for (const ir::Kernel& kernel : program.kernels) {
      const PrintedKernel printed = print(kernel, program.foreign, target);
      TL_CHECK(!printed.source.empty());
    }
    ++counts_.printed;
  }
};

}  // namespace

MutationCounts print_mutated(int programs, uint64_t seed) {
  const std::vector<std::string> texts = legalized_texts();
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  ir::Mutator mutator(seed, views);
  Mutations mutations;
  mutations.counts_.texts = static_cast<int>(texts.size());
  while (mutations.programs() < programs) {
    ir::Target target;
    target.features.float16_arithmetic = mutator.below(2) == 0;
    mutations.check(mutator.changed(), target);
  }
  return mutations.counts_;
}

}  // namespace texloom::codegen::opencl::testing
