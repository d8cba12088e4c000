// Builds small kernels for the tests of code generation.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.h"
#include "ir/program.h"
#include "tests/codegen/legalize.h"
#include "tests/codegen/opencl_device.h"
#include "tests/ir/accesses.h"

namespace texloom::codegen::opencl::testing {

// A target with half arithmetic.
ir::Target half_target();

using codegen::testing::legalize;
using ir::at;
using ir::global;
using ir::lane;
using ir::local;
using ir::put;
using ir::put_vector;
using ir::ramp;
using ir::shared;
using ir::texel;
using ir::texture;
using ir::vector_at;

// A kernel under construction. Parameters are derived from the body, in the order of their first
// use, with the access that the body makes.
struct TestKernel {
  std::string name = "k";
  std::vector<ir::ThreadAxis> axes;
  std::vector<ir::Expr> scalars;  // parameters after the buffers

  // Adds a thread axis and returns its index; add blockIdx.x first, then threadIdx.x and so on.
  ir::Expr axis(const char* tag, int64_t extent);
  ir::Program program(const ir::Stmt& body) const;
};

// The generated source; fails the test if the OpenCL compiler refuses it.
std::string source_of(const ir::Program& program);
// The lines of the body of one kernel without threads, not indented.
std::string code(const ir::Stmt& body);
std::string code(const TestKernel& kernel, const ir::Stmt& body);
// The source before the kernel's body.
std::string head(const TestKernel& kernel, const ir::Stmt& body);

// Runs a program of one kernel; `arguments` are in the order of its parameters.
void run(const ir::Program& program, std::vector<HostArray>& arguments);

}  // namespace texloom::codegen::opencl::testing
