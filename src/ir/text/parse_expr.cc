#include "ir/text/parse_expr.h"

#include <algorithm>
#include <charconv>

#include "ir/build/type_rules.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

// "x4" spells a broadcast to four lanes; 0 for anything else.
int broadcast_lanes(std::string_view name) {
  if (name.size() < 2 || name.size() > 3 || name.front() != 'x') return 0;
  int lanes = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), lanes);
  const bool all = error == std::errc() && end == name.data() + name.size();
  return all && lanes >= 2 && lanes <= kMaxLanes ? lanes : 0;
}

// The word with which the text of each kind of expression begins, if any. Code does not compile if
// a node of nodes.def has no row here, or if it has a word that ExprParser::node does not handle.
namespace words {
constexpr std::string_view kIntImm, kFloatImm, kVar;
constexpr std::string_view kBinary, kNot;              // signs, except for the calls min and max
constexpr std::string_view kCast, kBroadcast;          // a type; "x" and the number of lanes
constexpr std::string_view kCall;                      // intrinsics.def has the names
constexpr std::string_view kLane, kTensorRead, kLoad;  // brackets after a name
constexpr std::string_view kTuple;                     // only the whole body of a compute
constexpr std::string_view kSelect = "select";
constexpr std::string_view kFma = "fma";
constexpr std::string_view kRamp = "ramp";
constexpr std::string_view kPack = "pack";
constexpr std::string_view kReduce = "reduce";
constexpr std::string_view kTextureLoad = "texture2d.load";
constexpr std::string_view kForeignCall = "call_extern";  // or "call_pure_extern"
constexpr std::string_view kPointer = "access_ptr";
}  // namespace words
constexpr std::string_view kCallPureExtern = "call_pure_extern";

constexpr std::string_view kConvert = "convert the operands to one type, as in float32(i)";

std::optional<ExprKind> expr_kind_of(std::string_view word) {
  static constexpr std::pair<ExprKind, std::string_view> kTable[] = {
#define TL_EXPR(Name, summary) {ExprKind::Name, words::k##Name},
#define TL_STMT(Name, summary)
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
  };
  for (const auto& [kind, own] : kTable) {
    if (!own.empty() && own == word) return kind;
  }
  return std::nullopt;
}

// Limits the recursion that parses nested brackets.
class Nested {
 public:
  Nested(const TextReader& reader, int& depth) : depth_(depth) {
    if (++depth_ > kMaxDepth) {
      --depth_;
      reader.fail_at(reader.peek(), Code::ProgramTooDeep,
                     fmt::format("this expression is nested more than {} levels deep", kMaxDepth),
                     "bind a part of it to a variable by a let");
    }
  }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  ~Nested() { --depth_; }

 private:
  int& depth_;
};

}  // namespace

Exprs ExprParser::list_until(std::string_view close) {
  Exprs list;
  if (reader_.accept(close)) return list;
  do {
    list.push_back(expr());
  } while (reader_.accept(","));
  if (!reader_.accept(close)) reader_.fail_expected(fmt::format("',' or '{}'", close));
  return list;
}

void ExprParser::texel(Expr& x, Expr& y) {
  const auto coordinate = [this](std::string_view name) {
    reader_.expect_word(name);
    reader_.expect("=");
    const Token at = reader_.peek();
    Expr value = expr();
    if (!is_scalar_index(value->type)) {
      reader_.wrong(at, "convert it, as in int32(x)",
                    "the coordinate {} is {}, not a scalar of type int32 or int64", name,
                    to_string(value->type));
    }
    return value;
  };
  x = coordinate("x");
  reader_.expect(",");
  y = coordinate("y");
}

// Precedence climbing; operators of the same precedence are left-associative.
Expr ExprParser::infix(int loosest) {
  Expr left = prefix();
  for (;;) {
    const Token at = reader_.peek();
    if (at.kind != TokenKind::Punctuation) return left;
    const std::optional<BinaryOp> op = parse_binary_op(at.text);
    if (!op || precedence(*op) < loosest) return left;
    reader_.next();
    Expr right = infix(precedence(*op) + 1);
    left = binary(at, *op, std::move(left), std::move(right));
  }
}

Expr ExprParser::prefix() { return reader_.at("!") ? negation() : postfix(); }

Expr ExprParser::negation() {
  const Nested nested(reader_, depth_);
  const Token at = reader_.next();
  Expr value = prefix();
  require(at, "negate a comparison", not_problem(value->type));
  return make_not(std::move(value));
}

Expr ExprParser::postfix() {
  Expr value = primary();
  while (reader_.peek().kind == TokenKind::Lane) value = lane(std::move(value));
  return value;
}

