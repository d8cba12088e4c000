#include "lower/hints/nontemporal_stores.h"

#include <algorithm>

#include "ir/expr.h"
#include "schedule/operation/operation.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using schedule::Pragma;
using schedule::Stage;

namespace {

[[noreturn]] void refuse(const Stage& stage, const Pragma& pragma, std::string_view why,
                         std::string_view help) {
  fail(pragma.location, Code::BadPragma, std::string(help),
       "'{}' cannot be stored past the caches: {}", stage.name(), why);
}

}  // namespace

bool stores_past_caches(const Stage& stage, const ir::StorageScope& scope,
                        const ir::Target& target) {
  const auto pragma = std::ranges::find(stage.pragmas, "nontemporal", &Pragma::key);
  if (pragma == stage.pragmas.end() || target.kind != ir::TargetKind::Llvm) return false;
  if (scope.texture || scope.memory != ir::MemoryScope::Global) {
    refuse(stage, *pragma, "it is not an array in global memory",
           "leave out the pragma, or set_scope(\"global\")");
  }
  const bool computes = stage.op->is_compute() && !stage.is_tensorized();
  const bool reduces = computes && as<ir::Reduce>(stage.op->body) != nullptr;
  if (!computes || reduces) {
    refuse(
        stage, *pragma,
        reduces ? "each step of its reduction reads it again" : "its statements may read it again",
        "compute it in a cache, C = s.cache_write(T, \"local\"), and give the pragma to T");
  }
  return true;
}

}  // namespace texloom::lower
