#include "schedule/derived_axes.h"

#include <algorithm>
#include <unordered_set>

#include "support/check.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

std::vector<IterVar> operands_of(const Relation& relation) {
  if (const auto* fuse = std::get_if<FuseRelation>(&relation)) return {fuse->outer, fuse->inner};
  return {std::get<SplitRelation>(relation).parent};
}

std::vector<IterVar> results_of(const Relation& relation) {
  if (const auto* fuse = std::get_if<FuseRelation>(&relation)) return {fuse->fused};
  const auto& split = std::get<SplitRelation>(relation);
  return {split.outer, split.inner};
}

std::vector<IterVar> unit_axes(const Stage& stage) {
  std::unordered_set<const IterVarNode*> known;
  const auto note = [&](const std::vector<IterVar>& axes) {
    for (const IterVar& axis : axes) known.insert(axis.get());
  };
  note(loops_of(*stage.op));
  for (const Relation& relation : stage.relations) note(results_of(relation));
  std::vector<IterVar> units;
  const auto collect = [&](const std::vector<IterVar>& axes) {
    for (const IterVar& axis : axes) {
      if (known.insert(axis.get()).second) units.push_back(axis);
    }
  };
  for (const Relation& relation : stage.relations) collect(operands_of(relation));
  // Each unit axis is made in front of the earlier ones, so the reverse order of the leaves is the
  // order of creation.
  collect({stage.leaves.rbegin(), stage.leaves.rend()});
  return units;
}

std::vector<IterVar> leaves_in_order_of_relations(const Stage& stage) {
  std::vector<IterVar> leaves = unit_axes(stage);
  std::reverse(leaves.begin(), leaves.end());
  const std::vector<IterVar> own = loops_of(*stage.op);
  leaves.insert(leaves.end(), own.begin(), own.end());
  for (const Relation& relation : stage.relations) replace_operands(leaves, relation);
  return leaves;
}

void replace_operands(std::vector<IterVar>& leaves, const Relation& relation) {
  const auto place = [&](const IterVar& axis) {
    const auto found = std::find_if(leaves.begin(), leaves.end(),
                                    [&](const IterVar& leaf) { return leaf.same_as(axis); });
    TL_CHECK(found != leaves.end(), axis->name());
    return found;
  };
  if (const auto* split = std::get_if<SplitRelation>(&relation)) {
    const auto at = place(split->parent);
    *at = split->outer;
    leaves.insert(at + 1, split->inner);
  } else {
    const auto& fuse = std::get<FuseRelation>(relation);
    *place(fuse.outer) = fuse.fused;
    leaves.erase(place(fuse.inner));
  }
}

}  // namespace texloom::schedule
