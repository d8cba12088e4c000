// Evaluates expressions of the IR.
#pragma once

#include <unordered_map>

#include "ir/interpret/access.h"
#include "ir/visit.h"

namespace texloom::ir {

// Evaluates the expressions of one runner: a thread of a kernel, or the code of a program without
// kernels.
//
// An undefined operand makes a result undefined, and so does an undefined condition of a Select.
// Operations that the IR leaves open (a shift out of range, a float that does not fit its integer
// type) give undefined results; an integer division by zero is reported.
class Evaluator {
 public:
  Evaluator(Runner& runner, View& view) : runner_(runner), accesses_(runner, view) {}

  void bind(const Expr& var, const Value& value) { variables_[var.get()] = value; }
  void bind(const Expr& var, int64_t value);
  // The value of a variable, which must be bound.
  const Value& value_of(const Expr& var) const;

  Value evaluate(const Expr& e, Mask mask = kAllLanes);
  // Evaluates an expression on which control flow depends (a condition, an extent, the offset of a
  // shuffle), and reports an undefined value: `effect` is as for Runner::report_undefined.
  int64_t evaluate_decision(const Expr& e, const void* node, const SourceLocation& line,
                            const char* effect);

  // A store whose operands are evaluated.
  struct Copy {
    const Store* store;
    std::vector<Value> indices;
    Value value;
  };
  // What the store writes is undefined until it is finished.
  Copy begin_copy(const Store& n);
  void finish(const Copy& copy) { accesses_.store(*copy.store, copy.indices, copy.value); }
  void store(const Store& n);
  void store(const TextureStore& n);
  // Makes a step of op Mma, as if the thread had all elements of the fragments alone.
  void multiply(const FragmentStep& n);

 private:
  std::vector<Value> evaluate(const Exprs& list, Mask mask = kAllLanes);
  // The element of an expression that is no vector: most are none, so it is worth its own way.
  Scalar scalar(const Expr& e);
  Value logical(const Binary& n, Mask mask);
  Value select(const Select& n, Mask mask);
  Value pack(const Pack& n, Mask mask);
  // One lane of an operation, or of a vector.
  Scalar binary(const Binary& n, Scalar x, Scalar y, int lane);
  Scalar cast(const Cast& n, Scalar x, int lane);
  Scalar lane(const Lane& n);

  Runner& runner_;
  Accesses accesses_;
  std::unordered_map<const ExprNode*, Value> variables_;
};

}  // namespace texloom::ir
