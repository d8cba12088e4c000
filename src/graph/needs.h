// What a device must have to run a compiled graph.
#pragma once

#include "graph/call_sites.h"
#include "runtime/package/package.h"

namespace texloom::graph {

// Sizes that a run says are no needs.
runtime::VariantNeeds needs_of(const runtime::LaunchPlan& plan, const CallSites& sites);

}  // namespace texloom::graph
