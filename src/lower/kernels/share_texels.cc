#include "lower/kernels/share_texels.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "ir/equal.h"
#include "ir/evaluation.h"
#include "ir/visit.h"
#include "lower/kernels/unique_definitions.h"

namespace texloom::lower {

using ir::Expr;
using ir::Stmt;
using ir::Stmts;
using ir::TextureLoad;

namespace {

// The maximum number of overlapping Lets in one group. Overlapping Lets nest, and more of them
// would approach ir::kMaxDepth.
constexpr size_t kMaxNested = 200;

struct StructuralHash {
  size_t operator()(const Expr& e) const { return structural_hash(e); }
};
struct StructuralEqual {
  bool operator()(const Expr& a, const Expr& b) const { return equal(a, b); }
};
template <class Value>
using TexelMap = std::unordered_map<Expr, Value, StructuralHash, StructuralEqual>;

// A sequence of statements, the unit in which texels are bound. Enclosing blocks have smaller
// numbers.
struct Block {
  int parent = -1;
  int index_in_parent = 0;
  int depth = 0;
};

// A texel bound from the first to the last of these statements of a block.
struct Span {
  Expr texel;
  int first = 0, last = 0;
  bool here_only = false;  // used in the statement's own expressions, not in nested statements
};

// Sorted by first statement, then by the order of binding.
using Spans = std::multimap<int, Span>;

Stmts statements_of(const Stmt& s) {
  const auto* seq = as<ir::Seq>(s);
  return seq != nullptr ? seq->statements : Stmts{s};
}

// Finds the texels to bind, and where.
class Survey {
 public:
  explicit Survey(const Stmt& body) {
    block(body, -1, 0);
    for (const Expr& load : order_) place(load, uses_.at(load));
  }

  const Spans& spans(int block) const { return spans_[static_cast<size_t>(block)]; }

 private:
  // Where a texel is read: at this statement of this block.
  struct Use {
    int block = 0, index = 0;
  };
  // How often a statement's own expressions evaluate a node (counted up to two), and whether they
  // evaluate it unconditionally.
  struct Evaluations {
    int count = 0;
    bool unconditional = false;
  };

  void block(const Stmt& s, int parent, int index_in_parent) {
    const int id = static_cast<int>(blocks_.size());
    const int depth = parent < 0 ? 0 : blocks_[static_cast<size_t>(parent)].depth + 1;
    blocks_.push_back({parent, index_in_parent, depth});
    spans_.emplace_back();
    int index = 0;
    for (const Stmt& each : statements_of(s)) statement(each, {id, index++});
  }

  void statement(const Stmt& s, Use here) {
    visits_.clear();
    local_.clear();
    local_order_.clear();
    // The condition of a While is evaluated again in each iteration.
    const bool once = s->kind != ir::StmtKind::While;
    for_each_child(s, [&](const Expr& e) { expr(e, here, once); }, [](const Stmt&) {});
    for (const Expr& load : local_order_) {
      const Evaluations& uses = local_.at(load);
      if (uses.count < 2 || !uses.unconditional) continue;
      add(here.block, {load, here.index, here.index, true});
    }
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { block(child, here.block, here.index); });
  }

  // Visits a node at most three times per statement: enough to distinguish one read from several,
  // in time linear in the size of the graph.
  void expr(const Expr& e, Use here, bool unconditional) {
    Evaluations& seen = visits_[e.get()];
    if (seen.count == 2 && (seen.unconditional || !unconditional)) return;
    seen.count = std::min(seen.count + 1, 2);
    seen.unconditional |= unconditional;
    int operand = 0;
    for_each_child(e, [&](const Expr& child) {
      expr(child, here, unconditional && ir::always_evaluates(e, operand++));
    });
    if (as<TextureLoad>(e) != nullptr) read(e, here, unconditional);
  }

  void read(const Expr& load, Use here, bool unconditional) {
    // Binding evaluates the texel earlier or more often, so its read must neither fail nor change
    // its value.
    if (!failures_.possible_in(load)) {
      auto [found, added] = uses_.try_emplace(load);
      if (added) order_.push_back(load);
      found->second.push_back(here);
      return;
    }
    auto [found, added] = local_.try_emplace(load);
    if (added) local_order_.push_back(load);
    ++found->second.count;
    found->second.unconditional |= unconditional;
  }

  void place(const Expr& load, const std::vector<Use>& uses) {
    if (uses.size() < 2) return;
    int home = uses.front().block;
    for (const Use& use : uses) home = common_block(home, use.block);
    Span span{load, index_within(home, uses.front()), 0, false};
    for (const Use& use : uses) {
      span.first = std::min(span.first, index_within(home, use));
      span.last = std::max(span.last, index_within(home, use));
    }
    add(home, span);
  }

  void add(int block, const Span& span) {
    spans_[static_cast<size_t>(block)].emplace(span.first, span);
  }

  const Block& at(int block) const { return blocks_[static_cast<size_t>(block)]; }

  int common_block(int a, int b) const {
    while (a != b) {
      if (at(a).depth >= at(b).depth) {
        a = at(a).parent;
      } else {
        b = at(b).parent;
      }
    }
    return a;
  }

  // The index of the statement of `home` that contains the use.
  int index_within(int home, Use use) const {
    for (; use.block != home; use.block = at(use.block).parent) {
      use.index = at(use.block).index_in_parent;
    }
    return use.index;
  }

