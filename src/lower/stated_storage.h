// Where stages lie by what is stated elsewhere than in their scopes and layouts.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Each argument's stage lies as its declaration says, and is an output: the caller sees it.
void apply_declarations(Lowering& lowering);

// From here on a transform_layout is the layout that it means. Fails with BadLayout.
void apply_transforms(schedule::Schedule& s);

}  // namespace texloom::lower
