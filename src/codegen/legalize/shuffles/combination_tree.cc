#include "codegen/legalize/shuffles/combination_tree.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "codegen/legalize/shuffles/block_threads.h"
#include "codegen/legalize/shuffles/combination_result.h"
#include "codegen/legalize/shuffles/part_owners.h"
#include "ir/accesses.h"
#include "ir/visit.h"

namespace texloom::codegen {

using namespace ir;  // the whole file works on IR nodes

namespace {

using AccessCounts = std::unordered_map<const BufferNode*, int64_t>;

bool is_barrier(const Stmts& statements, size_t i) {
  return i < statements.size() && statements[i]->kind == StmtKind::Barrier;
}

// Whether this barrier may be the one between a tree's stores of parts and its first step.
bool may_begin(const Stmts& statements, size_t barrier) {
  if (barrier == 0 || barrier + 1 >= statements.size()) return false;
  const auto* store = as<Store>(statements[barrier - 1]);
  return is_barrier(statements, barrier) && store != nullptr &&
         store->buffer->memory == MemoryScope::Shared && as<If>(statements[barrier + 1]) != nullptr;
}

// The stores in front of the barrier, one to each buffer that the step after the barrier updates.
// Empty if a store is missing or not to shared memory, or if the language cannot shuffle its type.
std::vector<const Store*> parts_before(const Stmts& statements, size_t barrier,
                                       const Dialect& dialect) {
  std::unordered_set<const BufferNode*> updated;
  walk_statements(statements[barrier + 1], [&](const Store& n) { updated.insert(n.buffer.get()); });
  if (updated.size() > barrier) return {};
  std::vector<const Store*> parts;
  for (size_t i = barrier - updated.size(); i < barrier; ++i) {
    const auto* store = as<Store>(statements[i]);
    if (store == nullptr || updated.erase(store->buffer.get()) == 0) return {};
    const BufferNode& buffer = *store->buffer;
    if (buffer.memory != MemoryScope::Shared || !dialect.has_shuffles(buffer.type)) return {};
    parts.push_back(store);
  }
  return parts;
}

// Whether the shuffled steps need no barrier: in the last step that stays in shared memory, threads
// do not read other threads' elements that the tree's last step stores.
bool may_skip_barriers(const CombinationTree& tree) {
  if (tree.first_shuffle == 0) return true;
  const std::vector<bool>& stores = tree.steps.back().threads;
  return std::ranges::none_of(tree.steps[tree.first_shuffle - 1].sources,
                              [&](int64_t n) { return stores[static_cast<size_t>(n)]; });
}

// The tree with this barrier before its first step; nullopt if none of its steps may be a shuffle.
std::optional<CombinationTree> tree_around(const Stmts& statements, size_t barrier,
                                           const BlockThreads& threads, const Dialect& dialect) {
  CombinationTree tree;
  tree.parts = parts_before(statements, barrier, dialect);
  if (tree.parts.empty()) return std::nullopt;
  const std::optional<PartOwners> owners = PartOwners::of(tree.parts, threads);
  if (!owners) return std::nullopt;
  tree.begin = barrier - tree.parts.size();
  tree.end = barrier;
  for (; is_barrier(statements, tree.end) && tree.end + 1 < statements.size(); tree.end += 2) {
    std::optional<CombinationStep> step =
        combination_step(statements[tree.end + 1], threads, *owners);
    if (!step) break;
    tree.steps.push_back(std::move(*step));
  }
  if (!is_barrier(statements, tree.end)) return std::nullopt;
  tree.first_shuffle = tree.steps.size();
  while (tree.first_shuffle > 0 && tree.steps[tree.first_shuffle - 1].offset) --tree.first_shuffle;
  const bool shuffles = tree.first_shuffle < tree.steps.size();
  if (!shuffles || !may_skip_barriers(tree)) return std::nullopt;
  const std::optional<CombinationResult> result =
      combination_result(statements, tree, threads, *owners);
  if (!result) return std::nullopt;
  tree.result_end = result->end;
  if (tree.first_shuffle == 0) tree.to_result = result->distance;
  return tree;
}

struct FoundTree {
  const Seq* seq;
  CombinationTree tree;
  AccessCounts accesses;  // accesses of the tree and of statements that read its result
};

AccessCounts accounted_for(const Seq& seq, const CombinationTree& tree) {
  AccessCounts counts;
  for (const Store* part : tree.parts) counts[part->buffer.get()] = 1;
  for (size_t i = tree.begin + tree.parts.size(); i < tree.result_end; ++i) {
    for_each_access(seq.statements[i], [&](const BufferAccess& n) {
      const auto count = counts.find(n.buffer.get());
      if (count != counts.end()) ++count->second;
    });
  }
  return counts;
}

// Keeps the trees whose buffers only trees access. The accesses of a dropped tree count as accesses
// by other code, so all trees that share a buffer with the dropped tree are dropped, too.
void drop_accessed_elsewhere(std::vector<FoundTree>& trees, const Kernel& kernel) {
  AccessCounts elsewhere;
  for_each_access(kernel.body, [&](const BufferAccess& n) { ++elsewhere[n.buffer.get()]; });
  for (const FoundTree& each : trees) {
    for (const auto& [buffer, count] : each.accesses) elsewhere.at(buffer) -= count;
  }
  const auto drop = [&](const FoundTree& each) {
    const bool alone = std::ranges::all_of(
        each.accesses, [&](const auto& access) { return elsewhere.at(access.first) == 0; });
    if (alone) return false;
    for (const auto& [buffer, count] : each.accesses) elsewhere.at(buffer) += count;
    return true;
  };
  while (std::erase_if(trees, drop) > 0) continue;
}

}  // namespace

CombinationTrees combination_trees(const Kernel& kernel, int64_t width, const Dialect& dialect) {
  std::optional<BlockThreads> threads;  // made for the first barrier at which a tree may begin
  std::vector<FoundTree> found;
  walk_statements(kernel.body, [&](const Seq& seq) {
    for (size_t i = 1; i < seq.statements.size(); ++i) {
      if (!may_begin(seq.statements, i)) continue;
      if (!threads) threads.emplace(kernel, width);
      std::optional<CombinationTree> tree = tree_around(seq.statements, i, *threads, dialect);
      if (!tree) continue;
      i = tree->end - 1;
      AccessCounts counts = accounted_for(seq, *tree);
      found.push_back({&seq, std::move(*tree), std::move(counts)});
    }
  });
  drop_accessed_elsewhere(found, kernel);
  CombinationTrees trees;
  for (FoundTree& each : found) trees[each.seq].push_back(std::move(each.tree));
  return trees;
}

}  // namespace texloom::codegen
