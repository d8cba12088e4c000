// Code generation for OpenCL: the entry point.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/target.h"

namespace texloom::codegen::opencl {

struct CompiledKernel {
  std::string name;                       // of the kernel function in `source`
  std::array<ir::Expr, 3> grid;           // blocks: multiplied by `block` it is the global size
  std::array<int64_t, 3> block{1, 1, 1};  // threads of a block
  std::vector<ir::KernelParam> params;    // the arguments, in order
  std::string source;                     // OpenCL C 1.2, one kernel function
};

struct CompiledModule {
  ir::Program program;                  // at stage Legalised: its body is the launch plan
  std::vector<CompiledKernel> kernels;  // in the order of program.kernels
};

// `program` is at stage Kernels, made for the target. Needs no device. Fails like legalize(); a bug
// of ours leaves with a file that holds the program (support/dump.h).
CompiledModule compile(const ir::Program& program, const ir::Target& target);

}  // namespace texloom::codegen::opencl
