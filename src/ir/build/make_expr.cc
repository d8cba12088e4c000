// The functions of ir/expr.h that build expressions.

#include <algorithm>
#include <limits>

#include "ir/build/fold.h"
#include "ir/build/type_rules.h"
#include "ir/expr.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::ir {
namespace {

// A node that breaks a typing rule is a bug in the caller.
void require_types(const TypeProblem& problem, std::string_view node) {
  TL_CHECK(!problem, std::string(node) + ": " + to_string(problem));
}

// Owns a new node, computes its depth and size, and refuses expressions that are too deep.
class Finisher {
 public:
  explicit Finisher(ExprNode* node) : node_(node), expr_(node) {}

  void see(const Expr& child) {
    if (!child) return;
    depth_ = std::max<int>(depth_, child->depth);
    size_ += child->size;
    if (!child_location_.known()) child_location_ = child->location;
  }

  Expr finish(SourceLocation location) {
    node_->location = location.known() ? std::move(location) : child_location_;
    if (depth_ >= kMaxDepth) {
      fail(node_->location, Code::ProgramTooDeep,
           "split the computation into several te.compute stages",
           "this expression is nested more than {} levels deep", kMaxDepth);
    }
    node_->depth = static_cast<uint16_t>(depth_ + 1);
    node_->size =
        static_cast<uint32_t>(std::min<uint64_t>(size_, std::numeric_limits<uint32_t>::max()));
    return expr_;
  }

 private:
  ExprNode* node_;
  Expr expr_;
  int depth_ = 0;
  uint64_t size_ = 1;
  SourceLocation child_location_;
};

Expr finish(ExprNode* node, SourceLocation location, std::initializer_list<const Expr*> children) {
  Finisher finisher(node);
  for (const Expr* child : children) finisher.see(*child);
  return finisher.finish(std::move(location));
}

Expr finish(ExprNode* node, SourceLocation location, const Exprs& children) {
  Finisher finisher(node);
  for (const Expr& child : children) finisher.see(child);
  return finisher.finish(std::move(location));
}

}  // namespace

Expr make_const(double value, Type type) {
  const Type element = type.element();
  const Expr scalar = element.is_float() ? make_float(value, element)
                                         : make_int(static_cast<int64_t>(value), element);
  return make_broadcast(scalar, type.lanes);
}

Expr make_binary(BinaryOp op, Expr a, Expr b, SourceLocation location) {
  require_types(binary_problem(op, a->type, b->type), spelling(op));
  if (Expr folded = fold_binary(op, a, b)) return folded;
  const Type type = binary_type(op, a->type);
  auto* node = new Binary(type, op, std::move(a), std::move(b));
  return finish(node, std::move(location), {&node->a, &node->b});
}

Expr make_not(Expr value, SourceLocation location) {
  require_types(not_problem(value->type), "!");
  if (const int64_t* v = int_value(value)) return make_bool(*v == 0);
  auto* node = new Not(std::move(value));
  return finish(node, std::move(location), {&node->value});
}

Expr make_select(Expr condition, Expr if_true, Expr if_false, SourceLocation location) {
  require_types(select_problem(condition->type, if_true->type, if_false->type), "select");
  if (is_true(condition)) return if_true;
  if (is_false(condition)) return if_false;
  auto* node = new Select(std::move(condition), std::move(if_true), std::move(if_false));
  return finish(node, std::move(location), {&node->condition, &node->if_true, &node->if_false});
}

Expr make_cast(Type type, Expr value, SourceLocation location) {
  require_types(cast_problem(value->type, type), "cast");
  if (type == value->type) return value;
  if (Expr folded = fold_cast(type, value)) return folded;
  auto* node = new Cast(type, std::move(value));
  return finish(node, std::move(location), {&node->value});
}

Expr make_call(Intrinsic function, Exprs arguments, SourceLocation location) {
  require_types(call_problem(function, arguments), info(function).te_name);
  const Type type = arguments.front()->type;
  if (!location.known()) location = arguments.front()->location;
  auto* node = new Call(type, function, std::move(arguments));
  return finish(node, std::move(location), node->arguments);
}

Expr make_fma(Expr a, Expr b, Expr c, SourceLocation location) {
  require_types(fma_problem(a->type, b->type, c->type), "fma");
  auto* node = new Fma(std::move(a), std::move(b), std::move(c));
  return finish(node, std::move(location), {&node->a, &node->b, &node->c});
}

Expr make_ramp(Expr base, Expr stride, int lanes, SourceLocation location) {
  if (lanes == 1) return base;
  require_types(ramp_problem(base->type, stride->type, lanes), "ramp");
  auto* node = new Ramp(std::move(base), std::move(stride), lanes);
  return finish(node, std::move(location), {&node->base, &node->stride});
}

Expr make_broadcast(Expr value, int lanes, SourceLocation location) {
  if (lanes == 1) return value;
  require_types(broadcast_problem(value->type, lanes), "broadcast");
  auto* node = new Broadcast(std::move(value), lanes);
  return finish(node, std::move(location), {&node->value});
}

