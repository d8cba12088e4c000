// transform_layout: stores a stage's result along other axes, as in TVM's te.
//
// The new axes are digits of the tensor's axes (ir/layout/index_map.h). In a texture, the axes
// before the separator become rows, the axes after it become columns, and the last axis, of extent
// 4, becomes lanes; without a separator, the rule of the scope applies to the new shape. In a
// buffer, the new axes are row-major. The result is an ordinary layout of the tensor. An array that
// a caller passes for the tensor has the new shape.
#pragma once

#include <string>
#include <vector>

#include "ir/layout/index_map.h"
#include "schedule/operation/operation.h"

namespace texloom::schedule {

struct AxisTransform {
  ir::IndexMap map;                // from the tensor's axes
  std::vector<size_t> separators;  // each before the new axis of this number
  size_t relations = 0;            // the number of relations of the stage that implement it
  SourceLocation location;
};

// The map from axes of this shape that the expressions `indices` over the variables `axes` define:
// quotients, remainders and fusions by constants. Fails with BadLayout.
ir::IndexMap index_map_of(const ir::Shape& shape, const ir::Exprs& axes, const ir::Exprs& indices,
                          const SourceLocation& where);

struct TransformedLayout {
  ir::Layout tensor;  // over the tensor's own axes
  ir::Layout array;   // over the new axes
};
// Fails with BadLayout if the axes cannot become rows, columns and lanes.
TransformedLayout transformed_layout(const AxisTransform& transform, const ir::StorageScope& scope,
                                     const std::string& name);

}  // namespace texloom::schedule
