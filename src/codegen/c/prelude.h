// Defines small functions for operations of legalized expressions that C has no operator for.
#pragma once

#include <map>
#include <string>

#include "ir/expr.h"

namespace texloom::codegen {

// Collects the functions that one kernel uses.
class Prelude {
 public:
  // The name of the function for FloorDiv or FloorMod of int32 or int64 values or vectors of them.
  // Assumes that right shifts of negative numbers are arithmetic, as OpenCL C and MSL say.
  const std::string& floor_operation(ir::BinaryOp op, ir::Type type);
  // Adds a function once; returns its name.
  const std::string& use(const std::string& name, std::string definition);
  // Adds the functions of another prelude.
  void add(const Prelude& other);

  // The definitions of all functions used so far, in alphabetical order, each followed by an empty
  // line.
  std::string text() const;

 private:
  std::map<std::string, std::string> definitions_;
};

}  // namespace texloom::codegen
