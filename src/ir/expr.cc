#include "ir/expr.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "ir/buffer.h"
#include "ir/tensor.h"
#include "support/check.h"
#include "support/diagnostic.h"
#include "support/floor_division.h"

namespace texloom::ir {
namespace {

struct OpRow {
  BinaryOp op;
  std::string_view spelling;
  int precedence;  // of an infix operator; 0: spelt as a call
};
constexpr std::array kOps = {
    OpRow{BinaryOp::Add, "+", 8},
    OpRow{BinaryOp::Sub, "-", 8},
    OpRow{BinaryOp::Mul, "*", 9},
    OpRow{BinaryOp::Div, "/", 9},
    OpRow{BinaryOp::Mod, "truncmod", 0},
    OpRow{BinaryOp::FloorDiv, "floordiv", 0},
    OpRow{BinaryOp::FloorMod, "floormod", 0},
    OpRow{BinaryOp::Min, "min", 0},
    OpRow{BinaryOp::Max, "max", 0},
    OpRow{BinaryOp::Eq, "==", 6},
    OpRow{BinaryOp::Ne, "!=", 6},
    OpRow{BinaryOp::Lt, "<", 6},
    OpRow{BinaryOp::Le, "<=", 6},
    OpRow{BinaryOp::Gt, ">", 6},
    OpRow{BinaryOp::Ge, ">=", 6},
    OpRow{BinaryOp::And, "&&", 2},
    OpRow{BinaryOp::Or, "||", 1},
    OpRow{BinaryOp::Shl, "<<", 7},
    OpRow{BinaryOp::Shr, ">>", 7},
    OpRow{BinaryOp::BitAnd, "&", 5},
    OpRow{BinaryOp::BitOr, "|", 3},
    OpRow{BinaryOp::BitXor, "^", 4},
};

constexpr std::array kIntrinsics = {
#define TL_INTRINSIC(Name, te_name, cl_name, arity) \
  IntrinsicInfo{Intrinsic::Name, te_name, cl_name, arity},
#include "ir/intrinsics.def"
#undef TL_INTRINSIC
};

// Wraps like the type does.
int64_t wrap(int64_t value, Type type) {
  if (type.bits >= 64) return value;
  const uint64_t mask = (uint64_t{1} << type.bits) - 1;
  uint64_t bits = static_cast<uint64_t>(value) & mask;
  if (type.is_int() && (bits >> (type.bits - 1)) != 0) bits |= ~mask;
  return static_cast<int64_t>(bits);
}

// The folded value, unless it is undefined (division by zero, a shift out of range).
std::optional<int64_t> fold(BinaryOp op, int64_t a, int64_t b, int bits) {
  const auto ua = static_cast<uint64_t>(a);
  const auto ub = static_cast<uint64_t>(b);
  if (is_division(op) && (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())))
    return {};
  const bool shift = op == BinaryOp::Shl || op == BinaryOp::Shr;
  if (shift && (b < 0 || b >= bits)) return {};
  switch (op) {
    case BinaryOp::Add:
      return static_cast<int64_t>(ua + ub);
    case BinaryOp::Sub:
      return static_cast<int64_t>(ua - ub);
    case BinaryOp::Mul:
      return static_cast<int64_t>(ua * ub);
    case BinaryOp::Div:
      return a / b;
    case BinaryOp::Mod:
      return a % b;
    case BinaryOp::FloorDiv:
      return floor_div(a, b);
    case BinaryOp::FloorMod:
      return floor_mod(a, b);
    case BinaryOp::Min:
      return std::min(a, b);
    case BinaryOp::Max:
      return std::max(a, b);
    case BinaryOp::Eq:
      return a == b;
    case BinaryOp::Ne:
      return a != b;
    case BinaryOp::Lt:
      return a < b;
    case BinaryOp::Le:
      return a <= b;
    case BinaryOp::Gt:
      return a > b;
    case BinaryOp::Ge:
      return a >= b;
    case BinaryOp::And:
    case BinaryOp::Or:
      return {};  // make_binary has decided them
    case BinaryOp::Shl:
      return static_cast<int64_t>(ua << ub);
    case BinaryOp::Shr:
      return a >> b;
    case BinaryOp::BitAnd:
      return a & b;
    case BinaryOp::BitOr:
      return a | b;
    case BinaryOp::BitXor:
      return a ^ b;
  }
  return {};
}

// Owns a new node, notes its depth and size, and refuses what is too deep.
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

// The lanes of an access: those of its widest index.
int access_lanes(const Exprs& indices) {
  int lanes = 1;
  for (const Expr& index : indices) lanes = std::max<int>(lanes, index->type.lanes);
  return lanes;
}

}  // namespace

