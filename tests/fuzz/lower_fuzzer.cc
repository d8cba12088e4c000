// libFuzzer target: a program of any stage must pass through the rest of the pipeline to OpenCL C,
// by the rules of each stage, or be refused with a diagnostic.
#include <algorithm>

#include "compile/compile.h"
#include "ir/target/target.h"
#include "lower/pipeline.h"
#include "support/diagnostic.h"
#include "tests/fuzz/checked_text.h"
#include "tests/fuzz/fuzzer.h"

namespace texloom::fuzz {

void run_one(std::string_view text) {
  std::optional<lower::Lowering> read = checked_program(text);
  if (!read || read->program.stage == ir::ProgramStage::Legalized) return;
  lower::Lowering& lowering = *read;
  try {
    if (lowering.program.stage != ir::ProgramStage::Te)
      lowering.target = ir::parse_target("opencl", {});
    // The first remaining pass is the first one of the program's stage.
    const auto all = lower::pipeline();
    const auto first = std::find_if(all.begin(), all.end(), [&](const lower::Pass& pass) {
      return pass.in == lowering.program.stage;
    });
    lowering.verify_each = true;
    lower::run_passes({first, all.end()}, lowering,
                      [](const lower::Pass&, const lower::Lowering&) {});
    compile::generate(lowering.program, lowering.target);
  } catch (const UserError&) {
    // A pass refused the program.
  }
}

}  // namespace texloom::fuzz
