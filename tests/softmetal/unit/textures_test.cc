// Textures and samplers.
#include <bit>
#include <cmath>

#include "tests/softmetal/unit/harness.h"

namespace softmetal {
namespace {

constexpr const char* kTexturesSource = R"(
#include <metal_stdlib>
using namespace metal;
kernel void copy2d(texture2d<float, access::read> in [[texture(0)]],
                   texture2d<float, access::write> to [[texture(1)]], uint2 p [[thread_position_in_grid]]) {
  to.write(in.read(p), p);
}
kernel void shift(texture2d<float, access::read> in [[texture(0)]],
                  texture2d<float, access::write> to [[texture(1)]], uint2 p [[thread_position_in_grid]]) {
  to.write(in.read(p + uint2(1, 0)) + 1, p + uint2(0, 1));
}
kernel void sizes(texture2d_array<float, access::read> a [[texture(0)]], texture3d<float, access::read> b [[texture(1)]],
                  device float* out [[buffer(0)]]) {
  out[0] = a.get_width(); out[1] = a.get_height(); out[2] = a.get_array_size();
  out[3] = b.get_depth(); out[4] = a.get_num_mip_levels(); out[5] = b.read(ushort3(1, 0, 1)).x;
  out[6] = a.read(uint2(1, 0), 1).x; out[7] = a.read(uint2(0, 0), 9).w;
}
kernel void integers(texture2d<uint, access::read_write> t [[texture(0)]], uint2 p [[thread_position_in_grid]]) {
  uint4 v = t.read(p);
  t.write(v * 2 + 250, p);
}
kernel void signs(texture2d<int, access::read_write> t [[texture(0)]]) { t.write(t.read(ushort2(0, 0)) - 200, ushort2(0, 0)); }
kernel void halves(texture2d<half, access::read> in [[texture(0)]], device float4* out [[buffer(0)]]) {
  half4 v = in.read(ushort2(1, 0));
  out[0] = float4(v);
}
kernel void sampled(texture2d<float> t [[texture(0)]], sampler s [[sampler(0)]], device float2* at [[buffer(0)]],
                    device float* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = t.sample(s, at[i]).x;
}
kernel void constants(texture2d<float> t [[texture(0)]], device float* out [[buffer(0)]]) {
  constexpr sampler pixels(coord::pixel, address::clamp_to_zero, filter::nearest);
  constexpr sampler linear(coord::normalized, address::repeat, filter::linear);
  out[0] = t.sample(pixels, float2(1.5f, 0.5f)).x;
  out[1] = t.sample(pixels, float2(-0.5f, 0.5f)).x;
  out[2] = t.sample(linear, float2(0.5f, 0.25f)).x;
  out[3] = t.sample(pixels, float2(0.5f, 0.5f), level(0), int2(1, 1)).x;
  float4 g = t.gather(linear, float2(0.5f, 0.5f));
  out[4] = g.x; out[5] = g.y; out[6] = g.z; out[7] = g.w;
}
kernel void line(texture1d<float> t [[texture(0)]], device float* out [[buffer(0)]]) {
  constexpr sampler s(filter::linear);
  out[0] = t.read(2u).x; out[1] = t.sample(s, 0.5f).x; out[2] = t.get_width();
}
kernel void cube(texturecube<float> t [[texture(0)]], device float* out [[buffer(0)]]) {
  constexpr sampler s;
  out[0] = t.sample(s, float3(1, 0, 0)).x; out[1] = t.sample(s, float3(-1, 0, 0)).x;
  out[2] = t.sample(s, float3(0, 0, -1)).x; out[3] = t.read(uint2(0, 0), 3).x;
}
kernel void many(array<texture2d<float, access::read>, 2> t [[texture(0)]], device float* out [[buffer(0)]]) {
  for (uint i = 0; i < t.size(); ++i) out[i] = t[i].read(uint2(0)).x;
}
kernel void counts(texture2d<uint, access::read_write> t [[texture(0)]], uint i [[thread_position_in_grid]]) {
  t.atomic_fetch_add(uint2(0, 0), uint4(i));
  t.atomic_fetch_max(uint2(1, 0), i);
}
struct Args { texture2d<float, access::read> t [[id(0)]]; device float* out [[id(1)]]; sampler s [[id(2)]]; };
kernel void argument(constant Args& args [[buffer(0)]]) { args.out[0] = args.t.read(uint2(1, 0)).x; }
)";

const Library& textures_library() {
  static const std::shared_ptr<Library> kLibrary = compile_or_fail(kTexturesSource);
  return *kLibrary;
}

struct Image {
  Texture texture;
  std::vector<uint8_t> memory;
  Image(TextureKind kind, PixelFormat format, uint32_t width, uint32_t height, uint32_t rest = 1) {
    texture.kind = kind;
    texture.format = format;
    texture.width = width;
    texture.height = height;
    (kind == TextureKind::T3d ? texture.depth : texture.layers) = rest;
    memory.resize(texture.lay_out(nullptr, 1));
    texture.lay_out(memory.data(), 1);
  }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(memory.data());
  }
  template <class T>
  void fill(std::initializer_list<T> values) {
    std::copy(values.begin(), values.end(), as<T>());
  }
};

