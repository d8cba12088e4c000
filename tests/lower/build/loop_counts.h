// Counts the overhead of the serial loops of a lowered program.
#pragma once

#include <string>

#include "ir/program.h"
#include "ir/visit.h"
#include "lower/kernels/index_conditions.h"

namespace texloom::lower::testing {

// Counts inside serial loops of interior tiles. Statements under a negated guard, which
// partition_loops makes, are the border and do not count.
struct LoopCounts {
  int loops = 0;
  int divisions = 0;  // integer divisions and remainders
  int tests = 0;      // index comparisons in guards and selects
};

class LoopCounter {
 public:
  static LoopCounts of(const ir::Program& program) {
    LoopCounter counter;
    for (const ir::Kernel& kernel : program.kernels) counter.stmt(kernel.body, false);
    return counter.counts_;
  }

 private:
  void stmt(const ir::Stmt& s, bool in_loop) {
    if (const auto* guard = ir::as<ir::If>(s); guard && ir::as<ir::Not>(guard->condition)) return;
    if (const auto* loop = ir::as<ir::For>(s)) {
      ++counts_.loops;
      if (!in_loop) counts_.tests += static_cast<int>(interior_tests(loop->body));
      in_loop = true;
    }
    ir::for_each_child(
        s,
        [&](const ir::Expr& e) {
          if (in_loop) expr(e);
        },
        [&](const ir::Stmt& child) { stmt(child, in_loop); });
  }
  void expr(const ir::Expr& e) {
    ir::walk(e, [&](const ir::Binary& n) {
      counts_.divisions += is_division(n.op) && !n.type.is_float() ? 1 : 0;
    });
  }
  static size_t interior_tests(const ir::Stmt& body) { return IndexConditions(body).all().size(); }

  LoopCounts counts_;
};

}  // namespace texloom::lower::testing
