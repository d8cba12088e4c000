#include "tests/softmetal/api/classes/resources/texel_copy.h"

namespace softmetal {
namespace {

bool is_inside(NSUInteger begin, NSUInteger size, NSUInteger length) {
  return size > 0 && begin <= length && size <= length - begin;
}

NSUInteger slices_of(const Texture& texture) {
  const bool is_cube = texture.kind == TextureKind::Cube || texture.kind == TextureKind::CubeArray;
  return is_cube ? NSUInteger{6} * texture.layers : texture.layers;
}

}  // namespace

std::string problem_of_region(const Texture& texture, const MTLRegion& region, NSUInteger level,
                              NSUInteger slice) {
  if (level >= texture.levels.size() || slice >= slices_of(texture))
    return "level and slice must be those of the texture";
  if (texture.samples > 1) return "a texture with several samples for each texel is not copied";
  const auto l = static_cast<uint32_t>(level);
  if (!is_inside(region.origin.x, region.size.width, texture.width_of(l)) ||
      !is_inside(region.origin.y, region.size.height, texture.height_of(l)) ||
      !is_inside(region.origin.z, region.size.depth, texture.depth_of(l)))
    return "the region must not be empty, and must lie in the texture";
  return {};
}

void for_each_row(
    const Texture& texture, const MTLRegion& region, NSUInteger level, NSUInteger slice,
    const std::function<void(size_t row, size_t image, uint8_t* texels, size_t size)>& visit) {
  const Texture::Level& at = texture.levels[level];
  const size_t texel = format_info(texture.format)->bytes;
  for (NSUInteger z = 0; z < region.size.depth; ++z) {
    uint8_t* const image = at.data + (slice + region.origin.z + z) * at.bytes_per_image;
    for (NSUInteger y = 0; y < region.size.height; ++y) {
      visit(y, z, image + (region.origin.y + y) * at.bytes_per_row + region.origin.x * texel,
            region.size.width * texel);
    }
  }
}

}  // namespace softmetal
