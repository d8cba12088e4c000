#include "compile/te_program.h"

#include <algorithm>
#include <utility>

#include "lower/schedule/check_symbols.h"
#include "schedule/operation/compact_view.h"
#include "support/diagnostic.h"

namespace texloom::compile {

using namespace ir;  // the whole file works on IR nodes

namespace {

lower::SymbolArgument symbol_argument(const Expr& symbol, size_t position,
                                      const SourceLocation& where) {
  if (symbol->type.is_scalar()) return {symbol, position, symbol->type};
  fail(where, Code::BadArguments, "make it a variable of a scalar dtype, or pass a tensor",
       "the argument '{}' is passed by value, but has type {}, not a scalar type",
       as<Var>(symbol)->name, to_string(symbol->type));
}

// Removes the binding of the tensor from the list and returns it.
std::optional<DeclaredArgument> take_binding(std::vector<Binding>& bindings, const Tensor& tensor) {
  const auto found = std::find_if(bindings.begin(), bindings.end(),
                                  [&](const Binding& b) { return b.tensor->same_tensor(*tensor); });
  if (found == bindings.end()) return std::nullopt;
  DeclaredArgument buffer = std::move(found->buffer);
  bindings.erase(found);
  return buffer;
}

// Checks that strides and offsets hold for every array, and that their variables are used nowhere
// else.
void check_compact(const std::vector<DeclaredArgument>& buffers, Exprs symbols,
                   const SourceLocation& where) {
  schedule::CompactViews views(std::move(symbols));
  for (const DeclaredArgument& b : buffers) {
    const lower::BufferDeclaration& d = b.declaration;
    auto problem = views.add(d.shape, b.strides, b.offset);
    if (!problem && b.is_view() && (d.scope.texture || d.layout)) {
      problem = "has strides or an offset, but is in a texture or has a layout";
    }
    if (!problem) continue;
    fail(d.location.known() ? d.location : where, Code::BadBinding,
         "leave out strides and elem_offset, or give them new variables; to store elements in "
         "another order, use layout=",
         "the buffer '{}' of an argument {}", b.name, *problem);
  }
}

}  // namespace

lower::Lowering te_program(TeProgramDesc desc) {
  lower::Lowering lowering;
  lowering.schedule = std::move(desc.schedule);
  lowering.location = desc.location;
  lowering.target = std::move(desc.target);
  lowering.program.name = std::move(desc.name);
  std::vector<DeclaredArgument> declared;
  for (size_t i = 0; i < desc.arguments.size(); ++i) {
    if (const auto* symbol = std::get_if<Expr>(&desc.arguments[i])) {
      lowering.symbol_arguments.push_back(symbol_argument(*symbol, i, lowering.location));
      continue;
    }
    lower::Argument argument{std::get<Tensor>(desc.arguments[i]), {}};
    if (auto buffer = take_binding(desc.bindings, argument.tensor)) {
      argument.declaration = buffer->declaration;
      declared.push_back(*std::move(buffer));
    }
    lowering.arguments.push_back(std::move(argument));
  }
  if (!desc.bindings.empty()) {
    fail(lowering.location, Code::BadBinding, "bind tensors that are among the arguments",
         "binds has a buffer for the tensor '{}', which is not an argument",
         desc.bindings.front().tensor->name);
  }
  check_compact(declared, lower::symbols_of(lowering), lowering.location);
  return lowering;
}

}  // namespace texloom::compile
