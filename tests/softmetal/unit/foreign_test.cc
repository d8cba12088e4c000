// Tests shaders in the styles of other compilers: SPIRV-Cross, Halide, TVM, naga, Slang, Tint,
// tinygrad. Each runs and gives the expected values.
#include <cmath>

#include "tests/softmetal/unit/foreign_shader.h"

namespace softmetal {
namespace {

TEST(Foreign, SpirvArraysWithMethodsOfAllSpaces) {
  Floats out(8), scales = {1, 1, 1, 2};
  Shader("spirv_arrays", "main0").buffer(0, out).buffer(1, scales).run({{1, 1, 1}, {4, 1, 1}});
  // 1, 20, 300, 8000 in reverse, two to a row; then the first row's end in reverse.
  EXPECT_EQ(out, (Floats{8000, 300, 0, 0, 20, 1, 300, 8000}));
}
TEST(Foreign, SpirvArgumentBuffers) {
  struct {
    int count;
    float x, y, z;
  } push{3, 10, 20, 30};
  Floats in = {1, 2, 3, 4}, out(8);
  uint64_t set[3] = {reinterpret_cast<uint64_t>(in.data()), reinterpret_cast<uint64_t>(out.data()),
                     reinterpret_cast<uint64_t>(&push)};
  Shader shader("spirv_argument_buffer", "main0");
  shader.arguments().buffers[0] = {set, sizeof set};
  shader.arguments().resident = {{in.data(), 16}, {out.data(), 32}, {&push, sizeof push}};
  shader.run({{4, 1, 1}, {1, 1, 1}});
  EXPECT_EQ(out, (Floats{11, 60, 12, 60, 13, 60, 0, 0}));
  const auto& members = shader.function()->arguments[0].members;
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[1].name, "m_20");
  EXPECT_EQ(members[1].id, 1);
  EXPECT_EQ(members[1].description.offset, 8U);
  EXPECT_EQ(members[1].description.space, 1U);
  EXPECT_EQ(members[0].description.writable, 0U);
  EXPECT_EQ(members[2].description.space, 2U);
}
TEST(Foreign, SpirvImagesAndFunctionConstants) {
  for (const auto& [constants, factor] :
       {std::pair<std::map<int, std::string>, float>{{}, 3.0F}, {{{0, "4"}}, 5.0F}}) {
    Floats in = {1, 2, 3, 4}, out(4);
    Texture a, b;
    for (auto [t, data] : {std::pair(&a, &in), std::pair(&b, &out)}) {
      t->width = t->height = 2;
      t->lay_out(reinterpret_cast<uint8_t*>(data->data()), 1);
    }
    Shader shader("spirv_images", "main0", constants);
    shader.arguments().textures = {{0, {&a}}, {1, {&b}}};
    shader.arguments().samplers = {{0, {SamplerState{3 << 10}}}};
    shader.run({{2, 2, 1}, {1, 1, 1}});
    EXPECT_EQ(out, (Floats{1 * factor, 2 * factor, 3 * factor, 4 * factor}));
  }
}
TEST(Foreign, SpirvAtomics) {
  std::vector<uint32_t> counters = {100, 100, 0, 0};
  Shader("spirv_atomics", "main0").buffer(0, counters).run({{1, 1, 1}, {8, 1, 1}});
  EXPECT_EQ(counters, (std::vector<uint32_t>{28, static_cast<uint32_t>(-2), 0x55, 0xaa}));
}
TEST(Foreign, SpirvMatrices) {
  // world is a translation by (10, 20, 30); normal scales; pair has 8 numbers.
  Floats t = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 10, 20, 30, 1, 2, 0,
              0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 1, 2, 3,  4,  5,  6, 7, 8},
         out(12);
  Shader("spirv_matrices", "main0").buffer(0, t).buffer(1, out).run({});
  EXPECT_EQ(out, (Floats{11, 22, 33, 1, 2, 0, 8, 0.25F, 6, 6, 7, 18}));
}
TEST(Foreign, NagaDefaultsOfRowsOutOfBounds) {
  std::vector<int32_t> in = {1, 2, 3, 4, 50, 60, 70, 80}, out(3);
  Shader("naga_defaults", "defaults").buffer(0, out).buffer(1, in).bytes(2, 2U).run({{3, 1, 1}});
  EXPECT_EQ(out, (std::vector<int32_t>{1 + 2 + 1, 50 + 60 + 1, 1}));
}
TEST(Foreign, MethodsOfObjectsAndOfTemporaries) {
  std::vector<int32_t> out(4);
  Shader("naga_defaults", "objects").buffer(0, out).run({});
  EXPECT_EQ(out, (std::vector<int32_t>{3, 104, 5, 6 + 5}));
}
TEST(Foreign, HalideCastsOfThreadgroupMemory) {
  Floats in = {1, 2, 3, 4, 5, 6}, out(6);
  const struct {
    int32_t extent, stride;
    float weight;
  } args{6, 4, 0.5F};
  Shader shader("halide_shared", "_kernel_blur");
  shader.bytes(0, args).buffer(1, in).buffer(2, out).arguments().threadgroup_sizes[0] = 1152;
  shader.run({{2, 1, 1}, {4, 1, 1}});
  EXPECT_EQ(out, (Floats{0.5F, 1.5F, 2.5F, 3.5F, 2.5F, 5.5F}));
}
TEST(Foreign, HalidePackedVectors) {
  std::vector<uint8_t> in = {0, 1, 2, 3, 4, 5, 6, 7};
  Floats out(8);
  std::vector<uint16_t> small(8);
  Shader("halide_vectors", "_kernel_convert")
      .buffer(0, in)
      .buffer(1, out)
      .buffer(2, small)
      .run({{1, 1, 1}, {2, 1, 1}});
  EXPECT_EQ(out, (Floats{0 + 6 + 1, -1, 1, -1, 2 + 14, -1, 3, -1}));
  EXPECT_EQ(float_of_half(small[6]), 3);
}
TEST(Foreign, TvmProducts) {
  Floats a(16), b(32), c(16), expected(16);
  const int n = 8;
  a.resize(4 * n);
  for (int i = 0; i < 4 * n; ++i) a[static_cast<size_t>(i)] = static_cast<float>(i % 5 - 2);
  for (int i = 0; i < 4 * n; ++i) b[static_cast<size_t>(i)] = static_cast<float>(i % 7 - 3);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int k = 0; k < n; ++k) {
        expected[static_cast<size_t>(4 * i + j)] +=
            a[static_cast<size_t>(n * i + k)] * b[static_cast<size_t>(4 * k + j)];
      }
    }
  }
  Shader("tvm_gemm", "main_kernel")
      .buffer(0, a)
      .buffer(1, b)
      .buffer(2, c)
      .bytes(3, n)
      .run({{1, 1, 1}, {8, 1, 1}});
  EXPECT_EQ(c, expected);
}
TEST(Foreign, TvmShufflesOfHalf) {
  std::vector<uint16_t> in(64), out(64);
  for (size_t i = 0; i < 64; ++i) in[i] = half_of_float(static_cast<float>(i % 32) / 8);
  Shader("tvm_softmax", "softmax_kernel").buffer(0, in).buffer(1, out).run({{2, 1, 1}, {32, 1, 1}});
  double total = 0;
  for (int i = 0; i < 32; ++i) total += std::exp(i / 8.0);
  // Each value is rounded to half; the float sums before have relative errors of a few 2^-24.
  for (int i = 0; i < 64; ++i) {
    const double expected = std::exp(i % 32 / 8.0) / total;
    EXPECT_NEAR(float_of_half(out[static_cast<size_t>(i)]), expected, expected * 0x1.02p-11);
  }
}
TEST(Foreign, NagaReferences) {
  struct Body {
    float px, py, vx, vy;
  };
  std::vector<Body> from = {{0, 0, 1, 2}, {9, 0, 4, 0}, {0, 0, 1, 1}}, to(3);
  const struct {
    float dt;
    uint32_t count;
    char pad[8];
  } settings{0.5F, 2, {}};
  Shader shader("naga_particles", "main_");
  shader.bytes(0, settings).buffer(1, from).buffer(2, to).arguments().threadgroup_sizes[0] = 16;
  shader.run({{1, 1, 1}, {3, 1, 1}});
  EXPECT_EQ(to[0].px, 0.5F);
  EXPECT_EQ(to[0].vy, 2);
  EXPECT_EQ(to[1].px, 10);
  EXPECT_EQ(to[1].vx, -4);
  EXPECT_EQ(to[2].vx, 0);
}
TEST(Foreign, SlangContextsOfPointers) {
  Floats in = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, out(2);
  const uint32_t count = 10;
  Shader("slang_groups", "computeMain")
      .buffer(0, in)
      .buffer(1, out)
      .bytes(2, count)
      .run({{2, 1, 1}, {8, 1, 1}});
  EXPECT_EQ(out, (Floats{36, 19}));
}
TEST(Foreign, TintArraysOfArrays) {
  const uint32_t dims[4] = {2, 0, 0, 0};
  Floats a = {1, 2, 3, 4}, out(4);
  Shader shader("tint_matmul", "transpose_main");
  shader.bytes(0, dims).buffer(1, a).buffer(2, out).arguments().threadgroup_sizes[0] = 16;
  shader.run({{1, 1, 1}, {2, 2, 1}});
  EXPECT_EQ(out, (Floats{2, 4, 3, 5}));
}
TEST(Foreign, SpirvConstantsOfTheProgram) {
  Floats out(7);
  Shader("spirv_constants", "main0").buffer(0, out).run({});
  EXPECT_EQ(out, (Floats{6, 3, 3, 4, 2, 0.25F, 4}));
}
TEST(Foreign, SpirvShadowsAndLevels) {
  Floats depths = {1, 2, 3, 4}, colors(16 + 4 + 1), out(6);
  std::fill(colors.begin() + 16, colors.begin() + 20, 7.0F);
  std::vector<uint32_t> cells = {0, 0, 0, 0, 40, 0, 0, 0};
  Texture shadow, cube, color;
  shadow.width = shadow.height = 2;
  shadow.lay_out(reinterpret_cast<uint8_t*>(depths.data()), 1);
  cube.kind = TextureKind::T3d;
  cube.format = PixelFormat::R32Uint;
  cube.width = cube.height = cube.depth = 2;
  cube.lay_out(reinterpret_cast<uint8_t*>(cells.data()), 1);
  color.width = color.height = 4;
  color.lay_out(reinterpret_cast<uint8_t*>(colors.data()), 3);
  Shader shader("spirv_shadows", "main0");
  shader.buffer(0, out).arguments().textures = {{0, {&shadow}}, {1, {&cube}}, {2, {&color}}};
  RunOptions options;
  EXPECT_TRUE(dispatch(*shader.function(), shader.arguments(), {}, options).empty());
  // 3 and 4 are not below 2.5; 1 is 1; of (3, 4, 2, 1), all but the last are at least 2. The level
  // is the second one: its texels are as large as the longer gradient, half of the image.
  EXPECT_EQ(out, (Floats{0.5F, 1, 1 + 2 + 4, 40, 7, 0}));
  EXPECT_EQ(cells[4], 43U);
}
TEST(Foreign, HalideConstantsByTheirBits) {
  Floats in = {1, -5, 2, 3, 0, 9, -1, -2, 1e6F, 0, 0, 0}, out(2);
  const struct {
    int32_t extent, stride;
  } args{2, 8};
  in.resize(16);
  Shader shader("halide_bits", "_kernel_largest");
  shader.bytes(0, args).buffer(1, in).buffer(2, out).arguments().threadgroup_sizes[0] = 16;
  shader.run({{2, 1, 1}, {4, 1, 1}});
  EXPECT_EQ(out, (Floats{9, 65504}));
}
TEST(Foreign, AlignedThreadgroupVariables) {
  Floats sum(1), in(32);
  for (size_t i = 0; i < 32; ++i) in[i] = static_cast<float>(i);
  const int32_t n = 2;
  Shader("aligned_sums", "r_4_8")
      .buffer(0, sum)
      .buffer(1, in)
      .bytes(2, n)
      .run({{1, 1, 1}, {4, 1, 1}});
  // The sums of two elements are 1, 17, 33 and 49; half of the first is subtracted, and 2 added.
  EXPECT_EQ(sum[0], 1 + 17 + 33 + 49 - 0.5F + 2);
  Floats out(64), a(64), b(64);
  for (size_t i = 0; i < 64; ++i) a[i] = static_cast<float>(i);
  // The matrix b is the identity; each thread has two adjacent elements of a row.
  for (size_t lane = 0; lane < 32; ++lane) {
    const size_t quad = lane / 4, row = (quad & 4) + lane / 2 % 4,
                 column = (quad & 2) * 2 + lane % 2 * 2;
    if (row / 2 == column / 2) b[2 * lane + row % 2] = 1;
  }
  Shader("aligned_sums", "mma")
      .buffer(0, out)
      .buffer(1, a)
      .buffer(2, b)
      .run({{1, 1, 1}, {32, 1, 1}});
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 2 * a[i]) << i;
}

}  // namespace
}  // namespace softmetal
