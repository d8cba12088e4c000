// Finds the textures of a kernel whose border may be read.
#pragma once

#include <unordered_set>

#include "ir/program.h"

namespace texloom::codegen {

// The textures that the kernel may read outside of the image, where the IR defines texels to be
// zero. A texture is left out if the coordinates of all reads are proven to be in its rectangle.
// Metal's read() is defined only there; elsewhere a sampler gives the zeros.
std::unordered_set<const ir::BufferNode*> textures_with_border(const ir::Kernel& kernel);

}  // namespace texloom::codegen
