// Tests textures as kernels see them: reading and writing texels of every format, borders, and
// tensors at an origin in a larger image.
#include <cmath>

#include "tests/conformance/textures/texture_fixture.h"

namespace texloom::hal::conformance {
namespace {

bool is_float(TexelFormat format) {
  return format == TexelFormat::Rgba16Float || format == TexelFormat::Rgba32Float;
}

// 32-bit values that the format represents exactly, as the floats or integers that kernels read,
// and the texels that contain these values.
struct Texels {
  Bytes values, texels;
};

template <typename T>
void append(Bytes& bytes, T value) {
  const auto raw = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

// Returns the bits of a half (5 exponent bits, 10 fraction bits) for numbers that need no rounding.
std::uint16_t half_bits(float value) {
  if (value == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  const auto bits = static_cast<std::uint32_t>(std::lround(std::ldexp(fraction, 11))) - 1024U;
  const auto biased = static_cast<std::uint32_t>(exponent + 14) << 10;
  return static_cast<std::uint16_t>((value < 0 ? 0x8000U : 0U) | biased | bits);
}

Texels make_texels(TexelFormat format, std::size_t count) {
  Texels made;
  for (std::size_t i = 0; i < 4 * count; ++i) {
    const auto n = static_cast<std::int32_t>(i);
    const std::int32_t sign = n % 2 == 0 ? 1 : -1;
    switch (format) {
      case TexelFormat::Rgba8Int:
        append(made.values, sign * (n % 128));
        append(made.texels, static_cast<std::int8_t>(sign * (n % 128)));
        break;
      case TexelFormat::Rgba8UInt:
        append(made.values, n % 256);
        append(made.texels, static_cast<std::uint8_t>(n % 256));
        break;
      case TexelFormat::Rgba16Int:
        append(made.values, sign * (n * 211 % 32768));
        append(made.texels, static_cast<std::int16_t>(sign * (n * 211 % 32768)));
        break;
      case TexelFormat::Rgba16UInt:
        append(made.values, n * 423 % 65536);
        append(made.texels, static_cast<std::uint16_t>(n * 423 % 65536));
        break;
      case TexelFormat::Rgba32Int:
      case TexelFormat::Rgba32UInt:
        append(made.values, 0x9e3779b9U * static_cast<std::uint32_t>(n));
        append(made.texels, 0x9e3779b9U * static_cast<std::uint32_t>(n));
        break;
      case TexelFormat::Rgba16Float:
        append(made.values, 0.5F * static_cast<float>(sign * (n % 512)));
        append(made.texels, half_bits(0.5F * static_cast<float>(sign * (n % 512))));
        break;
      case TexelFormat::Rgba8Unorm:  // the limits, which no device rounds differently
        append(made.values, static_cast<float>(n % 3 == 0));
        append(made.texels, static_cast<std::uint8_t>(n % 3 == 0 ? 0xff : 0));
        break;
      case TexelFormat::Rgba16Unorm:
        append(made.values, static_cast<float>(n % 3 == 0));
        append(made.texels, static_cast<std::uint16_t>(n % 3 == 0 ? 0xffff : 0));
        break;
      default:
        append(made.values, 0.37F * static_cast<float>(sign * n));
        append(made.texels, 0.37F * static_cast<float>(sign * n));
        break;
    }
  }
  return made;
}

class KernelTexels : public OnTextures<> {
 protected:
  static constexpr Extent2D kExtent = {9, 7};
  Texels texels() const { return make_texels(format(), std::size_t{9} * 7); }
  Status dispatch(CommandBuffer& commands, const EntryPoint& entry,
                  std::array<std::uint32_t, 3> groups, const std::vector<Binding>& bindings,
                  const std::vector<Constant>& constants = {}) {
    return commands.dispatch(executable(entry), 0, groups, bindings, constants);
  }
};
TL_ON_EVERY_TEXTURE(KernelTexels);

TEST_P(KernelTexels, AreReadAsTheirValues) {
  const auto in = make_texture(kExtent, format(), texels().texels);
  const auto out = make_buffer(texels().values.size());
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, kernels::read_texels(format()), {9, 7, 1},
                        {TextureBinding{in}, BufferBinding{out}}, {Constant(9)}));
  TL_ASSERT_OK(run(commands));
  expect_content(out, texels().values);
}

TEST_P(KernelTexels, AreWrittenAsTheirValues) {
  const auto in = make_buffer(texels().values);
  const auto out = make_texture_full_of(kSentinel, kExtent, format());
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, kernels::write_texels(format()), {9, 7, 1},
                        {BufferBinding{in}, TextureBinding{out}}, {Constant(9)}));
  TL_ASSERT_OK(run(commands));
  expect_content(out, texels().texels);
}

