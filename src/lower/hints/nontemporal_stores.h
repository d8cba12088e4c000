// The pragma "nontemporal": a stage whose results do not stay in the caches of a processor.
#pragma once

#include "ir/target/target.h"
#include "schedule/stage.h"

namespace texloom::lower {

// Whether the stage, whose results are in this scope, is stored past the caches. False for targets
// other than processors, which ignore the pragma. Fails with BadPragma if the results are not in an
// array in global memory, or are not stored once: by reductions in memory, externs and intrinsics.
bool stores_past_caches(const schedule::Stage& stage, const ir::StorageScope& scope,
                        const ir::Target& target);

}  // namespace texloom::lower
