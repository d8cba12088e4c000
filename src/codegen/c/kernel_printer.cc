#include "codegen/c/kernel_printer.h"

#include <fmt/format.h>

#include "ir/visit.h"

namespace texloom::codegen {

KernelPrinter::KernelPrinter(ExprPrinter& exprs, const ir::Kernel& kernel,
                             const std::vector<ir::Foreign>& foreign)
    : StmtPrinter(exprs, exprs.form()), exprs_(exprs), kernel_(kernel), foreign_(foreign) {
  ir::walk(kernel_.body, [&](const ir::Var& v) { used_.insert(&v); });
}

PrintedKernel KernelPrinter::print() {
  ir::walk(kernel_.body, [&](const ir::ForeignCall& n) { exprs_.names.keep_free(n.function); });
  const std::string name = exprs_.names.of(&kernel_, kernel_.name);
  const std::string head = signature(name);
  begin_body();
  // Declares only axes that are used, because compilers warn about unused variables.
  for (const ir::ThreadAxis& axis : kernel_.axes) {
    if (!is_used(axis.var)) continue;
    line(fmt::format("const {} {} = {};", value_type_name(axis.var->type), exprs_.text(axis.var),
                     axis_value(axis)));
  }
  stmt(kernel_.body);
  std::string source = preamble() + exprs_.prelude.text();
  if (exprs_.calls_foreign) {
    for (const ir::Foreign& each : foreign_) source += each.text + "\n\n";
  }
  return {name, source + head + lines() + "}\n"};
}

std::string KernelPrinter::declaration(const ir::Buffer& buffer) {
  const bool is_shared = buffer->memory == ir::MemoryScope::Shared;
  const std::string space =
      is_shared ? fmt::format("{} ", exprs_.address_space(buffer->memory)) : "";
  const std::string name = exprs_.name(buffer), type = exprs_.memory_type(buffer->type);
  const int64_t count = buffer->layout.col_count();
  const auto [lanes, widest] = exprs_.form().array(buffer);
  if (lanes > 1) {
    return fmt::format("{}{}{} {}[{}];", space, type, lanes, name, (count + lanes - 1) / lanes);
  }
  const std::string array = fmt::format("{}{} {}[{}]", space, type, name, count);
  return (widest > 1 ? aligned(array, widest * buffer->type.bytes()) : array) + ";";
}

std::string_view KernelPrinter::pragma(UnrollHint hint) {
  return hint == UnrollHint::Unroll ? "#pragma unroll" : "#pragma unroll 1";
}

}  // namespace texloom::codegen