TEST_P(KernelTexels, AreCopiedAsTheyAre) {
  const auto in = make_texture(kExtent, format(), texels().texels);
  const auto out = make_texture(kExtent, format());
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, kernels::copy_texels(format()), {9, 7, 1},
                        {TextureBinding{in}, TextureBinding{out}}));
  TL_ASSERT_OK(run(commands));
  expect_content(out, texels().texels);
}

// A kernel keeps all bits of an integer.
TEST_P(KernelTexels, OfIntegersAreCopiedToTheBit) {
  if (is_float(format())) GTEST_SKIP() << "a device may change NaN";
  const Bytes data = random_bytes(bytes_of_texels(kExtent), 5);
  const auto in = make_texture(kExtent, format(), data);
  const auto out = make_texture(kExtent, format());
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, kernels::copy_texels(format()), {9, 7, 1},
                        {TextureBinding{in}, TextureBinding{out}}));
  TL_ASSERT_OK(run(commands));
  expect_content(out, data);
}

TEST_P(KernelTexels, OutsideOfTheImageAreZero) {
  const auto in = make_texture({2, 1}, format(), make_texels(format(), 2).texels);
  const auto out = make_buffer(Bytes(4 * 3 * 16, kSentinel));
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, kernels::read_texels_around(format()), {4, 3, 1},
                        {TextureBinding{in}, BufferBinding{out}}, {Constant(4)}));
  TL_ASSERT_OK(run(commands));
  const Bytes values = make_texels(format(), 2).values;
  Bytes expected(4 * 3 * 16, std::byte{0});
  std::copy(values.begin(), values.end(), expected.begin() + (4 + 1) * 16);
  expect_content(out, expected);
}

// Items outside the dispatch write nothing.
TEST_P(KernelTexels, BeyondTheDispatchStayAsTheyWere) {
  const auto in = make_buffer(texels().values);
  const auto out = make_texture_full_of(kSentinel, kExtent, format());
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, kernels::write_texels(format()), {4, 3, 1},
                        {BufferBinding{in}, TextureBinding{out}}, {Constant(9)}));
  TL_ASSERT_OK(run(commands));
  Bytes expected(bytes_of_texels(kExtent), kSentinel);
  const Bytes whole = texels().texels;
  for (std::size_t y = 0; y < 3; ++y)
    blit(whole, 9 * texel(), y * 9 * texel(), expected, 9 * texel(), {0, y, 4 * texel(), 1});
  expect_content(out, expected);
}

// A copy reads what an earlier kernel wrote, and vice versa.
TEST_P(KernelTexels, PassFromCopyToKernelToCopy) {
  const auto source = make_buffer(texels().texels), target = make_buffer(texels().texels.size());
  const auto in = make_texture(kExtent, format()), out = make_texture(kExtent, format());
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer_to_texture(source, in, {.extent = kExtent}));
  TL_ASSERT_OK(dispatch(*commands, kernels::copy_texels(format()), {9, 7, 1},
                        {TextureBinding{in}, TextureBinding{out}}));
  TL_ASSERT_OK(commands->copy_texture_to_buffer(out, target, {.extent = kExtent}));
  TL_ASSERT_OK(run(commands));
  expect_content(target, texels().texels);
}

