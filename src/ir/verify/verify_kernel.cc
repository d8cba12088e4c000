#include "ir/verify/verify_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "ir/analysis/fragments.h"
#include "ir/analysis/limits.h"
#include "ir/equal.h"
#include "ir/verify/verify_types.h"
#include "ir/visit.h"

namespace texloom::ir {

namespace {

void refuse_shared_buffers(const Stmt& s, Violations& found) {
  if (!s) return;  // reported with the enclosing statement
  const auto* n = as<Allocate>(s);
  if (n != nullptr && n->buffer->memory == MemoryScope::Shared) {
    found.add(Rule::Visibility, s, "a shared buffer is not allocated around the whole kernel");
  }
  for_each_child(
      s, [](const Expr&) {}, [&](const Stmt& child) { refuse_shared_buffers(child, found); });
}

}  // namespace

void check_param(const Kernel& kernel, const KernelParam& param, Violations& found) {
  if (static_cast<bool>(param.buffer) == static_cast<bool>(param.scalar)) {
    found.add(Rule::Definitions, &param, kernel.name, kernel.location,
              "a parameter is a buffer or a scalar, and not both");
  } else if (param.scalar &&
             (as<Var>(param.scalar) == nullptr || !is_kernel_scalar(param.scalar->type))) {
    found.add(Rule::Types, param.scalar, "a scalar parameter is not a variable of 32 or 64 bits");
  } else if (param.extent && (!param.scalar || param.extent->type != param.scalar->type)) {
    found.add(Rule::Types, &param, kernel.name, kernel.location,
              "the extent of a parameter is of another type than its values");
  } else if (param.buffer && param.buffer->memory != MemoryScope::Global) {
    found.add(Rule::Visibility, param.buffer, "a {} buffer is a parameter of kernel {}",
              to_string(param.buffer->memory), kernel.name);
  }
}

void check_axes(const Kernel& kernel, Violations& found) {
  const auto error = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    found.add(Rule::Axes, &kernel, kernel.name, kernel.location, format,
              std::forward<Args>(args)...);
  };
  std::array<Expr, 3> grid = Kernel().grid;
  std::array<int64_t, 3> block{1, 1, 1};
  const auto rank = [](ThreadTag tag) { return (tag.block ? 0 : 3) + tag.dim; };
  int last_rank = -1;
  for (const ThreadAxis& axis : kernel.axes) {
    if (rank(axis.tag) <= last_rank) error("{} occurs twice or out of order", to_string(axis.tag));
    last_rank = rank(axis.tag);
    const int64_t* extent = int_value(axis.extent);
    if (extent == nullptr && !axis.tag.block) {
      error("the extent of {} is not constant", to_string(axis.tag));
      continue;
    }
    if (extent != nullptr && *extent < 1) {
      error("the extent of {} is {}, less than 1", to_string(axis.tag), *extent);
    }
    if (!is_index_variable(axis.var)) {
      found.add(Rule::Types, axis.var, "a thread axis is not an index variable");
    }
    if (axis.tag.block) {
      grid[axis.tag.dim] = axis.extent;
    } else {
      block[axis.tag.dim] = *extent;
    }
  }
  const bool same_grid = std::equal(grid.begin(), grid.end(), kernel.grid.begin(),
                                    [](const Expr& a, const Expr& b) { return equal(a, b); });
  if (!same_grid) {
    error("its grid is ({}, {}, {}), but its blockIdx axes have ({}, {}, {})",
          to_string(kernel.grid[0]), to_string(kernel.grid[1]), to_string(kernel.grid[2]),
          to_string(grid[0]), to_string(grid[1]), to_string(grid[2]));
  }
  if (block != kernel.block) {
    error("its block is ({}), but its threadIdx axes have ({})", fmt::join(kernel.block, ", "),
          fmt::join(block, ", "));
  }
}

void check_shared_buffers(const Kernel& kernel, Violations& found) {
  const Stmt* inside = &kernel.body;  // the statement inside the allocations around the whole body
  while (*inside && as<Allocate>(*inside) != nullptr) inside = &as<Allocate>(*inside)->body;
  refuse_shared_buffers(*inside, found);
}

void check_access(const Kernel& kernel, const KernelParam& param, Usage usage, Violations& found) {
  const auto [read, write] = usage;
  const Access actual = read && write ? Access::ReadWrite : read ? Access::Read : Access::Write;
  if (param.buffer->is_texture() && actual == Access::ReadWrite) {
    found.add(Rule::Access, param.buffer, "kernel {} reads and writes this texture", kernel.name);
  } else if (actual != param.access) {
    found.add(Rule::Access, param.buffer, "kernel {} declares {} and does {}", kernel.name,
              to_string(param.access), to_string(actual));
  }
}

void check_fragment_steps(const Kernel& kernel, Violations& found) {
  const auto problem = fragment_problem(kernel);
  if (!problem) return;
  found.add(Rule::Fragments, problem->fragment, "{}", problem->text);
}

void check_limits(const Kernel& kernel, ProgramStage stage, const Target& target,
                  Violations& found) {
  for (const Excess& excess : exceeded_limits(kernel, target)) {
    // Legalization keeps 16-bit floats in 32 bits before it refuses arrays that are then too large.
    // On a processor, one thread also gets the arrays of all threads of a block, and what these
    // share; split_kernels has checked the threads of the program.
    const bool is_of_arrays =
        excess.limit == Limit::SharedBytes || excess.limit == Limit::PrivateBytes;
    if (is_of_arrays && (stage == ProgramStage::Legalized || target.kind == TargetKind::Llvm))
      continue;
    const void* blamed = &kernel;
    if (excess.buffer) blamed = excess.buffer.get();
    found.add(Rule::Limits, blamed, kernel.name, kernel.location,
              "it needs {} {}, the target has {}", excess.need, to_string(excess.limit),
              excess.have);
  }
  walk_statements(kernel.body, [&](const Shuffle& n) {
    if (n.width == target.limits.simd_width) return;
    found.add(Rule::Limits, &n, kernel.name, n.location,
              "it shuffles in SIMD-groups of {} threads, those of the target have {}", n.width,
              target.limits.simd_width);
  });
}

}  // namespace texloom::ir
