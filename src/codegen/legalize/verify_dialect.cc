#include "codegen/legalize/verify_dialect.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "codegen/legalize/align_access.h"
#include "codegen/legalize/function_definitions.h"
#include "ir/verify/verify_text.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::codegen {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;
using ir::Type;

namespace {

constexpr size_t kMaxViolations = 50;

bool is_bools(Type type) { return type.element().is_bool(); }

class DialectVerifier {
 public:
  explicit DialectVerifier(const Dialect& dialect) : dialect_(dialect) {}

  void kernel(const ir::Kernel& kernel) {
    location_ = kernel.location;
    widths_.clear();
    of_steps_.clear();
    walk_statements(kernel.body, [&](const ir::FragmentStep& n) {
      for (const Expr& operand : n.operands) {
        const auto* pointer = as<ir::Pointer>(operand);
        if (pointer != nullptr) of_steps_.insert(pointer->buffer.get());
      }
    });
    for (const ir::KernelParam& param : kernel.params) {
      if (param.scalar) value(param.scalar);
      if (param.buffer) memory(param.buffer);
    }
    for (const ir::ThreadAxis& axis : kernel.axes) value(axis.var);
    stmt(kernel.body);
  }

  void foreign(const ir::Foreign& code) {
    const ForeignCode kind = code.is_symbol() ? ForeignCode::Symbols : ForeignCode::Text;
    if (dialect_.foreign == kind) return;
    found_.push_back({DialectRule::Foreign, fmt::format("foreign {}", code.text),
                      code.is_symbol() ? "there is no linker" : "C text is not compiled",
                      code.location});
  }

  std::vector<DialectViolation> take() { return std::move(found_); }

 private:
  template <class Node>
  void add(DialectRule rule, const Ref<Node>& node, std::string problem) {
    if (found_.size() >= kMaxViolations || !reported_.emplace(node.get(), rule).second) return;
    const SourceLocation& own = node->location;
    found_.push_back({rule, ir::text_of(node), std::move(problem), own.known() ? own : location_});
  }

  // -- Statements.

  void stmt(const Stmt& s) {
    const SourceLocation outer = location_;
    if (s->location.known()) location_ = s->location;
    visit(s, [&](const auto& node) { check(node, s); });
    location_ = outer;
  }

  void check(const ir::Store& n, const Stmt& s) {
    index(n.buffer, n.indices.front());
    value(n.value);
    held(n.buffer, n.value->type, s);
  }
  void check(const ir::TextureStore& n, const Stmt& s) {
    value(n.x);
    value(n.y);
    value(n.value);
    texel(n.texture, n.value->type, s);
  }
  void check(const ir::Let& n, const Stmt&) {
    value(n.var);
    value(n.value);
    stmt(n.body);
  }
  void check(const ir::Shuffle& n, const Stmt& s) {
    if (!dialect_.has_shuffles(n.var->type)) {
      add(DialectRule::Shuffles, s,
          fmt::format("threads do not exchange values of type {}", to_string(n.var->type)));
    }
    value(n.var);
    value(n.value);
    value(n.offset);
    stmt(n.body);
  }
  void check(const ir::FragmentStep& n, const Stmt& s) {
    if (!dialect_.fragments) add(DialectRule::Fragments, s, "no SIMD-group holds a fragment");
    for (const Expr& operand : n.operands) value(operand);
  }
  void check(const ir::AsyncCopies& n, const Stmt& s) {
    if (!dialect_.async_copies) add(DialectRule::Copies, s, "threads wait for each load");
    stmt(n.body);
  }
  void check(const ir::LastBlock& n, const Stmt& s) {
    if (!dialect_.device_fence) {
      add(DialectRule::Fences, s, "blocks do not exchange values");
    }
    value(n.index);
    value(n.count);
    stmt(n.body);
  }
  void check(const ir::Allocate& n, const Stmt& s) {
    memory(n.buffer);
    const Type type = dialect_.loaded(n.buffer->type);
    if (type != n.buffer->type && !of_steps_.contains(n.buffer.get())) {
      add(DialectRule::Memory, s,
          fmt::format("an array of {} should be one of {}", to_string(n.buffer->type),
                      to_string(type)));
    }
    stmt(n.body);
  }
  template <class Node>
  void check(const Node&, const Stmt& s) {
    for_each_child(s, [&](const Expr& e) { value(e); }, [&](const Stmt& child) { stmt(child); });
  }

  // -- Memory.

  void memory(const ir::Buffer& buffer) {
    const Type element = buffer->type;
    const bool is_held =
        buffer->is_texture() ? dialect_.has_type(element) : dialect_.has_memory(element);
    if (!is_held) {
      add(DialectRule::Types, buffer, fmt::format("memory holds no {}", to_string(element)));
    }
  }

  template <class Node>
  void held(const ir::Buffer& buffer, Type type, const Ref<Node>& user) {
    const Type expected = dialect_.loaded(buffer->type);
    const bool is_bits = buffer->type.is_half() && type.element() == Type::u(16);
    if (type.element() == expected || (is_bits && !of_steps_.empty())) return;
    add(DialectRule::Memory, user,
        fmt::format("{} is accessed as {} and should be as {}", buffer->name,
                    to_string(type.element()), to_string(expected)));
  }

