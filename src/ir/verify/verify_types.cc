#include "ir/verify/verify_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/symbolic_extents.h"
#include "ir/build/type_rules.h"
#include "ir/visit.h"
#include "support/identifiers.h"

namespace texloom::ir {
namespace {

bool well_formed(Type type) {
  return type.lanes >= 1 && type.lanes <= kMaxLanes && to_string(type.element()) != "unknown";
}

// The difference between the type of a node and the type that its operands determine.
std::string result_problem(Type actual, Type expected) {
  if (actual == expected) return {};
  return fmt::format("its type is {}, not {}", to_string(actual), to_string(expected));
}
// The problem if `broken`, else an empty text.
std::string when(bool broken, std::string_view problem) {
  return broken ? std::string(problem) : std::string();
}
// The first of several texts that is a problem.
template <class... Rest>
std::string first(std::string problem, Rest&&... rest) {
  if constexpr (sizeof...(rest) > 0) {
    if (problem.empty()) return first(std::forward<Rest>(rest)...);
  }
  return problem;
}

// Whether type `held` represents all values that memory of type `stored` may contain.
bool widens(Type stored, Type held) {
  if (stored.is_bool()) return held.is_integer();
  const bool same_class = stored.is_float() ? held.is_float() : stored.code == held.code;
  return same_class && held.bits > stored.bits;
}

std::string memory_problem(const Buffer& buffer, Type held, AccessForm form) {
  const Type stored = buffer->type, element = held.element();
  const bool is_bits = stored.is_half() && element == Type::u(16);
  if (element == stored || (form.widened && (is_bits || widens(stored, element)))) return {};
  return fmt::format("{} holds {}, the value is {}", buffer->name, to_string(stored),
                     to_string(element));
}

std::string element_problem(const Buffer& buffer, const Exprs& indices, Type held,
                            AccessForm form) {
  const size_t expected = form.logical ? buffer->rank() : 1;
  if (indices.size() != expected) {
    return fmt::format("{} takes {} indices here, not {}", buffer->name, expected, indices.size());
  }
  for (const Expr& index : indices) {
    if (!is_index(index->type.element())) {
      return fmt::format("an index is {}, neither int32 nor int64", to_string(index->type));
    }
  }
  return first(when(buffer->counts, "it accesses counters of blocks, which only last_block does"),
               to_string(access_problem(indices, held)), memory_problem(buffer, held, form));
}

std::string texel_problem(const Buffer& texture, const Expr& x, const Expr& y, Type held,
                          AccessForm form) {
  return first(to_string(texel_problem(x, y, held)), memory_problem(texture, held, form));
}

std::string problem_of(const IntImm& n) {
  return when(n.type.is_float() || !n.type.is_scalar(),
              "an integer constant cannot have this type");
}
std::string problem_of(const FloatImm& n) {
  return when(!n.type.is_float() || !n.type.is_scalar(), "a float constant cannot have this type");
}
std::string problem_of(const Var&) { return {}; }
std::string problem_of(const Binary& n) {
  return first(to_string(binary_problem(n.op, n.a->type, n.b->type)),
               result_problem(n.type, binary_type(n.op, n.a->type)));
}
std::string problem_of(const Not& n) {
  return first(to_string(not_problem(n.value->type)), result_problem(n.type, n.value->type));
}
std::string problem_of(const Select& n) {
  const Type type = n.if_true->type;
  return first(to_string(select_problem(n.condition->type, type, n.if_false->type)),
               result_problem(n.type, type));
}
std::string problem_of(const Cast& n) { return to_string(cast_problem(n.value->type, n.type)); }
std::string problem_of(const Call& n) {
  const std::string problem = to_string(call_problem(n.function, n.arguments));
  return !problem.empty() ? problem : result_problem(n.type, n.arguments.front()->type);
}
std::string problem_of(const Fma& n) {
  return first(to_string(fma_problem(n.a->type, n.b->type, n.c->type)),
               result_problem(n.type, n.a->type));
}
std::string problem_of(const Ramp& n) {
  return first(to_string(ramp_problem(n.base->type, n.stride->type, n.type.lanes)),
               result_problem(n.type, n.base->type.with_lanes(n.type.lanes)));
}
std::string problem_of(const Broadcast& n) {
  return first(to_string(broadcast_problem(n.value->type, n.type.lanes)),
               result_problem(n.type, n.value->type.with_lanes(n.type.lanes)));
}
std::string problem_of(const Lane& n) {
  return first(to_string(lane_problem(n.vector->type, n.index->type)),
               result_problem(n.type, n.vector->type.element()));
}
std::string problem_of(const Pack& n) {
  const std::string problem = to_string(pack_problem(n.elements));
  if (!problem.empty()) return problem;
  const auto lanes = static_cast<int>(n.elements.size());
  return result_problem(n.type, n.elements.front()->type.with_lanes(lanes));
}

// Whether C has a type of the same kind and size.
bool is_foreign_value(Type type) {
  return type.is_scalar() && (!type.is_float() || type == kFloat32 || type == Type::f(64));
}

std::string problem_of(const ForeignCall& n) {
  const bool values = std::ranges::all_of(n.arguments, [](const Expr& e) {
    return e->kind == ExprKind::Pointer || is_foreign_value(e->type);
  });
  return first(when(!is_identifier(n.function), "the function name is not a C identifier"),
               when(!is_foreign_value(n.type), "a C function cannot return this type"),
               when(!values, "a C function cannot take an argument of this type"));
}
std::string problem_of(const Pointer& n, AccessForm form) {
  const auto scalar_index = [](const Expr& e) { return is_scalar_index(e); };
  const bool scalar = scalar_index(n.offset) && std::ranges::all_of(n.indices, scalar_index) &&
                      std::ranges::all_of(n.extents, scalar_index);
  return first(
      when(!has_strides(*n.buffer), "it points into a buffer that is not row-major"),
      when(!n.buffer->type.is_scalar() || n.buffer->type.is_bool(),
           "a C function cannot take a pointer to this element type"),
      when(!scalar, "an index, an extent or the offset is not a scalar of type int32 or int64"),
      when(n.extents.size() != n.indices.size(), "the numbers of indices and extents differ"),
      element_problem(n.buffer, n.indices, n.type, form));
}

// No stage that is verified has these nodes.
std::string problem_of(const TensorRead&) { return {}; }
std::string problem_of(const Reduce&) { return {}; }
std::string problem_of(const Tuple&) { return {}; }

std::string problem_of(const Load& n, AccessForm form) {
  return element_problem(n.buffer, n.indices, n.type, form);
}
std::string problem_of(const TextureLoad& n, AccessForm form) {
  return texel_problem(n.texture, n.x, n.y, n.type, form);
}

std::string problem_of(const Store& n, AccessForm form) {
  return element_problem(n.buffer, n.indices, n.value->type, form);
}
std::string problem_of(const TextureStore& n, AccessForm form) {
  return texel_problem(n.texture, n.x, n.y, n.value->type, form);
}
std::string problem_of(const Evaluate& n) {
  const auto* call = as<ForeignCall>(n.call);
  return when(call == nullptr || call->pure, "its expression has no effect");
}
std::string problem_of(const Prefetch& n, AccessForm form) {
  return first(
      when(!has_strides(*n.buffer), "it names an element of a buffer that is not row-major"),
      element_problem(n.buffer, n.indices, n.buffer->type, form));
}
std::string problem_of(const For& n) {
  return first(when(!is_index_variable(n.var), "its variable is not an index variable"),
               to_string(same_type_problem(n.var->type, n.extent->type)));
}
std::string problem_of(const If& n) { return to_string(guard_problem(n.condition->type)); }
std::string problem_of(const While& n) { return to_string(guard_problem(n.condition->type)); }
std::string problem_of(const Let& n) {
  return first(when(as<Var>(n.var) == nullptr, "it does not bind a variable"),
               to_string(same_type_problem(n.var->type, n.value->type)));
}
std::string problem_of(const Shuffle& n) {
  return first(
      when(as<Var>(n.var) == nullptr, "it does not bind a variable"),
      to_string(same_type_problem(n.var->type, n.value->type)),
      when(!is_scalar_index(n.offset), "the offset is not a scalar of type int32 or int64"),
      when(n.width < 1, "a SIMD-group has at least one thread"));
}
bool is_pointer(const Expr& e, Access access) {
  const auto* pointer = as<Pointer>(e);
  return pointer != nullptr && pointer->access == access;
}
// The memory of the operands is checked in kernels, where views of intrinsics stand for it
// (ir/analysis/fragments.h).
std::string problem_of(const FragmentStep& n) {
  const Exprs& o = n.operands;
  const bool is_mma = n.op == FragmentOp::Mma;
  if (o.size() != (n.op == FragmentOp::Fill ? 2 : 3)) return "it has another number of operands";
  if (!is_pointer(o[0], is_mma ? Access::ReadWrite : Access::Write)) {
    return "its first operand is not a pointer to what it changes";
  }
  switch (n.op) {
    case FragmentOp::Fill:
      return when(o[1]->type != o[0]->type, "the value is of another type");
    case FragmentOp::Load:
    case FragmentOp::Store:
      return first(
          when(!is_pointer(o[1], Access::Read), "its second operand is no pointer to read"),
          when(o[0]->type != o[1]->type, "the memory and the fragment have other types"),
          when(!is_scalar_index(o[2]), "the stride is no index"));
    case FragmentOp::Mma:
      break;
  }
  if (!is_pointer(o[1], Access::Read) || !is_pointer(o[2], Access::Read)) {
    return "its factors are no pointers to read";
  }
  const bool floats = o[0]->type.is_float() && o[1]->type.is_float();
  return first(when(o[1]->type != o[2]->type, "the factors have different types"),
               when(!floats || o[0]->type.bits < o[1]->type.bits,
                    "the sums cannot hold the products of the factors"));
}
std::string problem_of(const Seq&) { return {}; }
std::string problem_of(const Nest&) { return {}; }
std::string problem_of(const Pipelined& n) {
  const int most = n.is_async ? kMaxAsyncStages : kMaxPipelineStages;
  return when(n.stages < kMinPipelineStages || n.stages > most,
              n.is_async ? "it does not have 2 to 8 stages" : "it has neither 2 nor 3 stages");
}
// Whether a statement only stores to shared memory, in loops and under conditions.
bool only_copies(const Stmt& s) {
  if (const auto* store = as<Store>(s)) return store->buffer->memory == MemoryScope::Shared;
  const bool has_body = as<For>(s) != nullptr || as<If>(s) != nullptr || as<Seq>(s) != nullptr ||
                        as<Let>(s) != nullptr;
  bool all = has_body;
  for_each_child(
      s, [](const Expr&) {}, [&](const Stmt& child) { all = all && only_copies(child); });
  return all;
}
std::string problem_of(const AsyncCopies& n) {
  return when(!only_copies(n.body), "it has other statements than stores to shared memory");
}
std::string problem_of(const AwaitCopies& n) {
  return when(n.pending < 0, "it waits for a negative number of groups");
}
std::string problem_of(const Allocate&) { return {}; }
std::string problem_of(const Free&) { return {}; }
std::string problem_of(const Barrier&) { return {}; }
std::string problem_of(const LastBlock& n) {
  const BufferNode& flag = *n.flag;
  return first(
      when(!n.counters->counts, "it takes tickets of a buffer without counters"),
      when(!is_scalar_index(n.index), "the index is not a scalar of type int32 or int64"),
      when(n.count->type != kInt32, "the number of blocks is not an int32"),
      when(flag.memory != MemoryScope::Shared || flag.type != kInt32 || flag.shape != Shape{1},
           "the flag is not an int32 that a block shares"));
}
std::string problem_of(const Launch&) { return {}; }

constexpr std::string_view kStrayPointer =
    "a pointer is used outside the arguments of a foreign call or of a step of fragments";

// Evaluating an expression writes no memory.
std::string value_problem(const Expr& e) {
  const auto* call = as<ForeignCall>(e);
  const bool stores = call != nullptr && std::ranges::any_of(call->arguments, [](const Expr& a) {
                        const auto* pointer = as<Pointer>(a);
                        return pointer != nullptr && writes(pointer->access);
                      });
  return when(stores, "a call that writes memory is used as a value");
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
                "a coordinate of its origin is not an int32 variable");
  };
  return first(
      when(b.memory != MemoryScope::Global, "a texture must be in global memory"),
      when(!is_texel_type(b.type), "textures cannot hold this type"),
      when(static_cast<bool>(o.x) != static_cast<bool>(o.y),
           "an origin needs both coordinates or none"),
      when(o.exact_image && !o.is_zero(), "a texture with an origin cannot be alone in its image"),
      word(o.x), word(o.y));
}

}  // namespace

