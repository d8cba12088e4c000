// What printers of C-like languages leave.
#pragma once

#include <string>

namespace texloom::codegen {

struct PrintedKernel {
  std::string name;    // of the kernel function in `source`
  std::string source;  // a whole translation unit
};

}  // namespace texloom::codegen
