#include "codegen/msl/combination_tree.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "codegen/msl/block_threads.h"
#include "ir/accesses.h"
#include "ir/visit.h"

namespace texloom::codegen::msl {

using namespace ir;  // the whole file works on IR nodes

namespace {

using AccessCounts = std::unordered_map<const BufferNode*, int64_t>;

bool is_barrier(const Stmts& statements, size_t i) {
  return i < statements.size() && statements[i]->kind == StmtKind::Barrier;
}

// Whether a tree may be around that barrier.
bool may_begin(const Stmts& statements, size_t barrier) {
  if (barrier == 0 || barrier + 1 >= statements.size()) return false;
  const auto* store = as<Store>(statements[barrier - 1]);
  return is_barrier(statements, barrier) && store != nullptr &&
         store->buffer->memory == MemoryScope::Shared && as<If>(statements[barrier + 1]) != nullptr;
}

// Reads one tree, which begins with the stores in front of a barrier.
class TreeReader {
 public:
  TreeReader(const BlockThreads& threads, int64_t width, const Dialect& dialect,
             const Stmts& statements)
      : threads_(threads), width_(width), dialect_(dialect), statements_(statements) {}

  // The tree that may_begin() there; nullopt if there is none with a step for shuffles.
  std::optional<CombinationTree> before(size_t barrier) {
    if (!read_parts(barrier)) return std::nullopt;
    size_t i = barrier;
    for (; is_barrier(statements_, i) && i + 1 < statements_.size(); i += 2) {
      std::optional<CombinationStep> step = read_step(statements_[i + 1]);
      if (!step) break;
      tree_.steps.push_back(std::move(*step));
    }
    if (tree_.steps.empty() || !is_barrier(statements_, i)) return std::nullopt;
    tree_.end = i;
    tree_.first_shuffle = tree_.steps.size();
    while (tree_.first_shuffle > 0 && tree_.steps[tree_.first_shuffle - 1].offset) {
      --tree_.first_shuffle;
    }
    const bool shuffles = tree_.first_shuffle < tree_.steps.size();
    if (!shuffles || !may_skip_barriers() || !read_results()) return std::nullopt;
    return std::move(tree_);
  }

  // The accesses of a part's elements by the tree, and the loads of its result.
  const AccessCounts& accesses() const { return accesses_; }

 private:
  // -- The part of each thread.

  bool read_parts(size_t barrier) {
    std::unordered_set<const BufferNode*> updated;
    walk_statements(statements_[barrier + 1],
                    [&](const Store& n) { updated.insert(n.buffer.get()); });
    if (updated.empty() || updated.size() > barrier) return false;
    tree_.begin = barrier - updated.size();
    for (size_t i = tree_.begin; i < barrier; ++i) {
      const auto* store = as<Store>(statements_[i]);
      if (store == nullptr || updated.erase(store->buffer.get()) == 0 || !read_part(*store)) {
        return false;
      }
    }
    return true;
  }

  bool read_part(const Store& store) {
    const BufferNode& buffer = *store.buffer;
    const bool fits = buffer.memory == MemoryScope::Shared && store.value->type == buffer.type &&
                      dialect_.has_shuffles(buffer.type);
    if (!fits) return false;
    const std::optional<ThreadIndex> index = threads_.index(store.indices.front());
    if (!index) return false;
    if (tree_.parts.empty()) {
      own_ = *index;
      for (size_t n = 0; n < threads_.count(); ++n) {
        owners_.emplace(own_.of_thread[n], static_cast<int64_t>(n));
      }
      if (owners_.size() != threads_.count()) return false;
    }
    tree_.parts.push_back(&store);
    accesses_[&buffer] = 1;
    return index->of_thread == own_.of_thread && equal(index->of_block, own_.of_block);
  }

  bool is_part(const Buffer& buffer) const { return accesses_.contains(buffer.get()); }

  // The elements that threads access; nullopt if they may not be among those of the parts.
  std::optional<ThreadIndex> elements(const Exprs& indices) const {
    std::optional<ThreadIndex> index = threads_.index(indices.front());
    if (index && !equal(index->of_block, own_.of_block)) index.reset();
    return index;
  }

  // -- Steps.

  std::optional<CombinationStep> read_step(const Stmt& s) {
    const auto* guard = as<If>(s);
    if (guard == nullptr || accesses_memory(guard->condition)) return std::nullopt;
    std::optional<std::vector<bool>> threads = threads_.where(guard->condition);
    if (!threads) return std::nullopt;
    CombinationStep step;
    step.threads = std::move(*threads);
    distances_.clear();
    const auto counted = accesses_;
    if (!read_update(guard->then, step)) {
      accesses_ = counted;
      return std::nullopt;
    }
    if (distances_.size() == 1 && *distances_.begin() > 0) step.offset = *distances_.begin();
    return step;
  }

  bool read_update(const Stmt& s, CombinationStep& step) {
    if (const auto* seq = as<Seq>(s)) {
      return std::ranges::all_of(seq->statements,
                                 [&](const Stmt& each) { return read_update(each, step); });
    }
    if (const auto* let = as<Let>(s)) {
      return read_value(let->value, step) && read_update(let->body, step);
    }
    const auto* store = as<Store>(s);
    if (store == nullptr || !is_part(store->buffer) || !read_value(store->value, step)) {
      return false;
    }
    ++accesses_[store->buffer.get()];
    const std::optional<ThreadIndex> index = elements(store->indices);
    return index && is_own(*index, step.threads);
  }

  bool is_own(const ThreadIndex& index, const std::vector<bool>& threads) const {
    for (size_t n = 0; n < threads.size(); ++n) {
      if (threads[n] && index.of_thread[n] != own_.of_thread[n]) return false;
    }
    return true;
  }

