// A fixture over textures of each format; skips formats that the device lacks.
#pragma once

#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {

template <typename... Parameters>
class OnTextures : public On<TexelFormat, Parameters...> {
 protected:
  void SetUp() override {
    On<TexelFormat, Parameters...>::SetUp();
    if (!this->IsSkipped() && !this->device().supports(format(), TextureUsage::All))
      GTEST_SKIP() << "no textures of " << to_string(format());
  }
  TexelFormat format() const { return this->template parameter<0>(); }
  std::size_t texel() const { return bytes_per_texel(format()); }
  std::size_t bytes_of_texels(Extent2D extent) const {
    return std::size_t{extent.width} * extent.height * texel();
  }
};

// A rectangle of bytes inside a larger one.
struct Rectangle {
  std::size_t x, y, width, height;
};

// Copies rows that begin at `from_start` into the rectangle `place` of `to`.
inline void blit(const Bytes& from, std::size_t from_pitch, std::size_t from_start, Bytes& to,
                 std::size_t to_pitch, const Rectangle& place, std::size_t to_start = 0) {
  for (std::size_t row = 0; row < place.height; ++row)
    for (std::size_t column = 0; column < place.width; ++column)
      to[to_start + (place.y + row) * to_pitch + place.x + column] =
          from[from_start + row * from_pitch + column];
}

#define TL_ON_EVERY_TEXTURE(Suite, ...) \
  TL_ON_EVERY_DEVICE(Suite, ::testing::ValuesIn(kAllTexelFormats) __VA_OPT__(, ) __VA_ARGS__)

}  // namespace texloom::hal::conformance
