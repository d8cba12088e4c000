// Textures of the host. A program's handle of a texture is the address of a Texture.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/softmetal/abi.h"
#include "tests/softmetal/execute/pixel_format.h"

namespace softmetal {

// Numbered as __sm_kind in include/softmetal/texture.h.
enum class TextureKind : uint32_t {
  T1d,
  T1dArray,
  T2d,
  T2dArray,
  T2dMs,
  T2dMsArray,
  T3d,
  Cube,
  CubeArray,
  Buffer
};
const char* texture_kind_name(TextureKind kind);

struct Texture {
  // One level of detail. Its images are layers, faces and samples, or planes in z.
  struct Level {
    uint8_t* data = nullptr;
    size_t bytes_per_row = 0, bytes_per_image = 0;
  };
  TextureKind kind = TextureKind::T2d;
  PixelFormat format = PixelFormat::R32Float;
  uint32_t width = 1, height = 1, depth = 1, layers = 1, samples = 1;
  std::vector<Level> levels;
  bool readable = true, writable = true;  // its declared usage

  uint32_t width_of(uint32_t level) const { return width >> level > 0 ? width >> level : 1; }
  uint32_t height_of(uint32_t level) const { return height >> level > 0 ? height >> level : 1; }
  uint32_t depth_of(uint32_t level) const { return depth >> level > 0 ? depth >> level : 1; }
  // Lays out all levels in `memory`, and returns their size; `memory` may be null to get the size.
  size_t lay_out(uint8_t* memory, uint32_t level_count);
};

// The layout of a sampler's bits, which `sampler` in include/softmetal/sampler.h sets.
struct SamplerState {
  uint64_t bits = 0;
  enum Address { ClampToEdge, ClampToZero, ClampToBorder, Repeat, MirroredRepeat };
  bool pixel_coordinates() const { return (bits & 1) != 0; }
  Address address(int axis) const { return static_cast<Address>(bits >> (1 + 3 * axis) & 7); }
  bool linear() const { return (bits >> 10 & 1) != 0; }      // magnified
  bool min_linear() const { return (bits >> 11 & 1) != 0; }  // minified
  int mip_filter() const { return static_cast<int>(bits >> 12 & 3); }
  int border() const { return static_cast<int>(bits >> 14 & 3); }
  int compare_function() const { return static_cast<int>(bits >> 16 & 7); }
};

// Returns the address of a texel inside the texture.
const uint8_t* texel_address(const Texture& t, const SmTexelAt& at);
bool is_inside(const Texture& t, const SmTexelAt& at);

// Called for each texel that is read; may be empty.
using TexelReads = std::function<void(const uint8_t*)>;

// Implements sample(): filtered, with the sampler's kind of coordinates.
void sample_texture(const Texture& t, SamplerState s, const SmSampleAt& at, uint32_t texel[4],
                    const TexelReads& reads = nullptr);
// Reads component `c` of the four texels that linear filtering would use, in Metal's order.
void gather_texture(const Texture& t, SamplerState s, const SmSampleAt& at, uint32_t c,
                    uint32_t texels[4], const TexelReads& reads = nullptr);

}  // namespace softmetal
