#include "plan/textures/problem.h"

#include <algorithm>
#include <unordered_map>

#include "plan/textures/fold.h"

namespace texloom::plan {
namespace {

using Positions = std::unordered_map<std::int64_t, std::size_t>;  // item positions by id

Status check_limits(const TextureProblem& problem) {
  const auto limits = {problem.max_width, problem.max_height};
  if (std::min(limits) < 1 || std::max(limits) > kMaxExtent ||
      problem.max_width > kMaxTexels / problem.max_height) {
    return invalid_argument(
        "the image limits are a width of {} and a height of {} texels; help: give a positive width "
        "and height, of at most {} texels together",
        problem.max_width, problem.max_height, kMaxTexels);
  }
  if (static_cast<std::int64_t>(problem.items.size()) > kMaxItems) {
    return invalid_argument("{} items; help: plan at most {} at once", problem.items.size(),
                            kMaxItems);
  }
  return {};
}

Status check_item(const TextureProblem& problem, const TextureItem& item) {
  const auto extents = {item.height, item.width, item.slices};
  if (std::min(extents) < 1 || std::max(extents) > kMaxExtent) {
    return invalid_argument(
        "item {} has {} by {} texels in {} slices; help: give a height, a width and a number of "
        "slices from 1 to {}",
        item.id, item.height, item.width, item.slices, kMaxExtent);
  }
  if (item.lifetime.first < 0 || item.lifetime.last > kMaxExtent) {
    return invalid_argument("item {} lives from {} to {}; help: count operators from 0 to {}",
                            item.id, item.lifetime.first, item.lifetime.last, kMaxExtent);
  }
  if (item.lifetime.first > item.lifetime.last) {
    return invalid_argument(
        "item {} lives from {} to {}: it ends before it begins; help: `first` and `last` are the "
        "first and the last operator that uses the tensor, both inclusive",
        item.id, item.lifetime.first, item.lifetime.last);
  }
  if (item.exact_cost && (!item.exact || *item.exact_cost < 0 || *item.exact_cost > kMaxExtent)) {
    return invalid_argument(
        "item {} has a cost of {} for the loss of its exact image; help: give a cost from 0 to {} "
        "texels, and only to an exact item",
        item.id, *item.exact_cost, kMaxExtent);
  }
  if (!fits(item, problem.max_width, problem.max_height)) {
    return invalid_argument(
        "item {} ({} by {} texels in {} slices) fits in no image of {} by {} texels, however it is "
        "folded; help: split the tensor, keep it in a buffer, or raise the limits",
        item.id, item.height, item.width, item.slices, problem.max_height, problem.max_width);
  }
  const FoldedExtent whole = folded(item, 1);
  if (item.exact && !item.exact_cost &&
      (whole.width > problem.max_width || whole.height > problem.max_height)) {
    return invalid_argument(
        "item {} must have an image of exactly its extent, {} by {} texels, but images have at "
        "most {} by {}; help: give the cost of losing the exact image, so that it may be folded",
        item.id, whole.height, whole.width, problem.max_height, problem.max_width);
  }
  return {};
}

Status check_pairs(const TextureProblem& problem, const Positions& positions) {
  for (const auto& [a, b] : problem.read_write) {
    for (const std::int64_t id : {a, b}) {
      if (positions.contains(id)) continue;
      return invalid_argument(
          "the pair ({}, {}) in read_write_conflicts names item {}, which does not exist; help: "
          "name the ids of two items, of which one operator reads one and writes the other",
          a, b, id);
    }
    if (a == b) {
      return invalid_argument(
          "item {} conflicts with itself, so it can lie in no image; help: an operator cannot read "
          "and write one texture: give its result an item of its own",
          a);
    }
    const Lifetime& first = problem.items[positions.at(a)].lifetime;
    const Lifetime& second = problem.items[positions.at(b)].lifetime;
    if (!first.meets(second)) {
      return invalid_argument(
          "the pair ({0}, {1}) in read_write_conflicts says that one operator reads one item and "
          "writes the other, but items {0} and {1} are never live together: item {0} lives from "
          "{2} to {3}, item {1} from {4} to {5}; help: remove the pair, or correct the lifetimes",
          a, b, first.first, first.last, second.first, second.last);
    }
  }
  return {};
}

// The times at which operators use an item.
struct Uses {
  std::int64_t first = -1;
  std::int64_t last = -1;
  std::int64_t writer = -1;
};

Status check_use(const TextureProblem& problem, const Positions& positions, std::int64_t time,
                 std::int64_t id, bool writes, std::vector<Uses>& uses) {
  const auto found = positions.find(id);
  if (found == positions.end()) {
    return invalid_argument(
        "operator {} uses item {}, which does not exist; help: name only items of the problem; a "
        "tensor in a buffer is not an item",
        time, id);
  }
  const Lifetime& life = problem.items[found->second].lifetime;
  if (time < life.first || time > life.last) {
    return invalid_argument(
        "operator {} uses item {}, which lives from {} to {}; help: the lifetime must cover each "
        "use",
        time, id, life.first, life.last);
  }
  Uses& use = uses[found->second];
  if (use.first < 0) use.first = time;
  use.last = time;
  if (!writes) return {};
  if (use.writer >= 0) {
    return invalid_argument(
        "item {} is written by the operators {} and {}; help: give each result an item of its own",
        id, use.writer, time);
  }
  use.writer = time;
  return {};
}

Status check_operators(const TextureProblem& problem, const Positions& positions) {
  std::vector<Uses> uses(problem.items.size());
  for (std::size_t t = 0; t < problem.operators.size(); ++t) {
    const auto time = static_cast<std::int64_t>(t);
    for (const std::int64_t id : problem.operators[t].inputs) {
      const auto& outputs = problem.operators[t].outputs;
      if (std::find(outputs.begin(), outputs.end(), id) != outputs.end()) {
        return invalid_argument(
            "operator {} reads and writes item {}; help: give its result an item of its own", time,
            id);
      }
      TL_RETURN_IF_ERROR(check_use(problem, positions, time, id, false, uses));
    }
    for (const std::int64_t id : problem.operators[t].outputs) {
      TL_RETURN_IF_ERROR(check_use(problem, positions, time, id, true, uses));
    }
    for (const std::int64_t before : problem.operators[t].after) {
      if (before >= 0 && before < time) continue;
      return invalid_argument(
          "operator {} comes after operator {}, which does not run earlier; help: list operators "
          "in an order in which they can run",
          time, before);
    }
  }
  for (std::size_t i = 0; i < uses.size() && !problem.operators.empty(); ++i) {
    const TextureItem& item = problem.items[i];
    if (uses[i].writer > uses[i].first) {
      return invalid_argument(
          "operator {} reads item {} before operator {} writes it; help: list operators in an "
          "order in which they can run",
          uses[i].first, item.id, uses[i].writer);
    }
    if (Lifetime{uses[i].first, uses[i].last} == item.lifetime) continue;
    return invalid_argument(
        "operators use item {} from {} to {}, but it lives from {} to {}; help: `first` and `last` "
        "are the first and the last operator that uses the tensor",
        item.id, uses[i].first, uses[i].last, item.lifetime.first, item.lifetime.last);
  }
  return {};
}

}  // namespace

Status validate(const TextureProblem& problem) {
  TL_RETURN_IF_ERROR(check_limits(problem));
  Positions positions;
  for (const TextureItem& item : problem.items) {
    TL_RETURN_IF_ERROR(check_item(problem, item));
    if (positions.emplace(item.id, positions.size()).second) continue;
    return invalid_argument("two items have the id {}; help: give each item an id of its own",
                            item.id);
  }
  TL_RETURN_IF_ERROR(check_pairs(problem, positions));
  return check_operators(problem, positions);
}

std::vector<std::pair<std::int64_t, std::int64_t>> all_read_write(const TextureProblem& problem) {
  if (problem.read_write_may_share) return {};
  auto pairs = problem.read_write;
  for (const TextureOperator& op : problem.operators) {
    for (const std::int64_t input : op.inputs) {
      for (const std::int64_t output : op.outputs) pairs.emplace_back(input, output);
    }
  }
  return pairs;
}

}  // namespace texloom::plan
