#include "validation/rounding_bound.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ir/accesses.h"
#include "ir/analysis/fragments.h"
#include "ir/equal.h"
#include "ir/interpret/value.h"
#include "ir/visit.h"
#include "validation/unscheduled.h"
#include "validation/versions.h"

namespace texloom::validation {

using namespace ir;  // the whole file works on IR nodes

namespace {

int mantissa_bits(Type type) {
  if (type.code == TypeCode::BFloat) return 8;
  return type.bits == 16 ? 11 : type.bits == 32 ? 24 : 53;
}

// The largest relative error of a result of this type.
double unit_of(Type type) { return type.is_float() ? std::ldexp(1.0, -mantissa_bits(type)) : 0; }

double largest(Type type) {
  if (type.code == TypeCode::Float && type.bits == 16) return 65504;
  return type.bits == 64 ? 1.7e308 : 3.3e38;
}

bool reads_floats(const Expr& e) {
  return any_of(e, [](const Load& n) { return n.type.is_float(); });
}

Expr sum_of(const Exprs& terms) {
  Expr sum = terms.front();
  for (size_t i = 1; i < terms.size(); ++i) sum = sum + terms[i];
  return sum;
}

// Whether the operation yields a float, and either rounds it or is not smooth.
bool is_function(const Expr& e) {
  if (!e->type.is_float()) return false;
  if (const auto* call = as<Call>(e)) return call->function != Intrinsic::Abs;
  const auto* binary = as<Binary>(e);
  return binary != nullptr && binary->op == BinaryOp::Div;
}

// For results that nothing reads, replaces their last operation by its operands: equal operands
// give equal values, whatever the operation is. If the operands may differ, there is no bound.
Stmt without_last_functions(const Stmt& body) {
  std::set<const BufferNode*> read;
  for_each_access(body, [&](const BufferAccess& access) {
    if (access.reads()) read.insert(access.buffer.get());
  });
  return rewrite(body, [&](const Store& n, const Stmt& self) {
    if (read.contains(n.buffer.get()) || !is_function(n.value)) return self;
    const auto* call = as<Call>(n.value);
    const auto* quotient = as<Binary>(n.value);
    const Expr operands = call != nullptr ? sum_of(call->arguments) : quotient->a + quotient->b;
    return make_store(n.buffer, n.indices, operands, n.location);
  });
}

// Rewrites a program to compute its magnitudes, and records properties of the program.
class Magnitudes {
 public:
  explicit Magnitudes(const Program& program) : program_(program) {
    const Stmt body = without_last_functions(program.body);
    polynomial_ = equal(body, program.body);
    // All results must be visible outside the loops, so temporaries become parameters, too.
    program_.params.insert(program_.params.end(), program.temporaries.begin(),
                           program.temporaries.end());
    program_.temporaries.clear();
    program_.body = rewrite(
        body,
        [&](const Allocate& n, const Stmt& self) {
          if (n.buffer->memory != MemoryScope::Global) return self;
          program_.params.push_back(n.buffer);
          return n.body;
        },
        [&](const Binary& n, const Expr& self) { return binary(n, self); },
        [&](const FloatImm& n, const Expr& self) { return constant(n, self); },
        [&](const Cast& n, const Expr& self) { return cast(n, self); },
        [&](const Select& n, const Expr& self) {
          return n.type.is_float() && reads_floats(n.condition) ? n.if_true + n.if_false : self;
        },
        [&](const Call&, const Expr& self) { return is_function(self) ? unknown(self) : self; });
    walk(
        body, [&](const If& n) { decides(n.condition); },
        [&](const Select& n) { decides(n.condition); });
    for_each_access(body, [&](const BufferAccess& access) {
      for (const Expr& index : access.indices) decides(index);
    });
  }

  const Program& program() const { return program_; }
  bool is_integral() const { return integral_; }
  // Whether no value decides a condition or an index, and all operations on values are sums and
  // products.
  bool is_polynomial() const { return polynomial_; }

 private:
  void decides(const Expr& e) { polynomial_ = polynomial_ && !reads_floats(e); }

  Expr binary(const Binary& n, const Expr& self) {
    if (!n.a->type.is_float()) return self;
    switch (n.op) {
      case BinaryOp::Add:
      case BinaryOp::Mul:
        return self;
      case BinaryOp::Sub:
      case BinaryOp::Min:
      case BinaryOp::Max:
        return n.a + n.b;
      default:
        return self->type.is_bool() ? self : unknown(self);
    }
  }
  // A constant at the limit of its type counts as 0, because such a constant is the identity of min
  // or max and does not reach a result.
  Expr constant(const FloatImm& n, const Expr& self) {
    if (std::abs(n.value) >= largest(n.type)) return make_float(0, n.type);
    integral_ = integral_ && n.value == std::trunc(n.value);
    return n.value < 0 ? make_float(-n.value, n.type) : self;
  }
  Expr cast(const Cast& n, const Expr& self) {
    if (n.type.is_float()) {
      return n.value->type.is_float() ? self : make_call(Intrinsic::Abs, {self});
    }
    if (n.value->type.is_float()) polynomial_ = false;
    return self;
  }
  Expr unknown(const Expr& self) {
    integral_ = polynomial_ = false;
    return self;
  }

