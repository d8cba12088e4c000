#include "ir/interpret/batches/code.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "ir/evaluation.h"
#include "ir/interpret/value.h"
#include "ir/visit.h"

namespace texloom::ir::batch {
namespace {

// A statement or an expression that has no instructions.
struct Unsuitable {};

bool is_known_shift(const Binary& n) {
  const std::int64_t* by = int_value(n.b);
  return by != nullptr && *by >= 0 && *by < n.type.bits;
}

class Compiler {
 public:
  explicit Compiler(Code& code) : code_(code), blocks_{&code.steps} {}

  void nest(const Stmt& root) {
    Stmt inner = root;
    while (const auto* loop = as_for(inner)) {
      axes_.push_back(loop->var);
      code_.extents.push_back(extent_of(*loop));
      code_.axes.push_back(new_register(0, false));
      variables_[loop->var.get()] = code_.axes.back();
      inner = loop->body;
    }
    statement(inner, kNone);
  }

 private:
  struct Known {
    int depth = 0;             // the number of loops around the instruction
    bool is_volatile = false;  // it depends on an element that the nest stores
  };
  using Key = std::pair<const ExprNode*, Register>;

  static const For* as_for(const Stmt& s) {
    return s->kind == StmtKind::For ? static_cast<const For*>(s.get()) : nullptr;
  }

  static std::int64_t extent_of(const For& loop) {
    const std::int64_t* extent = int_value(loop.extent);
    if (extent == nullptr || *extent < 1 || loop.loop != LoopKind::Serial) throw Unsuitable();
    return *extent;
  }

  int depth() const { return static_cast<int>(blocks_.size()) - 1; }

  Register new_register(int own_depth, bool is_uniform, bool is_volatile = false) {
    code_.is_uniform.push_back(is_uniform);
    known_.push_back({own_depth, is_volatile});
    return static_cast<Register>(known_.size()) - 1;
  }

  Register constant(Cell value) {
    const Register made = new_register(0, true);
    code_.constants.emplace_back(made, value);
    return made;
  }

  // Puts the instruction before all loops that it does not depend on.
  Register emit(Instruction made, bool is_volatile = false) {
    bool is_uniform = made.operation != Operation::LoadOwn;
    int own_depth = is_volatile ? depth() : 0;
    std::vector<Register> used = made.operands;
    if (made.guard != kNone) used.push_back(made.guard);
    for (const Register each : used) {
      const Known& known = known_[static_cast<std::size_t>(each)];
      own_depth = std::max(own_depth, known.depth);
      is_volatile = is_volatile || known.is_volatile;
      is_uniform = is_uniform && code_.is_uniform[static_cast<std::size_t>(each)];
    }
    if (is_volatile) own_depth = depth();
    made.result = new_register(own_depth, is_uniform, is_volatile);
    const Register result = made.result;
    blocks_[static_cast<std::size_t>(own_depth)]->emplace_back(std::move(made));
    return result;
  }

  Register combined(Operation operation, Register a, Register b) {
    return emit({.operation = operation, .type = kBool, .operands = {a, b}});
  }
  Register guard_of(Register outer, Register condition) {
    return outer == kNone ? condition : combined(Operation::And, outer, condition);
  }
  Register guard_of_other(Register outer, Register condition) {
    if (outer != kNone) return combined(Operation::AndNot, outer, condition);
    return emit({.operation = Operation::Not, .type = kBool, .operands = {condition}});
  }

  // -- Statements

  void statement(const Stmt& s, Register guard) {
    visit(
        s, [&](const Store& n) { store(n, guard); }, [&](const For& n) { loop(n, guard); },
        [&](const If& n) { statement(n.then, guard_of(guard, value(n.condition, guard))); },
        [&](const Seq& n) {
          for (const Stmt& each : n.statements) statement(each, guard);
        },
        [&](const Let& n) {
          variables_[n.var.get()] = value(n.value, guard);
          statement(n.body, guard);
        },
        [](const auto&) { throw Unsuitable(); });
  }

  void store(const Store& n, Register guard) {
    if (!is_own(n.indices) || n.value->type != n.buffer->type) throw Unsuitable();
    const BufferNode* buffer = n.buffer.get();
    if (buffer->is_symbolic() || buffer->shape != code_.extents) throw Unsuitable();
    const bool is_stored = is_stored_to(*buffer);
    if (!is_stored && (guard != kNone || depth() > 0)) throw Unsuitable();
    blocks_.back()->emplace_back(StoreOwn{buffer, value(n.value, guard), guard});
    if (!is_stored) code_.stored.push_back(buffer);
    forget_volatile();
  }

  // What depends on an element of a stored array is computed again.
  void forget_volatile() {
    std::erase_if(computed_, [&](const auto& each) {
      return known_[static_cast<std::size_t>(each.second)].is_volatile;
    });
  }

  void loop(const For& n, Register guard) {
    auto made = std::make_unique<Loop>();
    made->extent = extent_of(n);
    made->counter = new_register(depth() + 1, true);
    variables_[n.var.get()] = made->counter;
    forget_volatile();  // an iteration reads what the one before it stored
    blocks_.push_back(&made->steps);
    statement(n.body, guard);
    const int inner = depth();
    blocks_.pop_back();
    std::erase_if(computed_, [&](const auto& each) {
      return known_[static_cast<std::size_t>(each.second)].depth >= inner;
    });
    blocks_.back()->emplace_back(std::move(made));
  }