class TensorsInTextures : public DispatchFixture {
 protected:
  void SetUp() override {
    DispatchFixture::SetUp();
    if (!IsSkipped() && !info().features.images) GTEST_SKIP() << "no images";
  }
  // Makes a texture full of NaN.
  std::shared_ptr<Texture> nans(Extent2D extent) {
    return make_texture_full_of(std::byte{0xff}, extent, TexelFormat::Rgba32Float);
  }
  Status twice(CommandBuffer& commands, const std::shared_ptr<Texture>& in, Offset2D from,
               const std::shared_ptr<Texture>& out, Offset2D to) {
    const auto number = [](std::uint32_t value) {
      return Constant(static_cast<std::int32_t>(value));
    };
    return dispatch(commands, executable(kernels::twice_at_origins()), {4, 3, 1},
                    {TextureBinding{in, from}, TextureBinding{out, to}},
                    {number(from.x), number(from.y), number(to.x), number(to.y)});
  }
  // Returns the values of a tensor of 4 x 3 texels.
  static std::vector<float> tensor(float first) {
    std::vector<float> values(4 * 3 * 4);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i);
    return values;
  }
  void expect_twice(const std::shared_ptr<Texture>& texture, Offset2D at,
                    std::vector<float> expected) {
    for (float& value : expected) value *= 2;
    std::vector<float> values(expected.size());
    TL_ASSERT_OK(read_texture(device(), texture, {at, {4, 3}}, writable_bytes_of(values)));
    expect_bytes(bytes_of(values), bytes_of(expected));
  }
};
TL_ON_EVERY_DEVICE_WITH_EVERY_BINDING(TensorsInTextures);

TEST_P(TensorsInTextures, AtTheOrigin) {
  const auto in = make_texture({4, 3}, TexelFormat::Rgba32Float, bytes_of(tensor(1)));
  const auto out = nans({4, 3});
  const auto commands = begin();
  TL_ASSERT_OK(twice(*commands, in, {}, out, {}));
  TL_ASSERT_OK(run(commands));
  expect_twice(out, {}, tensor(1));
}

TEST_P(TensorsInTextures, AtOriginsInLargerImages) {
  const auto in = nans({16, 16}), out = nans({9, 9});
  TL_ASSERT_OK(write_texture(device(), in, {{11, 12}, {4, 3}}, bytes_of(tensor(1))));
  const auto commands = begin();
  TL_ASSERT_OK(twice(*commands, in, {11, 12}, out, {5, 6}));
  TL_ASSERT_OK(run(commands));
  expect_twice(out, {5, 6}, tensor(1));
}

// The texels around the written tensor remain NaN.
TEST_P(TensorsInTextures, LeaveTheRestOfTheImageAlone) {
  const auto in = nans({16, 16}), out = nans({9, 9});
  TL_ASSERT_OK(write_texture(device(), in, {{3, 2}, {4, 3}}, bytes_of(tensor(7))));
  const auto commands = begin();
  TL_ASSERT_OK(twice(*commands, in, {3, 2}, out, {1, 5}));
  TL_ASSERT_OK(run(commands));
  std::vector<float> doubled = tensor(7);
  for (float& value : doubled) value *= 2;
  Bytes expected(9 * 9 * 16, std::byte{0xff});
  const auto raw = bytes_of(doubled);
  blit(Bytes(raw.begin(), raw.end()), 4 * 16, 0, expected, 9 * 16, {16, 5, 4 * 16, 3});
  expect_content(out, expected);
}

TEST_P(TensorsInTextures, TwoShareTheImageThatIsRead) {
  const auto in = nans({8, 8}), out = nans({8, 8});
  TL_ASSERT_OK(write_texture(device(), in, {{0, 0}, {4, 3}}, bytes_of(tensor(1))));
  TL_ASSERT_OK(write_texture(device(), in, {{4, 5}, {4, 3}}, bytes_of(tensor(100))));
  const auto commands = begin();
  TL_ASSERT_OK(twice(*commands, in, {0, 0}, out, {4, 0}));
  TL_ASSERT_OK(twice(*commands, in, {4, 5}, out, {0, 3}));
  TL_ASSERT_OK(run(commands));
  expect_twice(out, {4, 0}, tensor(1));
  expect_twice(out, {0, 3}, tensor(100));
}

// Values go back and forth between two images, each time to a different place.
TEST_P(TensorsInTextures, ChainThroughTwoImages) {
  const auto a = nans({16, 8}), b = nans({8, 16});
  TL_ASSERT_OK(write_texture(device(), a, {{0, 0}, {4, 3}}, bytes_of(tensor(1))));
  const auto commands = begin();
  TL_ASSERT_OK(twice(*commands, a, {0, 0}, b, {4, 13}));
  TL_ASSERT_OK(twice(*commands, b, {4, 13}, a, {12, 5}));
  TL_ASSERT_OK(twice(*commands, a, {12, 5}, b, {0, 0}));
  TL_ASSERT_OK(run(commands));
  std::vector<float> four = tensor(1);
  for (float& value : four) value *= 4;
  expect_twice(b, {0, 0}, four);
}

}  // namespace
}  // namespace texloom::hal::conformance
