// Lower bounds of the texels that any plan takes, with proofs that can be checked independently.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/textures/instance.h"
#include "plan/textures/partition.h"

namespace texloom::plan {

// The proof of a bound. The items are indices. The problem alone suffices to check the proof.
struct TextureProof {
  enum class Kind {
    Live,       // the items are live together, so no two share texels
    Partition,  // each partition of the items has peaks that add up to at least the bound
  };
  Kind kind = Kind::Live;
  std::int64_t texels = 0;
  std::vector<int> items;  // sorted
};

// The maximal sets of items that are live together, in the order of time, each sorted.
std::vector<std::vector<int>> live_sets(const TextureInstance& instance);

// The relaxation of an instance whose items are live together in these sets: the result of
// live_sets(), or of always_live_sets() if the order of operators may still change.
PartitionProblem partition_problem(const TextureInstance& instance,
                                   std::vector<std::vector<int>> live_sets);

// The largest of the problem's live sets, as a proof.
TextureProof largest_live_set(const PartitionProblem& problem);

// The best bound that the search finds within about `limits.steps` steps; `limits.below` is the
// size of a known plan. The proof is minimal: without any one of its items, its bound is lower.
TextureProof lower_bound(const PartitionProblem& problem, const PartitionLimits& limits);

}  // namespace texloom::plan
