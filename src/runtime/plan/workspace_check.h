// Checks where a plan puts its temporaries.
#pragma once

#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// `plan` has a workspace, and its steps are valid. Ok if each temporary that is allocated lies
// within an object of its kind and format, temporaries that are live at the same time do not
// overlap, parts are at their places in their wholes, no launch reads and writes one texture
// object, and kernels know the origins of textures that do not begin at (0, 0). InvalidArgument
// names the temporaries.
//
// The temporaries of a plan with symbols have no sizes: it must have no workspace.
Status check_workspace(const LaunchPlan& plan);

}  // namespace texloom::runtime
