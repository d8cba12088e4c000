// Tests shaders in the styles of handwritten libraries: templates with instantiations, classes for
// numbers, and functions with names of the standard library.
#include <bit>

#include "tests/softmetal/unit/foreign_shader.h"

namespace softmetal {
namespace {

TEST(Foreign, TemplatesWithHostNames) {
  Floats a = {1, 2, 3, 4, 5}, b = {2, 2, 2, 2, 2}, out(5);
  const uint64_t size = 5;
  Shader("templates_host_name", "binary_mul_float", {{20, "false"}})
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
  Shader("templates_host_name", "binary_max_int", {{20, "false"}})
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
    b[i] = i % 9 == 0 ? 1 : (i == 1 ? 5 : 0);  // the identity with b[0][1] = 5; used transposed
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
TEST(Foreign, IndicesThatAreExpressions) {
  const struct {
    int32_t columns, pad = 0;
    uint64_t row_bytes;
  } args{.columns = 4, .row_bytes = 16};
  Floats in = {1, 2, 3, 4, 5, 6, 7, 8}, out(8);
  std::vector<int32_t> count = {0};
  Shader shader("specialized_rows", "kernel_rows", {{600, "2"}, {601, "true"}});
  shader.bytes(0, args).buffer(1, in).buffer(2, out).buffer(4, count).run({{2, 1, 1}, {1, 1, 1}});
  EXPECT_EQ(out, (Floats{-4, -6, 0, 0, -12, -14, 0, 0}));
  EXPECT_EQ(count[0], 3 * 2 * 2);  // in three runs
}
TEST(Foreign, ChainsOfOperatorsOverTemporaries) {
  std::vector<uint32_t> pairs = {5, 11}, out(9);
  Shader("field_elements", "elements").buffer(0, pairs).buffer(1, out).run({{1, 1, 1}, {2, 1, 1}});
  // Modulo 97: 5 * 11 * 5 + 12, 25^3, 25 + 121, sums that cancel, 5 + 12, 17 + 3, and 11 plus 2,
  // which two references see.
  EXPECT_EQ(out,
            (std::vector<uint32_t>{(275 + 12) % 97, 15625 % 97, 146 % 97, 1, 0, 16, 17, 20, 13}));
}
TEST(Foreign, NamespacesOfTheLibrarysName) {
  const Floats numbers = {1, 2, 3, 0.25F};
  const int64_t size = 4;
  Floats in = numbers, sums(2), largest(6);
  Shader("nested_metal", "gather_sums_float")
      .buffer(0, in)
      .buffer(1, sums)
      .buffer(2, largest)
      .bytes(3, size)
      .run({{3, 1, 1}, {2, 1, 1}});
  EXPECT_EQ(largest, (Floats{1, 2, 3, 0.5F, 0.5F, 0.5F}));
  EXPECT_EQ(sums, (Floats{3 * 3, 3 * 1.25F}));  // in three runs
  std::vector<uint16_t> halves, half_sums(2);
  for (float x : numbers) halves.push_back(half_of_float(x));
  Shader("nested_metal", "gather_sums_half")
      .buffer(0, halves)
      .buffer(1, half_sums)
      .buffer(2, largest)
      .bytes(3, size)
      .run({{3, 1, 1}, {2, 1, 1}});
  EXPECT_EQ(float_of_half(half_sums[1]), 3 * 1.25F);
}
TEST(Foreign, FunctionsBesideTheLibrarys) {
  const auto bfloat_of = [](float x) {
    return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16);
  };
  std::vector<uint16_t> in, out(3);
  for (float x : {-3.0F, -1.5F, -2.0F}) in.push_back(half_of_float(x));
  Floats steps = {0, 0, 0, 0, 6};
  const int32_t size = 3;
  Shader shader("brain_floats", "largest_half_bfloat");
  shader.buffer(0, in).buffer(1, out).buffer(2, steps).bytes(3, size).run({});
  EXPECT_EQ(out, (std::vector<uint16_t>{bfloat_of(-1.5F), bfloat_of(6), bfloat_of(-3)}));
  EXPECT_EQ(shader.function()->max_threads, 8U * 2);
  for (size_t i = 0; i < 3; ++i) in[i] = bfloat_of(static_cast<float>(i));
  Shader other("brain_floats", "largest_bfloat_half");
  other.buffer(0, in).buffer(1, out).buffer(2, steps).bytes(3, size).run({});
  EXPECT_EQ(float_of_half(out[0]), 2);
  EXPECT_EQ(other.function()->max_threads, 16U * 4);
}
TEST(Foreign, ComplexNumbersInTemplatesOfOneName) {
  Floats numbers = {1, 2, 3, -1}, out(4), sums(2);
  Shader("complex_numbers", "update_3")
      .buffer(0, numbers)
      .buffer(1, out)
      .run({{2, 1, 1}, {1, 1, 1}});
  EXPECT_EQ(out, (Floats{3, 6, 9, -3}));
  Shader("complex_numbers", "update_all")
      .buffer(0, numbers)
      .buffer(1, out)
      .buffer(2, sums)
      .run({{2, 1, 1}, {1, 1, 1}});
  // z = x + x * x + 100, then z - i * z: 98 + 6i and 111 - 7i.
  EXPECT_EQ(out, (Floats{98 + 6, 6 - 98, 111 - 7, -7 - 111}));
  EXPECT_EQ(sums, (Floats{104 - 92, 104 - 118}));
  Shader("complex_numbers", "turn").buffer(0, out = Floats(5)).buffer(1, numbers).run({});
  EXPECT_EQ(out, (Floats{3, 3 * 1 + 1 * 3, 9 + 36, 3 + 1 + 1, 8}));
}

}  // namespace
}  // namespace softmetal