Expr ExprParser::lane(Expr vector) {
  const Nested nested(reader_, depth_);
  const Token at = reader_.next();
  reader_.expect("[");
  Expr index = expr();
  reader_.expect("]");
  require(at, "use a vector and the number of one of its lanes",
          lane_problem(vector->type, index->type));
  const int64_t* number = int_value(index);
  if (number != nullptr && (*number < 0 || *number >= vector->type.lanes)) {
    reader_.wrong(at, "use the number of one of its lanes", "{} has no lane {}",
                  to_string(vector->type), *number);
  }
  Expr result = make_lane(std::move(vector), std::move(index));
  check(at, result);
  return result;
}

Expr ExprParser::primary() {
  if (reader_.at("(")) {
    const Nested nested(reader_, depth_);
    reader_.next();
    Expr value = expr();
    reader_.expect(")");
    return value;
  }
  if (reader_.at("-") || at_number()) return literal(kInt32, kFloat32);
  if (reader_.at_name() && reader_.at("(", 1)) {
    const Nested nested(reader_, depth_);
    const Token name = reader_.next();
    reader_.next();
    return call(name);
  }
  if (reader_.accept_word("true")) return make_bool(true);
  if (reader_.accept_word("false")) return make_bool(false);
  const NamedToken name = reader_.name("an expression");
  if (reader_.at("[") || (reads_tensors_ && reader_.at("#"))) {
    const Nested nested(reader_, depth_);
    return reads_tensors_ ? tensor_read(name) : load(name);
  }
  return names_.variable(reader_, name);
}

Expr ExprParser::load(const NamedToken& name) {
  const Buffer buffer = names_.buffer(reader_, name);
  reader_.expect("[");
  Exprs indices;
  while (!reader_.at("]") && !reader_.at(":")) {
    indices.push_back(expr());
    if (reader_.at("]") || reader_.at(":")) break;
    if (!reader_.accept(",")) reader_.fail_expected("',', ':' or ']'");
  }
  Type type = buffer->type.with_lanes(access_lanes(indices));
  Token at = name.token;
  if (reader_.accept(":")) {
    at = reader_.peek();
    type = reader_.type();
  }
  require(at, "give the value and all index vectors the same number of lanes",
          access_problem(indices, type));
  reader_.expect("]");
  Expr result = make_load_as(type, buffer, std::move(indices));
  check(name.token, result);
  return result;
}

// -- Calls. The opening parenthesis has been read.

Expr ExprParser::call(const Token& name) {
  if (const std::optional<Type> type = parse_type(name.text)) return conversion(name, *type);
  if (const int lanes = broadcast_lanes(name.text); lanes > 0) return broadcast(name, lanes);
  if (name.text == kCallPureExtern) return foreign_call(name);
  if (const std::optional<ExprKind> kind = expr_kind_of(name.text)) {
    if (Expr result = node(name, *kind)) return result;
  }
  if (const IntrinsicInfo* info = find_intrinsic(name.text)) return intrinsic(name, *info);
  if (const std::optional<BinaryOp> op = parse_binary_op(name.text)) {
    Exprs operands = arguments(name, 2);
    return binary(name, *op, std::move(operands[0]), std::move(operands[1]));
  }
  reader_.wrong(name, "docs/text_form.md lists the functions", "there is no function '{}'",
                name.text);
}

Expr ExprParser::node(const Token& name, ExprKind kind) {
  switch (kind) {
    case ExprKind::Select:
      return select(name);
    case ExprKind::Fma:
      return fma(name);
    case ExprKind::Ramp:
      return ramp(name);
    case ExprKind::Pack:
      return pack(name);
    case ExprKind::TextureLoad:
      return texture_load(name);
    case ExprKind::ForeignCall:
      return foreign_call(name);
    case ExprKind::Pointer:
      return reads_tensors_ ? nullptr : pointer(name);
    case ExprKind::Reduce:
      return reads_tensors_ ? reduce(name) : nullptr;
    case ExprKind::IntImm:
    case ExprKind::FloatImm:
    case ExprKind::Var:
    case ExprKind::Binary:
    case ExprKind::Not:
    case ExprKind::Cast:
    case ExprKind::Call:
    case ExprKind::Broadcast:
    case ExprKind::Lane:
    case ExprKind::TensorRead:
    case ExprKind::Tuple:
    case ExprKind::Load:
      break;  // have no word
  }
  TL_UNREACHABLE();
}

Exprs ExprParser::arguments(const Token& name, size_t count) {
  Exprs list = list_until(")");
  if (list.size() != count) {
    reader_.wrong(name, "give it as many arguments as it takes", "{} takes {} {}, not {}",
                  name.text, count, count == 1 ? "argument" : "arguments", list.size());
  }
  return list;
}

void ExprParser::require(const Token& at, std::string_view help, const TypeProblem& problem) const {
  if (problem) reader_.wrong(at, std::string(help), "{}: {}", at.text, to_string(problem));
}

