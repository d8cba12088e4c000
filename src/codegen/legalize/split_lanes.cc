#include "codegen/legalize/split_lanes.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "codegen/legalize/align_access.h"
#include "codegen/legalize/memory_reads.h"
#include "ir/evaluation.h"
#include "ir/visit.h"

namespace texloom::codegen {

using ir::BinaryOp;
using ir::Expr;
using ir::Exprs;
using ir::Intrinsic;
using ir::Stmt;
using ir::Stmts;
using ir::Type;

namespace {

bool is_outside(const ir::Lane& lane) {
  const int64_t* i = int_value(lane.index);
  return i != nullptr && (*i < 0 || *i >= lane.vector->type.lanes);
}

bool is_consecutive(const Expr& index) {
  const auto* ramp = as<ir::Ramp>(index);
  return ramp != nullptr && is_int(ramp->stride, 1);
}

// Selects one of `elements`; only that one is evaluated.
Expr choose(const Exprs& elements, const Expr& index) {
  Expr chosen = elements.back();
  for (size_t i = elements.size() - 1; i-- > 0;) {
    const Expr number = make_int(static_cast<int64_t>(i), index->type);
    chosen = make_select(make_binary(BinaryOp::Eq, index, number), elements[i], chosen);
  }
  return chosen;
}

using BufferSet = std::unordered_set<const ir::BufferNode*>;

// The arrays that are accessed by single elements because they have one type of elements, but
// accesses of several widths, or of vectors that are not known to be aligned.
BufferSet accessed_by_element(const Stmt& body, const Dialect& dialect) {
  if (dialect.pointers == PointerModel::Casts) return {};
  std::unordered_map<const ir::BufferNode*, int> widths;
  BufferSet found;
  const auto see = [&](const ir::Buffer& buffer, const Expr& index) {
    const int lanes = dialect.vector_widths.contains(index->type.lanes) ? index->type.lanes : 1;
    const bool is_first = widths.emplace(buffer.get(), lanes).second;
    const bool is_aligned = lanes == 1 || vector_number(*buffer, index, dialect).has_value();
    if (!is_aligned || (!is_first && widths[buffer.get()] != lanes)) found.insert(buffer.get());
  };
  walk(
      body, [&](const ir::Load& n) { see(n.buffer, n.indices.front()); },
      [&](const ir::Store& n) { see(n.buffer, n.indices.front()); });
  return found;
}

class LaneSplitter {
 public:
  LaneSplitter(const Dialect& dialect, BufferSet by_element)
      : dialect_(dialect), by_element_(std::move(by_element)) {}