  bool is_own(const Exprs& indices) const {
    return std::ranges::equal(indices, axes_,
                              [](const Expr& a, const Expr& b) { return a.same_as(b); });
  }
  bool is_stored_to(const BufferNode& buffer) const {
    return std::ranges::find(code_.stored, &buffer) != code_.stored.end();
  }

  // -- Expressions

  // Whether an evaluation may have no result.
  bool may_fail(const Expr& e) {
    if (const auto found = fails_.find(e.get()); found != fails_.end()) return found->second;
    bool fails = ir::may_fail(e);
    if (const auto* n = as<Binary>(e)) {
      const bool is_shift = n->op == BinaryOp::Shl || n->op == BinaryOp::Shr;
      fails = fails || (is_shift && !is_known_shift(*n));
    }
    if (const auto* n = as<Cast>(e))
      fails = fails || (n->value->type.is_float() && e->type.is_integer());
    for_each_child(e, [&](const Expr& child) { fails = may_fail(child) || fails; });
    return fails_[e.get()] = fails;
  }

  Register value(const Expr& e, Register guard) {
    if (!e->type.is_scalar()) throw Unsuitable();
    if (const auto* n = as<IntImm>(e)) return constant({.integer = n->value});
    if (const auto* n = as<FloatImm>(e)) {
      Cell cell;
      cell.number = rounded(e->type, n->value);
      return constant(cell);
    }
    if (e->kind == ExprKind::Var) {
      const auto found = variables_.find(e.get());
      if (found == variables_.end()) throw Unsuitable();
      return found->second;
    }
    const Register own_guard = may_fail(e) ? guard : kNone;
    const Key key(e.get(), own_guard);
    if (const auto found = computed_.find(key); found != computed_.end()) return found->second;
    const Register made = computed(e, own_guard);
    computed_[key] = made;
    return made;
  }

  std::vector<Register> values(const Exprs& list, Register guard) {
    std::vector<Register> made;
    for (const Expr& each : list) made.push_back(value(each, guard));
    return made;
  }

  Register computed(const Expr& e, Register guard) {
    Instruction made{.type = e->type, .guard = guard};
    return visit(
        e,
        [&](const Binary& n) {
          if (is_logical(n.op)) return logical(n, guard);
          made.operation = Operation::Binary;
          made.operand_type = n.a->type;
          made.op = n.op;
          made.operands = values({n.a, n.b}, guard);
          return emit(std::move(made));
        },
        [&](const Not& n) {
          made.operation = Operation::Not;
          made.operands = {value(n.value, guard)};
          return emit(std::move(made));
        },
        [&](const Select& n) {
          const Register condition = value(n.condition, guard);
          const bool fails = may_fail(n.if_true) || may_fail(n.if_false);
          made.operation = Operation::Select;
          made.operands = {condition, value(n.if_true, fails ? guard_of(guard, condition) : kNone),
                           value(n.if_false, fails ? guard_of_other(guard, condition) : kNone)};
          return emit(std::move(made));
        },
        [&](const Cast& n) {
          made.operation = Operation::Cast;
          made.operand_type = n.value->type;
          made.operands = {value(n.value, guard)};
          return emit(std::move(made));
        },
        [&](const Call& n) {
          made.operation = Operation::Call;
          made.function = n.function;
          made.operands = values(n.arguments, guard);
          return emit(std::move(made));
        },
        [&](const Fma& n) {
          made.operation = Operation::Fma;
          made.operands = values({n.a, n.b, n.c}, guard);
          return emit(std::move(made));
        },
        [&](const Load& n) {
          made.buffer = n.buffer.get();
          if (is_stored_to(*n.buffer)) {
            if (!is_own(n.indices)) throw Unsuitable();
            made.operation = Operation::LoadOwn;
            return emit(std::move(made), true);
          }
          if (n.buffer->is_symbolic() || n.indices.size() != n.buffer->shape.size())
            throw Unsuitable();
          made.operation = Operation::Load;
          made.operands = values(n.indices, guard);
          return emit(std::move(made));
        },
        [](const auto&) -> Register { throw Unsuitable(); });
  }

  Register logical(const Binary& n, Register guard) {
    const Register a = value(n.a, guard);
    const bool is_and = n.op == BinaryOp::And;
    Register open = kNone;
    if (may_fail(n.b)) open = is_and ? guard_of(guard, a) : guard_of_other(guard, a);
    return combined(is_and ? Operation::And : Operation::Or, a, value(n.b, open));
  }

  Code& code_;
  std::vector<std::vector<Step>*> blocks_;  // the code that is open: of the nest, then of its loops
  Exprs axes_;
  std::vector<Known> known_;  // by register
  std::unordered_map<const ExprNode*, Register> variables_;
  std::unordered_map<const ExprNode*, bool> fails_;
  std::map<Key, Register> computed_;
};

}  // namespace

std::optional<Code> code_of(const Stmt& nest) {
  if (nest->kind != StmtKind::Nest) return std::nullopt;
  Code code;
  try {
    Compiler(code).nest(static_cast<const Nest&>(*nest).body);
  } catch (const Unsuitable&) {
    return std::nullopt;
  }
  return code;
}

}  // namespace texloom::ir::batch
