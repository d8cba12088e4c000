#include "codegen/legalize/shuffles/combination_result.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ir/accesses.h"
#include "ir/visit.h"

namespace texloom::codegen {

using namespace ir;  // the whole file works on IR nodes

namespace {

bool are_stored(const PartIndex& index, const CombinationStep& by) {
  return std::ranges::all_of(index.owners, [&](const std::optional<int64_t>& owner) {
    return owner && by.threads[static_cast<size_t>(*owner)];
  });
}

// The distance from each thread to the owner of the result that it reads. The owner must be the
// first of the threads that differ only in dimensions in which parts differ and results do not.
Expr distance_to(const PartIndex& result, const BlockThreads& threads, const PartOwners& owners) {
  std::array<bool, 3> sharing{};
  for (size_t dim = 0; dim < sharing.size(); ++dim) {
    sharing[dim] = owners.factors()[dim] != 0 && result.factors[dim] == 0;
  }
  const std::vector<int64_t> distances = threads.distances_to_first(sharing);
  for (size_t n = 0; n < distances.size(); ++n) {
    const std::optional<int64_t> distance =
        threads.distance_in_simd_group(static_cast<int64_t>(n), *result.owners[n]);
    if (distance != distances[n]) return {};
  }
  return threads.distance_to_first(sharing);
}

}  // namespace

std::optional<CombinationResult> combination_result(const Stmts& statements,
                                                    const CombinationTree& tree,
                                                    const BlockThreads& threads,
                                                    const PartOwners& owners) {
  std::optional<PartIndex> result;
  bool valid = true, one = true;
  const auto see = [&](const BufferAccess& n) {
    if (!owners.has(n.buffer)) return;
    std::optional<PartIndex> index;
    if (!n.writes() && !n.foreign) index = owners.at(n.buffer, n.type, n.indices.front());
    valid = valid && index && are_stored(*index, tree.steps.back());
    one = one && valid && (!result || result->owners == index->owners);
    result = std::move(index);
  };
  const auto stores_part = [&](const Stmt& s) {
    const auto* store = as<Store>(s);
    return store != nullptr && owners.has(store->buffer);
  };
  size_t end = tree.end;
  for (; end < statements.size() && !stores_part(statements[end]); ++end) {
    for_each_access(statements[end], see);
  }
  if (!valid) return std::nullopt;
  return CombinationResult{end, one && result ? distance_to(*result, threads, owners) : Expr{}};
}

}  // namespace texloom::codegen
