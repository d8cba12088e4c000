// Names in a printed text, and expressions that are printed as parts of a larger text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/program.h"

namespace texloom::ir {

// What variables, buffers, tensors and reducers are called in a text: two of one name are told
// apart by a number. A copy is a scope of its own, which knows what was named before.
class PrintNames {
 public:
  // The name itself for its first owner, then name.1, name.2, ... (those that are not taken), as
  // the text form spells them. Of the owner the address counts alone.
  std::string name(const void* owner, const std::string& base);
  // Calls `owner` the same as something that has been named elsewhere.
  void alias(const void* owner, std::string spelt);

 private:
  std::unordered_map<const void*, std::string> names_;  // as they are spelt
  std::map<std::string, int> used_;
  std::set<std::string> taken_;
};

// Owners: a variable or buffer is its node, a tensor its operation, a reducer its left variable.
std::string to_string(const Expr& expr, PrintNames& names, PrintOptions options);
// "k < 16", "k: int64 from 2 extent 16"
std::string to_string(const IterVar& axis, PrintNames& names, PrintOptions options);
// "A: global float32[8]"
std::string to_string(const Buffer& buffer, PrintNames& names, PrintOptions options);
// Lines, indented by two columns for each level of `depth`.
std::string to_string(const Stmt& stmt, int depth, PrintNames& names, PrintOptions options);
// What stands behind the name of an operation for its output of this number: nothing for the
// first, then "#1", "#2", ...
std::string output_text(int output);
// " @"file":line", " @?", or nothing where the options do not ask for it.
std::string location_text(const SourceLocation& where, PrintOptions options);

}  // namespace texloom::ir