  template <class Node>
  void texel(const ir::Buffer& texture, Type type, const Ref<Node>& user) {
    const Type expected = dialect_.texel(texture->type);
    if (type == expected) return;
    add(DialectRule::Texels, user,
        fmt::format("a texel of {} is {} and should be {}", texture->name, to_string(type),
                    to_string(expected)));
  }

  // The index of a load or store.
  void index(const ir::Buffer& buffer, const Expr& e) {
    const auto* ramp = as<ir::Ramp>(e);
    width(buffer, e);
    if (ramp == nullptr) {
      if (!e->type.is_scalar())
        add(DialectRule::Accesses, e, "the index of a vector access is not a ramp");
      return value(e);
    }
    if (!is_int(ramp->stride, 1)) add(DialectRule::Accesses, e, "its stride is not 1");
    value(ramp->base);
  }

  // All accesses of an array that has one type of elements are of one width, and aligned to it.
  void width(const ir::Buffer& buffer, const Expr& index) {
    if (dialect_.pointers == PointerModel::Casts) return;
    const int lanes = index->type.lanes;
    const int known = widths_.emplace(buffer.get(), lanes).first->second;
    if (known != lanes) {
      add(DialectRule::Accesses, index,
          fmt::format("{} is accessed by {} and by {} elements", buffer->name, known, lanes));
    } else if (lanes > 1 && !vector_number(*buffer, index, dialect_)) {
      add(DialectRule::Accesses, index,
          fmt::format("it is not known to begin at a multiple of {} elements", lanes));
    }
  }

  // -- Values.

  void value(const Expr& e) {
    if (!values_.insert(e).second) return;
    if (is_bools(e->type) && !e->type.is_scalar() &&
        dialect_.vector_conditions != VectorConditions::Bools) {
      return add(DialectRule::Conditions, e, "a vector of bools is not a value");
    }
    // A pointer is no value: its type is that of elements in memory.
    if (e->kind != ir::ExprKind::Pointer) type(e);
    visit(e, [&](const auto& node) { check(node, e); });
  }

  void type(const Expr& e) {
    if (!dialect_.has_lanes(e->type)) {
      add(DialectRule::Widths, e, fmt::format("there are no vectors of {} lanes", e->type.lanes));
    } else if (!dialect_.has_values(e->type)) {
      add(DialectRule::Types, e, fmt::format("there are no values of {}", to_string(e->type)));
    }
  }

  void check(const ir::Ramp&, const Expr& e) {
    add(DialectRule::Accesses, e, "a ramp stands outside the index of a load or store");
    operands(e);
  }
  void check(const ir::Lane& n, const Expr& e) {
    const int64_t* lane = int_value(n.index);
    if (lane == nullptr || *lane < 0 || *lane >= n.vector->type.lanes) {
      add(DialectRule::Lanes, e, "its index is not a constant inside the vector");
    }
    operands(e);
  }
  void check(const ir::Load& n, const Expr& e) {
    index(n.buffer, n.indices.front());
    held(n.buffer, n.type, e);
  }
  void check(const ir::TextureLoad& n, const Expr& e) {
    texel(n.texture, n.type, e);
    operands(e);
  }
  void check(const ir::Select& n, const Expr& e) {
    if (!n.condition->type.is_scalar() && dialect_.vector_conditions == VectorConditions::Masks) {
      mask(n.condition, n.type.bits);
    } else {
      value(n.condition);
    }
    value(n.if_true);
    value(n.if_false);
    if (promotes(n.type)) {
      add(DialectRule::Promotions, e, "C promotes what it chooses from");
    }
  }
  void check(const ir::Cast& n, const Expr& e) {
    if (is_bools(n.type)) add(DialectRule::Types, e, "a cast to bool should be a comparison");
    const auto* inner = as<ir::Cast>(n.value);
    const bool rounds = inner != nullptr && dialect_.is_memory_alone(inner->type.element());
    if (!rounds) return value(n.value);
    const Type from = inner->value->type.element();
    if (n.type.element() != ir::kFloat32 || (from != ir::kFloat32 && from != Type::f(64))) {
      add(DialectRule::Types, e, "a rounding of 16 bits gives float32, of float32 or float64");
    }
    value(inner->value);
  }
  void check(const ir::Call& n, const Expr& e) {
    const bool is_printed =
        dialect_.defines_functions && is_defined(n.function) && n.type.element() == ir::kFloat32;
    if (!dialect_.functions.contains(n.function) && !is_printed) {
      add(DialectRule::Functions, e,
          fmt::format("there is no function {}", info(n.function).te_name));
    }
    operands(e);
  }
  void check(const ir::ForeignCall&, const Expr& e) {
    if (dialect_.foreign == ForeignCode::None) {
      add(DialectRule::Foreign, e, "no foreign code is called");
    }
    operands(e);
  }
  void check(const ir::Pointer&, const Expr& e) {
    if (dialect_.pointers == PointerModel::Logical && dialect_.foreign != ForeignCode::Symbols) {
      add(DialectRule::Foreign, e, "there are no pointers");
    }
    operands(e);
  }
  void check(const ir::Binary& n, const Expr& e) {
    binary(n, e);
    operands(e);
  }
  template <class Node>
  void check(const Node&, const Expr& e) {
    operands(e);
  }

