// The vector registers of a processor, by which schedules choose the tiles that they keep there.
#pragma once

#include "ir/target/target.h"

namespace texloom::codegen::native {

struct VectorUnit {
  int bytes = 0;  // of a register
  int registers = 0;
  // Whether an instruction adds up the products of four integers of 8 bits, or of two of 16 bits.
  bool has_dots_of_bytes = false, has_dots_of_pairs = false;
};

// The unit of the machine of a target of kind Llvm. Fails as describe_machine() (emit.h) does.
VectorUnit vector_unit(const ir::Target& target);

}  // namespace texloom::codegen::native
