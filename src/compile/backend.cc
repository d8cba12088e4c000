#include "compile/backend.h"

#include <utility>

#include "codegen/opencl/legalize.h"
#include "codegen/opencl/print.h"
#include "support/check.h"

namespace texloom::compile {

namespace {

PrintedKernel print_opencl(const ir::Kernel& kernel, const std::vector<std::string>& foreign,
                           const ir::Target& target) {
  auto [name, source] = codegen::opencl::print(kernel, foreign, target);
  return {std::move(name), std::move(source)};
}

const std::vector<Backend>& backends() {
  static const std::vector<Backend> rows = {
      {ir::TargetKind::OpenCL,
       hal::KernelFormat::OpenClC,
       {"-cl-std=CL1.2"},
       ".cl",
       codegen::opencl::legalize,
       print_opencl},
  };
  return rows;
}

}  // namespace

const Backend& backend_of(ir::TargetKind kind) {
  for (const Backend& row : backends()) {
    if (row.kind == kind) return row;
  }
  TL_UNREACHABLE("a kind of target without a backend");
}

}  // namespace texloom::compile
