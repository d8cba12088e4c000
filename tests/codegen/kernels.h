// Small kernels for the tests of code generation.
#pragma once

#include <string>
#include <vector>

#include "codegen/opencl/module.h"
#include "ir/ir.h"
#include "tests/codegen/opencl_device.h"

namespace texloom::codegen::opencl::testing {

// A buffer of the whole grid.
ir::Buffer global(std::string name, ir::Type type, int64_t elements);
ir::Buffer local(std::string name, ir::Type type, int64_t elements);
ir::Buffer shared(std::string name, ir::Type type, int64_t elements);
// An image of `width` x `height` texels.
ir::Buffer texture(std::string name, ir::Type type, int64_t width, int64_t height);

ir::Expr at(const ir::Buffer& buffer, const ir::Expr& index);
ir::Expr at(const ir::Buffer& buffer, int64_t index);
// The consecutive elements from `base` on.
ir::Expr vector_at(const ir::Buffer& buffer, const ir::Expr& base, int lanes);
ir::Expr texel(const ir::Buffer& texture, const ir::Expr& x, const ir::Expr& y);
ir::Expr lane(const ir::Expr& vector, int64_t index);
ir::Expr ramp(const ir::Expr& base, int lanes, int64_t stride = 1);

ir::Stmt put(const ir::Buffer& buffer, const ir::Expr& index, const ir::Expr& value);
ir::Stmt put_vector(const ir::Buffer& buffer, const ir::Expr& base, const ir::Expr& value);

// A kernel under construction. Parameters are found in the body, in the order of their first use;
// access is what the body does.
struct TestKernel {
  std::string name = "k";
  std::vector<ir::ThreadAxis> axes;
  std::vector<ir::Expr> scalars;  // parameters behind the buffers

  // A thread index; blockIdx.x first, then threadIdx.x and so on.
  ir::Expr axis(const char* tag, int64_t extent);
  ir::Program program(const ir::Stmt& body) const;
};

// The generated source; fails the test when OpenCL does not take it.
std::string source_of(const ir::Program& program);
// Of one kernel without threads: the lines of its body, not indented.
std::string code(const ir::Stmt& body);
std::string code(const TestKernel& kernel, const ir::Stmt& body);
// The parts of the source in front of the kernel's body.
std::string head(const TestKernel& kernel, const ir::Stmt& body);

// Runs a program of one kernel; arguments in the order of its parameters.
void run(const ir::Program& program, std::vector<HostArray>& arguments);

}  // namespace texloom::codegen::opencl::testing
