// Finds the textures of a kernel whose border may be read.
#pragma once

#include <unordered_set>

#include "ir/program.h"

namespace texloom::codegen {

// The textures of which the kernel may read a texel outside the image, which is zero in the IR. A
// texture is left out if the coordinates of all reads are proven to be in its rectangle. Metal's
// read() is defined only there, and elsewhere a sampler gives the zeros.
std::unordered_set<const ir::BufferNode*> textures_with_border(const ir::Kernel& kernel);

}  // namespace texloom::codegen
