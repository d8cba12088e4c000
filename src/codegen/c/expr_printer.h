// Prints expressions of legalized kernels in a C-like language.
#pragma once

#include <string>
#include <string_view>

#include "codegen/c/kernel_form.h"
#include "codegen/c/names.h"
#include "codegen/c/prelude.h"
#include "codegen/c/spelling.h"
#include "codegen/legalize/dialect.h"
#include "ir/expr.h"

namespace texloom::codegen {

// Prints expressions in the syntax that C-like languages share; a backend overrides spellings that
// differ in its language. Also records the names and functions of the prelude that a source needs.
class ExprPrinter {
 public:
  virtual ~ExprPrinter() = default;
  ExprPrinter(const ExprPrinter&) = delete;
  ExprPrinter& operator=(const ExprPrinter&) = delete;

  // The text of `e`, in parentheses if `e` binds less tightly than `parent`.
  std::string text(const ir::Expr& e, Precedence parent = Precedence::Conditional);
  std::string name(const ir::Buffer& buffer) { return names.of(buffer.get(), buffer->name); }
  const KernelForm& form() const { return form_; }
  // An lvalue for the array element, or for the aligned vector, at the index.
  std::string place(const ir::Buffer& buffer, const ir::Expr& index);
  // Whether place() can spell the access as an lvalue.
  bool has_place(const ir::Buffer& buffer, const ir::Expr& index) const;
  // Whether the language supports the buffer's element type only in memory.
  bool is_memory_alone(const ir::Buffer& buffer) const;
  // Whether memory holds the bits of this element type, which the language lacks, as uint16.
  bool is_held_as_bits(ir::Type element) const;
  // The element type of an array in memory: memory_type_name(), or the type of the bits.
  std::string memory_type(ir::Type element) const;
  // "__global" or "device", "__local" or "threadgroup", ...
  virtual std::string_view address_space(ir::MemoryScope scope) const = 0;

  Names names;
  Prelude prelude;
  bool calls_foreign = false;

 protected:
  // The arguments must outlive this object.
  ExprPrinter(const ReservedWords& reserved, const KernelForm& form, const Dialect& dialect)
      : names(reserved), form_(form), dialect_(dialect) {}

  const Dialect& dialect() const { return dialect_; }

  static std::string wrap(std::string inner, Precedence own, Precedence parent);
  std::string list(const ir::Exprs& exprs);

  // The type of the elements of an aligned vector in memory.
  virtual std::string vector_element(const ir::Buffer& buffer) const {
    return memory_type(buffer->type);
  }
  // Called with the type of each expression that is printed.
  virtual void see(ir::Type type) = 0;
  virtual std::string constant(const ir::FloatImm& n) const { return literal(n); }
  // A vector of these elements; a single element fills all lanes.
  virtual std::string vector(ir::Type type, const ir::Exprs& elements, Precedence parent) = 0;
  virtual std::string cast(const ir::Cast& n, Precedence parent) = 0;
  virtual std::string call(const ir::Call& n) = 0;
  virtual std::string load(const ir::Load& n) = 0;
  virtual std::string texel(const ir::TextureLoad& n) = 0;

 private:
  std::string binary(const ir::Binary& n, Precedence parent);
  std::string select(const ir::Select& n, Precedence parent);
  std::string select_lanes(const ir::Select& n);
  std::string pointer(const ir::Pointer& n);

  const KernelForm& form_;
  const Dialect& dialect_;
};

}  // namespace texloom::codegen
