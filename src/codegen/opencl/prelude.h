// Small functions that legalised expressions call where OpenCL C has no operator of its own.
#pragma once

#include <map>
#include <string>

#include "ir/expr.h"

namespace texloom::codegen::opencl {

// Collects the functions that one kernel uses.
class Prelude {
 public:
  // The name of the function for FloorDiv or FloorMod of int32 or int64 values or vectors of them.
  const std::string& floor_operation(ir::BinaryOp op, ir::Type type);
  // The name of the function from `from` (float32 or float64) to the nearest float16 value, which
  // it returns as float32. Ties go to even.
  const std::string& round_to_half(ir::Type from);

  // The definitions of all functions named so far, in alphabetical order; an empty line after each.
  std::string text() const;

 private:
  struct Function {
    std::string name, definition;
  };
  const std::string& use(Function function);

  std::map<std::string, std::string> definitions_;
};

}  // namespace texloom::codegen::opencl
