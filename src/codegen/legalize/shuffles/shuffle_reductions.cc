#include "codegen/legalize/shuffles/shuffle_reductions.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/legalize/shuffles/combination_tree.h"
#include "ir/analysis/limits.h"
#include "ir/visit.h"
#include "lower/barriers/drop_barriers.h"

namespace texloom::codegen {

using namespace ir;  // the whole file works on IR nodes

namespace {

class TreeShuffler {
 public:
  TreeShuffler(const CombinationTrees& trees, int64_t width)
      : trees_(trees), width_(static_cast<int>(width)) {}

  Stmt stmt(const Stmt& s) {
    if (const auto* seq = as<Seq>(s)) return from(*seq, 0);
    Stmt result = map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
    // After a store, loads read the stored value, not the result of an earlier tree.
    if (const auto* store = as<Store>(s)) results_.erase(store->buffer.get());
    return result;
  }

 private:
  // A tree that is being rewritten, and the private arrays with the parts of each thread.
  struct Shuffled {
    const Seq& seq;
    const CombinationTree& tree;
    std::vector<Buffer> own;
  };

  Expr expr(const Expr& e) {
    if (results_.empty()) return e;
    return rewrite(e, [&](const Load& n, const Expr& self) {
      const auto found = results_.find(n.buffer.get());
      return found == results_.end() ? self : found->second;
    });
  }

  // Rewrites the statements from this position to the end of the Seq.
  Stmt from(const Seq& seq, size_t position) {
    Stmts list;
    for (size_t i = position; i < seq.statements.size(); ++i) {
      if (const CombinationTree* tree = tree_at(seq, i)) {
        list.push_back(shuffled(seq, *tree));
        break;
      }
      list.push_back(stmt(seq.statements[i]));
    }
    return make_seq(std::move(list));
  }

  const CombinationTree* tree_at(const Seq& seq, size_t position) const {
    const auto found = trees_.find(&seq);
    if (found == trees_.end()) return nullptr;
    for (const CombinationTree& tree : found->second) {
      if (tree.begin == position) return &tree;
    }
    return nullptr;
  }

  // Rewrites the tree and all statements after it.
  Stmt shuffled(const Seq& seq, const CombinationTree& tree) {
    Shuffled s{seq, tree, {}};
    Stmts list;
    for (const Store* part : tree.parts) {
      const BufferNode& b = *part->buffer;
      s.own.push_back(make_buffer(b.name + ".own", b.type, {1}, MemoryScope::Local, b.location));
      if (tree.first_shuffle == 0) {
        list.push_back(put(s.own.back(), expr(part->value), part->location));
      }
    }
    if (tree.first_shuffle > 0) {
      const size_t end = tree.position_of(tree.first_shuffle - 1) + 1;
      for (size_t i = tree.begin; i < end; ++i) list.push_back(stmt(seq.statements[i]));
      for (size_t i = 0; i < s.own.size(); ++i) {
        const Store& part = *tree.parts[i];
        list.push_back(put(s.own[i], make_load(part.buffer, part.indices), part.location));
      }
    }
    list.push_back(steps_from(s, tree.first_shuffle));
    Stmt body = make_seq(std::move(list));
    for (const Buffer& own : s.own) body = make_allocate(own, std::move(body), own->location);
    return body;
  }

  // Rewrites the steps from step `number` on, and all statements after the tree.
  Stmt steps_from(const Shuffled& s, size_t number) {
    if (number == s.tree.steps.size()) return after_tree(s);
    const CombinationStep& step = s.tree.steps[number];
    const Stmt& before = s.seq.statements[s.tree.position_of(number)];
    const bool stores_result = number + 1 == s.tree.steps.size() && !s.tree.to_result;
    const Exprs others = variables(s, "other");
    const Stmt after = rewrite(
        before,
        [&](const Load& n, const Expr& self) {
          const size_t i = part_of(s, n.buffer);
          if (i == s.own.size()) return self;
          return step.others.contains(&n) ? others[i] : get(s.own[i]);
        },
        [&](const Store& n, const Stmt& self) {
          return stores_result ? self : put(s.own[part_of(s, n.buffer)], n.value, n.location);
        });
    Stmt body = make_seq({after, steps_from(s, number + 1)});
    for (size_t i = s.own.size(); i-- > 0;) {
      if (!step.taken.contains(s.tree.parts[i]->buffer.get())) continue;
      body = make_shuffle(others[i], get(s.own[i]), make_int(*step.offset), width_, std::move(body),
                          before->location);
    }
    return body;
  }

  Stmt after_tree(const Shuffled& s) {
    const Exprs results = variables(s, "result");
    for (size_t i = 0; i < s.own.size(); ++i) {
      const BufferNode* part = s.tree.parts[i]->buffer.get();
      if (s.tree.to_result) {
        results_[part] = results[i];
      } else {
        results_.erase(part);
      }
    }
    Stmt body = from(s.seq, s.tree.end);
    for (size_t i = s.own.size(); s.tree.to_result && i-- > 0;) {
      if (!uses_var(body, results[i])) continue;
      body = make_shuffle(results[i], get(s.own[i]), s.tree.to_result, width_, std::move(body),
                          s.tree.parts[i]->location);
    }
    return body;
  }

  static Exprs variables(const Shuffled& s, std::string_view name) {
    Exprs list;
    for (const Store* part : s.tree.parts) {
      list.push_back(make_var(part->buffer->name + "." + std::string(name), part->buffer->type));
    }
    return list;
  }

  // The index of the value whose parts the buffer holds; the number of values if it holds no parts.
  static size_t part_of(const Shuffled& s, const Buffer& buffer) {
    size_t i = 0;
    while (i < s.tree.parts.size() && !s.tree.parts[i]->buffer.same_as(buffer)) ++i;
    return i;
  }

  static Expr get(const Buffer& own) { return make_load(own, {make_int(0)}); }
  static Stmt put(const Buffer& own, Expr value, const SourceLocation& where) {
    return make_store(own, {make_int(0)}, std::move(value), where);
  }

  const CombinationTrees& trees_;
  const int width_;
  std::unordered_map<const BufferNode*, Expr> results_;  // by buffer: its last tree's result
};

}  // namespace

void shuffle_reductions(Kernel& kernel, const Target& target, const Dialect& dialect) {
  const int64_t width = target.limits.simd_width;
  if (width <= 1 || !contains<Barrier>(kernel.body)) return;
  const CombinationTrees trees = combination_trees(kernel, width, dialect);
  if (trees.empty()) return;
  Kernel shuffled = kernel;
  shuffled.body = TreeShuffler(trees, width).stmt(kernel.body);
  shuffled.body = lower::drop_barriers(shuffled);
  // Private parts take memory, so they may exceed the target's limits.
  if (exceeded_limits(shuffled, target).empty()) kernel = std::move(shuffled);
}

}  // namespace texloom::codegen