bool is_scalar_index(const Expr& e) { return is_scalar_index(e->type); }
bool is_index_variable(const Expr& e) { return as<Var>(e) != nullptr && is_scalar_index(e); }

std::string type_problem(const Expr& e, AccessForm form) {
  if (!well_formed(e->type)) return "this type does not exist";
  std::string misplaced;
  for_each_child(e, [&](const Expr& child) {
    if (!misplaced.empty()) return;
    const bool pointer = child->kind == ExprKind::Pointer && e->kind != ExprKind::ForeignCall;
    misplaced = pointer ? std::string(kStrayPointer) : value_problem(child);
  });
  if (!misplaced.empty()) return misplaced;
  return visit(e, [form](const auto& node) { return problem_in(node, form); });
}

std::string type_problem(const Stmt& s, AccessForm form) {
  std::string misplaced;
  for_each_child(
      s,
      [&](const Expr& child) {
        const bool pointer = child->kind == ExprKind::Pointer && s->kind != StmtKind::FragmentStep;
        misplaced = first(std::move(misplaced), when(pointer, kStrayPointer),
                          s->kind == StmtKind::Evaluate ? std::string() : value_problem(child));
      },
      [](const Stmt&) {});
  if (!misplaced.empty()) return misplaced;
  return visit(s, [form](const auto& node) { return problem_in(node, form); });
}

