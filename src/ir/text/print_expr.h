// The text form of expressions, and of buffers where they are declared.
//
// A number after the name distinguishes variables of the same name. The text omits what the parser
// can infer: the type of a loop variable if it equals the extent's type, and the type of a load if
// it equals the buffer's element type.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "ir/program.h"
#include "ir/text/print_names.h"

namespace texloom::ir {

// fmt::format with arguments evaluated from left to right, which a function call does not
// guarantee: names get their numbers in the order of the text.
struct InOrder {
  template <class... Args>
  explicit InOrder(fmt::format_string<Args...> format, Args&&... args)
      : text(fmt::format(format, std::forward<Args>(args)...)) {}
  std::string text;
};

class ExprPrinter {
 public:
  // Takes names from the surrounding text, and adds new ones to it.
  ExprPrinter(PrintNames& names, PrintOptions options) : names_(names), options_(options) {}

  // `parent` is the precedence of the operator whose operand this is.
  std::string text(const Expr& e, int parent = 0);
  // Requires an axis with a domain.
  std::string iter_var(const IterVarNode& axis);
  // "A: global float32[8]"
  std::string declared(const Buffer& b);

 protected:
  // "global float32[8]"
  std::string declaration(const BufferNode& b);
  std::string list(const Exprs& exprs);
  // A variable where it is bound. `expected` is the type that the parser assumes.
  std::string index(const Expr& var, Type expected);
  std::string name(const Buffer& b) { return names_.name(b.get(), b->name); }
  std::string location(const SourceLocation& where) const { return location_text(where, options_); }

 private:
  std::string spelled(const IntImm& n);
  std::string spelled(const FloatImm& n);
  std::string spelled(const Var& n);
  std::string spelled(const Binary& n);
  std::string spelled(const Not& n);
  std::string spelled(const Select& n);
  std::string spelled(const Call& n);
  std::string spelled(const Fma& n);
  std::string spelled(const Ramp& n);
  std::string spelled(const Broadcast& n);
  std::string spelled(const Lane& n);
  std::string spelled(const Pack& n);
  std::string spelled(const TensorRead& n);
  std::string spelled(const Tuple& n);
  std::string spelled(const Load& n);
  std::string spelled(const TextureLoad& n);
  std::string spelled(const ForeignCall& n);
  std::string spelled(const Pointer& n);
  std::string spelled(const Cast& n);
  std::string spelled(const Reduce& n);
  std::string binary(const Binary& n, int parent);
  // One value, or several as a tuple.
  std::string values(const Exprs& list_of_values);
  std::string tensor(const TensorNode& t);

  PrintNames& names_;
  PrintOptions options_;
};

}  // namespace texloom::ir
