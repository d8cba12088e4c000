#include "schedule/operation/buffer_statement.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/accesses.h"
#include "ir/arith/simplify.h"
#include "ir/verify/verify.h"
#include "ir/visit.h"
#include "schedule/operation/operation.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

std::optional<StatementProblem> bad_store(const Program& program,
                                          const std::vector<Buffer>& inputs) {
  std::optional<StatementProblem> found;
  for_each_access(program.body, [&](const BufferAccess& n) {
    const bool is_input = std::any_of(inputs.begin(), inputs.end(),
                                      [&](const Buffer& b) { return b.same_as(n.buffer); });
    if (found || !n.writes() || !is_input) return;
    found = StatementProblem{
        n.location, "write to the buffer of an output or to an allocated buffer",
        fmt::format("the statement writes '{}', which is an input", n.buffer->name)};
  });
  return found;
}

std::optional<StatementProblem> bad_allocation(const Program& program) {
  std::optional<StatementProblem> found;
  walk(program.body, [&](const Allocate& n) {
    if (!n.buffer->is_texture() || found) return;
    found = StatementProblem{n.location, "allocate a buffer", "the statement allocates a texture"};
  });
  walk(program.body, [&](const Nest& kernel) {
    walk(kernel.body, [&](const Allocate& n) {
      if (n.buffer->memory != MemoryScope::Global || found) return;
      found = StatementProblem{
          n.location, "allocate it in \"local\" or \"shared\", or outside of thread axes and loops",
          fmt::format("'{}' is allocated in global memory inside a kernel", n.buffer->name)};
    });
  });
  return found;
}

// Whether variables take all values of their ranges in all combinations. If so, an index that is
// not proven to be inside a buffer is outside; else the proof may be too weak.
bool has_exact_ranges(const Stmt& statement) {
  return !any_of(
      statement, [](const For& n) { return int_value(n.extent) == nullptr; },
      [](const Let&) { return true; });
}

StatementProblem problem_of(const Violation& v, const Program& program) {
  if (v.index) {
    return {v.location, "access only elements of the buffer, or guard the access by ib.if_scope",
            fmt::format("{}: index {} is out of bounds for axis {} of '{}' (0 to {})", v.node,
                        v.index->index, v.index->axis, v.index->buffer, v.index->extent - 1)};
  }
  return {
      v.location,
      v.rule == Rule::Nodes && contains<TensorRead>(program.body)
          ? "read inputs through `ins`: ins[0].vload(0)"
          : "use the shapes and dtypes of the buffers, and only names that the statement defines",
      fmt::format("{}: {}", v.node, v.problem)};
}

// Checks that foreign code may have a pointer into the buffer.
void check_array(const BufferNode& buffer, const SourceLocation& where) {
  if (has_strides(buffer)) return;
  fail(where, Code::BadForeignCall,
       "keep the tensor in a row-major buffer, or access its elements one by one",
       "foreign code cannot point into '{}', which {}", buffer.name,
       buffer.is_texture() ? "is a texture" : "is not a row-major array");
}

}  // namespace

std::optional<StatementProblem> find_problem(const Program& program,
                                             const std::vector<Buffer>& inputs) {
  if (auto problem = bad_store(program, inputs)) return problem;
  if (auto problem = bad_allocation(program)) return problem;
  const std::vector<Violation> found =
      find_violations(program, {.check_accesses = has_exact_ranges(program.body)});
  if (found.empty()) return std::nullopt;
  return problem_of(found.front(), program);
}

Exprs shape_of(const BufferNode& buffer) {
  if (buffer.is_symbolic()) return buffer.extents;
  Exprs shape;
  for (const int64_t extent : buffer.shape) {
    shape.push_back(make_int(extent, extent > INT32_MAX ? kInt64 : kInt32));
  }
  return shape;
}

std::optional<StatementProblem> find_problem(const Buffer& buffer) {
  const bool row_major = buffer->is_symbolic() || buffer->layout == linear_layout(buffer->shape);
  if (buffer->memory == MemoryScope::Global && row_major) return std::nullopt;
  return StatementProblem{
      buffer->location,
      "declare it row-major in global memory; the tensor's own stage decides its storage",
      fmt::format("the buffer '{}' is not row-major in global memory", buffer->name)};
}

std::optional<StatementProblem> find_problem(const Buffer& buffer, const Tensor& tensor,
                                             const SourceLocation& where) {
  const Exprs declared = shape_of(*buffer),
              extents = extents_of(tensor->shape, tensor->name, where);
  const bool same_shape =
      std::equal(declared.begin(), declared.end(), extents.begin(), extents.end(),
                 [](const Expr& a, const Expr& b) { return arith::prove_equal(a, b, {}); });
  if (buffer->type == tensor->type && same_shape) return find_problem(buffer);
  return StatementProblem{
      buffer->location, "declare it with the tensor's shape and dtype",
      fmt::format("the buffer '{}' has another shape or dtype than its tensor '{}'", buffer->name,
                  tensor->name)};
}

Stmt with_places(const Stmt& statement,
                 FunctionRef<ElementPlace(const Buffer&, const Exprs&)> place) {
  return rewrite(
      statement,
      [&](const Load& n, const Expr&) {
        ElementPlace to = place(n.buffer, n.indices);
        return make_load(std::move(to.buffer), std::move(to.indices), n.location);
      },
      [&](const Pointer& n, const Expr&) {
        ElementPlace to = place(n.buffer, n.indices);
        check_array(*to.buffer, n.location);
        // The box has one element along the tensor's additional outer axes.
        Exprs extents(to.indices.size() - n.indices.size(), make_int(1));
        extents.insert(extents.end(), n.extents.begin(), n.extents.end());
        return make_pointer(n.access, std::move(to.buffer), std::move(to.indices),
                            std::move(extents), n.offset, n.location);
      },
      [&](const Store& n, const Stmt&) {
        ElementPlace to = place(n.buffer, n.indices);
        return make_store(std::move(to.buffer), std::move(to.indices), n.value, n.location);
      });
}

}  // namespace texloom::schedule
