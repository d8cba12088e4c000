// Which expressions read memory.
#pragma once

#include <unordered_map>

#include "ir/expr.h"

namespace texloom::codegen::opencl {

// Remembers its answers: keep one for as long as the expressions live.
class MemoryReads {
 public:
  // Whether it loads from a buffer. Texels do not count: reading one is always defined.
  bool loads(const ir::Expr& e);

 private:
  std::unordered_map<ir::Expr, bool, RefHash, RefSame> known_;
};

// Whether the expression loads from this buffer.
bool loads_from(const ir::Expr& e, const ir::Buffer& buffer);

}  // namespace texloom::codegen::opencl
