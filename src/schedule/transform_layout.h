// transform_layout: other axes for a stage's result, as TVM's te has it.
//
// The new axes are digits of the tensor's (ir/index_map.h). In a texture the axes before the
// separator make rows, those after it columns, and the last one, of four, lanes; without a
// separator the scope's rule holds for the new shape. In a buffer the new axes are row-major. So
// the tensor has a layout like any other, and an array that a caller passes for it has the new
// shape.
#pragma once

#include <string>
#include <vector>

#include "ir/index_map.h"
#include "schedule/operation.h"

namespace texloom::schedule {

struct AxisTransform {
  ir::IndexMap map;                // from the tensor's axes
  std::vector<size_t> separators;  // each in front of the new axis of this number
  size_t relations = 0;            // of the stage's loops, made for this
  SourceLocation location;
};

// The map of shape `shape` that the index expressions `indices` over the variables `axes` make: of
// quotients, remainders and fusions by constants. Fails with BadLayout.
ir::IndexMap index_map_of(const ir::Shape& shape, const ir::Exprs& axes, const ir::Exprs& indices,
                          const SourceLocation& where);

struct TransformedLayout {
  ir::Layout tensor;  // of the tensor's own axes
  ir::Layout array;   // of the new ones
};
// Fails with BadLayout where the axes cannot be dealt out so.
TransformedLayout transformed_layout(const AxisTransform& transform, const ir::StorageScope& scope,
                                     const std::string& name);

}  // namespace texloom::schedule
