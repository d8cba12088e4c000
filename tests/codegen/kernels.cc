#include "tests/codegen/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "ir/accesses.h"
#include "tests/ir/text/round_trip.h"

namespace texloom::codegen::opencl::testing {

using ir::Buffer;
using ir::Expr;
using ir::MemoryScope;
using ir::Stmt;

namespace {

// The parameters that a body needs, derived from its accesses.
class Parameters {
 public:
  explicit Parameters(const Stmt& body) {
    for_each_access(body, [&](const ir::BufferAccess& n) { see(n.buffer, n.access); });
  }
  std::vector<ir::KernelParam> found;

 private:
  void see(const Buffer& buffer, ir::Access access) {
    if (buffer->memory != MemoryScope::Global) return;
    const auto known = std::find_if(found.begin(), found.end(), [&](const ir::KernelParam& p) {
      return p.buffer.same_as(buffer);
    });
    if (known == found.end()) {
      found.push_back({buffer, access, nullptr});
    } else if (known->access != access) {
      known->access = ir::Access::ReadWrite;
    }
  }
};

std::pair<std::string, std::string> halves(const std::string& source) {
  const size_t brace = source.find("{\n", source.find("__kernel"));
  return {source.substr(0, brace), source.substr(brace + 2)};
}

// Checks that printing and parsing restore the program; called for all programs of these tests.
void expect_round_trips(const ir::Program& program) {
  ir::expect_round_trip(program);
  ir::expect_round_trip(legalize(program, {}));
}

}  // namespace

ir::Target half_target() {
  ir::Target target;
  target.features.float16_arithmetic = true;
  return target;
}

Expr TestKernel::axis(const char* tag, int64_t extent) {
  const ir::ThreadTag parsed = *ir::parse_thread_tag(tag);
  axes.push_back({parsed, ir::make_var(tag), ir::make_int(extent)});
  return axes.back().var;
}

ir::Program TestKernel::program(const Stmt& body) const {
  ir::Kernel kernel;
  kernel.name = name;
  kernel.params = Parameters(body).found;
  ir::Program program;
  for (const ir::KernelParam& param : kernel.params) program.params.push_back(param.buffer);
  for (const Expr& scalar : scalars) kernel.params.push_back({nullptr, ir::Access::Read, scalar});
  for (const ir::ThreadAxis& axis : axes) {
    if (axis.tag.block) {
      kernel.grid[axis.tag.dim] = axis.extent;
    } else {
      kernel.block[axis.tag.dim] = *ir::int_value(axis.extent);
    }
  }
  kernel.axes = axes;
  kernel.body = body;
  program.name = "p";
  program.stage = ir::ProgramStage::Kernels;
  program.body = scalars.empty() ? ir::make_launch(0) : ir::make_empty();
  program.kernels = {kernel};
  return program;
}

std::string source_of(const ir::Program& program) {
  expect_round_trips(program);
  const std::string source = compile::generate(program, {}).kernels.front().code->bytes;
  EXPECT_EQ(build_log(source), "");
  return source;
}

std::string code(const Stmt& body) { return code(TestKernel(), body); }

std::string code(const TestKernel& kernel, const Stmt& body) {
  std::istringstream lines(halves(source_of(kernel.program(body))).second);
  std::string result, line;
  while (std::getline(lines, line)) {
    if (line != "}") result += line.substr(2) + "\n";
  }
  return result;
}

std::string head(const TestKernel& kernel, const Stmt& body) {
  return halves(source_of(kernel.program(body))).first;
}

void run(const ir::Program& program, std::vector<HostArray>& arguments) {
  expect_round_trips(program);
  run(compile::generate(program, {}).kernels.front(), arguments);
}

}  // namespace texloom::codegen::opencl::testing
