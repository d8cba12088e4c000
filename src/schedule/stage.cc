#include "schedule/stage.h"

#include <algorithm>

namespace texloom::schedule {

using ir::IterVar;

const AxisAttributes* Stage::attributes_of(const IterVar& axis) const {
  const auto found = attributes.find(axis);
  return found == attributes.end() ? nullptr : &found->second;
}

bool Stage::is_tensorized() const {
  return std::any_of(attributes.begin(), attributes.end(),
                     [](const auto& loop) { return static_cast<bool>(loop.second.intrinsic); });
}

bool Stage::is_leaf(const IterVar& axis) const {
  return std::any_of(leaves.begin(), leaves.end(),
                     [&](const IterVar& leaf) { return leaf.same_as(axis); });
}

std::string Stage::leaf_names() const {
  std::string names;
  for (const IterVar& leaf : leaves) names += (names.empty() ? "" : ", ") + leaf->name();
  return names.empty() ? "none" : names;
}

void Stage::reset_loops() {
  leaves = loops_of(*op);
  relations.clear();
  std::erase_if(attributes, [&](const auto& each) { return !is_leaf(each.first); });
  std::erase_if(pragmas, [&](const Pragma& each) { return !is_leaf(each.axis); });
  std::erase_if(alignments, [&](const Alignment& each) { return !is_leaf(each.axis); });
  if (transform) transform->relations = 0;
}

}  // namespace texloom::schedule
