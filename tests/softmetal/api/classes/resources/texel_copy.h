// Regions of textures. For Objective-C++ sources only.
#pragma once

#import <Metal/Metal.h>

#include <functional>
#include <string>

#include "tests/softmetal/execute/texture.h"

namespace softmetal {

// Returns why the region is not inside the texture, or an empty string.
std::string problem_of_region(const Texture& texture, const MTLRegion& region, NSUInteger level,
                              NSUInteger slice);

// Calls `visit` for each row of texels with the row's number in its image, the image's number in
// the region, the row's texels, and their size in bytes.
void for_each_row(
    const Texture& texture, const MTLRegion& region, NSUInteger level, NSUInteger slice,
    const std::function<void(size_t row, size_t image, uint8_t* texels, size_t size)>& visit);

}  // namespace softmetal
