// libFuzzer: a program of any stage goes through the rest of the pipeline, by the rules of each
// stage, to OpenCL C, or is refused with a diagnostic.
#include "codegen/opencl/module.h"
#include "ir/target.h"
#include "ir/verify.h"
#include "lower/pipeline.h"
#include "support/diagnostic.h"
#include "tests/fuzz/checked_text.h"
#include "tests/fuzz/fuzzer.h"

namespace texloom::fuzz {

void run_one(std::string_view text) {
  std::optional<lower::Lowering> read = checked_program(text);
  if (!read || read->program.stage == ir::ProgramStage::Legalised) return;
  lower::Lowering& lowering = *read;
  try {
    if (lowering.program.stage != ir::ProgramStage::Te)
      lowering.target = ir::parse_target("opencl", {});
    // Passes that lead from one stage to the same one run all: the first of a stage comes first.
    for (const lower::Pass& pass : lower::pipeline()) {
      if (pass.in != lowering.program.stage) continue;
      run_pass(pass, lowering);
      if (pass.out != ir::ProgramStage::Te) verify(lowering.program);
    }
    codegen::opencl::compile(lowering.program, lowering.target);
  } catch (const UserError&) {
    // What a pass refuses.
  }
}

}  // namespace texloom::fuzz
