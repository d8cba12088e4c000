// Custom operators of one kernel; the user writes only its body.
//
// The kernel's parameters are generated from the declaration. The body uses the words of the table
// below, which each kernel language spells in its own way (kernel_language.h), so that one body
// serves every backend:
//
//     tl_global_id(axis)  tl_local_id(axis)  tl_group_id(axis)   of the thread: axis 0, 1 or 2
//     tl_load(t, col, row)      the texel of texture argument t: four values
//     tl_store(t, col, row, v)  writes it
//     tl_get(b, i)              element i of buffer argument b
//     tl_put(b, i, v)           writes it
//     tl_type(t), tl_texel(t)   the type of one value, and of four, as loads return them: float for
//                               float16 and normalized formats
//     tl_four(t, a, b, c, d)    four values as one of type tl_texel(t)
//     tl_width(t), tl_height(t) texels of texture argument t
//     tl_extent(t, axis)        extent of the tensor's shape along that axis
//
// Attributes are numbers with the names that the declaration gives them. Coordinates of textures
// begin at the tensor's origin; offsets of buffers at the tensor's first place.
//
//     if (tl_load(x, c, r).x > l) …
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/custom/operator.h"
#include "runtime/custom/shapes_like.h"
#include "support/status.h"

namespace texloom::runtime {

struct SourceKernel {
  // Every argument says whether it is a buffer or a texture; a texture is read or written, not
  // both. Attributes are integers (of 32 bits) or floats (float32).
  OperatorInfo info;
  std::string body;
  std::array<std::uint32_t, 3> workgroup = {1, 1, 1};  // threads
  // The number of threads along each axis (size_text.h). Names are "x.width" and "x.height" (texels
  // of a texture), "x.d0", "x.d1", … (the shape) and "x.places" (elements with padding), for an
  // argument x. Each number of threads is at least 1. Surplus threads of the last group do nothing.
  // If the body has a barrier, the numbers of threads must be multiples of the work group.
  std::array<std::string, 3> threads = {"1", "1", "1"};
  LikeInputs like = {};  // for the shapes of outputs in a graph
};

// Fails with InvalidArgument if a source kernel cannot have an argument, attribute or expression,
// or if a line of the body uses an argument in a way that is not declared (body_check.h). The
// message names the argument. Other errors are found for a device, by the operator's prepare(): it
// fails with InvalidArgument if tensors do not fit an expression, with BuildFailed and line numbers
// of the body if the device's compiler refuses it, and with Unimplemented if the device has no
// compiler.
Result<std::shared_ptr<const CustomOperator>> make_source_operator(SourceKernel kernel);

}  // namespace texloom::runtime