  std::vector<Block> blocks_;
  std::vector<Spans> spans_;  // the spans of each block
  TexelMap<std::vector<Use>> uses_;
  std::vector<Expr> order_;  // texels; a texel precedes the texels whose coordinates use it
  // For the current statement: all nodes, and the texels whose coordinates must not move.
  std::unordered_map<const ir::ExprNode*, Evaluations> visits_;
  TexelMap<Evaluations> local_;
  std::vector<Expr> local_order_;
  ir::Failures failures_;
};

// Cuts sorted spans so that a chain has at most about kMaxNested overlapping spans. A texel whose
// span is cut is read again.
std::vector<Span> cut_long_chains(const Spans& spans) {
  std::vector<Span> result;
  size_t group = 0;  // where the chain begins in `result`
  int end = -1;      // the last statement of the chain
  for (const auto& [first, span] : spans) {
    const size_t size = result.size();
    if (first > end) {
      group = size;
    } else if (size - group >= kMaxNested && first > result[group].first) {
      for (size_t i = group; i < size; ++i) {
        if (result[i].last < first) continue;
        Span rest = result[i];
        rest.first = first;
        result[i].last = first - 1;
        result.push_back(std::move(rest));
      }
      group = size;
    }
    end = std::max(end, span.last);
    result.push_back(span);
  }
  return result;
}

// Inserts the Lets.
class Binder {
 public:
  explicit Binder(const Survey& survey) : survey_(survey) {}

  Stmt block(const Stmt& s) {
    const Stmts statements = statements_of(s);
    const std::vector<Span> spans = cut_long_chains(survey_.spans(next_block_++));
    if (spans.empty() && statements.size() == 1) return statement(s);
    std::vector<Binding> bindings;
    Stmts done;
    size_t next = 0;
    for (int i = 0; i < static_cast<int>(statements.size()); ++i) {
      for (; next < spans.size() && spans[next].first == i; ++next) {
        bindings.push_back(bind(spans[next]));
      }
      done.push_back(statement(statements[static_cast<size_t>(i)]));
    }
    return nest(done, bindings);
  }

 private:
  struct Binding {
    Span span;
    Expr var, value;
  };

  Binding bind(const Span& span) {
    memo_.clear();
    const auto& load = *as<TextureLoad>(span.texel);
    Expr var = make_var(load.texture->name + ".texel", load.type, load.location);
    Expr value = map_children(span.texel, [&](const Expr& e) { return expr(e); });
    (span.here_only ? bound_here_ : bound_)[span.texel] = var;
    return {span, std::move(var), std::move(value)};
  }

  Stmt statement(const Stmt& s) {
    memo_.clear();
    // Expressions come before nested statements.
    Stmt result = map_children(
        s, [&](const Expr& e) { return expr(e); },
        [&](const Stmt& child) {
          bound_here_.clear();
          return block(child);
        });
    bound_here_.clear();
    return result;
  }

  Expr expr(const Expr& e) {
    if (const auto found = memo_.find(e.get()); found != memo_.end()) return found->second;
    Expr result = as<TextureLoad>(e) != nullptr ? variable_of(e) : nullptr;
    if (!result) result = map_children(e, [&](const Expr& child) { return expr(child); });
    return memo_[e.get()] = result;
  }

  Expr variable_of(const Expr& load) const {
    if (const auto found = bound_.find(load); found != bound_.end()) return found->second;
    const auto found = bound_here_.find(load);
    return found == bound_here_.end() ? Expr() : found->second;
  }

  // Each Let reaches to the end of its chain of overlapping spans. Builds them from the end.
  static Stmt nest(const Stmts& done, const std::vector<Binding>& bindings) {
    std::vector<int> reach = {-1};  // the last statement that the first n bindings cover
    for (const Binding& b : bindings) reach.push_back(std::max(reach.back(), b.span.last));
    Stmts reversed_block, reversed_chain;
    size_t next = bindings.size();
    for (size_t i = done.size(); i-- > 0;) {
      reversed_chain.push_back(done[i]);
      for (; next > 0 && bindings[next - 1].span.first == static_cast<int>(i); --next) {
        const Binding& b = bindings[next - 1];
        std::reverse(reversed_chain.begin(), reversed_chain.end());
        reversed_chain = {make_let(b.var, b.value, make_seq(std::move(reversed_chain)))};
      }
      if (reach[next] < static_cast<int>(i)) {
        std::move(reversed_chain.begin(), reversed_chain.end(), std::back_inserter(reversed_block));
        reversed_chain.clear();
      }
    }
    std::reverse(reversed_block.begin(), reversed_block.end());
    return make_seq(std::move(reversed_block));
  }

  const Survey& survey_;
  int next_block_ = 0;
  TexelMap<Expr> bound_, bound_here_;
  std::unordered_map<const ir::ExprNode*, Expr> memo_;
};

// The body of a kernel whose definitions are unique, with its texels bound.
Stmt bound(const Stmt& body) {
  if (!ir::contains<TextureLoad>(body)) return body;
  return Binder(Survey(body)).block(body);
}

}  // namespace

void bind_texels(Lowering& lowering) {
  for (ir::Kernel& kernel : lowering.program.kernels) kernel.body = bound(kernel.body);
}

Stmt bind_texels(const Stmt& body) { return bound(unique_definitions(body)); }

}  // namespace texloom::lower
