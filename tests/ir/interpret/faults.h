// Fixture for kernels of one block of four threads.
#pragma once

#include <string>

#include "tests/ir/interpret/programs.h"

namespace texloom::ir::testing {

class Faults : public InterpretTest {
 protected:
  Faults() {
    blocks = 1;
    threads = 4;
  }
  Expr first_thread() const { return make_binary(BinaryOp::Eq, tx, make_int(0)); }
  // The index of the next thread, wrapping around.
  Expr next() const { return floormod(tx + 1, 4); }

  Buffer a = param("a", kFloat32, 4, {1, 2, 3, 4}), y = param("y", kFloat32, 4);
  Buffer n = param("n", kInt32, 4, {0, 1, 2, 3});
  Buffer s = shared("s", kFloat32, 4);
  const std::string in_first = " in k, block (0, 0, 0) thread (0, 0, 0): ";
  const std::string in_second = " in k, block (0, 0, 0) thread (1, 0, 0): ";
};

}  // namespace texloom::ir::testing
