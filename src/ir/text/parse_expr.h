// Parses expressions of the text form, for ir/text/parse.h.
#pragma once

#include "ir/build/type_rules.h"
#include "ir/text/text_names.h"
#include "ir/text/text_reader.h"
#include "ir/verify/verify_types.h"

namespace texloom::ir {

class ExprParser {
 public:
  ExprParser(TextReader& reader, TextNames& names) : reader_(reader), names_(names) {}

  // Sets how the program's stage accesses memory.
  void set_form(AccessForm form) { form_ = form; }
  // From now on, a name with indices in brackets is a tensor of stage te, not a buffer.
  void read_tensors() { reads_tensors_ = true; }

  Expr expr() { return infix(1); }
  // Expressions up to and including `close`; there may be none.
  Exprs list_until(std::string_view close);
  // One expression, or the operands of "tuple(x, y)".
  Exprs values();
  // The number in "#1" after the name of an operation; 0 if there is none.
  size_t output_number();
  // "x=column, y=row"
  void texel(Expr& x, Expr& y);
  // Fails if a node breaks a typing rule.
  template <class Node>
  void check(const Token& at, const Node& node) const {
    const std::string problem = type_problem(node, form_);
    if (!problem.empty()) reader_.wrong(at, "make the types fit", "{}", problem);
  }
  // "k < 16" or "k from 2 extent 16", with its location: binds k.
  IterVar axis(IterKind kind);
  // Axes with different names, up to and including `close`.
  std::vector<IterVar> axes_until(std::string_view close, IterKind kind);
  // An extent or a first index: a constant that fits int32, or an expression of variables.
  Expr domain(std::string_view what);
  // Fails at the token where a typing rule is broken.
  void require(const Token& at, std::string_view help, const TypeProblem& problem) const;

 private:
  Expr infix(int loosest);
  Expr prefix();
  Expr postfix();
  Expr primary();
  Expr negation();
  Expr lane(Expr vector);
  Expr load(const NamedToken& buffer);
  Expr tensor_read(const NamedToken& name);

  // Constants (parse_constant.cc).
  bool at_number(size_t ahead = 0) const;
  Expr literal(Type integers, Type floats);
  Expr integer_constant(const Token& digits, bool negative, Type type);

  Expr call(const Token& name);
  // The node whose text begins with the word `name`; null if the stage has no such node.
  Expr node(const Token& name, ExprKind kind);
  Expr conversion(const Token& name, Type type);
  Expr broadcast(const Token& name, int lanes);
  Expr select(const Token& name);
  Expr fma(const Token& name);
  Expr ramp(const Token& name);
  Expr pack(const Token& name);
  Expr binary(const Token& at, BinaryOp op, Expr a, Expr b);
  Expr intrinsic(const Token& name, const IntrinsicInfo& info);
  Expr texture_load(const Token& name);
  Expr foreign_call(const Token& name);
  Expr pointer(const Token& name);
  Expr reduce(const Token& name);
  Reducer reducer(const Token& name);
  Exprs reducer_values(const Token& name, const Reducer& reducer);

  // Reads as many arguments as the function takes.
  Exprs arguments(const Token& name, size_t count);

  TextReader& reader_;
  TextNames& names_;
  AccessForm form_;
  bool reads_tensors_ = false;
  int depth_ = 0;  // of enclosing brackets and negations
};

}  // namespace texloom::ir
