// How the runtime and the device's compiler take the sources of a backend.
#pragma once

#include <string>
#include <vector>

#include "ir/target/target.h"
#include "runtime/hal/executable.h"

namespace texloom::compile {

struct SourceFormat {
  hal::KernelFormat format;
  std::vector<std::string> build_options;  // of the device's compiler
};

SourceFormat source_format(const ir::Target& target);

}  // namespace texloom::compile