  // Whether the language computes with values of this type in a wider type.
  bool promotes(Type type) const {
    return dialect_.integers == IntegerRules::C && type.is_integer() && type.is_scalar() &&
           type.bits < 32;
  }

  void operands(const Expr& e) {
    for_each_child(e, [&](const Expr& child) { value(child); });
  }

  void binary(const ir::Binary& n, const Expr& e) {
    const Type type = n.a->type;
    const bool floors = n.op == BinaryOp::FloorDiv || n.op == BinaryOp::FloorMod;
    const bool has_width = type.bits >= 32 || dialect_.integers == IntegerRules::Wraps;
    if (floors && !(type.is_int() && has_width)) {
      add(DialectRule::Divisions, e, "it is neither of int32 nor of int64");
    }
    if (is_comparison(n.op) || is_logical(n.op)) return;
    if (is_bools(type)) return add(DialectRule::Promotions, e, "there is no arithmetic of bools");
    const bool is_function = n.op == BinaryOp::Min || n.op == BinaryOp::Max;
    if (promotes(type) && !is_function) {
      add(DialectRule::Promotions, e, "C promotes its operands");
    }
  }

  // -- Masks, as wide as the elements that they choose.

  void mask(const Expr& e, int bits) {
    if (!masks_.emplace(e.get(), bits).second) return;
    if (!dialect_.vector_widths.contains(e->type.lanes)) {
      add(DialectRule::Widths, e, fmt::format("there are no vectors of {} lanes", e->type.lanes));
    }
    if (const auto* negation = as<ir::Not>(e)) return mask(negation->value, bits);
    const auto* n = as<ir::Binary>(e);
    if (n == nullptr || !(is_comparison(n->op) || is_logical(n->op))) {
      return add(DialectRule::Conditions, e,
                 "it is neither a comparison nor And, Or or Not of comparisons");
    }
    if (is_logical(n->op)) {
      mask(n->a, bits);
      mask(n->b, bits);
      return;
    }
    if (n->a->type.bits != bits) {
      add(DialectRule::Conditions, e,
          fmt::format("it compares {} bits and chooses {}", n->a->type.bits, bits));
    }
    value(n->a);
    value(n->b);
  }

  const Dialect& dialect_;
  SourceLocation location_;                                // for nodes without a location
  std::unordered_set<const ir::BufferNode*> of_steps_;     // memory and fragments of steps
  std::unordered_map<const ir::BufferNode*, int> widths_;  // lanes of the kernel's accesses
  std::unordered_set<Expr, RefHash, RefSame> values_;
  std::set<std::pair<const ir::ExprNode*, int>> masks_;
  std::set<std::pair<const void*, DialectRule>> reported_;
  std::vector<DialectViolation> found_;
};

}  // namespace

std::string_view to_string(DialectRule rule) {
  switch (rule) {
    case DialectRule::Widths:
      return "widths";
    case DialectRule::Lanes:
      return "lanes";
    case DialectRule::Accesses:
      return "accesses";
    case DialectRule::Types:
      return "types";
    case DialectRule::Memory:
      return "memory";
    case DialectRule::Texels:
      return "texels";
    case DialectRule::Promotions:
      return "promotions";
    case DialectRule::Divisions:
      return "divisions";
    case DialectRule::Conditions:
      return "conditions";
    case DialectRule::Shuffles:
      return "shuffles";
    case DialectRule::Fragments:
      return "fragments";
    case DialectRule::Copies:
      return "copies";
    case DialectRule::Fences:
      return "fences";
    case DialectRule::Functions:
      return "functions";
    case DialectRule::Foreign:
      return "foreign";
  }
  TL_UNREACHABLE();
}

std::vector<DialectViolation> find_violations(const ir::Program& program, const Dialect& dialect) {
  DialectVerifier verifier(dialect);
  for (const ir::Foreign& code : program.foreign) verifier.foreign(code);
  for (const ir::Kernel& kernel : program.kernels) verifier.kernel(kernel);
  return verifier.take();
}

void verify_dialect(const ir::Program& program, const Dialect& dialect) {
  const std::vector<DialectViolation> violations = find_violations(program, dialect);
  if (violations.empty()) return;
  std::string text = fmt::format(
      "internal error: program {} breaks the rules of {}; this is a bug in Texloom, please report "
      "it with the script that reproduces it",
      program.name, dialect.name);
  for (const DialectViolation& v : violations) {
    const std::string where =
        v.location.known() ? fmt::format(" ({}:{})", *v.location.file, v.location.line) : "";
    text += fmt::format("\n  [{}] {}: {}{}", to_string(v.rule), v.node, v.problem, where);
  }
  throw InternalError(text);
}

}  // namespace texloom::codegen
