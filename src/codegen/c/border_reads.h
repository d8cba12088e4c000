// Finds the textures of a kernel whose border may be read.
#pragma once

#include <unordered_set>

#include "ir/program.h"

namespace texloom::codegen {

// The textures that the kernel may read outside of the image, where the IR defines texels to be
// zero. A texture is left out if the coordinates of all reads are proven to be inside the image.
// Metal's read() is defined only inside; the textures found here need a sampler, which gives zeros.
std::unordered_set<const ir::BufferNode*> textures_with_border(const ir::Kernel& kernel);

}  // namespace texloom::codegen
