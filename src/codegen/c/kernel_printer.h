// Prints one kernel as a whole translation unit in a C-like language.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "codegen/c/expr_printer.h"
#include "codegen/c/source_codes.h"
#include "codegen/c/stmt_printer.h"
#include "ir/program.h"

namespace texloom::codegen {

// Prints a source in order: lines that the language needs, functions of the prelude, foreign text,
// the kernel's function. A backend overrides spellings that differ in its language.
class KernelPrinter : protected StmtPrinter {
 public:
  PrintedKernel print();

 protected:
  // All arguments must outlive this object.
  KernelPrinter(ExprPrinter& exprs, const ir::Kernel& kernel,
                const std::vector<ir::Foreign>& foreign);

  const ir::Kernel& kernel() const { return kernel_; }
  // Whether the body uses the variable.
  bool is_used(const ir::Expr& var) const { return used_.contains(var.get()); }

  // The start of the source. Called when everything else has been printed.
  virtual std::string preamble() = 0;
  // The kernel's function up to its opening brace.
  virtual std::string signature(const std::string& name) = 0;
  // Prints lines before the declarations of the thread axes.
  virtual void begin_body() {}
  // The thread's index on this axis, as a value of the axis' type.
  virtual std::string axis_value(const ir::ThreadAxis& axis) = 0;

  // The declaration of an array, without its semicolon, with an alignment in bytes.
  virtual std::string aligned(const std::string& array, int64_t bytes) = 0;

  std::string declaration(const ir::Buffer& buffer) override;
  std::string_view pragma(UnrollHint hint) override;

 private:
  ExprPrinter& exprs_;
  const ir::Kernel& kernel_;
  const std::vector<ir::Foreign>& foreign_;
  std::unordered_set<const ir::ExprNode*> used_;  // variables of the body
};

}  // namespace texloom::codegen
