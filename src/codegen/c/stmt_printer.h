// Prints statements of legalized kernels in a C-like language.
#pragma once

#include <string>
#include <string_view>

#include "codegen/c/expr_printer.h"
#include "codegen/c/kernel_form.h"
#include "ir/stmt.h"

namespace texloom::codegen {

// Prints control flow and variables, one statement per line, indented. A backend overrides the
// constructs that its language spells differently.
class StmtPrinter {
 public:
  virtual ~StmtPrinter() = default;
  StmtPrinter(const StmtPrinter&) = delete;
  StmtPrinter& operator=(const StmtPrinter&) = delete;

 protected:
  // Both arguments must outlive this object.
  StmtPrinter(ExprPrinter& exprs, const KernelForm& form) : exprs_(exprs), form_(form) {}

  void stmt(const ir::Stmt& s);
  void line(std::string_view text);
  // All lines so far.
  const std::string& lines() const { return lines_; }

  virtual void store(const ir::Store& n) = 0;
  virtual void store_texel(const ir::TextureStore& n) = 0;
  virtual std::string barrier() = 0;
  // The value that a thread receives from another. Only for dialects with shuffles.
  virtual std::string shuffle(const ir::Shuffle& n) = 0;
  // The call that makes a step of fragments. Only for dialects with fragments.
  virtual std::string fragment_step(const ir::FragmentStep& n) = 0;
  // Only for dialects with asynchronous copies.
  virtual void async_copies(const ir::AsyncCopies& n) = 0;
  virtual std::string await_copies(const ir::AwaitCopies& n) = 0;
  // Whether the thread runs the body of the statement. Only for dialects with a fence of devices.
  virtual std::string is_in_last_block(const ir::LastBlock& n) = 0;
  // The declaration of an array that the kernel allocates.
  virtual std::string declaration(const ir::Buffer& buffer) = 0;
  // The line in front of a loop; not called for UnrollHint::None.
  virtual std::string_view pragma(UnrollHint hint) = 0;

 private:
  void define(const ir::Expr& var, const std::string& value);
  void block(const std::string& head, const ir::Stmt& body);

  ExprPrinter& exprs_;
  const KernelForm& form_;
  std::string lines_;
  int depth_ = 1;  // inside the kernel's function
};

}  // namespace texloom::codegen
