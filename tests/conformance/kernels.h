// Declares the suite's kernels and their parameters. Their code is in drivers/, once per language.
//
// "i" is the work item's index along the first axis; groups have one item unless stated otherwise.
// Integers wrap around.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/hal/executable.h"

namespace texloom::hal::conformance::kernels {

EntryPoint nothing();       // ()
EntryPoint add_one();       // (a, b): b[i] = a[i] + 1, of int32
EntryPoint advance();       // (x, int32 k): x[i] = 3 * x[i] + k, of uint32
EntryPoint constants();     // (out, int32, uint32, int64, uint64, float32): their bits, as int64
EntryPoint double_bits();   // (out, float64): its bits, as int64
EntryPoint sum_of_eight();  // (a0 … a7, out): out[i] is the sum of all a[i], of int32

// (out, uint32 steps): out[i] = i + 1 after that many steps x -> 1664525 x + 1013904223
EntryPoint walk();

// (out, int32 width, int32 height), groups of 2 x 3 x 1 items: the item at (x, y, z), which is
// number n = (z * height + y) * width + x, writes out[n] = n + 1000 * (group x + 10 y + 100 z).
EntryPoint index();
// Returns what index() writes if the groups cover exactly width x height x depth items.
std::vector<std::int32_t> written_by_index(int width, int height, int depth);

// (in, out), groups of 16: each group reverses its 16 int32, through local memory.
EntryPoint reverse();
// (in, first, int32 k, second, out), groups of 16: each group adds its 16 int32 of `in`, reversed
// through the local memory `first`, to k times the same values rotated by one through `second`.
EntryPoint reverse_and_rotate();

// (in, out) at work items (x, y): out texel = in texel, accessed as float, int or uint, according
// to the class of the format.
EntryPoint copy_texels(TexelFormat format);

// (in, out, int32 width) at (x, y): writes four 32-bit channels, in the class of the format, to
// out[4 * (y * width + x)]. `read_texels_around` reads the texel at (x - 1, y - 1).
EntryPoint read_texels(TexelFormat format);
EntryPoint read_texels_around(TexelFormat format);

// (in, out, int32 width) at (x, y): the inverse of read_texels, from a buffer to a texture.
EntryPoint write_texels(TexelFormat format);

// (in, its origin x, y, out, its origin x, y) at (x, y): doubles the texel, rgba32float; the
// tensors have 4 x 3 texels.
EntryPoint twice_at_origins();

}  // namespace texloom::hal::conformance::kernels
