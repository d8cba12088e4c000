// Code that a backend makes of kernels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/program.h"
#include "support/kernel_format.h"

namespace texloom::codegen {

// A kernel in a code.
struct CodeEntry {
  std::size_t kernel = 0;  // an index into the program's kernels
  std::string name;        // the name of the kernel's function in the code
};

// Code that a device's driver prepares as a whole: a source, or a binary.
struct CompiledCode {
  KernelFormat format = KernelFormat::OpenClC;
  std::string bytes;
  std::vector<std::string> options = {};  // for the device's compiler
  std::vector<CodeEntry> entries = {};    // their names differ
  std::string text = {};                  // a listing for people, if the code is binary

  // The code as people read it.
  const std::string& listing() const { return traits_of(format).is_text ? bytes : text; }
};

// A program of these kernels alone, as code is made of them: without the plan and its memory.
ir::Program kernels_alone(const ir::Program& program, std::vector<ir::Kernel> kernels);

}  // namespace texloom::codegen
