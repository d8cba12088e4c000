#include "apps/texloom-opt/passes.h"

#include <algorithm>

#include "codegen/opencl/legalize.h"
#include "lower/pipeline.h"

namespace texloom::opt {

using codegen::opencl::Step;
using ir::ProgramStage;
using lower::Lowering;

namespace {

void legalize(Lowering& lowering) {
  lowering.program = codegen::opencl::legalize(lowering.program, lowering.target);
}

void run_step(const Step& step, Lowering& lowering) {
  for (ir::Kernel& kernel : lowering.program.kernels) step.run(kernel, lowering.target);
  lowering.program.stage = step.out;
}

}  // namespace

std::vector<NamedPass> all_passes() {
  std::vector<NamedPass> passes;
  for (const lower::Pass& pass : lower::pipeline()) {
    passes.push_back({std::string(pass.name),
                      [&pass](Lowering& lowering) { lower::run_pass(pass, lowering); }, pass.in,
                      pass.out, pass.summary});
  }
  passes.push_back({"legalize", legalize, ProgramStage::Kernels, ProgramStage::Legalised,
                    "bring kernels into a form that OpenCL C can spell, in these steps:"});
  for (const Step& step : codegen::opencl::legalize_steps()) {
    passes.push_back({"legalize." + std::string(step.name),
                      [&step](Lowering& lowering) { run_step(step, lowering); }, step.in, step.out,
                      step.summary});
  }
  return passes;
}

std::optional<NamedPass> find_pass(std::string_view name) {
  for (NamedPass& pass : all_passes()) {
    if (pass.name == name) return std::move(pass);
  }
  return std::nullopt;
}

}  // namespace texloom::opt
