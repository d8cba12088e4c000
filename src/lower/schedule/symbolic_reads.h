// Finds reads that may be outside of tensors because an axis of symbolic extent takes more values
// than there are elements.
#pragma once

#include <vector>

#include "schedule/bounds/bounds.h"
#include "schedule/schedule.h"

namespace texloom::lower {

// A data axis of symbolic extent of an operation.
struct SymbolicAxis {
  schedule::StageId stage = -1;
  size_t axis = 0;
};

// The axes of symbolic extent in indices that are not proven to be inside of the tensor, even under
// the conditions around the reads. Outputs and stages in the steps of scans compute the whole
// tensor in any case; their axes are not returned.
std::vector<SymbolicAxis> doubtful_axes(const schedule::Schedule& schedule,
                                        const schedule::Bounds& bounds);

// Whether one of the axes ends earlier in the narrow bounds of a schedule than in its wide bounds.
bool one_ends_earlier(const std::vector<SymbolicAxis>& axes, const schedule::Bounds& narrow,
                      const schedule::Bounds& wide);

}  // namespace texloom::lower
