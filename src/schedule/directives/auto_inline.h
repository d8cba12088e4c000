// Inlines stages by the form of their expressions.
#pragma once

#include "schedule/schedule.h"

namespace texloom::schedule {

enum class InlinePattern : uint8_t {
  ElementWise,  // reads each input at the stage's own indices
  Broadcast,    // reads each input at some of these indices, in order, or has the tag "broadcast"
  Injective,    // reads each input at any indices: all stages but reductions
};

// Inlines every stage of this form that reads a tensor, except outputs and stages that a tensor
// intrinsic computes or reads.
void auto_inline(Schedule& schedule, InlinePattern pattern, const SourceLocation& where);

}  // namespace texloom::schedule
