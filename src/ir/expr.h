// Expressions. ir/program.h introduces the IR as a whole.
//
// Nodes are immutable and shared; `Expr` is a reference-counted handle. The functions below build
// nodes. These functions check operand types (TL_CHECK: a wrong type is a bug in the caller; front
// ends check the user's operands first) and fold constants, but simplify nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/buffer.h"
#include "ir/leaf_expr.h"
#include "ir/tensor.h"

namespace texloom::ir {

enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,  // floats: IEEE division; integers: truncating
  Mod,  // integers: the remainder of Div
  FloorDiv,
  FloorMod,
  Min,
  Max,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or,  // And, Or: bools; the right side is evaluated only if the left does not settle the result
  Shl,
  Shr,
  BitAnd,
  BitOr,
  BitXor,
};
inline bool is_comparison(BinaryOp op) { return op >= BinaryOp::Eq && op <= BinaryOp::Ge; }
inline bool is_logical(BinaryOp op) { return op == BinaryOp::And || op == BinaryOp::Or; }
// Whether the operator computes a quotient or a remainder.
inline bool is_division(BinaryOp op) { return op >= BinaryOp::Div && op <= BinaryOp::FloorMod; }
// How the text form spells the operator, infix or as a call: "+", "floordiv", ...
std::string_view spelling(BinaryOp op);
bool is_infix(BinaryOp op);
std::optional<BinaryOp> parse_binary_op(std::string_view text);
// How tightly an infix operator binds in the text form: 1 is the loosest. All are left-associative.
int precedence(BinaryOp op);

enum class Intrinsic : uint8_t {
#define TL_INTRINSIC(Name, te_name, arity) Name,
#include "ir/intrinsics.def"
#undef TL_INTRINSIC
};
struct IntrinsicInfo {
  Intrinsic function;
  std::string_view te_name;
  int arity;
};
const IntrinsicInfo& info(Intrinsic function);
const IntrinsicInfo* find_intrinsic(std::string_view te_name);
// A dot product of the integers of two words.
struct Dot {
  int bits;  // of an integer: 8 or 16
  bool is_left_signed, is_right_signed;
};
// The dot product that a function computes; nullopt for other functions.
std::optional<Dot> dot_of(Intrinsic function);
// Whether the function accepts this type, a vector or a scalar.
bool takes(Intrinsic function, Type type);