  // Only elements of the parts may be read: others could change between the steps.
  bool read_value(const Expr& e, CombinationStep& step) {
    bool valid = true;
    walk(
        e, [&](const Load& n) { valid = valid && read_load(n, step); },
        [&](const TextureLoad&) { valid = false; }, [&](const ForeignCall&) { valid = false; });
    return valid;
  }

  bool read_load(const Load& load, CombinationStep& step) {
    if (!is_part(load.buffer) || load.type != load.buffer->type) return false;
    ++accesses_[load.buffer.get()];
    const std::optional<ThreadIndex> index = elements(load.indices);
    if (!index) return false;
    if (is_own(*index, step.threads)) return true;
    step.others.insert(&load);
    step.taken.insert(load.buffer.get());
    for (size_t n = 0; n < step.threads.size(); ++n) {
      if (!step.threads[n]) continue;
      const auto owner = owners_.find(index->of_thread[n]);
      if (owner == owners_.end()) return false;
      step.elements.insert(owner->first);
      const auto number = static_cast<int64_t>(n);
      const bool in_step = owner->second / width_ == number / width_;
      distances_.insert(in_step ? owner->second - number : 0);
    }
    return true;
  }

  // Whether threads may go from the last step with shared memory to the end without a barrier: what
  // they store there is not read by others in that step.
  bool may_skip_barriers() const {
    if (tree_.first_shuffle == 0) return true;
    const std::unordered_set<int64_t>& read = tree_.steps[tree_.first_shuffle - 1].elements;
    const std::vector<bool>& stores = tree_.steps.back().threads;
    for (size_t n = 0; n < stores.size(); ++n) {
      if (stores[n] && read.contains(own_.of_thread[n])) return false;
    }
    return true;
  }

  // -- The result.

  // Looks at the statements after the tree that read the elements of the last step.
  bool read_results() {
    std::optional<ThreadIndex> result;
    bool valid = true, one = true;
    for (size_t i = tree_.end; i < statements_.size() && !begins_again(statements_[i]); ++i) {
      walk(
          statements_[i],
          [&](const Load& n) {
            if (!is_part(n.buffer)) return;
            ++accesses_[n.buffer.get()];
            const std::optional<ThreadIndex> index = elements(n.indices);
            valid = valid && index && n.type == n.buffer->type && are_stored(*index);
            one = one && valid && (!result || result->of_thread == index->of_thread);
            result = index;
          },
          [&](const Store& n) { valid = valid && !is_part(n.buffer); });
    }
    if (valid && one && result && tree_.first_shuffle == 0) find_result(*result);
    return valid;
  }

  bool begins_again(const Stmt& s) const {
    const auto* store = as<Store>(s);
    return store != nullptr && is_part(store->buffer);
  }

  bool are_stored(const ThreadIndex& index) const {
    const std::vector<bool>& stores = tree_.steps.back().threads;
    return std::ranges::all_of(index.of_thread, [&](int64_t element) {
      const auto owner = owners_.find(element);
      return owner != owners_.end() && stores[static_cast<size_t>(owner->second)];
    });
  }

  void find_result(const ThreadIndex& result) {
    std::array<bool, 3> sharing{};
    for (size_t dim = 0; dim < sharing.size(); ++dim) {
      sharing[dim] = own_.factors[dim] != 0 && result.factors[dim] == 0;
    }
    const std::vector<int64_t> distances = threads_.distances_to_first(sharing);
    for (size_t n = 0; n < distances.size(); ++n) {
      const auto number = static_cast<int64_t>(n);
      const int64_t owner = owners_.at(result.of_thread[n]);
      if (number + distances[n] != owner || owner / width_ != number / width_) return;
    }
    tree_.to_result = threads_.distance_to_first(sharing);
  }

  const BlockThreads& threads_;
  const int64_t width_;
  const Dialect& dialect_;
  const Stmts& statements_;

  CombinationTree tree_;
  ThreadIndex own_;                              // of the element of each thread
  std::unordered_map<int64_t, int64_t> owners_;  // the thread's number, by element
  std::set<int64_t> distances_;                  // in the current step; 0: to another SIMD-group
  AccessCounts accesses_;
};

struct FoundTree {
  const Seq* seq;
  CombinationTree tree;
  AccessCounts accesses;
};

// Keeps the trees whose buffers nothing else accesses. When a tree goes, its accesses become those
// of something else: all trees that share a buffer with it go, too.
void drop_accessed_elsewhere(std::vector<FoundTree>& trees, AccessCounts elsewhere) {
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
  std::optional<BlockThreads> threads;  // made if there is anything to read
  std::vector<FoundTree> found;
  walk_statements(kernel.body, [&](const Seq& seq) {
    for (size_t i = 1; i < seq.statements.size(); ++i) {
      if (!may_begin(seq.statements, i)) continue;
      if (!threads) threads.emplace(kernel);
      TreeReader reader(*threads, width, dialect, seq.statements);
      std::optional<CombinationTree> tree = reader.before(i);
      if (!tree) continue;
      i = tree->end - 1;
      found.push_back({&seq, std::move(*tree), reader.accesses()});
    }
  });
  AccessCounts all;
  for_each_access(kernel.body, [&](const BufferAccess& n) { ++all[n.buffer.get()]; });
  drop_accessed_elsewhere(found, std::move(all));
  CombinationTrees trees;
  for (FoundTree& each : found) trees[each.seq].push_back(std::move(each.tree));
  return trees;
}

}  // namespace texloom::codegen::msl