bool is_comparison(BinaryOp op) { return op >= BinaryOp::Eq && op <= BinaryOp::Ge; }
bool is_logical(BinaryOp op) { return op == BinaryOp::And || op == BinaryOp::Or; }
bool is_division(BinaryOp op) { return op >= BinaryOp::Div && op <= BinaryOp::FloorMod; }
std::string_view spelling(BinaryOp op) { return kOps[static_cast<size_t>(op)].spelling; }
int precedence(BinaryOp op) { return kOps[static_cast<size_t>(op)].precedence; }
bool is_infix(BinaryOp op) { return precedence(op) > 0; }
std::optional<BinaryOp> parse_binary_op(std::string_view text) {
  const auto* row =
      std::find_if(kOps.begin(), kOps.end(), [&](const OpRow& r) { return r.spelling == text; });
  return row == kOps.end() ? std::nullopt : std::optional(row->op);
}

bool takes(Intrinsic function, Type type) {
  if (function == Intrinsic::Popcount || function == Intrinsic::Clz) {
    return type.is_uint() && type.bits >= 32;
  }
  const bool native = function >= Intrinsic::NativeExp && function <= Intrinsic::NativePowr;
  return type.is_float() && !(native && type.bits == 64);
}

const IntrinsicInfo& info(Intrinsic function) { return kIntrinsics[static_cast<size_t>(function)]; }
const IntrinsicInfo* find_intrinsic(std::string_view te_name) {
  const auto* row = std::find_if(kIntrinsics.begin(), kIntrinsics.end(),
                                 [&](const IntrinsicInfo& i) { return i.te_name == te_name; });
  return row == kIntrinsics.end() ? nullptr : row;
}

Expr make_int(int64_t value, Type type) {
  TL_CHECK(!type.is_float() && type.is_scalar());
  return Expr(new IntImm(type, wrap(value, type)));
}
Expr make_float(double value, Type type) {
  TL_CHECK(type.is_float() && type.is_scalar());
  if (type.bits == 32) value = static_cast<float>(value);
  return Expr(new FloatImm(type, value));
}
Expr make_bool(bool value) { return make_int(value ? 1 : 0, kBool); }

Expr make_const(double value, Type type) {
  const Type element = type.element();
  const Expr scalar = element.is_float() ? make_float(value, element)
                                         : make_int(static_cast<int64_t>(value), element);
  return make_broadcast(scalar, type.lanes);
}

Expr make_var(std::string name, Type type, SourceLocation location) {
  return finish(new Var(type, std::move(name)), std::move(location), {});
}

Expr make_binary(BinaryOp op, Expr a, Expr b, SourceLocation location) {
  TL_CHECK(a->type == b->type, "operands of " + std::string(spelling(op)) + " are " +
                                   to_string(a->type) + " and " + to_string(b->type));
  if (is_logical(op)) {
    TL_CHECK(a->type.element().is_bool());
    const bool absorbing = op == BinaryOp::Or;
    if (const int64_t* v = int_value(a)) return (*v != 0) == absorbing ? a : b;
    if (const int64_t* v = int_value(b)) return (*v != 0) == absorbing ? b : a;
  }
  const bool yields_bool = is_comparison(op) || is_logical(op);
  const Type type = yields_bool ? kBool.with_lanes(a->type.lanes) : a->type;
  const int64_t* x = int_value(a);
  const int64_t* y = int_value(b);
  if (x != nullptr && y != nullptr) {
    // Signed comparison of uint64 constants above 2^63 would be wrong: leave those alone.
    const bool wide_unsigned = a->type.is_uint() && a->type.bits == 64 && (*x < 0 || *y < 0);
    const auto value = wide_unsigned ? std::nullopt : fold(op, *x, *y, a->type.bits);
    if (value) return make_int(*value, type);
  }
  if (y != nullptr && !a->type.is_float()) {
    const bool zero_neutral = op == BinaryOp::Add || op == BinaryOp::Sub;
    if (zero_neutral && *y == 0) return a;
    const bool one_neutral = op == BinaryOp::Mul || op == BinaryOp::FloorDiv || op == BinaryOp::Div;
    if (one_neutral && *y == 1) return a;
    if (op == BinaryOp::Mul && *y == 0) return b;
  }
  if (x != nullptr && !a->type.is_float()) {
    if (op == BinaryOp::Add && *x == 0) return b;
    if (op == BinaryOp::Mul && *x == 1) return b;
    if (op == BinaryOp::Mul && *x == 0) return a;
  }
  auto* node = new Binary(type, op, std::move(a), std::move(b));
  return finish(node, std::move(location), {&node->a, &node->b});
}