struct Binary : ExprBase<Binary> {
  static constexpr ExprKind kKind = ExprKind::Binary;
  Binary(Type t, BinaryOp o, Expr l, Expr r)
      : ExprBase(t), op(o), a(std::move(l)), b(std::move(r)) {}
  BinaryOp op;
  Expr a, b;
  auto fields() const { return field_list(op, a, b); }
};
struct Not : ExprBase<Not> {
  static constexpr ExprKind kKind = ExprKind::Not;
  explicit Not(Expr v) : ExprBase(v->type), value(std::move(v)) {}
  Expr value;
  auto fields() const { return field_list(value); }
};
struct Select : ExprBase<Select> {
  static constexpr ExprKind kKind = ExprKind::Select;
  Select(Expr c, Expr t, Expr f)
      : ExprBase(t->type), condition(std::move(c)), if_true(std::move(t)), if_false(std::move(f)) {}
  Expr condition;  // bool, with one lane or as many as the values
  Expr if_true, if_false;
  auto fields() const { return field_list(condition, if_true, if_false); }
};
struct Cast : ExprBase<Cast> {
  static constexpr ExprKind kKind = ExprKind::Cast;
  Cast(Type t, Expr v) : ExprBase(t), value(std::move(v)) {}
  Expr value;
  auto fields() const { return field_list(value); }
};
struct Call : ExprBase<Call> {
  static constexpr ExprKind kKind = ExprKind::Call;
  Call(Type t, Intrinsic f, Exprs a) : ExprBase(t), function(f), arguments(std::move(a)) {}
  Intrinsic function;
  Exprs arguments;
  auto fields() const { return field_list(function, arguments); }
};
struct Fma : ExprBase<Fma> {
  static constexpr ExprKind kKind = ExprKind::Fma;
  Fma(Expr x, Expr y, Expr z)
      : ExprBase(x->type), a(std::move(x)), b(std::move(y)), c(std::move(z)) {}
  Expr a, b, c;
  auto fields() const { return field_list(a, b, c); }
};
struct Ramp : ExprBase<Ramp> {
  static constexpr ExprKind kKind = ExprKind::Ramp;
  Ramp(Expr b, Expr s, int n)
      : ExprBase(b->type.with_lanes(n)), base(std::move(b)), stride(std::move(s)) {}
  Expr base, stride;  // scalars
  auto fields() const { return field_list(base, stride); }
};
struct Broadcast : ExprBase<Broadcast> {
  static constexpr ExprKind kKind = ExprKind::Broadcast;
  Broadcast(Expr v, int n) : ExprBase(v->type.with_lanes(n)), value(std::move(v)) {}
  Expr value;  // a scalar
  auto fields() const { return field_list(value); }
};
struct Lane : ExprBase<Lane> {
  static constexpr ExprKind kKind = ExprKind::Lane;
  Lane(Expr v, Expr i) : ExprBase(v->type.element()), vector(std::move(v)), index(std::move(i)) {}
  Expr vector, index;
  auto fields() const { return field_list(vector, index); }
};
struct Pack : ExprBase<Pack> {
  static constexpr ExprKind kKind = ExprKind::Pack;
  explicit Pack(Exprs e)
      : ExprBase(e.front()->type.with_lanes(static_cast<int>(e.size()))), elements(std::move(e)) {}
  Exprs elements;  // scalars of the same type
  auto fields() const { return field_list(elements); }
};
struct TensorRead : ExprBase<TensorRead> {
  static constexpr ExprKind kKind = ExprKind::TensorRead;
  TensorRead(Type t, Tensor x, Exprs i)
      : ExprBase(t), tensor(std::move(x)), indices(std::move(i)) {}
  Tensor tensor;
  Exprs indices;
  auto fields() const { return field_list(tensor, indices); }
};
// How to combine two partial results. A partial result is one value, or several that are combined
// together (an index and a value for argmax); each list has one element for each of these values.
struct Reducer {
  Exprs lhs, rhs;    // Vars
  Exprs results;     // the combination, over lhs, rhs and outer variables
  Exprs identities;  // initial values; for max the lowest finite value, as in TVM, not -inf
  std::string name;  // "sum", "max", ... : for printing only
};
// The node's type is that of its first value.
struct Reduce : ExprBase<Reduce> {
  static constexpr ExprKind kKind = ExprKind::Reduce;
  Reduce(Reducer r, Exprs s, std::vector<IterVar> x, Expr c, Exprs i)
      : ExprBase(s.front()->type),
        reducer(std::move(r)),
        sources(std::move(s)),
        axes(std::move(x)),
        condition(std::move(c)),
        init(std::move(i)) {}
  Reducer reducer;
  Exprs sources;
  std::vector<IterVar> axes;
  Expr condition;  // null, or a bool that selects the points that take part
  Exprs init;      // empty, or initial values instead of the identities; must not use `axes`
  auto fields() const { return field_list(reducer, axes, sources, Optional{condition}, init); }
};
// The body of a compute with several outputs. The node's type is that of the first output.
struct Tuple : ExprBase<Tuple> {
  static constexpr ExprKind kKind = ExprKind::Tuple;
  explicit Tuple(Exprs e) : ExprBase(e.front()->type), elements(std::move(e)) {}
  Exprs elements;
  auto fields() const { return field_list(elements); }
};
// Before flattening, there is one index for each axis of the buffer; afterwards, a single offset in
// elements. If the last index is a Ramp, a vector is loaded. The value's type is the buffer's
// element type, until legalization widens it (float16 storage is loaded as float32).
struct Load : ExprBase<Load> {
  static constexpr ExprKind kKind = ExprKind::Load;
  Load(Type t, Buffer b, Exprs i) : ExprBase(t), buffer(std::move(b)), indices(std::move(i)) {}
  Buffer buffer;
  Exprs indices;
  auto fields() const { return field_list(buffer, indices); }
};
// x is the texel's column and y its row, in the image (not relative to the texture's origin).
struct TextureLoad : ExprBase<TextureLoad> {
  static constexpr ExprKind kKind = ExprKind::TextureLoad;
  TextureLoad(Type t, Buffer b, Expr column, Expr row)
      : ExprBase(t), texture(std::move(b)), x(std::move(column)), y(std::move(row)) {}
  Buffer texture;
  Expr x, y;
  auto fields() const { return field_list(texture, x, y); }
};
// A call to a function of unknown behavior: its result depends on its arguments and on the memory
// that it has pointers to. The call is made only where the program reaches it. If the function is
// pure, the call may be repeated any number of times.
struct ForeignCall : ExprBase<ForeignCall> {
  static constexpr ExprKind kKind = ExprKind::ForeignCall;
  ForeignCall(Type t, std::string f, bool p, Exprs a)
      : ExprBase(t), function(std::move(f)), pure(p), arguments(std::move(a)) {}
  std::string function;  // a C identifier
  bool pure;
  Exprs arguments;  // scalars and Pointers
  auto fields() const { return field_list(function, pure, arguments); }
};
// A pointer to the element `offset` elements after the one at `indices` (as in a Load); loads
// nothing. The function may access the box that begins at `indices` and has these `extents`, as
// `access` allows. The node's type is the element type.
struct Pointer : ExprBase<Pointer> {
  static constexpr ExprKind kKind = ExprKind::Pointer;
  Pointer(Access a, Buffer b, Exprs i, Exprs e, Expr o)
      : ExprBase(b->type),
        access(a),
        buffer(std::move(b)),
        indices(std::move(i)),
        extents(std::move(e)),
        offset(std::move(o)) {}
  Access access;
  Buffer buffer;
  Exprs indices, extents;
  Expr offset;
  auto fields() const { return field_list(access, buffer, indices, extents, offset); }
};

