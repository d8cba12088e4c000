#include "ir/verify_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/symbols.h"
#include "ir/visit.h"

namespace texloom::ir {
namespace {

constexpr int kMaxLanes = 16;

bool well_formed(Type type) {
  return type.lanes >= 1 && type.lanes <= kMaxLanes && to_string(type) != "unknown";
}
bool is_index(Type type) { return type.is_int() && (type.bits == 32 || type.bits == 64); }

std::string same(Type a, Type b) {
  return a == b ? "" : fmt::format("operands are {} and {}", to_string(a), to_string(b));
}
std::string same(const Exprs& operands) {
  for (const Expr& e : operands) {
    if (e->type != operands.front()->type) return same(operands.front()->type, e->type);
  }
  return {};
}
std::string value(Type actual, Type expected) {
  if (actual == expected) return {};
  return fmt::format("it is {} and should be {}", to_string(actual), to_string(expected));
}
std::string vector_of(Type actual, Type element, int lanes) {
  if (!element.is_scalar() || lanes < 2) return "it is no vector of scalars";
  return value(actual, element.with_lanes(lanes));
}
// The problem, when there is one.
std::string when(bool broken, std::string_view problem) {
  return broken ? std::string(problem) : std::string();
}
// The first problem of several.
template <class... Rest>
std::string first(std::string problem, Rest&&... rest) {
  if constexpr (sizeof...(rest) > 0) {
    if (problem.empty()) return first(std::forward<Rest>(rest)...);
  }
  return problem;
}

// Whether variables of type `held` may hold all that memory of type `stored` does.
bool widens(Type stored, Type held) {
  if (stored.is_bool()) return held.is_integer();
  const bool same_class = stored.is_float() ? held.is_float() : stored.code == held.code;
  return same_class && held.bits > stored.bits;
}

std::string memory_problem(const Buffer& buffer, Type held, AccessForm form) {
  const Type stored = buffer->type, element = held.element();
  if (element == stored || (form.widened && widens(stored, element))) return {};
  return fmt::format("{} holds {}, the value is {}", buffer->name, to_string(stored),
                     to_string(element));
}

std::string access_problem(const Buffer& buffer, const Exprs& indices, Type held, AccessForm form) {
  const size_t expected = form.logical ? buffer->rank() : 1;
  if (indices.size() != expected) {
    return fmt::format("{} takes {} indices here", buffer->name, expected);
  }
  int lanes = 1;
  for (const Expr& index : indices) {
    if (!is_index(index->type)) return "an index is neither int32 nor int64";
    if (lanes > 1 && index->type.lanes > 1 && index->type.lanes != lanes) {
      return "two indices are vectors of different lanes";
    }
    lanes = std::max<int>(lanes, index->type.lanes);
  }
  if (held.lanes != lanes) {
    return fmt::format("a value of {} lanes by an index of {}", held.lanes, lanes);
  }
  return memory_problem(buffer, held, form);
}

std::string texel_problem(const Buffer& texture, const Expr& x, const Expr& y, Type held,
                          AccessForm form) {
  return first(when(held.lanes != kTexelLanes, "a texel has four lanes"),
               when(!is_scalar_index(x) || !is_scalar_index(y), "a coordinate is no scalar index"),
               memory_problem(texture, held, form));
}

std::string problem_of(const IntImm& n) {
  return when(n.type.is_float() || !n.type.is_scalar(), "an integer constant of this type");
}
std::string problem_of(const FloatImm& n) {
  return when(!n.type.is_float() || !n.type.is_scalar(), "a float constant of this type");
}
std::string problem_of(const Var&) { return {}; }
std::string problem_of(const Binary& n) {
  const bool logical = is_logical(n.op);
  const bool integers = n.op == BinaryOp::Mod || n.op >= BinaryOp::Shl;
  const Type operand = n.a->type;
  const bool yields_bool = is_comparison(n.op) || logical;
  return first(same(operand, n.b->type),
               when(logical && !operand.element().is_bool(), "an operand is no bool"),
               when(integers && operand.is_float(), "an operand is no integer"),
               value(n.type, yields_bool ? kBool.with_lanes(operand.lanes) : operand));
}
std::string problem_of(const Not& n) {
  return first(when(!n.value->type.element().is_bool(), "an operand is no bool"),
               value(n.type, n.value->type));
}
std::string problem_of(const Select& n) {
  const Type condition = n.condition->type;
  const bool fits = condition.is_scalar() || condition.lanes == n.if_true->type.lanes;
  return first(when(!condition.element().is_bool(), "the condition is no bool"),
               when(!fits, "the condition has other lanes"),
               same(n.if_true->type, n.if_false->type), value(n.type, n.if_true->type));
}
std::string problem_of(const Cast& n) {
  return value(n.type, n.type.with_lanes(n.value->type.lanes));
}
std::string problem_of(const Call& n) {
  if (static_cast<int>(n.arguments.size()) != info(n.function).arity) {
    return "it has another number of arguments";
  }
  const Type type = n.arguments.front()->type;
  return first(same(n.arguments),
               when(!takes(n.function, type), "an argument is of a type that it does not take"),
               value(n.type, type));
}
std::string problem_of(const Fma& n) {
  const Type type = n.a->type;
  return first(same(type, n.b->type), same(type, n.c->type),
               when(!type.is_float(), "an operand is no float"), value(n.type, type));
}
std::string problem_of(const Ramp& n) {
  return first(same(n.base->type, n.stride->type),
               when(!is_index(n.base->type), "an operand is neither int32 nor int64"),
               vector_of(n.type, n.base->type, n.type.lanes));
}
std::string problem_of(const Broadcast& n) {
  return vector_of(n.type, n.value->type, n.type.lanes);
}
std::string problem_of(const Lane& n) {
  return first(when(n.vector->type.is_scalar(), "it is a lane of a scalar"),
               when(!is_scalar_index(n.index), "the lane's number is no scalar index"),
               value(n.type, n.vector->type.element()));
}
std::string problem_of(const Pack& n) {
  return first(same(n.elements),
               vector_of(n.type, n.elements.front()->type, static_cast<int>(n.elements.size())));
}
bool is_identifier(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Of kinds and sizes that C's own conversions take.
bool is_foreign_value(Type type) {
  return type.is_scalar() && (!type.is_float() || type == kFloat32 || type == Type::f(64));
}

std::string problem_of(const ForeignCall& n) {
  const bool values = std::ranges::all_of(n.arguments, [](const Expr& e) {
    return e->kind == ExprKind::Pointer || is_foreign_value(e->type);
  });
  return first(when(!is_identifier(n.function), "its function has no name of C"),
               when(!is_foreign_value(n.type), "functions of C return no such type"),
               when(!values, "functions of C take no value of an argument's type"));
}
std::string problem_of(const Pointer& n, AccessForm form) {
  const bool scalar = is_scalar_index(n.offset) &&
                      std::ranges::all_of(n.indices, is_scalar_index) &&
                      std::ranges::all_of(n.extents, is_scalar_index);
  return first(when(!has_strides(*n.buffer), "it points into no row-major array"),
               when(!is_foreign_value(n.buffer->type) || n.buffer->type.is_bool(),
                    "functions of C take no pointer to elements of this type"),
               when(!scalar, "an index, an extent or the offset is no scalar index"),
               when(n.extents.size() != n.indices.size(), "it has no extent for each index"),
               access_problem(n.buffer, n.indices, n.type, form));
}

// No stage that is verified has these.
std::string problem_of(const TensorRead&) { return {}; }
std::string problem_of(const Reduce&) { return {}; }
std::string problem_of(const Tuple&) { return {}; }

std::string problem_of(const Load& n, AccessForm form) {
  return access_problem(n.buffer, n.indices, n.type, form);
}
std::string problem_of(const TextureLoad& n, AccessForm form) {
  return texel_problem(n.texture, n.x, n.y, n.type, form);
}

std::string problem_of(const Store& n, AccessForm form) {
  return access_problem(n.buffer, n.indices, n.value->type, form);
}
std::string problem_of(const TextureStore& n, AccessForm form) {
  return texel_problem(n.texture, n.x, n.y, n.value->type, form);
}
std::string problem_of(const Evaluate& n) {
  const auto* call = as<ForeignCall>(n.call);
  return when(call == nullptr || call->pure, "it is given no call that has an effect");
}
std::string problem_of(const For& n) {
  return first(when(!is_index_variable(n.var), "it binds no index variable"),
               same(n.var->type, n.extent->type));
}
std::string problem_of(const If& n) {
  return when(n.condition->type != kBool, "the condition is no scalar bool");
}
std::string problem_of(const While& n) {
  return when(n.condition->type != kBool, "the condition is no scalar bool");
}
std::string problem_of(const Let& n) {
  return first(when(as<Var>(n.var) == nullptr, "it binds no variable"),
               same(n.var->type, n.value->type));
}
std::string problem_of(const Seq&) { return {}; }
std::string problem_of(const Nest&) { return {}; }
std::string problem_of(const Pipelined& n) {
  return when(n.stages < kMinPipelineStages || n.stages > kMaxPipelineStages,
              "it has no 2 or 3 stages");
}
std::string problem_of(const Allocate&) { return {}; }
std::string problem_of(const Free&) { return {}; }
std::string problem_of(const Barrier&) { return {}; }
std::string problem_of(const Launch&) { return {}; }

constexpr std::string_view kStrayPointer = "a pointer is no argument of a foreign call";

// Evaluating an expression writes no memory.
std::string value_problem(const Expr& e) {
  const auto* call = as<ForeignCall>(e);
  const bool stores = call != nullptr && std::ranges::any_of(call->arguments, [](const Expr& a) {
                        const auto* pointer = as<Pointer>(a);
                        return pointer != nullptr && writes(pointer->access);
                      });
  return when(stores, "a call that writes memory is a value");
}

template <class Node>
std::string problem_in(const Node& node, AccessForm form) {
  if constexpr (requires { problem_of(node, form); }) {
    return problem_of(node, form);
  } else {
    return problem_of(node);
  }
}

std::string texture_problem(const BufferNode& b) {
  const TextureOrigin& o = b.origin;
  const auto word = [](const Expr& e) {
    return when(e && (as<Var>(e) == nullptr || e->type != kInt32),
                "a word of its origin is no int32 variable");
  };
  return first(
      when(b.memory != MemoryScope::Global, "a texture is global memory"),
      when(!is_texel_type(b.type), "no texture holds this type"),
      when(static_cast<bool>(o.x) != static_cast<bool>(o.y), "an origin has two words or none"),
      when(o.exact_image && !o.is_zero(), "what has an origin is not alone in its image"),
      word(o.x), word(o.y));
}

}  // namespace

bool is_scalar_index(const Expr& e) { return is_index(e->type) && e->type.is_scalar(); }
bool is_index_variable(const Expr& e) { return as<Var>(e) != nullptr && is_scalar_index(e); }

std::string type_problem(const Expr& e, AccessForm form) {
  if (!well_formed(e->type)) return "there is no such type";
  std::string misplaced;
  for_each_child(e, [&](const Expr& child) {
    const bool pointer = child->kind == ExprKind::Pointer && e->kind != ExprKind::ForeignCall;
    misplaced = first(std::move(misplaced), when(pointer, kStrayPointer), value_problem(child));
  });
  if (!misplaced.empty()) return misplaced;
  return visit(e, [form](const auto& node) { return problem_in(node, form); });
}

std::string type_problem(const Stmt& s, AccessForm form) {
  std::string misplaced;
  for_each_child(
      s,
      [&](const Expr& child) {
        const bool pointer = child->kind == ExprKind::Pointer;
        misplaced = first(std::move(misplaced), when(pointer, kStrayPointer),
                          s->kind == StmtKind::Evaluate ? std::string() : value_problem(child));
      },
      [](const Stmt&) {});
  if (!misplaced.empty()) return misplaced;
  return visit(s, [form](const auto& node) { return problem_in(node, form); });
}

// Of an array whose size the call tells.
std::string extents_problem(const BufferNode& b) {
  bool plain = true, symbolic = false;
  for (const Expr& extent : b.extents) {
    symbolic = symbolic || int_value(extent) == nullptr;
    plain = plain && is_extent(extent);
  }
  return first(when(!symbolic, "its extents are constants, but are no shape"),
               when(!plain, "its extents are not int32 arithmetic of symbols"),
               when(!b.shape.empty() || b.memory != MemoryScope::Global || b.origin.x ||
                        b.layout != Layout{},
                    "only a row-major array in global memory has symbolic extents"));
}

std::string buffer_problem(const BufferNode& b) {
  const Layout& layout = b.layout;
  const std::string problem = first(
      when(b.shape != layout.shape, "its layout is of another shape"),
      when(!b.type.is_scalar() || !well_formed(b.type), "its element type is no scalar type"));
  if (!problem.empty()) return problem;
  if (b.is_symbolic()) return extents_problem(b);
  if (const auto found = find_problem(layout, axis_names(layout.shape.size()))) return found->text;
  if (b.is_texture()) return texture_problem(b);
  return first(when(layout.object != MemoryObject::Buffer, "no access knows its memory object"),
               when(b.origin.x || b.origin.y, "only a texture has an origin"));
}

}  // namespace texloom::ir
