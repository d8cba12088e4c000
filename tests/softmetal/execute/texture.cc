#include "tests/softmetal/execute/texture.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace softmetal {
namespace {

bool is_cube(const Texture& t) {
  return t.kind == TextureKind::Cube || t.kind == TextureKind::CubeArray;
}

size_t image_of(const Texture& t, const SmTexelAt& at) {
  if (t.kind == TextureKind::T3d) return at.z;
  if (is_cube(t)) return size_t{at.slice} * 6 + at.face;
  return size_t{at.slice} * t.samples + at.sample;
}

// Applies the sampler's address mode to a coordinate; -1 is the border.
int wrapped(int i, int size, SamplerState::Address address) {
  switch (address) {
    case SamplerState::ClampToEdge:
      return std::clamp(i, 0, size - 1);
    case SamplerState::ClampToZero:
    case SamplerState::ClampToBorder:
      return i < 0 || i >= size ? -1 : i;
    case SamplerState::Repeat:
      return ((i % size) + size) % size;
    case SamplerState::MirroredRepeat: {
      const int period = ((i % (2 * size)) + 2 * size) % (2 * size);
      return period < size ? period : 2 * size - 1 - period;
    }
  }
  return -1;
}

// For sample_compare(), replaces a texel by its comparison with the reference: 1 or 0.
void compare(SamplerState s, const SmSampleAt& at, uint32_t texel[4]) {
  if (at.compares == 0) return;
  const float depth = std::bit_cast<float>(texel[0]), r = at.reference;
  const std::array<bool, 8> results = {
      false, r<depth, r <= depth, r> depth, r >= depth, r == depth, r != depth, true};
  texel[0] = std::bit_cast<uint32_t>(results[s.compare_function()] ? 1.0F : 0.0F);
}

// Reads the texel at integer coordinates, or the border's color.
void fetch(const Texture& t, SamplerState s, std::array<int, 3> at, SmTexelAt place,
           uint32_t texel[4], const TexelReads& reads) {
  const std::array<int, 3> size = {static_cast<int>(t.width_of(place.lod)),
                                   static_cast<int>(t.height_of(place.lod)),
                                   static_cast<int>(t.depth_of(place.lod))};
  bool border = false;
  for (int axis = 0; axis < 3; ++axis) {
    if (size[axis] == 1 && at[axis] == 0) continue;
    at[axis] = wrapped(at[axis], size[axis], s.address(axis));
    border = border || at[axis] < 0;
  }
  if (border) {
    const FormatInfo& info = *format_info(t.format);
    const uint32_t one = info.kind == TexelKind::Float ? std::bit_cast<uint32_t>(1.0F) : 1;
    // clamp_to_zero gives black with alpha 0, or with alpha 1 if the format has no alpha.
    bool to_border = false;
    for (int axis = 0; axis < 3; ++axis)
      to_border |= s.address(axis) == SamplerState::ClampToBorder;
    const int color = to_border ? s.border() : 0;
    for (int c = 0; c < 3; ++c) texel[c] = color == 2 ? one : 0;
    texel[3] = color == 0 ? (info.channels == 4 ? 0 : one) : one;
    return;
  }
  place.x = at[0], place.y = at[1], place.z = at[2];
  const uint8_t* const from = texel_address(t, place);
  if (reads) reads(from);
  decode_texel(t.format, from, texel);
}

// A place to sample: texel coordinates in a level, with texel centers at .5.
struct Place {
  std::array<float, 3> at;
  SmTexelAt image{};
};

// Finds the face of a cube and the coordinates on it, from 0 to 1.
void project_to_face(const SmSampleAt& at, Place& place) {
  const float x = at.x, y = at.y, z = at.z, ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  float s, r, m;
  if (ax >= ay && ax >= az) {
    place.image.face = x >= 0 ? 0 : 1;
    s = x >= 0 ? -z : z, r = -y, m = ax;
  } else if (ay >= az) {
    place.image.face = y >= 0 ? 2 : 3;
    s = x, r = y >= 0 ? z : -z, m = ay;
  } else {
    place.image.face = z >= 0 ? 4 : 5;
    s = z >= 0 ? x : -x, r = -y, m = az;
  }
  place.at = {(s / m + 1) / 2, (r / m + 1) / 2, 0};
}

Place locate(const Texture& t, SamplerState s, const SmSampleAt& at, uint32_t level) {
  Place place{};
  place.at = {at.x, at.y, at.z};
  if (is_cube(t)) project_to_face(at, place);
  const std::array<uint32_t, 3> size = {t.width_of(level), t.height_of(level), t.depth_of(level)};
  const std::array<int, 3> offset = {at.offset_x, at.offset_y, at.offset_z};
  for (int axis = 0; axis < 3; ++axis) {
    if (!s.pixel_coordinates()) place.at[axis] *= static_cast<float>(size[axis]);
    place.at[axis] += static_cast<float>(offset[axis]);
    if (std::isnan(place.at[axis])) place.at[axis] = 0;
    place.at[axis] = std::clamp(place.at[axis], -1e9F, 1e9F);
  }
  const int dimensions =
      t.kind == TextureKind::T3d
          ? 3
          : (t.kind == TextureKind::T1d || t.kind == TextureKind::T1dArray ? 1 : 2);
  for (int axis = dimensions; axis < 3; ++axis) place.at[axis] = 0.5F;
  place.image.slice = std::min(at.slice, t.layers - 1);
  place.image.lod = level;
  return place;
}

void sample_level(const Texture& t, SamplerState s, const SmSampleAt& at, uint32_t level,
                  bool linear, uint32_t texel[4], const TexelReads& reads) {
  const Place place = locate(t, s, at, level);
  const bool numbers = format_info(t.format)->kind == TexelKind::Float;
  std::array<int, 3> base{};
  if (!linear || !numbers) {
    for (int a = 0; a < 3; ++a) base[a] = static_cast<int>(std::floor(place.at[a]));
    fetch(t, s, base, place.image, texel, reads);
    compare(s, at, texel);
    return;
  }
  std::array<float, 3> weight{};
  for (int a = 0; a < 3; ++a) {
    const float low = std::floor(place.at[a] - 0.5F);
    base[a] = static_cast<int>(low);
    weight[a] = place.at[a] - 0.5F - low;
  }
  std::array<float, 4> sum{};
  for (int corner = 0; corner < 8; ++corner) {
    float w = 1;
    std::array<int, 3> where = base;
    for (int a = 0; a < 3; ++a) {
      const bool high = (corner >> a & 1) != 0;
      where[a] += high ? 1 : 0;
      w *= high ? weight[a] : 1 - weight[a];
    }
    if (w == 0) continue;
    uint32_t value[4];
    fetch(t, s, where, place.image, value, reads);
    compare(s, at, value);
    for (int c = 0; c < 4; ++c) sum[c] += w * std::bit_cast<float>(value[c]);
  }
  for (int c = 0; c < 4; ++c) texel[c] = std::bit_cast<uint32_t>(sum[c]);
}

}  // namespace

