// What the names of one text stand for: for the parser of the text form (ir/text/parse.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/buffer.h"
#include "ir/expr.h"
#include "ir/text/text_reader.h"

namespace texloom::ir {

// A buffer as its declaration has it.
struct Declaration {
  Type type;
  std::vector<int64_t> shape;
  Exprs extents;  // symbolic ones, instead
  MemoryScope memory = MemoryScope::Global;
  Layout layout;
  TextureOrigin origin;
};

// A reducer as its declaration has it. Reductions by it name a variable for each parameter.
struct DeclaredReducer {
  Reducer reducer;
  Exprs parameters;
};

// One name is one variable or buffer in the whole text, as the printer numbers them: what is bound
// in two places is one node. Where a name may be used, the verifier says. Of stage te, each
// operation has variables of its own, which hide those of the text around.
class TextNames {
 public:
  TextNames() = default;
  // Names inside a part of a text; `outer` stays where it is.
  explicit TextNames(const TextNames* outer) : outer_(outer) {}

  // The variable that is bound here, for the first time or again.
  Expr bind(const TextReader& reader, const NamedToken& name, Type type);
  // The buffer that is declared here. Fails with BadText where no program may have such a buffer.
  Buffer declare(const TextReader& reader, const NamedToken& name, const Declaration& declaration,
                 SourceLocation location);

  Expr variable(const TextReader& reader, const NamedToken& name) const;
  Buffer buffer(const TextReader& reader, const NamedToken& name) const;

  // Of stage te. Each name once; names of the three kinds do not meet.
  // The outputs of the operation of this name.
  void add_tensors(const TextReader& reader, const NamedToken& name,
                   const std::vector<Tensor>& outputs);
  void add_reducer(const TextReader& reader, const NamedToken& name,
                   const DeclaredReducer& reducer);
  Tensor tensor(const TextReader& reader, const NamedToken& name, size_t output) const;
  const DeclaredReducer& reducer(const TextReader& reader, const NamedToken& name) const;

  // Null where there is none.
  Expr find_variable(const std::string& name) const;
  Buffer find_buffer(const std::string& name) const;

 private:
  std::map<std::string, Expr> variables_;
  std::map<std::string, Buffer> buffers_;
  std::map<std::string, std::vector<Tensor>> tensors_;
  std::map<std::string, DeclaredReducer> reducers_;
  const TextNames* outer_ = nullptr;
};

}  // namespace texloom::ir
