#include "codegen/opencl/legalize.h"

#include <algorithm>

#include "codegen/opencl/align_access.h"
#include "codegen/opencl/integer_arithmetic.h"
#include "codegen/opencl/split_lanes.h"
#include "codegen/opencl/vector_conditions.h"
#include "codegen/opencl/widen_storage.h"
#include "ir/verify.h"
#include "ir/visit.h"
#include "lower/share_texels.h"
#include "lower/unique_definitions.h"

namespace texloom::codegen::opencl {

using ir::Buffer;
using ir::Stmt;
using ir::Type;

namespace {

// OpenCL C declares local memory in the outermost block of a kernel only.
Stmt hoist_shared_arrays(const Stmt& body) {
  std::vector<Buffer> shared;
  Stmt result = rewrite(body, [&](const ir::Allocate& n, const Stmt& self) {
    if (n.buffer->memory != ir::MemoryScope::Shared) return self;
    const auto same = [&](const Buffer& b) { return b.same_as(n.buffer); };
    if (std::none_of(shared.begin(), shared.end(), same)) shared.push_back(n.buffer);
    return n.body;
  });
  std::reverse(shared.begin(), shared.end());
  for (const Buffer& buffer : shared) result = make_allocate(buffer, result, buffer->location);
  return result;
}

ir::Kernel legalize(const ir::Kernel& kernel) {
  ir::Kernel result = kernel;
  // Lets the others remember expressions by their variables.
  result.body = lower::unique_definitions(result.body);
  // On the user's types; it makes several reads of a texel out of one.
  result.body = split_lanes(result.body);
  // Needs one node for each texel that is equal, so before types are changed.
  result.body = lower::share_texels_in(result.body);
  result.body = widen_storage(result.body);
  const ir::arith::Ranges ranges = ranges_of(result);
  // Wants the final types of arrays, and makes divisions.
  result.body = align_accesses(result.body, ranges);
  result.body = make_integers_explicit(result.body, ranges);
  // Wants final types: its result depends on their widths.
  result.body = shape_vector_conditions(result.body);
  result.body = hoist_shared_arrays(result.body);
  return result;
}

}  // namespace

ir::Program legalize(const ir::Program& program) {
  TL_CHECK(program.stage == ir::Stage::Kernels);
  ir::Program result = program;
  result.stage = ir::Stage::Legalised;
  for (ir::Kernel& kernel : result.kernels) kernel = legalize(kernel);
  ir::verify(result);
  return result;
}

}  // namespace texloom::codegen::opencl
