// Evaluates indices and conditions for every thread of a block.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/analysis/uniform_values.h"
#include "ir/arith/linear.h"
#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::codegen {

// An index as the sum of a number that depends on the thread, and of terms that are equal for all
// threads of a block.
struct ThreadIndex {
  std::vector<int64_t> of_thread;    // the number for each thread
  std::array<int64_t, 3> factors{};  // the factors of threadIdx.x, y and z
  ir::arith::LinearSum of_block;     // the other terms, without a constant
};

// The threads of one block, numbered with threadIdx.x fastest, in SIMD-groups of neighbors.
class BlockThreads {
 public:
  // The kernel must outlive this object.
  BlockThreads(const ir::Kernel& kernel, int64_t simd_width);

  size_t count() const { return positions_.size(); }
  // The index as a ThreadIndex; nullopt if the index is not a sum of this form, or if it reads
  // memory.
  std::optional<ThreadIndex> index(const ir::Expr& e) const;
  // For which threads the condition holds; nullopt if it depends on more than the thread.
  std::optional<std::vector<bool>> where(const ir::Expr& condition) const;
  // `other - thread` for two thread numbers; nullopt if they are in different SIMD-groups.
  std::optional<int64_t> distance_in_simd_group(int64_t thread, int64_t other) const;
  // The distance from each thread to the first of the threads that differ from it only in these
  // dimensions: the number of the first thread minus the thread's own number. One function returns
  // an expression, the other the distances by thread number.
  ir::Expr distance_to_first(const std::array<bool, 3>& dimensions) const;
  std::vector<int64_t> distances_to_first(const std::array<bool, 3>& dimensions) const;

 private:
  using Position = std::array<int64_t, 3>;

  int64_t simd_width_;
  std::array<int64_t, 3> strides_;  // by dimension: between the numbers of neighboring threads
  std::vector<Position> positions_;
  std::array<ir::Expr, 3> axes_;  // null for an axis that the kernel lacks
  ir::arith::Ranges ranges_;
  ir::UniformValues uniform_;
};

}  // namespace texloom::codegen