// -- Building. The operands of a binary operator have the same type; match_types in
// schedule/operation/operators.h converts them.
// A constant of any scalar or vector type. `value` is converted, which is exact up to 2^53.
Expr make_const(double value, Type type);
Expr make_binary(BinaryOp op, Expr a, Expr b, SourceLocation location = {});
Expr make_not(Expr value, SourceLocation location = {});
Expr make_select(Expr condition, Expr if_true, Expr if_false, SourceLocation location = {});
Expr make_cast(Type type, Expr value, SourceLocation location = {});
Expr make_call(Intrinsic function, Exprs arguments, SourceLocation location = {});
Expr make_fma(Expr a, Expr b, Expr c, SourceLocation location = {});
Expr make_ramp(Expr base, Expr stride, int lanes, SourceLocation location = {});
Expr make_broadcast(Expr value, int lanes, SourceLocation location = {});
Expr make_lane(Expr vector, Expr index, SourceLocation location = {});
Expr make_pack(Exprs elements, SourceLocation location = {});
Expr make_tensor_read(Tensor tensor, Exprs indices, SourceLocation location = {});
Expr make_reduce(Reducer reducer, Exprs sources, std::vector<IterVar> axes, Expr condition,
                 Exprs init = {}, SourceLocation location = {});
Expr make_tuple(Exprs elements, SourceLocation location = {});
Expr make_load(Buffer buffer, Exprs indices, SourceLocation location = {});
Expr make_load_as(Type value_type, Buffer buffer, Exprs indices, SourceLocation location = {});
Expr make_texture_load(Buffer texture, Expr x, Expr y, SourceLocation location = {});
Expr make_texture_load_as(Type value_type, Buffer texture, Expr x, Expr y,
                          SourceLocation location = {});
Expr make_foreign_call(Type type, std::string function, bool pure, Exprs arguments,
                       SourceLocation location = {});
Expr make_pointer(Access access, Buffer buffer, Exprs indices, Exprs extents, Expr offset,
                  SourceLocation location = {});

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr floordiv(Expr a, Expr b);
Expr floormod(Expr a, Expr b);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator&&(Expr a, Expr b);
// `b` becomes a constant of the type of `a`.
Expr operator+(const Expr& a, int64_t b);
Expr operator-(const Expr& a, int64_t b);
Expr operator*(const Expr& a, int64_t b);
Expr floordiv(const Expr& a, int64_t b);
Expr floormod(const Expr& a, int64_t b);

// Whether the expression is this constant, or a vector of it.
bool is_true(const Expr& e);
bool is_false(const Expr& e);

}  // namespace texloom::ir