Expr make_not(Expr value, SourceLocation location) {
  TL_CHECK(value->type.element().is_bool());
  if (const int64_t* v = int_value(value)) return make_bool(*v == 0);
  auto* node = new Not(std::move(value));
  return finish(node, std::move(location), {&node->value});
}

Expr make_select(Expr condition, Expr if_true, Expr if_false, SourceLocation location) {
  TL_CHECK(condition->type.element().is_bool() && if_true->type == if_false->type);
  TL_CHECK(condition->type.is_scalar() || condition->type.lanes == if_true->type.lanes);
  if (is_true(condition)) return if_true;
  if (is_false(condition)) return if_false;
  auto* node = new Select(std::move(condition), std::move(if_true), std::move(if_false));
  return finish(node, std::move(location), {&node->condition, &node->if_true, &node->if_false});
}

Expr make_cast(Type type, Expr value, SourceLocation location) {
  TL_CHECK(type.lanes == value->type.lanes);
  if (type == value->type) return value;
  if (const int64_t* v = int_value(value); v != nullptr && type.is_scalar()) {
    const bool exact = !(value->type.is_uint() && value->type.bits == 64 && *v < 0);
    if (type.is_bool()) return make_bool(*v != 0);
    if (!type.is_float()) return make_int(*v, type);
    if (exact && type.bits == 32) return make_float(static_cast<float>(*v), type);
    if (exact && type.bits == 64) return make_float(static_cast<double>(*v), type);
  }
  // Constants of 16 bits are kept as they were written: not rounded, so not converted either.
  if (const auto* v = as<FloatImm>(value);
      v != nullptr && v->type.bits >= 32 && type.is_float() && type.bits >= 32) {
    return make_float(v->value, type);
  }
  auto* node = new Cast(type, std::move(value));
  return finish(node, std::move(location), {&node->value});
}

Expr make_call(Intrinsic function, Exprs arguments, SourceLocation location) {
  TL_CHECK(static_cast<int>(arguments.size()) == info(function).arity);
  const Type type = arguments.front()->type;
  for (const Expr& argument : arguments) TL_CHECK(argument->type == type);
  if (!location.known()) location = arguments.front()->location;
  auto* node = new Call(type, function, std::move(arguments));
  return finish(node, std::move(location), node->arguments);
}

Expr make_fma(Expr a, Expr b, Expr c, SourceLocation location) {
  TL_CHECK(a->type == b->type && b->type == c->type && a->type.is_float());
  auto* node = new Fma(std::move(a), std::move(b), std::move(c));
  return finish(node, std::move(location), {&node->a, &node->b, &node->c});
}

Expr make_ramp(Expr base, Expr stride, int lanes, SourceLocation location) {
  TL_CHECK(base->type == stride->type && base->type.is_scalar());
  if (lanes == 1) return base;
  auto* node = new Ramp(std::move(base), std::move(stride), lanes);
  return finish(node, std::move(location), {&node->base, &node->stride});
}

Expr make_broadcast(Expr value, int lanes, SourceLocation location) {
  if (lanes == 1) return value;
  TL_CHECK(value->type.is_scalar());
  auto* node = new Broadcast(std::move(value), lanes);
  return finish(node, std::move(location), {&node->value});
}

