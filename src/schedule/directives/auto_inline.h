// Inlines stages by the form of their expressions.
#pragma once

#include "schedule/schedule.h"

namespace texloom::schedule {

enum class InlinePattern : uint8_t {
  ElementWise,  // the indices of each read are the stage's axes, in the stage's order
  Broadcast,    // ... are some of the stage's axes, in this order; or the tag is "broadcast"
  Injective,    // any indices: all stages but reductions
};

// Inlines every stage of this form that reads a tensor, except outputs and stages that a tensor
// intrinsic computes or reads.
void auto_inline(Schedule& schedule, InlinePattern pattern, const SourceLocation& where);

}  // namespace texloom::schedule