  Stmt stmt(const Stmt& s) {
    if (const auto* n = as<ir::Store>(s)) return store(*n);
    if (const auto* n = as<ir::Let>(s)) return let(*n);
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  // Rewrites a scalar, or a vector of a width that the dialect has.
  Expr expr(const Expr& e) {
    if (const auto found = whole_.find(e); found != whole_.end()) return found->second;
    Expr result = visit(
        e, [&](const ir::Load& n) { return load(n, e); },
        [&](const ir::Lane& n) {
          // A lane outside the vector is never evaluated: a condition guards it.
          if (is_outside(n)) return ir::make_const(0, n.type);
          const bool scalar_way = int_value(n.index) == nullptr ||
                                  n.vector->type.element().is_bool() ||
                                  !dialect_.has_lanes(n.vector->type);
          return scalar_way ? lane(n.vector, expr(n.index)) : make_lane(expr(n.vector), n.index);
        },
        [&](const ir::Ramp&) { return lane_by_lane(e); },
        [&](const auto&) {
          if (const Expr chosen = choice_of_vectors(e)) return chosen;
          if (may_fail_as_vector(e) || has_split_operand(e) || is_inexact(e))
            return lane_by_lane(e);
          return map_children(e, [&](const Expr& child) { return expr(child); });
        });
    whole_.emplace(e, result);
    return result;
  }

  Expr load(const ir::Load& n, const Expr& self) {
    const Expr& index = n.indices.front();
    if (const auto* all = as<ir::Broadcast>(index)) {
      return make_broadcast(make_load(n.buffer, {expr(all->value)}, n.location), n.type.lanes);
    }
    if (is_consecutive(index) && !by_element_.contains(n.buffer.get())) {
      const auto& ramp = *as<ir::Ramp>(index);
      return make_load(n.buffer, {make_ramp(expr(ramp.base), ramp.stride, n.type.lanes)},
                       n.location);
    }
    return n.type.is_scalar() ? make_load(n.buffer, {expr(index)}, n.location) : lane_by_lane(self);
  }

  // Whether the vector operation evaluates an operand that may fail and that scalar code would
  // skip.
  bool may_fail_as_vector(const Expr& e) {
    if (e->type.is_scalar()) return false;
    if (const auto* select = as<ir::Select>(e)) {
      // A scalar condition chooses lazily between whole vectors, as between scalars.
      if (select->condition->type.is_scalar()) return false;
      return failures_.possible_after(select->condition, select->if_true) ||
             failures_.possible_after(select->condition, select->if_false);
    }
    const auto* binary = as<ir::Binary>(e);
    return binary != nullptr && is_logical(binary->op) &&
           failures_.possible_after(binary->a, binary->b);
  }

  bool is_inexact(const Expr& e) const {
    const auto* call = as<ir::Call>(e);
    return call != nullptr && e->type.lanes > 1 && !dialect_.vector_trigonometry &&
           (call->function == Intrinsic::Sin || call->function == Intrinsic::Cos ||
            call->function == Intrinsic::Tan);
  }

  bool has_split_operand(const Expr& e) const {
    bool found = false;
    for_each_child(e, [&](const Expr& child) { found |= !dialect_.has_lanes(child->type); });
    return found;
  }

  // Rewrites a Select whose lanes share one condition, if the dialect has only scalar conditions;
  // otherwise null.
  Expr choice_of_vectors(const Expr& e) {
    const auto* select = as<ir::Select>(e);
    if (select == nullptr || dialect_.has_lanes(select->condition->type)) return nullptr;
    const auto* all = as<ir::Broadcast>(select->condition);
    if (all == nullptr) return nullptr;
    return make_select(expr(all->value), expr(select->if_true), expr(select->if_false));
  }

  Expr lane_by_lane(const Expr& e) {
    Exprs elements;
    for (int i = 0; i < e->type.lanes; ++i) elements.push_back(lane(e, number(i)));
    return make_pack(std::move(elements));
  }

  // One lane of a vector that has not been rewritten, at an index that has been rewritten.
  Expr lane(const Expr& e, const Expr& index) {
    if (e->type.is_scalar()) return expr(e);
    const std::pair key{e.get(), index.get()};
    if (const auto found = lanes_.find(key); found != lanes_.end()) return found->second;
    Expr result = visit(
        e, [&](const ir::Var&) { return chosen_lane(e, index); },
        [&](const ir::TextureLoad&) { return chosen_lane(expr(e), index); },
        [&](const ir::Pack& n) { return element(n.elements, index); },
        [&](const ir::Broadcast& n) { return expr(n.value); },
        [&](const ir::Ramp& n) {
          return expr(n.base) + expr(n.stride) * make_cast(n.base->type, index);
        },
        [&](const ir::Load& n) {
          return make_load(n.buffer, {lane(n.indices.front(), index)}, n.location);
        },
        [&](const ir::Cast& n) { return make_cast(n.type.element(), lane(n.value, index)); },
        [&](const auto&) {
          return map_children(e, [&](const Expr& child) { return lane(child, index); });
        });
    lanes_.emplace(key, result);
    return result;
  }

  // One of `elements`, which have not been rewritten, at an index that has been.
  Expr element(const Exprs& elements, const Expr& index) {
    if (const int64_t* i = int_value(index)) return expr(elements[static_cast<size_t>(*i)]);
    Exprs all;
    for (const Expr& e : elements) all.push_back(expr(e));
    return choose(all, index);
  }

  // One lane of a vector that is cheap to repeat.
  Expr chosen_lane(const Expr& vector, const Expr& index) {
    const auto split = split_.find(vector);
    Exprs all;
    for (int i = 0; i < vector->type.lanes; ++i) {
      all.push_back(split == split_.end() ? make_lane(vector, number(i))
                                          : split->second[static_cast<size_t>(i)]);
    }
    const int64_t* i = int_value(index);
    return i != nullptr ? all[static_cast<size_t>(*i)] : choose(all, index);
  }

  // Returns the same node for equal numbers, because the cache of lanes is keyed by nodes.
  Expr number(int i) {
    while (static_cast<int>(numbers_.size()) <= i) {
      numbers_.push_back(ir::make_int(static_cast<int64_t>(numbers_.size())));
    }
    return numbers_[static_cast<size_t>(i)];
  }

  Stmt store(const ir::Store& n) {
    const Expr& index = n.indices.front();
    if (index->type.is_scalar()) {
      return make_store(n.buffer, {expr(index)}, expr(n.value), n.location);
    }
    if (is_consecutive(index) && dialect_.has_lanes(n.value->type) &&
        !by_element_.contains(n.buffer.get())) {
      const auto& ramp = *as<ir::Ramp>(index);
      return make_store(n.buffer, {make_ramp(expr(ramp.base), ramp.stride, ramp.type.lanes)},
                        expr(n.value), n.location);
    }
    return scatter(n);
  }

  // Reads all lanes before it writes the first, because the value may read the buffer itself.
  Stmt scatter(const ir::Store& n) {
    const Expr& index = n.indices.front();
    const bool bind = loads_from(n.value, n.buffer) || loads_from(index, n.buffer);
    std::vector<std::pair<Expr, Expr>> bound;
    const auto named = [&](const Expr& value, std::string_view name) {
      if (!bind) return value;
      bound.emplace_back(make_var(fmt::format("{}.{}", n.buffer->name, name), value->type), value);
      return bound.back().first;
    };
    Stmts stores;
    for (int i = 0; i < index->type.lanes; ++i) {
      const Expr place = named(lane(index, number(i)), "index");
      const Expr value = named(lane(n.value, number(i)), "value");
      stores.push_back(make_store(n.buffer, {place}, value, n.location));
    }
    Stmt result = make_seq(std::move(stores));
    for (size_t i = bound.size(); i-- > 0;) {
      result = make_let(bound[i].first, bound[i].second, result, n.location);
    }
    return result;
  }

  Stmt let(const ir::Let& n) {
    const int lanes = n.var->type.lanes;
    if (dialect_.has_lanes(n.var->type)) {
      return make_let(n.var, expr(n.value), stmt(n.body), n.location);
    }
    Exprs& vars = split_[n.var];
    for (int i = 0; i < lanes; ++i) {
      const std::string& name = as<ir::Var>(n.var)->name;
      vars.push_back(make_var(fmt::format("{}.{}", name, i), n.var->type.element()));
    }
    const Exprs values = vars;
    Stmt result = stmt(n.body);
    for (int i = lanes; i-- > 0;) {
      result =
          make_let(values[static_cast<size_t>(i)], lane(n.value, number(i)), result, n.location);
    }
    return result;
  }

  const Dialect& dialect_;
  const BufferSet by_element_;
  std::unordered_map<Expr, Expr, RefHash, RefSame> whole_;
  // Keyed by vector and index, which whole_, numbers_ and the statement keep alive.
  std::map<std::pair<const ir::ExprNode*, const ir::ExprNode*>, Expr> lanes_;
  std::unordered_map<Expr, Exprs, RefHash, RefSame> split_;  // vector variable to lane variables
  Exprs numbers_;
  ir::Failures failures_;
};

}  // namespace

Stmt split_lanes(const Stmt& body, const Dialect& dialect) {
  return LaneSplitter(dialect, accessed_by_element(body, dialect)).stmt(body);
}

}  // namespace texloom::codegen
