// The axes of a stage: those of its operation, and those that directives made of them.
#pragma once

#include <vector>

#include "schedule/schedule.h"

namespace texloom::schedule {

// The loops of an operation that nothing has been said of: over its data axes, then over its
// reduction's; of a scan over its steps.
std::vector<ir::IterVar> loops_of(const Operation& op);

std::vector<ir::IterVar> operands_of(const Relation& relation);
std::vector<ir::IterVar> results_of(const Relation& relation);

// Those that fuse() of no axes made: they come from no relation.
std::vector<ir::IterVar> unit_axes(const Stage& stage);

// What the relation does to the leaves: the parts of a split stand at the place of its parent, a
// fused axis at that of its outer one. The operands are among the leaves.
void replace_operands(std::vector<ir::IterVar>& leaves, const Relation& relation);

// The leaves as unit axes and relations alone leave them, without a reorder. The latest unit axis
// is the outermost.
std::vector<ir::IterVar> leaves_in_order_of_relations(const Stage& stage);

}  // namespace texloom::schedule
