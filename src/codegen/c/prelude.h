// Small functions that legalized expressions call where C has no operator of its own.
#pragma once

#include <map>
#include <string>

#include "ir/expr.h"

namespace texloom::codegen {

// Collects the functions that one kernel uses.
class Prelude {
 public:
  // The name of the function for FloorDiv or FloorMod of int32 or int64 values or vectors of them.
  // Comparisons of vectors give masks there: 0 or -1 (VectorConditions::Masks).
  const std::string& floor_operation(ir::BinaryOp op, ir::Type type);
  // Adds a function once; returns its name.
  const std::string& use(const std::string& name, std::string definition);

  // The definitions of all functions named so far, in alphabetical order; an empty line after each.
  std::string text() const;

 private:
  std::map<std::string, std::string> definitions_;
};

}  // namespace texloom::codegen
