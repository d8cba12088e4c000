#include "ir/analysis/code_size.h"

#include "ir/visit.h"

namespace texloom::ir {

int64_t count_stores(const Stmt& s) {
  int64_t count = 0;
  walk(
      s, [&](const Store&) { ++count; }, [&](const TextureStore&) { ++count; },
      [&](const Evaluate&) { ++count; });
  return count;
}

}  // namespace texloom::ir
