// Lists the backends: one row for each kind of target.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/target/target.h"
#include "runtime/hal/executable.h"

namespace texloom::compile {

struct PrintedKernel {
  std::string name;    // of the kernel function in `source`
  std::string source;  // a whole translation unit
};

// Generates kernels for one kind of target. To add a backend, add a row in backend.cc.
struct Backend {
  ir::TargetKind kind;
  hal::KernelFormat format;                     // of the sources, for the runtime
  std::vector<std::string_view> build_options;  // of the device's compiler
  std::string_view source_suffix;               // of source files: ".cl"

  // From stage Kernels to stage Legalized. Fails with UnsupportedType.
  ir::Program (*legalize)(const ir::Program& program, const ir::Target& target);
  // Spells a kernel of a legalized program, with the program's foreign text in front of it.
  PrintedKernel (*print)(const ir::Kernel& kernel, const std::vector<std::string>& foreign,
                         const ir::Target& target);
};

const Backend& backend_of(ir::TargetKind kind);

}  // namespace texloom::compile