Expr make_lane(Expr vector, Expr index, SourceLocation location) {
  if (vector->type.is_scalar()) return vector;
  // One that the vector does not have stands where it is never evaluated, if the program is right.
  if (const int64_t* i = int_value(index); i != nullptr && *i >= 0 && *i < vector->type.lanes) {
    if (const auto* broadcast = as<Broadcast>(vector)) return broadcast->value;
    if (const auto* pack = as<Pack>(vector)) return pack->elements[static_cast<size_t>(*i)];
    if (const auto* ramp = as<Ramp>(vector)) return ramp->base + ramp->stride * *i;
  }
  auto* node = new Lane(std::move(vector), std::move(index));
  return finish(node, std::move(location), {&node->vector, &node->index});
}

Expr make_pack(Exprs elements, SourceLocation location) {
  TL_CHECK(!elements.empty());
  if (elements.size() == 1) return elements.front();
  for (const Expr& e : elements) TL_CHECK(e->type == elements.front()->type && e->type.is_scalar());
  if (!location.known()) location = elements.front()->location;
  auto* node = new Pack(std::move(elements));
  return finish(node, std::move(location), node->elements);
}

namespace {

// An index in the type of axes and extents, so that each can stand for the other. A constant that
// int32 does not hold is outside every axis, and stays so.
Expr as_axis_value(const Expr& index) {
  if (index->type == kInt32) {
    // A loop variable can have come in the place of a wider axis.
    const auto* converted = as<Cast>(index);
    const bool twice = converted != nullptr && converted->value->type.is_integer() &&
                       converted->value->kind == ExprKind::Cast;
    return twice ? as_axis_value(converted->value) : index;
  }
  if (const int64_t* value = int_value(index)) {
    // Of uint64 the upper half is written as negative numbers.
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
  TL_CHECK(value_type.lanes == access_lanes(indices));
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
  TL_CHECK(texture->is_texture() && value_type.lanes == kTexelLanes);
  TL_CHECK(x->type.is_scalar() && y->type.is_scalar());
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

Expr operator+(Expr a, Expr b) { return make_binary(BinaryOp::Add, std::move(a), std::move(b)); }
Expr operator-(Expr a, Expr b) { return make_binary(BinaryOp::Sub, std::move(a), std::move(b)); }
Expr operator*(Expr a, Expr b) { return make_binary(BinaryOp::Mul, std::move(a), std::move(b)); }
Expr floordiv(Expr a, Expr b) {
  return make_binary(BinaryOp::FloorDiv, std::move(a), std::move(b));
}
Expr floormod(Expr a, Expr b) {
  return make_binary(BinaryOp::FloorMod, std::move(a), std::move(b));
}
Expr min(Expr a, Expr b) { return make_binary(BinaryOp::Min, std::move(a), std::move(b)); }
Expr max(Expr a, Expr b) { return make_binary(BinaryOp::Max, std::move(a), std::move(b)); }
Expr operator<(Expr a, Expr b) { return make_binary(BinaryOp::Lt, std::move(a), std::move(b)); }
Expr operator<=(Expr a, Expr b) { return make_binary(BinaryOp::Le, std::move(a), std::move(b)); }
Expr operator>=(Expr a, Expr b) { return make_binary(BinaryOp::Ge, std::move(a), std::move(b)); }
Expr operator&&(Expr a, Expr b) { return make_binary(BinaryOp::And, std::move(a), std::move(b)); }
Expr operator+(const Expr& a, int64_t b) { return a + make_int(b, a->type); }
Expr operator-(const Expr& a, int64_t b) { return a - make_int(b, a->type); }
Expr operator*(const Expr& a, int64_t b) { return a * make_int(b, a->type); }
Expr floordiv(const Expr& a, int64_t b) { return floordiv(a, make_int(b, a->type)); }
Expr floormod(const Expr& a, int64_t b) { return floormod(a, make_int(b, a->type)); }

const int64_t* int_value(const Expr& e) {
  const auto* imm = as<IntImm>(e);
  return imm == nullptr ? nullptr : &imm->value;
}
bool is_int(const Expr& e, int64_t value) {
  const int64_t* v = int_value(e);
  return v != nullptr && *v == value;
}
bool is_true(const Expr& e) {
  if (const auto* b = as<Broadcast>(e)) return is_true(b->value);
  return e->type.element().is_bool() && is_int(e, 1);
}
bool is_false(const Expr& e) {
  if (const auto* b = as<Broadcast>(e)) return is_false(b->value);
  return e->type.element().is_bool() && is_int(e, 0);
}

}  // namespace texloom::ir
