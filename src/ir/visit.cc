#include "ir/visit.h"

#include <tuple>
#include <type_traits>

#include "ir/buffer.h"
#include "ir/build/type_rules.h"

namespace texloom::ir {
namespace {

// -- Builds a node of the same kind from new fields.

Expr rebuild(const Binary& n, BinaryOp op, Expr a, Expr b) {
  return make_binary(op, std::move(a), std::move(b), n.location);
}
Expr rebuild(const Not& n, Expr value) { return make_not(std::move(value), n.location); }
Expr rebuild(const Select& n, Expr condition, Expr if_true, Expr if_false) {
  return make_select(std::move(condition), std::move(if_true), std::move(if_false), n.location);
}
Expr rebuild(const Cast& n, Expr value) { return make_cast(n.type, std::move(value), n.location); }
Expr rebuild(const Call& n, Intrinsic function, Exprs arguments) {
  return make_call(function, std::move(arguments), n.location);
}
Expr rebuild(const Fma& n, Expr a, Expr b, Expr c) {
  return make_fma(std::move(a), std::move(b), std::move(c), n.location);
}
Expr rebuild(const Ramp& n, Expr base, Expr stride) {
  return make_ramp(std::move(base), std::move(stride), n.type.lanes, n.location);
}
Expr rebuild(const Broadcast& n, Expr value) {
  return make_broadcast(std::move(value), n.type.lanes, n.location);
}
Expr rebuild(const Lane& n, Expr vector, Expr index) {
  return make_lane(std::move(vector), std::move(index), n.location);
}
Expr rebuild(const Pack& n, Exprs elements) { return make_pack(std::move(elements), n.location); }
Expr rebuild(const TensorRead& n, const Tensor& tensor, Exprs indices) {
  return make_tensor_read(tensor, std::move(indices), n.location);
}
Expr rebuild(const Reduce& n, Reducer reducer, const std::vector<IterVar>& axes, Exprs sources,
             Expr condition, Exprs init) {
  return make_reduce(std::move(reducer), std::move(sources), axes, std::move(condition),
                     std::move(init), n.location);
}
Expr rebuild(const Tuple& n, Exprs elements) { return make_tuple(std::move(elements), n.location); }
// A scalar load becomes a vector load when its index becomes a vector.
Expr rebuild(const Load& n, const Buffer& buffer, Exprs indices) {
  const Type type = n.type.with_lanes(access_lanes(indices));
  return make_load_as(type, buffer, std::move(indices), n.location);
}
Expr rebuild(const TextureLoad& n, const Buffer& texture, Expr x, Expr y) {
  return make_texture_load_as(n.type, texture, std::move(x), std::move(y), n.location);
}
Expr rebuild(const ForeignCall& n, std::string function, bool pure, Exprs arguments) {
  return make_foreign_call(n.type, std::move(function), pure, std::move(arguments), n.location);
}
Expr rebuild(const Pointer& n, Access access, const Buffer& buffer, Exprs indices, Exprs extents,
             Expr offset) {
  return make_pointer(access, buffer, std::move(indices), std::move(extents), std::move(offset),
                      n.location);
}

Stmt rebuild(const Store& n, const Buffer& buffer, Exprs indices, Expr value) {
  return make_store(buffer, std::move(indices), std::move(value), n.location);
}
Stmt rebuild(const TextureStore& n, const Buffer& texture, Expr x, Expr y, Expr value) {
  return make_texture_store(texture, std::move(x), std::move(y), std::move(value), n.location);
}
Stmt rebuild(const Evaluate& n, Expr call) { return make_evaluate(std::move(call), n.location); }
Stmt rebuild(const Prefetch& n, const Buffer& buffer, Exprs indices) {
  return make_prefetch(buffer, std::move(indices), n.location);
}
Stmt rebuild(const For& n, const Expr& var, Expr extent, LoopKind loop, ThreadTag tag, Stmt body) {
  if (loop == LoopKind::Thread) {
    return make_thread_for(var, std::move(extent), tag, std::move(body), n.location);
  }
  return make_for(var, std::move(extent), loop, std::move(body), n.location);
}
Stmt rebuild(const If& n, Expr condition, Stmt then) {
  return make_if(std::move(condition), std::move(then), n.location);
}
Stmt rebuild(const While& n, Expr condition, Stmt body) {
  return make_while(std::move(condition), std::move(body), n.location);
}
Stmt rebuild(const Seq&, Stmts statements) { return make_seq(std::move(statements)); }
Stmt rebuild(const Let& n, const Expr& var, Expr value, Stmt body) {
  return make_let(var, std::move(value), std::move(body), n.location);
}
Stmt rebuild(const Shuffle& n, const Expr& var, Expr value, Expr offset, int width, Stmt body) {
  return make_shuffle(var, std::move(value), std::move(offset), width, std::move(body), n.location);
}
Stmt rebuild(const FragmentStep& n, FragmentOp op, Exprs operands, bool left, bool right) {
  return make_fragment_step(op, std::move(operands), left, right, n.location);
}
Stmt rebuild(const Nest& n, const Buffer& result, Stmt body) {
  return make_nest(result, std::move(body), n.location);
}
Stmt rebuild(const Pipelined& n, const Buffer& buffer, int stages, bool is_async, Stmt body) {
  return make_pipelined(buffer, stages, is_async, std::move(body), n.location);
}
Stmt rebuild(const AsyncCopies& n, Stmt body) {
  return make_async_copies(std::move(body), n.location);
}
Stmt rebuild(const LastBlock& n, const Buffer& counters, Expr index, Expr count, const Buffer& flag,
             Stmt body) {
  return make_last_block(counters, std::move(index), std::move(count), flag, std::move(body),
                         n.location);
}
Stmt rebuild(const Allocate& n, const Buffer& buffer, Stmt body) {
  return make_allocate(buffer, std::move(body), n.location);
}

// -- Children: fields that are expressions, statements or lists of them, and the expressions of
// reducers.

template <class Field>
inline constexpr bool kIsChild = std::is_same_v<Field, Expr> || std::is_same_v<Field, Exprs> ||
                                 std::is_same_v<Field, Stmt> || std::is_same_v<Field, Stmts> ||
                                 std::is_same_v<Field, Optional> || std::is_same_v<Field, Reducer>;

template <class Node>
constexpr bool has_children() {
  return []<class... Fields>(std::type_identity<std::tuple<Fields...>>) {
    return (kIsChild<std::decay_t<Fields>> || ... || false);
  }(std::type_identity<decltype(std::declval<const Node&>().fields())>());
}

// Maps the fields that are children and returns all other fields unchanged. `changed` tells whether
// a child became another node.
struct FieldMapper {
  ExprMap map_expr;
  StmtMap map_stmt;
  bool changed = false;