Expr make_lane(Expr vector, Expr index, SourceLocation location) {
  if (vector->type.is_scalar()) return vector;
  require_types(lane_problem(vector->type, index->type), "lane");
  if (Expr folded = fold_lane(vector, index)) return folded;
  auto* node = new Lane(std::move(vector), std::move(index));
  return finish(node, std::move(location), {&node->vector, &node->index});
}

Expr make_pack(Exprs elements, SourceLocation location) {
  if (elements.size() == 1) return elements.front();
  require_types(pack_problem(elements), "pack");
  if (!location.known()) location = elements.front()->location;
  auto* node = new Pack(std::move(elements));
  return finish(node, std::move(location), node->elements);
}

namespace {

// Converts an index to the type of axes and extents. A constant beyond int32 is outside every axis
// and stays outside.
Expr as_axis_value(const Expr& index) {
  if (index->type == kInt32) {
    // If an int32 loop variable has replaced a wider axis, the index is the variable cast to the
    // wider type and back. Both casts are dropped.
    const auto* converted = as<Cast>(index);
    const bool twice = converted != nullptr && converted->value->type.is_integer() &&
                       converted->value->kind == ExprKind::Cast;
    return twice ? as_axis_value(converted->value) : index;
  }
  if (const int64_t* value = int_value(index)) {
    // The upper half of uint64 is stored as negative numbers.
    const bool large = index->type.is_uint() && *value < 0;
    return make_int(large ? INT32_MAX : std::clamp<int64_t>(*value, INT32_MIN, INT32_MAX));
  }
  const auto* widened = as<Cast>(index);
  if (widened != nullptr && widened->value->type == kInt32 && index->type.bits >= 32) {
    return widened->value;
  }
  return make_cast(kInt32, index);
}

}  // namespace

Expr make_tensor_read(Tensor tensor, Exprs indices, SourceLocation location) {
  TL_CHECK(indices.size() == tensor->shape.size());
  for (Expr& index : indices) index = as_axis_value(index);
  const Type type = tensor->type;
  auto* node = new TensorRead(type, std::move(tensor), std::move(indices));
  return finish(node, std::move(location), node->indices);
}

Expr make_reduce(Reducer reducer, Exprs sources, std::vector<IterVar> axes, Expr condition,
                 Exprs init, SourceLocation location) {
  TL_CHECK(!sources.empty() && reducer.results.size() == sources.size());
  TL_CHECK(init.empty() || init.size() == sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    TL_CHECK(reducer.results[i]->type == sources[i]->type);
    TL_CHECK(init.empty() || init[i]->type == sources[i]->type);
  }
  auto* node = new Reduce(std::move(reducer), std::move(sources), std::move(axes),
                          std::move(condition), std::move(init));
  Exprs children = node->sources;
  for (const Exprs* more : {&node->reducer.results, &node->reducer.identities, &node->init}) {
    children.insert(children.end(), more->begin(), more->end());
  }
  if (node->condition) children.push_back(node->condition);
  return finish(node, std::move(location), children);
}

Expr make_tuple(Exprs elements, SourceLocation location) {
  TL_CHECK(!elements.empty());
  auto* node = new Tuple(std::move(elements));
  return finish(node, std::move(location), node->elements);
}

Expr make_load(Buffer buffer, Exprs indices, SourceLocation location) {
  const Type type = buffer->type.with_lanes(access_lanes(indices));
  return make_load_as(type, std::move(buffer), std::move(indices), std::move(location));
}
Expr make_load_as(Type value_type, Buffer buffer, Exprs indices, SourceLocation location) {
  require_types(access_problem(indices, value_type), "load");
  auto* node = new Load(value_type, std::move(buffer), std::move(indices));
  return finish(node, std::move(location), node->indices);
}

Expr make_texture_load(Buffer texture, Expr x, Expr y, SourceLocation location) {
  const Type type = texture->type.with_lanes(kTexelLanes);
  return make_texture_load_as(type, std::move(texture), std::move(x), std::move(y),
                              std::move(location));
}
Expr make_texture_load_as(Type value_type, Buffer texture, Expr x, Expr y,
                          SourceLocation location) {
  TL_CHECK(texture->is_texture());
  require_types(texel_problem(x, y, value_type), "texture load");
  auto* node = new TextureLoad(value_type, std::move(texture), std::move(x), std::move(y));
  return finish(node, std::move(location), {&node->x, &node->y});
}

Expr make_foreign_call(Type type, std::string function, bool pure, Exprs arguments,
                       SourceLocation location) {
  auto* node = new ForeignCall(type, std::move(function), pure, std::move(arguments));
  return finish(node, std::move(location), node->arguments);
}

Expr make_pointer(Access access, Buffer buffer, Exprs indices, Exprs extents, Expr offset,
                  SourceLocation location) {
  auto* node = new Pointer(access, std::move(buffer), std::move(indices), std::move(extents),
                           std::move(offset));
  Exprs children = node->indices;
  children.insert(children.end(), node->extents.begin(), node->extents.end());
  children.push_back(node->offset);
  return finish(node, std::move(location), children);
}

}  // namespace texloom::ir