// Checks an array or a texture whose size each call determines.
std::string extents_problem(const BufferNode& b) {
  bool plain = true, symbolic = false;
  for (const Expr& extent : b.extents) {
    symbolic = symbolic || int_value(extent) == nullptr;
    plain = plain && is_extent(extent);
  }
  return first(when(!symbolic, "its extents are constants and should be its shape"),
               when(!plain, "its extents are not int32 arithmetic of symbols"),
               when(!b.shape.empty(), "it has both extents and a shape"),
               when(!b.is_texture() &&
                        (b.memory != MemoryScope::Global || b.origin.x || b.layout != Layout{}),
                    "only a texture, or a row-major array in global memory, has symbolic extents"),
               when(b.is_texture() && b.layout.shape != open_shape(b.extents),
                    "its layout has another shape"));
}

std::string layout_problem(const Layout& layout) {
  const auto found = find_problem(layout, axis_names(layout.shape.size()));
  return found ? found->text : "";
}

std::string buffer_problem(const BufferNode& b) {
  const Layout& layout = b.layout;
  const std::string problem = first(
      when(!b.is_symbolic() && b.shape != layout.shape, "its layout has another shape"),
      when(!b.is_symbolic() && layout.is_open(), "an extent is less than 1"),
      when(!b.type.is_scalar() || !well_formed(b.type), "its element type is not a scalar type"),
      when(b.nontemporal && (b.is_texture() || b.memory != MemoryScope::Global),
           "only an array in global memory has non-temporal stores"),
      when(b.counts && (b.is_texture() || b.memory != MemoryScope::Global || b.type != kInt32 ||
                        b.rank() != 1 || b.nontemporal),
           "counters are int32, in global memory, along one axis"));
  if (!problem.empty()) return problem;
  if (b.is_symbolic()) {
    const std::string extents = extents_problem(b);
    if (!extents.empty() || !b.is_texture()) return extents;
  }
  if (const std::string found = layout_problem(layout); !found.empty()) return found;
  if (b.is_texture()) return texture_problem(b);
  return first(when(layout.object != MemoryObject::Buffer, "no access supports its memory object"),
               when(b.origin.x || b.origin.y, "only a texture has an origin"));
}

std::string signature_problem(const ForeignCall& call, const Program& program) {
  const Foreign* symbol = program.symbol_named(call.function);
  if (symbol == nullptr) return {};
  const bool agrees = std::equal(
      symbol->params.begin(), symbol->params.end(), call.arguments.begin(), call.arguments.end(),
      [](const ForeignParam& param, const Expr& argument) {
        return param == ForeignParam{argument->type, argument->kind == ExprKind::Pointer};
      });
  if (agrees && symbol->result == call.type) return {};
  return "its arguments or its result are not those of the symbol";
}

}  // namespace texloom::ir
