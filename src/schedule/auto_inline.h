// Inlining by the form of a stage's expression.
#pragma once

#include "schedule/schedule.h"

namespace texloom::schedule {

enum class InlinePattern : uint8_t {
  ElementWise,  // each input is read at the stage's own indices
  Broadcast,    // at some of them, in their order
  Injective,    // at any: all but reductions
};

// Inlines every stage of this form that is no output, nor computed or read by a tensor intrinsic;
// where none is read, nothing.
void auto_inline(Schedule& schedule, InlinePattern pattern, const SourceLocation& where);

}  // namespace texloom::schedule