  Expr operator()(const Expr& e) { return noted(map_expr(e), e); }
  Stmt operator()(const Stmt& s) { return noted(map_stmt(s), s); }
  Expr operator()(Optional e) { return e.child ? (*this)(e.child) : e.child; }
  Reducer operator()(const Reducer& reducer) {
    Reducer result = reducer;
    result.results = (*this)(reducer.results);
    result.identities = (*this)(reducer.identities);
    return result;
  }
  template <class Child>
    requires kIsChild<Child>
  std::vector<Child> operator()(const std::vector<Child>& list) {
    std::vector<Child> result;
    result.reserve(list.size());
    for (const Child& child : list) result.push_back((*this)(child));
    return result;
  }
  template <class T>
  const T& operator()(Definition<T> definition) {
    return definition.what;
  }
  template <class Field>
  const Field& operator()(const Field& field) {
    return field;  // NOLINT(bugprone-return-const-ref-from-parameter): a field of a node
  }

 private:
  template <class Child>
  Child noted(Child result, const Child& child) {
    changed |= !result.same_as(child);
    return result;
  }
};

template <class Handle>
Handle map_fields(const Handle& self, FieldMapper mapper) {
  return visit(self, [&]<class Node>(const Node& n) -> Handle {
    if constexpr (!has_children<Node>()) {
      return self;
    } else {
      return std::apply(
          [&](const auto&... fields) -> Handle {
            // Braces guarantee that the children are mapped in order.
            std::tuple<decltype(mapper(fields))...> mapped{mapper(fields)...};
            if (!mapper.changed) return self;
            return std::apply(
                [&](auto&&... values) {
                  return rebuild(n, std::forward<decltype(values)>(values)...);
                },
                std::move(mapped));
          },
          n.fields());
    }
  });
}

struct FieldSight {
  FunctionRef<void(const Expr&)> see_expr;
  FunctionRef<void(const Stmt&)> see_stmt;

  void operator()(const Expr& e) const { see_expr(e); }
  void operator()(const Stmt& s) const { see_stmt(s); }
  void operator()(Optional e) const {
    if (e.child) see_expr(e.child);
  }
  void operator()(const Reducer& reducer) const {
    (*this)(reducer.results);
    (*this)(reducer.identities);
  }
  template <class Child>
    requires kIsChild<Child>
  void operator()(const std::vector<Child>& list) const {
    for (const Child& child : list) (*this)(child);
  }
  template <class Field>
  void operator()(const Field&) const {}
};

template <class Handle>
void see_fields(const Handle& self, const FieldSight& sight) {
  visit(self, [&](const auto& n) {
    std::apply([&](const auto&... fields) { (sight(fields), ...); }, n.fields());
  });
}

}  // namespace

Expr map_children(const Expr& e, ExprMap map) {
  return map_fields(e, {map, [](const Stmt& s) { return s; }});
}

Stmt map_children(const Stmt& s, ExprMap map_expr, StmtMap map_stmt) {
  return map_fields(s, {map_expr, map_stmt});
}

void for_each_child(const Expr& e, FunctionRef<void(const Expr&)> see) {
  see_fields(e, {see, [](const Stmt&) {}});
}

void for_each_child(const Stmt& s, FunctionRef<void(const Expr&)> see_expr,
                    FunctionRef<void(const Stmt&)> see_stmt) {
  see_fields(s, {see_expr, see_stmt});
}

Expr substitute(const Expr& e, const Substitution& values) {
  if (values.empty()) return e;
  return rewrite(e, [&](const Var&, const Expr& self) {
    const auto found = values.find(self);
    return found == values.end() ? self : found->second;
  });
}

Stmt substitute(const Stmt& s, const Substitution& values) {
  if (values.empty()) return s;
  return rewrite(s, [&](const Var&, const Expr& self) {
    const auto found = values.find(self);
    return found == values.end() ? self : found->second;
  });
}

bool uses_var(const Expr& e, const Expr& var) {
  return any_of(e, [&](const Var& v) { return &v == var.get(); });
}
bool uses_var(const Stmt& s, const Expr& var) {
  return any_of(s, [&](const Var& v) { return &v == var.get(); });
}

}  // namespace texloom::ir
