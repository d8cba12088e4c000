// Shaders in the styles of other compilers: SPIRV-Cross, Halide, TVM, naga, Slang, Tint, and of
// libraries of templates. Each runs, and gives what its source says.
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/softmetal/unit/harness.h"

namespace softmetal {
namespace {

std::string read_shader(const std::string& name) {
  std::ifstream in(std::string(SOFTMETAL_FOREIGN) + "/" + name + ".metal");
  EXPECT_TRUE(in.good()) << name;
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

// A shader with arguments; what it must not do is a failure of the test.
class Shader {
 public:
  Shader(const std::string& file, const std::string& kernel,
         const std::map<int, std::string>& constants = {}) {
    CompileOptions options;
    options.constants = constants;
    function_ = function_or_fail(read_shader(file), kernel, options);
  }
  template <class T>
  Shader& buffer(int index, std::vector<T>& values) {
    arguments_.buffers[index] = {values.data(), values.size() * sizeof(T)};
    return *this;
  }
  template <class T>
  Shader& bytes(int index, const T& value) {
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    arguments_.bytes[index].assign(raw, raw + sizeof value);
    return *this;
  }
  Arguments& arguments() { return arguments_; }
  const Function* function() const { return function_.get(); }
  // For several orders of threads.
  void run(const Grid& grid) {
    ASSERT_NE(function_, nullptr);
    for (uint64_t seed : {0, 1, 2}) {
      RunOptions options;
      options.seed = seed;
      const auto reports = dispatch(*function_, arguments_, grid, options);
      EXPECT_TRUE(reports.empty()) << print_reports(reports);
    }
  }

 private:
  std::shared_ptr<Function> function_;
  Arguments arguments_;
};

using Floats = std::vector<float>;

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
TEST(Foreign, TemplatesWithHostNames) {
  Floats a = {1, 2, 3, 4, 5}, b = {2, 2, 2, 2, 2}, out(5);
  const uint64_t size = 5;
  Shader("templates_host_name", "binary_mul_float")
      .buffer(0, a)
      .buffer(1, b)
      .buffer(2, out)
      .bytes(4, size)
      .run({{3, 1, 1}, {1, 1, 1}});
  EXPECT_EQ(out, (Floats{2, 4, 6, 8, 10}));
  const float bias = 1;
  Shader biased("templates_host_name", "binary_mul_float", {{20, "true"}});
  biased.buffer(0, a).buffer(1, b).buffer(2, out).bytes(3, bias).bytes(4, size).run(
      {{3, 1, 1}, {1, 1, 1}});
  EXPECT_EQ(out, (Floats{3, 5, 7, 9, 11}));
  EXPECT_EQ(biased.function()->max_threads, 16U);
  std::vector<int> i = {1, -2, 3, -4}, j = {0, 0, 5, 0}, k(4);
  const uint64_t four = 4;
  Shader("templates_host_name", "binary_max_int")
      .buffer(0, i)
      .buffer(1, j)
      .buffer(2, k)
      .bytes(4, four)
      .run({});
  EXPECT_EQ(k, (std::vector<int>{1, 0, 5, 0}));
}
TEST(Foreign, TemplatesOverSimdgroupMatrices) {
  Floats a(64), b(64), out(64);
  for (size_t i = 0; i < 64; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = i % 9 == 0 ? 1 : (i == 1 ? 5 : 0);  // the identity, and b[0][1], which is transposed
  }
  Shader("templates_tile", "tile_f32")
      .buffer(0, a)
      .buffer(1, b)
      .buffer(2, out)
      .run({{1, 1, 1}, {32, 1, 1}});
  for (size_t r = 0; r < 8; ++r) {
    for (size_t c = 0; c < 8; ++c)
      ASSERT_EQ(out[8 * r + c], a[8 * r + c] + (c == 0 ? 5 * a[8 * r + 1] : 0));
  }
}
TEST(Foreign, TemplatesThatTakeFunctions) {
  struct Block {
    uint16_t scale;
    uint8_t pairs[4];
  };
  std::vector<Block> rows(4);
  for (size_t i = 0; i < 4; ++i)
    rows[i] = {half_of_float(static_cast<float>(i + 1)), {0x98, 0xba, 0x70, 0x0f}};
  const struct {
    int32_t columns, pad = 0;
    uint64_t row_bytes;
  } args{.columns = 16, .row_bytes = 12};
  Floats out(32);
  Shader("quantized_rows", "kernel_rows_4bit")
      .bytes(0, args)
      .buffer(1, rows)
      .buffer(2, out)
      .run({{2, 1, 1}, {2, 1, 1}});
  EXPECT_EQ((Floats(out.begin() + 8, out.begin() + 16)), (Floats{0, 2, 4, 6, -16, -2, 14, -16}));
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
TEST(Foreign, TwoHostNamesOfOneSource) {
  Floats x = {-2, -0.25F, 0, 0.5F, 3}, y(5);
  const float lambda = 0.5F;
  Shader("softshrink_commit", "softshrink")
      .buffer(0, x)
      .buffer(1, y)
      .bytes(2, lambda)
      .run({{5, 1, 1}, {1, 1, 1}});
  EXPECT_EQ(y, (Floats{-1.5F, 0, 0, 0, 2.5F}));
  std::vector<uint32_t> changed = {7}, groups(3, 99);
  const uint32_t limit = 3;
  Shader("softshrink_commit", "softshrink_commit")
      .buffer(0, changed)
      .buffer(1, groups)
      .bytes(2, limit)
      .run({});
  EXPECT_EQ(groups, (std::vector<uint32_t>{7, 1, 1}));
}

}  // namespace
}  // namespace softmetal