  Program program_;
  bool integral_ = true, polynomial_ = true;
};

// The sum of the largest relative errors of an expression's operations, or of a statement's.
template <class Tree>
double error_of(const Tree& tree) {
  double error = 0;
  const auto note_operation = [&](const auto& n) { error += unit_of(n.type); };
  walk(
      tree, [&](const Binary& n) { note_operation(n); }, [&](const Fma& n) { note_operation(n); },
      [&](const Cast& n) { note_operation(n); });
  return error;
}

// A step of a product adds `kFragmentSide` products to each element, in the type of the sums. GPUs
// truncate sums, with twice the error of rounding (M. Fasi et al., Numerical behavior of NVIDIA
// tensor cores, PeerJ Computer Science 7, 2021).
double error_of(const FragmentStep& step) {
  if (step.op != FragmentOp::Mma) return 0;
  return kFragmentSide * 3 * unit_of(step.operands.front()->type);
}

// An upper bound on the relative errors that add up on the way to any element: those of all stages
// together. A stage that only moves values has none; in others, a result may be rounded when it is
// stored, and a reduction once more where its parts are combined.
double relative_error(const schedule::Schedule& schedule, const Exprs& symbols,
                      const Invocation& call) {
  double sum = 0, of_steps = 0;
  const auto at = [&](const Expr& extent) {
    return static_cast<double>(at_call(extent, symbols, call));
  };
  for (const schedule::StageId id : schedule.order()) {
    const schedule::Operation& op = *schedule.stage(id).origin;
    if (op.is_placeholder()) continue;
    if (op.is_scan()) {
      // Counts all steps, without distinguishing scans.
      sum += of_steps * at(op.scan_axis->extent);
      continue;
    }
    double own = 0;
    if (op.is_extern()) {
      own = error_of(op.statement);
      walk_statements(op.statement, [&](const FragmentStep& n) { own += error_of(n); });
    } else {
      own = error_of(op.body);
      walk(op.body, [&](const Reduce& n) {
        for (const Expr& result : n.reducer.results) own += error_of(result);
      });
    }
    if (own > 0) {
      double stored = 0;
      for (const Type type : op.types) stored = std::max(stored, unit_of(type));
      own += 2 * stored;
    }
    for (const IterVar& axis : op.reduce_axes) own *= at(axis->extent);
    if (op.is_extern()) {
      walk(
          op.statement, [&](const For& n) { own *= at(n.extent); },
          [&](const While&) { own = INFINITY; });
    }
    (schedule.stage(id).scan < 0 ? sum : of_steps) += own;
  }
  return sum;
}

struct Elements {
  Type type;
  std::vector<double> values;  // 0 for integers
};

Elements decoded(Type type, const Bytes& bytes) {
  Elements elements{type, {}};
  const auto size = static_cast<size_t>(type.bytes());
  for (size_t at = 0; at < bytes.size(); at += size) {
    const double value = type.is_float() ? decode(type, bytes.data() + at).number : 0;
    elements.values.push_back(value);
  }
  return elements;
}

}  // namespace

std::optional<std::vector<std::vector<double>>> rounding_bound(const lower::Lowering& lowering,
                                                               const Invocation& call,
                                                               int64_t max_steps) {
  const Magnitudes magnitudes(unscheduled_program(lowering));
  const Program& program = magnitudes.program();
  bool exact = magnitudes.is_integral();
  Invocation absolute = call;
  absolute.inputs.resize(program.params.size());
  for (size_t i = 0; i < absolute.inputs.size(); ++i) {
    const Type type = program.params[i]->type;
    std::optional<Bytes>& input = absolute.inputs[i];
    if (!input || !type.is_float()) continue;
    const Elements elements = decoded(type, *input);
    std::byte* next = input->data();
    for (const double value : elements.values) {
      exact = exact && value == std::trunc(value);
      encode(type, scalar_of(std::abs(value)), next);
      next += type.bytes();
    }
  }
  const Version version = run(program, absolute, max_steps);
  std::vector<std::vector<double>> bounds;
  for (size_t i = 0; i < version.arrays.size(); ++i) {
    const Type type = program.params[i]->type;
    const Elements elements = decoded(type, version.arrays[i]);
    for (const double value : elements.values) {
      exact = exact && value < std::ldexp(1.0, mantissa_bits(type));
    }
    if (i < call.inputs.size()) bounds.push_back(elements.values);
  }
  if (!exact && !magnitudes.is_polynomial()) return std::nullopt;
  const double sum = relative_error(lowering.schedule, program.symbols, call);
  if (!exact && sum >= 1) return std::nullopt;
  for (std::vector<double>& bound : bounds) {
    for (double& value : bound) value = exact ? 0 : 2 * sum / (1 - sum) * value;
  }
  return bounds;
}

}  // namespace texloom::validation
