// Vector accesses of arrays whose alignment the kernel itself decides.
#pragma once

#include <optional>

#include "ir/arith/interval.h"
#include "ir/program.h"

namespace texloom::codegen::opencl {

// What it does: writes the index of a vector access of a shared or local array as
// ramp(q * lanes, 1, lanes), when its first element is provably a multiple of the lanes.
// Why here: last of the rewrites, because the others make accesses; the printer spells that form,
// and no other, as an access of an array of vectors, which is one instruction where vloadN is
// several. Arguments may be bound at any element, so they keep vloadN.
// Before: vector accesses are ramps of stride 1. After: the same, and the same elements.
//
//     s[ramp((i * 8) + 4, 1, 4)]    ->    s[ramp(((i * 2) + 1) * 4, 1, 4)]
ir::Stmt align_accesses(const ir::Stmt& body, const ir::arith::Ranges& ranges);

// The number of the vector that an access reads or writes in its array, when the access has the
// form above; nothing when it must be spelled with vloadN or vstoreN.
std::optional<ir::Expr> vector_number(const ir::BufferNode& buffer, const ir::Expr& index);

// The alignment of arrays in shared and local memory: that of the widest vector accessed as such.
inline constexpr int64_t kArrayAlignment = 16;

}  // namespace texloom::codegen::opencl