std::vector<Report> run(const char* kernel, const Arguments& arguments, const Grid& grid = {},
                        const RunOptions& options = {}) {
  std::string problem;
  const auto function = textures_library().function(kernel, problem);
  EXPECT_NE(function, nullptr) << problem;
  return dispatch(*function, arguments, grid, options);
}

Arguments with(std::vector<Image*> images, std::vector<float>* out = nullptr) {
  Arguments a;
  for (size_t i = 0; i < images.size(); ++i)
    a.textures[static_cast<int>(i)] = {&images[i]->texture};
  if (out != nullptr) a.buffers[0] = {out->data(), out->size() * sizeof(float)};
  return a;
}

TEST(Textures, AreReadAndWritten) {
  Image in(TextureKind::T2d, PixelFormat::R32Float, 3, 2),
      to(TextureKind::T2d, PixelFormat::R32Float, 3, 2);
  in.fill<float>({1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(run("copy2d", with({&in, &to}), {{3, 2, 1}, {1, 1, 1}}).empty());
  EXPECT_EQ(in.memory, to.memory);
}
// Outside of a texture, reads give 0 and writes are dropped; an option reports both.
TEST(Textures, HaveNothingOutside) {
  Image in(TextureKind::T2d, PixelFormat::R32Float, 2, 2),
      to(TextureKind::T2d, PixelFormat::R32Float, 2, 2);
  in.fill<float>({1, 2, 3, 4});
  RunOptions options;
  options.report_texture_bounds = true;
  const auto reports = run("shift", with({&in, &to}), {{2, 2, 1}, {1, 1, 1}}, options);
  EXPECT_EQ(reports.size(), 4U) << print_reports(reports);
  for (const Report& r : reports) EXPECT_FALSE(r.is_error);
  EXPECT_EQ((std::vector<float>(to.as<float>(), to.as<float>() + 4)),
            (std::vector<float>{0, 0, 3, 1}));
  EXPECT_TRUE(run("shift", with({&in, &to}), {{2, 2, 1}, {1, 1, 1}}).empty());
}
TEST(Textures, HaveSizesAndSlices) {
  Image a(TextureKind::T2dArray, PixelFormat::R32Float, 2, 3, 4),
      b(TextureKind::T3d, PixelFormat::R32Float, 2, 2, 2);
  a.as<float>()[6 + 1] = 7;  // slice 1
  b.as<float>()[4 + 1] = 9;  // plane 1
  std::vector<float> out(8);
  EXPECT_TRUE(run("sizes", with({&a, &b}, &out)).empty());
  EXPECT_EQ(out, (std::vector<float>{2, 3, 4, 2, 1, 9, 7, 0}));
}
TEST(Textures, OfIntegersSaturate) {
  Image t(TextureKind::T2d, PixelFormat::R8Uint, 2, 1);
  t.fill<uint8_t>({1, 20});
  EXPECT_TRUE(run("integers", with({&t}), {{2, 1, 1}, {1, 1, 1}}).empty());
  EXPECT_EQ(t.memory, (std::vector<uint8_t>{252, 255}));
  Image s(TextureKind::T2d, PixelFormat::R8Sint, 1, 1);
  s.fill<int8_t>({-1});
  EXPECT_TRUE(run("signs", with({&s})).empty());
  EXPECT_EQ(s.as<int8_t>()[0], -128);
}
TEST(Textures, LackChannelsAsZeroAndAlphaAsOne) {
  Image t(TextureKind::T2d, PixelFormat::RG16Float, 2, 1);
  t.fill<uint16_t>({0, 0, half_of_float(1.5F), half_of_float(-2)});
  std::vector<float> out(4);
  EXPECT_TRUE(run("halves", with({&t}, &out)).empty());
  EXPECT_EQ(out, (std::vector<float>{1.5F, -2, 0, 1}));
}

struct SamplerCase {
  const char* what;
  uint64_t bits;
  float x;  // in a row of 4 texels 0, 10, 20, 30
  float expected;
};
uint64_t addresses(SamplerState::Address a) {
  return uint64_t{a} << 1 | uint64_t{a} << 4 | uint64_t{a} << 7;
}
constexpr uint64_t kLinear = 3 << 10;
const SamplerCase kSamplerCases[] = {
    {"nearest takes the texel around the place", 0, 0.30F, 10},
    {"a place on an edge belongs to the right texel", 0, 0.5F, 20},
    {"linear is exact at centers", kLinear, 0.375F, 10},
    {"linear mixes two neighbors", kLinear, 0.5F, 15},
    {"the edge repeats outside", 0, 1.7F, 30},
    {"the edge repeats in front", kLinear, -3.0F, 0},
    {"repeat begins again", addresses(SamplerState::Repeat), 1.30F, 10},
    {"repeat in front", addresses(SamplerState::Repeat), -0.2F, 30},
    {"mirrored repeat turns around", addresses(SamplerState::MirroredRepeat), 1.2F, 30},
    {"zero outside", addresses(SamplerState::ClampToZero), 1.1F, 0},
    {"half of the last texel at the border", addresses(SamplerState::ClampToZero) | kLinear, 1.0F,
     15},
    {"the white border", addresses(SamplerState::ClampToBorder) | 2 << 14, 1.5F, 1},
    {"pixel coordinates count texels", 1, 2.5F, 20},
};
class Samplers : public testing::TestWithParam<SamplerCase> {};
TEST_P(Samplers, GiveTheValue) {
  SCOPED_TRACE(GetParam().what);
  Image t(TextureKind::T2d, PixelFormat::R32Float, 4, 1);
  t.fill<float>({0, 10, 20, 30});
  std::vector<float> at = {GetParam().x, 0.5F}, out(1);
  Arguments a = with({&t}, &at);
  a.buffers[1] = {out.data(), 4};
  a.samplers[0] = {SamplerState{GetParam().bits}};
  EXPECT_TRUE(run("sampled", a).empty());
  EXPECT_FLOAT_EQ(out[0], GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(All, Samplers, testing::ValuesIn(kSamplerCases));

TEST(Textures, AreSampledByConstantSamplersAndGathered) {
  Image t(TextureKind::T2d, PixelFormat::R32Float, 2, 2);
  t.fill<float>({1, 2, 3, 4});
  std::vector<float> out(8);
  EXPECT_TRUE(run("constants", with({&t}, &out)).empty());
  EXPECT_EQ(out, (std::vector<float>{2, 0, 1.5F, 4, 3, 4, 2, 1}));
}
TEST(Textures, OfOneDimension) {
  Image t(TextureKind::T1d, PixelFormat::R32Float, 4, 1);
  t.fill<float>({0, 10, 20, 30});
  std::vector<float> out(3);
  EXPECT_TRUE(run("line", with({&t}, &out)).empty());
  EXPECT_EQ(out, (std::vector<float>{20, 15, 4}));
}
TEST(Textures, OfCubesHaveSixFaces) {
  Image t(TextureKind::Cube, PixelFormat::R32Float, 1, 1);
  t.memory.resize(6 * 4);
  t.texture.lay_out(t.memory.data(), 1);
  t.fill<float>({0, 1, 2, 3, 4, 5});
  std::vector<float> out(4);
  EXPECT_TRUE(run("cube", with({&t}, &out)).empty());
  EXPECT_EQ(out, (std::vector<float>{0, 1, 5, 3}));
}
TEST(Textures, ComeInArrays) {
  Image a(TextureKind::T2d, PixelFormat::R32Float, 1, 1),
      b(TextureKind::T2d, PixelFormat::R32Float, 1, 1);
  a.fill<float>({5});
  b.fill<float>({6});
  std::vector<float> out(2);
  Arguments arguments = with({&a}, &out);
  arguments.textures[0] = {&a.texture, &b.texture};
  EXPECT_TRUE(run("many", arguments).empty());
  EXPECT_EQ(out, (std::vector<float>{5, 6}));
}
TEST(Textures, CountAtomically) {
  Image t(TextureKind::T2d, PixelFormat::R32Uint, 2, 1);
  EXPECT_TRUE(run("counts", with({&t}), {{4, 1, 1}, {8, 1, 1}}).empty());
  EXPECT_EQ(t.as<uint32_t>()[0], 31U * 32 / 2);
  EXPECT_EQ(t.as<uint32_t>()[1], 31U);
}

// Textures that do not fit their parameters are reported.
TEST(TextureMisuse, AreReportedBeforeTheKernelRuns) {
  Image array(TextureKind::T2dArray, PixelFormat::R32Float, 1, 1),
      number(TextureKind::T2d, PixelFormat::R32Float, 1, 1),
      integer(TextureKind::T2d, PixelFormat::R32Uint, 1, 1);
  const auto text = [&](Image& a, Image& b) {
    return print_reports(run("copy2d", with({&a, &b})));
  };
  EXPECT_NE(text(array, number).find("is a texture2d_array, but the kernel takes a texture2d"),
            std::string::npos);
  EXPECT_NE(
      text(number, integer).find("has the format R32Uint, but the kernel takes texels of float"),
      std::string::npos);
  EXPECT_NE(print_reports(run("copy2d", with({&number}))).find("texture 1, \"to\", is not bound"),
            std::string::npos);
  number.texture.writable = false;
  EXPECT_NE(text(number, number).find("that was not made to be written"), std::string::npos);
}
TEST(TextureMisuse, OfArgumentBuffersIsReportedWhenUsed) {
  Image t(TextureKind::T2d, PixelFormat::R32Float, 2, 1);
  t.fill<float>({1, 2});
  std::vector<float> out(1);
  uint64_t args[3] = {reinterpret_cast<uint64_t>(&t.texture),
                      reinterpret_cast<uint64_t>(out.data()), 0};
  Arguments a;
  a.buffers[0] = {args, sizeof args};
  EXPECT_NE(print_reports(run("argument", a)).find("uses a texture that is not resident"),
            std::string::npos);
  a.resident_textures = {&t.texture};
  EXPECT_TRUE(has_errors(run("argument", a)));  // the buffer is not resident yet, either
  a.resident = {{out.data(), 4}};
  EXPECT_TRUE(run("argument", a).empty());
  EXPECT_EQ(out[0], 2);
}

struct FormatCase {
  PixelFormat format;
  std::array<float, 4> value, decoded;
};
class Formats : public testing::TestWithParam<FormatCase> {};
TEST_P(Formats, EncodeAndDecode) {
  uint32_t texel[4], back[4];
  uint8_t memory[16];
  for (size_t i = 0; i < 4; ++i) texel[i] = std::bit_cast<uint32_t>(GetParam().value[i]);
  encode_texel(GetParam().format, texel, memory);
  decode_texel(GetParam().format, memory, back);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::bit_cast<float>(back[i]), GetParam().decoded[i]) << "channel " << i;
  }
}
using F = PixelFormat;
const FormatCase kFormatCases[] = {
    {F::R32Float, {1.25F, 9, 9, 9}, {1.25F, 0, 0, 1}},
    {F::RGBA16Float, {1, 65520, -0.5F, 0x1p-24F}, {1, INFINITY, -0.5F, 0x1p-24F}},
    {F::RGBA8Unorm, {0, 1, 2, -1}, {0, 1, 1, 0}},
    {F::RGBA8Unorm, {NAN, 0.5F, 0, 0}, {0, 128 / 255.0F, 0, 0}},
    {F::BGRA8Unorm, {1, 0, 0, 1}, {1, 0, 0, 1}},
    {F::RGBA8Snorm, {-1, 1, -2, 0}, {-1, 1, -1, 0}},
    {F::R16Unorm, {0.25F, 0, 0, 0}, {16384 / 65535.0F, 0, 0, 1}},
    {F::RGB10A2Unorm, {1, 0, 1, 1}, {1, 0, 1, 1}},
    {F::A8Unorm, {9, 9, 9, 1}, {0, 0, 0, 1}},
    {F::RGBA8UnormSrgb, {1, 0, 0, 0.2F}, {1, 0, 0, 51 / 255.0F}},
};
INSTANTIATE_TEST_SUITE_P(All, Formats, testing::ValuesIn(kFormatCases));

// Conversions between half and float agree with the compiler's, for all values of half.
TEST(Half, ConvertsThroughFloatWithoutLoss) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const float f = float_of_half(static_cast<uint16_t>(h));
    if (std::isnan(f)) continue;
    ASSERT_EQ(half_of_float(f), h);
  }
  EXPECT_EQ(half_of_float(2049), half_of_float(2048));
  EXPECT_EQ(half_of_float(65519.99F), 0x7bff);
  EXPECT_EQ(half_of_float(0x1p-25F), 0);
}

}  // namespace
}  // namespace softmetal