const char* texture_kind_name(TextureKind kind) {
  static constexpr const char* kNames[] = {
      "texture1d",         "texture1d_array",    "texture2d", "texture2d_array",
      "texture2d_ms",      "texture2d_ms_array", "texture3d", "texturecube",
      "texturecube_array", "texture_buffer"};
  return kNames[static_cast<uint32_t>(kind)];
}

size_t Texture::lay_out(uint8_t* memory, uint32_t level_count) {
  const size_t texel = format_info(format)->bytes;
  size_t offset = 0;
  levels.clear();
  for (uint32_t level = 0; level < level_count; ++level) {
    Level l;
    l.data = memory == nullptr ? nullptr : memory + offset;
    l.bytes_per_row = width_of(level) * texel;
    l.bytes_per_image = l.bytes_per_row * height_of(level);
    const size_t images = kind == TextureKind::T3d
                              ? depth_of(level)
                              : size_t{layers} * samples * (is_cube(*this) ? 6 : 1);
    offset += images * l.bytes_per_image;
    levels.push_back(l);
  }
  return offset;
}

bool is_inside(const Texture& t, const SmTexelAt& at) {
  if (at.lod >= t.levels.size() || at.slice >= t.layers || at.sample >= t.samples) return false;
  if (is_cube(t) && at.face >= 6) return false;
  return at.x >= 0 && static_cast<uint32_t>(at.x) < t.width_of(at.lod) && at.y >= 0 &&
         static_cast<uint32_t>(at.y) < t.height_of(at.lod) && at.z >= 0 &&
         static_cast<uint32_t>(at.z) < t.depth_of(at.lod);
}

const uint8_t* texel_address(const Texture& t, const SmTexelAt& at) {
  const Texture::Level& level = t.levels[at.lod];
  return level.data + image_of(t, at) * level.bytes_per_image +
         static_cast<size_t>(at.y) * level.bytes_per_row +
         static_cast<size_t>(at.x) * format_info(t.format)->bytes;
}

void sample_texture(const Texture& t, SamplerState s, const SmSampleAt& at, uint32_t texel[4],
                    const TexelReads& reads) {
  // Kernels have no derivatives, so the default level is the first.
  float lod = at.lod < -1e30F || s.mip_filter() == 0 ? 0 : at.lod;
  const auto last = static_cast<float>(t.levels.size() - 1);
  lod = std::clamp(lod, 0.0F, last);
  const bool linear = lod > 0 ? s.min_linear() : s.linear();
  if (s.mip_filter() != 2) {
    sample_level(t, s, at, static_cast<uint32_t>(std::nearbyint(lod)), linear, texel, reads);
    return;
  }
  const float low = std::floor(lod), weight = lod - low;
  sample_level(t, s, at, static_cast<uint32_t>(low), linear, texel, reads);
  if (weight == 0 || format_info(t.format)->kind != TexelKind::Float) return;
  uint32_t next[4];
  sample_level(t, s, at, static_cast<uint32_t>(low) + 1, linear, next, reads);
  for (int c = 0; c < 4; ++c) {
    texel[c] = std::bit_cast<uint32_t>((1 - weight) * std::bit_cast<float>(texel[c]) +
                                       weight * std::bit_cast<float>(next[c]));
  }
}

void gather_texture(const Texture& t, SamplerState s, const SmSampleAt& at, uint32_t c,
                    uint32_t texels[4], const TexelReads& reads) {
  const Place place = locate(t, s, at, 0);
  const int x = static_cast<int>(std::floor(place.at[0] - 0.5F)),
            y = static_cast<int>(std::floor(place.at[1] - 0.5F));
  // The corners are counter-clockwise from the lower left; y grows downwards.
  static constexpr std::array<std::array<int, 2>, 4> kCorners = {{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
  for (int i = 0; i < 4; ++i) {
    uint32_t texel[4];
    fetch(t, s, {x + kCorners[i][0], y + kCorners[i][1], 0}, place.image, texel, reads);
    compare(s, at, texel);
    texels[i] = texel[c];
  }
}

}  // namespace softmetal
