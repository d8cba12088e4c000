// Resolves the names of a text, for the parser of the text form (ir/text/parse.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/buffer.h"
#include "ir/expr.h"
#include "ir/text/text_reader.h"

namespace texloom::ir {

// A declared buffer.
struct Declaration {
  Type type;
  std::vector<int64_t> shape;
  Exprs extents;  // used instead of `shape` if the extents are symbolic
  MemoryScope memory = MemoryScope::Global;
  Layout layout;
  TextureOrigin origin;
  bool nontemporal = false;
  bool counts = false;
};

// A declared reducer. Reductions that use it name a variable for each parameter.
struct DeclaredReducer {
  Reducer reducer;
  Exprs parameters;
};

// In the whole text, one name is one variable or buffer, since the printer numbers equal names: two
// places that bind a name refer to one node. The verifier checks where a name may be used. At stage
// te, each operation has its own variables, which hide those of the surrounding text.
class TextNames {
 public:
  TextNames() = default;
  // Names inside a part of a text. `outer` must outlive it.
  explicit TextNames(const TextNames* outer) : outer_(outer) {}

  // Binds a variable, for the first time or again.
  Expr bind(const TextReader& reader, const NamedToken& name, Type type);
  // Declares a buffer. Fails with BadText if no program may have such a buffer.
  Buffer declare(const TextReader& reader, const NamedToken& name, const Declaration& declaration,
                 SourceLocation location);

  Expr variable(const TextReader& reader, const NamedToken& name) const;
  Buffer buffer(const TextReader& reader, const NamedToken& name) const;

  // -- Stage te. Tensors, reducers and variables have separate names; each is defined once.
  // Adds the outputs of the operation of this name.
  void add_tensors(const TextReader& reader, const NamedToken& name,
                   const std::vector<Tensor>& outputs);
  void add_reducer(const TextReader& reader, const NamedToken& name,
                   const DeclaredReducer& reducer);
  Tensor tensor(const TextReader& reader, const NamedToken& name, size_t output) const;
  const DeclaredReducer& reducer(const TextReader& reader, const NamedToken& name) const;

  // The variable of this name; null if there is none.
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
