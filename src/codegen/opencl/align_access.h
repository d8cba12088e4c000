// Vector accesses of memory whose alignment is known.
#pragma once

#include <optional>

#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::codegen::opencl {

// What it does: writes the index of a vector access as ramp(q * lanes, 1, lanes), when its first
// element is provably a multiple of the lanes and a vector is no wider than kAlignment.
// Why here: when arrays have their final types, and before integer operations are made explicit,
// since q may be a division. The printer spells that form, and no other, as an access of an array
// of vectors, which is one instruction where vloadN is several.
// Before: vector accesses are ramps of stride 1. After: the same, and the same elements.
//
//     s[ramp(i * 8 + 4, 1, 4)]    ->    s[ramp((i * 2 + 1) * 4, 1, 4)]
ir::Stmt align_accesses(const ir::Stmt& body, const ir::arith::Ranges& ranges);

// The number of the vector that an access reads or writes in its buffer, when the access has the
// form above; nothing when it must be spelled with vloadN or vstoreN.
std::optional<ir::Expr> vector_number(const ir::BufferNode& buffer, const ir::Expr& index);

// In bytes: of arrays that a kernel declares and accesses by elements and by vectors, and of its
// arguments. OpenCL aligns memory objects, and the sub-buffers that stand for arguments with an
// offset, by CL_DEVICE_MEM_BASE_ADDR_ALIGN, which is at least the size of an int16.
inline constexpr int64_t kAlignment = 16;

}  // namespace texloom::codegen::opencl
