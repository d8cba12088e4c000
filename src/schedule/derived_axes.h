// The axes of a stage: the axes of its operation, and the axes that directives derived from these.
#pragma once

#include <vector>

#include "schedule/stage.h"

namespace texloom::schedule {

std::vector<ir::IterVar> operands_of(const Relation& relation);
std::vector<ir::IterVar> results_of(const Relation& relation);

// The axes that fuse() of no axes made; no relation has them.
std::vector<ir::IterVar> unit_axes(const Stage& stage);

// Replaces the operands of the relation, which are leaves: the parts of a split take the place of
// the parent, a fused axis takes the place of the outer axis.
void replace_operands(std::vector<ir::IterVar>& leaves, const Relation& relation);

// The leaves in the order that unit axes and relations give them, without reorder(). The latest
// unit axis is the outermost.
std::vector<ir::IterVar> leaves_in_order_of_relations(const Stage& stage);

}  // namespace texloom::schedule
