// How the runtime and the device's compiler take the sources of a backend.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/target/target.h"
#include "runtime/hal/executable.h"

namespace texloom::compile {

struct SourceFormat {
  hal::KernelFormat format;
  // Of the device's compiler. For Metal, the version of the language, as -std=metal2.3, and, as
  // -simd-width=32, the threads of a SIMD-group that the kernel relies on, if it does.
  std::vector<std::string> build_options;
};

SourceFormat source_format(const ir::Kernel& kernel, const ir::Target& target);

}  // namespace texloom::compile
