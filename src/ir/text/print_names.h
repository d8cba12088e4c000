// Names in a printed text, and printers of parts of a larger text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/program.h"

namespace texloom::ir {

// Names the variables, buffers, tensors and reducers of a text; numbers distinguish equal names. A
// copy is an inner scope, which knows the names given so far.
class PrintNames {
 public:
  // The name itself for its first owner, then name.1, name.2, ... (without names that are taken),
  // as the text form spells them. Only the address of the owner matters.
  std::string name(const void* owner, const std::string& base);
  // Gives `owner` a name that other code chose.
  void alias(const void* owner, std::string spelt);

 private:
  std::unordered_map<const void*, std::string> names_;  // as spelled in the text
  std::map<std::string, int> used_;
  std::set<std::string> taken_;
};

// The owner of a name is the node of a variable or buffer, the operation of a tensor, or the left
// variable of a reducer.
std::string to_string(const Expr& expr, PrintNames& names, PrintOptions options);
// "k < 16", "k: int64 from 2 extent 16"
std::string to_string(const IterVar& axis, PrintNames& names, PrintOptions options);
// "A: global float32[8]"
std::string to_string(const Buffer& buffer, PrintNames& names, PrintOptions options);
// Lines, indented by two columns for each level of `depth`.
std::string to_string(const Stmt& stmt, int depth, PrintNames& names, PrintOptions options);
// The suffix of an operation's name for this output: nothing for the first, then "#1", "#2", ...
std::string output_text(int output);
// " @"file":line", " @?", or nothing if the options do not ask for it.
std::string location_text(const SourceLocation& where, PrintOptions options);

}  // namespace texloom::ir
