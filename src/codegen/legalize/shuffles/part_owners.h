// The elements of shared buffers in which the threads of a block have their parts of a reduction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/legalize/shuffles/block_threads.h"
#include "ir/stmt.h"

namespace texloom::codegen {

// The parts that threads access at an index.
struct PartIndex {
  // Indexed by the accessing thread: the number of the thread that owns the element, or nullopt if
  // no thread owns it.
  std::vector<std::optional<int64_t>> owners;
  std::array<int64_t, 3> factors{};  // the factors of threadIdx.x, y and z

  // Whether each of these threads accesses its own part.
  bool is_own(const std::vector<bool>& threads) const;
};

class PartOwners {
 public:
  // The owners that result from the stores of parts: one store for each buffer, made by every
  // thread. nullopt unless each thread has its own element, with equal indices in all buffers.
  static std::optional<PartOwners> of(const std::vector<const ir::Store*>& parts,
                                      const BlockThreads& threads);

  bool has(const ir::Buffer& buffer) const { return buffers_.contains(buffer.get()); }
  size_t buffers() const { return buffers_.size(); }
  const std::array<int64_t, 3>& factors() const { return own_.factors; }
  // The parts that an access of one value of this type may reach; nullopt if they are not known.
  std::optional<PartIndex> at(const ir::Buffer& buffer, ir::Type type, const ir::Expr& index) const;

 private:
  PartOwners(const BlockThreads& threads, ThreadIndex own);

  const BlockThreads& threads_;
  ThreadIndex own_;                              // the index of each thread's element
  std::unordered_map<int64_t, int64_t> owners_;  // the thread's number, by element
  std::unordered_set<const ir::BufferNode*> buffers_;
};

}  // namespace texloom::codegen
