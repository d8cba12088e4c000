#include "codegen/legalize/shuffles/block_threads.h"

#include "codegen/legalize/kernel_ranges.h"
#include "ir/accesses.h"
#include "ir/arith/simplify.h"
#include "ir/visit.h"

namespace texloom::codegen {

using ir::Expr;
using ir::arith::LinearTerm;

BlockThreads::BlockThreads(const ir::Kernel& kernel, int64_t simd_width)
    : simd_width_(simd_width),
      strides_{1, kernel.block[0], kernel.block[0] * kernel.block[1]},
      ranges_(ranges_of(kernel)),
      uniform_(kernel) {
  const auto& [nx, ny, nz] = kernel.block;
  for (int64_t z = 0; z < nz; ++z) {
    for (int64_t y = 0; y < ny; ++y) {
      for (int64_t x = 0; x < nx; ++x) positions_.push_back({x, y, z});
    }
  }
  for (const ir::ThreadAxis& axis : kernel.axes) {
    if (!axis.tag.block) axes_[axis.tag.dim] = axis.var;
  }
}

std::optional<ThreadIndex> BlockThreads::index(const Expr& e) const {
  if (!ir::arith::is_index_type(e->type)) return std::nullopt;
  ThreadIndex result;
  const ir::arith::LinearSum sum = linear_sum(e, ranges_);
  for (const LinearTerm& term : sum.terms) {
    size_t dim = 0;
    while (dim < axes_.size() && !term.atom.same_as(axes_[dim])) ++dim;
    if (dim < axes_.size()) {
      result.factors[dim] = term.coefficient;
    } else if (uniform_.varies(term.atom) || ir::accesses_memory(term.atom)) {
      return std::nullopt;
    } else {
      result.of_block.terms.push_back(term);
    }
  }
  for (const Position& p : positions_) {
    int64_t number = sum.constant;
    for (size_t dim = 0; dim < p.size(); ++dim) number += result.factors[dim] * p[dim];
    result.of_thread.push_back(number);
  }
  return result;
}

std::optional<std::vector<bool>> BlockThreads::where(const Expr& condition) const {
  std::vector<bool> result;
  for (const Position& p : positions_) {
    ir::Substitution thread;
    for (size_t dim = 0; dim < p.size(); ++dim) {
      if (axes_[dim]) thread.emplace(axes_[dim], ir::make_int(p[dim], axes_[dim]->type));
    }
    const Expr value = substitute(condition, thread);
    if (!is_true(value) && !is_false(value)) return std::nullopt;
    result.push_back(is_true(value));
  }
  return result;
}

std::optional<int64_t> BlockThreads::distance_in_simd_group(int64_t thread, int64_t other) const {
  if (thread / simd_width_ != other / simd_width_) return std::nullopt;
  return other - thread;
}

Expr BlockThreads::distance_to_first(const std::array<bool, 3>& dimensions) const {
  Expr distance = ir::make_int(0);
  for (size_t dim = 0; dim < dimensions.size(); ++dim) {
    if (dimensions[dim]) distance = distance + make_cast(ir::kInt32, axes_[dim]) * -strides_[dim];
  }
  return distance;
}

std::vector<int64_t> BlockThreads::distances_to_first(const std::array<bool, 3>& dimensions) const {
  std::vector<int64_t> distances;
  for (const Position& p : positions_) {
    int64_t distance = 0;
    for (size_t dim = 0; dim < p.size(); ++dim) {
      if (dimensions[dim]) distance -= strides_[dim] * p[dim];
    }
    distances.push_back(distance);
  }
  return distances;
}

}  // namespace texloom::codegen