// A number in the parentheses becomes a constant of the type directly, without conversion, if the
// number is of the same kind as the type.
Expr ExprParser::conversion(const Token& name, Type type) {
  const size_t sign = reader_.at("-") ? 1 : 0;
  if (at_number(sign) && reader_.at(")", sign + 1) && type.is_scalar()) {
    const bool integer = reader_.peek(sign).kind == TokenKind::Integer;
    if (integer ? type.is_integer() : type.is_float()) {
      Expr constant = literal(type, type);
      reader_.expect(")");
      return constant;
    }
  }
  Exprs operands = arguments(name, 1);
  require(name, "convert to a type with as many lanes", cast_problem(operands[0]->type, type));
  return make_cast(type, std::move(operands[0]));
}

Expr ExprParser::broadcast(const Token& name, int lanes) {
  Exprs operands = arguments(name, 1);
  require(name, "broadcast a scalar", broadcast_problem(operands[0]->type, lanes));
  return make_broadcast(std::move(operands[0]), lanes);
}

Expr ExprParser::select(const Token& name) {
  Exprs o = arguments(name, 3);
  require(name, "choose by a bool, or by one for each lane, between values of one type",
          select_problem(o[0]->type, o[1]->type, o[2]->type));
  return make_select(std::move(o[0]), std::move(o[1]), std::move(o[2]));
}

Expr ExprParser::fma(const Token& name) {
  Exprs o = arguments(name, 3);
  require(name, kConvert, fma_problem(o[0]->type, o[1]->type, o[2]->type));
  return make_fma(std::move(o[0]), std::move(o[1]), std::move(o[2]));
}

Expr ExprParser::ramp(const Token& name) {
  Expr base = expr();
  reader_.expect(",");
  Expr stride = expr();
  reader_.expect(",");
  const int64_t lanes = reader_.integer("the number of lanes", 2, kMaxLanes);
  reader_.expect(")");
  require(name, "use scalars of one type, int32 or int64",
          ramp_problem(base->type, stride->type, static_cast<int>(lanes)));
  return make_ramp(std::move(base), std::move(stride), static_cast<int>(lanes));
}

Expr ExprParser::pack(const Token& name) {
  Exprs elements = list_until(")");
  require(name, "pack 2 to 64 scalars of one type", pack_problem(elements));
  return make_pack(std::move(elements));
}

Expr ExprParser::binary(const Token& at, BinaryOp op, Expr a, Expr b) {
  require(at, is_logical(op) ? "use comparisons" : kConvert, binary_problem(op, a->type, b->type));
  return make_binary(op, std::move(a), std::move(b));
}

Expr ExprParser::intrinsic(const Token& name, const IntrinsicInfo& info) {
  Exprs operands = arguments(name, static_cast<size_t>(info.arity));
  require(name, kConvert, call_problem(info.function, operands));
  return make_call(info.function, std::move(operands));
}

Expr ExprParser::texture_load(const Token& name) {
  const NamedToken texture = reader_.name("the name of a texture");
  const Buffer buffer = names_.buffer(reader_, texture);
  if (!buffer->is_texture()) {
    reader_.wrong(texture.token, "load its elements by A[i]", "{} is not a texture",
                  texture.token.text);
  }
  reader_.expect(",");
  Expr x, y;
  texel(x, y);
  reader_.expect(":");
  const Token at = reader_.peek();
  const Type type = reader_.type();
  if (type.lanes != kTexelLanes) {
    reader_.wrong(at, "load a vector of four lanes, such as float32x4", "a texel is loaded as {}",
                  to_string(type));
  }
  reader_.expect(")");
  Expr result = make_texture_load_as(type, buffer, std::move(x), std::move(y));
  check(name, result);
  return result;
}

Expr ExprParser::foreign_call(const Token& name) {
  const NamedToken function = reader_.name("the name of a function");
  Exprs arguments;
  while (reader_.accept(",")) arguments.push_back(expr());
  reader_.expect(":");
  const Type type = reader_.type();
  reader_.expect(")");
  const bool pure = name.text == kCallPureExtern;
  // Foreign calls are refused where they cannot run, so the node keeps the line of the call.
  Expr result =
      make_foreign_call(type, function.name, pure, std::move(arguments), reader_.line_of(name));
  check(name, result);
  return result;
}

Expr ExprParser::pointer(const Token& name) {
  const std::optional<Access> access = reader_.accept_access();
  if (!access) reader_.fail_expected("'read', 'write' or 'read_write'");
  reader_.expect(",");
  const Buffer buffer = names_.buffer(reader_, reader_.name("the name of a buffer"));
  reader_.expect("[");
  Exprs indices = list_until("]");
  reader_.expect(",");
  reader_.expect_word("extents");
  reader_.expect("=");
  reader_.expect("(");
  Exprs extents = list_until(")");
  Expr offset = make_int(0);
  if (reader_.accept(",")) {
    reader_.expect_word("offset");
    reader_.expect("=");
    offset = expr();
  }
  reader_.expect(")");
  Expr result =
      make_pointer(*access, buffer, std::move(indices), std::move(extents), std::move(offset));
  check(name, result);
  return result;
}

}  // namespace texloom::ir
