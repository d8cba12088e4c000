// Dispatches: arguments of every kind, and each refused mismatch.
#include <array>
#include <cmath>

#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal {
namespace {

class DispatchTest : public OpenClTest {
 protected:
  std::uint64_t alignment() const { return device_->info().limits.buffer_offset_alignment; }
};

constexpr const char* kIndexSource = R"(
  __kernel void index(__global int* out, int width, int height) {
    int i = (get_global_id(2) * height + get_global_id(1)) * width + get_global_id(0);
    out[i] = 1000 * (get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2)) + i;
  })";

EntryPoint index_entry() {
  return {.name = "index",
          .params = {BufferParam{.name = "out", .access = Access::Write, .min_bytes = 4},
                     ConstantParam{.name = "width"}, ConstantParam{.name = "height"}},
          .workgroup_size = {2, 3, 1}};
}

TEST_F(DispatchTest, GroupsCoverThreeAxes) {
  const auto executable = make_executable(kIndexSource, index_entry());
  const int width = 2 * 4, height = 3 * 2, depth = 3;
  const auto out = make_buffer(sizeof(int) * width * height * depth);
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->dispatch(executable, 0, {4, 2, 3}, {{BufferBinding{out}}},
                                  {{Constant(width), Constant(height)}}));
  TL_ASSERT_OK(run(commands));
  const std::vector<int> values = values_of<int>(out);
  for (int i = 0; i < width * height * depth; ++i) {
    const int x = i % width, y = i / width % height, z = i / width / height;
    EXPECT_EQ(values[i], 1000 * (x / 2 + 10 * (y / 3) + 100 * z) + i);
  }
}

TEST_F(DispatchTest, ZeroGroupsAreCheckedAndThenLeftOut) {
  const auto executable = make_executable(kIndexSource, index_entry());
  const Bytes old(64, std::byte{7});
  const auto out = make_buffer(old);
  const auto commands = device_->create_command_buffer();
  for (const std::array<std::uint32_t, 3> groups :
       {std::array{0u, 1u, 1u}, std::array{1u, 0u, 1u}, std::array{1u, 1u, 0u}})
    TL_ASSERT_OK(commands->dispatch(executable, 0, groups, {{BufferBinding{out}}},
                                    {{Constant(1), Constant(1)}}));
  EXPECT_THAT(commands->dispatch(executable, 0, {0, 1, 1}, {}, {}),
              fails_with(StatusCode::InvalidArgument, "takes 1 buffers and textures, got 0"));
  EXPECT_TRUE(commands->segments().empty());
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(content_of(out), old);
}

TEST_F(DispatchTest, ConstantsOfEveryTypeArriveWhole) {
  const bool has_double = device_->info().features.float64;
  std::string source = R"(
    __kernel void store(__global long* out, int a, uint b, long c, ulong d, float e)";
  source += has_double ? ", double f)" : ")";
  source += "{ out[0] = a; out[1] = b; out[2] = c; out[3] = (long)d; out[4] = as_int(e);";
  source += has_double ? " out[5] = as_long(f); }" : " }";
  EntryPoint entry{.name = "store", .params = {BufferParam{.name = "out"}}};
  std::vector<Constant> constants = {Constant(std::int32_t{-7}), Constant(0xfffffff0u),
                                     Constant(std::int64_t{-1} << 40),
                                     Constant(std::uint64_t{0xfedcba9876543210u}), Constant(1.5f)};
  std::vector<std::int64_t> expected = {-7, 0xfffffff0, std::int64_t{-1} << 40,
                                        static_cast<std::int64_t>(0xfedcba9876543210u), 0x3fc00000};
  if (has_double) {
    constants.emplace_back(-2.25);
    expected.push_back(static_cast<std::int64_t>(0xc002000000000000u));
  }
  for (const Constant& constant : constants)
    entry.params.emplace_back(ConstantParam{.name = "c", .type = constant.type()});
  const auto executable = make_executable(source, entry);
  const auto out = make_buffer(8 * constants.size());
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1}, {{BufferBinding{out}}}, constants));
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(values_of<std::int64_t>(out), expected);
}

TEST_F(DispatchTest, BufferOffsetsBindThePartBehindThem) {
  const auto executable = make_executable(
      "__kernel void add(__global const int* a, __global int* b) {"
      "  b[get_global_id(0)] = a[get_global_id(0)] + 1; }",
      {.name = "add", .params = {BufferParam{.name = "a"}, BufferParam{.name = "b"}}});
  const std::size_t step = alignment() / sizeof(int);
  std::vector<int> data(4 * step);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i);
  const auto buffer = make_buffer(bytes_of(data));
  // Both arguments lie in one buffer, at offsets of their own.
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->dispatch(
      executable, 0, {3, 1, 1},
      {{BufferBinding{buffer, alignment()}, BufferBinding{buffer, 3 * alignment()}}}, {}));
  TL_ASSERT_OK(run(commands));
  for (std::size_t i = 0; i < 3; ++i) data[3 * step + i] = static_cast<int>(step + i + 1);
  EXPECT_EQ(values_of<int>(buffer), data);
}

// Reads a tensor at one origin, writes it at another, of larger images full of NaN.
TEST_F(DispatchTest, TexturesAtOrigins) {
  const TextureParam in{.name = "in", .min_extent = {4, 3}, .origin = TextureOrigin::Constants};
  TextureParam out = in;
  out.name = "out";
  out.access = Access::Write;
  const auto executable =
      make_executable(R"(
    __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    __kernel void twice(__read_only image2d_t in, int ix, int iy,
                        __write_only image2d_t out, int ox, int oy) {
      int2 at = (int2)(get_global_id(0), get_global_id(1));
      write_imagef(out, at + (int2)(ox, oy), 2.0f * read_imagef(in, s, at + (int2)(ix, iy)));
    })",
                      {.name = "twice",
                       .params = {in, ConstantParam{"in.x"}, ConstantParam{"in.y"}, out,
                                  ConstantParam{"out.x"}, ConstantParam{"out.y"}}});
  const auto source = make_texture_full_of(std::byte{0xff}, {16, 16}, TexelFormat::Rgba32Float);
  const auto target = make_texture_full_of(std::byte{0xff}, {9, 9}, TexelFormat::Rgba32Float);
  std::vector<float> data(4 * 3 * 4);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  TL_ASSERT_OK(write_texture(*device_, source, {{11, 12}, {4, 3}}, bytes_of(data)));
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(
      commands->dispatch(executable, 0, {4, 3, 1},
                         {{TextureBinding{source, {11, 12}}, TextureBinding{target, {5, 6}}}},
                         {{Constant(11), Constant(12), Constant(5), Constant(6)}}));
  TL_ASSERT_OK(run(commands));
  const std::vector<float> values = values_of<float>(target);
  for (std::size_t y = 0; y < 9; ++y) {
    for (std::size_t x = 0; x < 36; ++x) {
      const bool inside = x >= 20 && y >= 6;
      const float value = values[y * 36 + x];
      if (inside)
        EXPECT_EQ(value, 2 * data[(y - 6) * 16 + x - 20]);
      else
        EXPECT_TRUE(std::isnan(value)) << x << ", " << y;
    }
  }
}

// Integer texels keep their value through the integer read and write functions.
TEST_F(DispatchTest, IntegerTexels) {
  const auto executable = make_executable(
      R"(
    __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    __kernel void negate(__read_only image2d_t in, __write_only image2d_t out) {
      int2 at = (int2)(get_global_id(0), get_global_id(1));
      write_imagei(out, at, -read_imagei(in, s, at));
    })",
      {.name = "negate",
       .params = {TextureParam{.name = "in", .format = TexelFormat::Rgba8Int},
                  TextureParam{
                      .name = "out", .format = TexelFormat::Rgba32Int, .access = Access::Write}}});
  std::vector<std::int8_t> data = {-128, -1, 0, 127, 5, -6, 7, -8};
  const auto in = make_texture({2, 1}, TexelFormat::Rgba8Int);
  const auto out = make_texture({2, 1}, TexelFormat::Rgba32Int);
  TL_ASSERT_OK(write_texture(*device_, in, {{}, {2, 1}}, bytes_of(data)));
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->dispatch(executable, 0, {2, 1, 1},
                                  {{TextureBinding{in}, TextureBinding{out}}}, {}));
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(values_of<std::int32_t>(out),
            (std::vector<std::int32_t>{128, 1, 0, -127, -5, 6, -7, 8}));
}

class DispatchMisuseTest : public DispatchTest {
 protected:
  void SetUp() override {
    DispatchTest::SetUp();
    if (device_ == nullptr) return;
    executable_ = make_executable(
        "__kernel void mix2(__read_only image2d_t in, __write_only image2d_t out,"
        "                   __global float* w, float k) { }",
        {.name = "mix2",
         .params = {TextureParam{.name = "in", .min_extent = {4, 4}},
                    TextureParam{.name = "out",
                                 .access = Access::Write,
                                 .min_extent = {4, 4},
                                 .origin = TextureOrigin::Constants},
                    BufferParam{.name = "w", .min_bytes = 64},
                    ConstantParam{.name = "k", .type = ElementType::Float32}}});
    in_ = TextureBinding{make_texture({4, 4}, TexelFormat::Rgba32Float)};
    out_ = TextureBinding{make_texture({8, 8}, TexelFormat::Rgba32Float), {4, 4}};
    weights_ = BufferBinding{make_buffer(4096)};
    commands_ = device_->create_command_buffer();
  }

  Status dispatch(const Binding& in, const Binding& out, const Binding& weights) {
    return commands_->dispatch(executable_, 0, {1, 1, 1}, {{in, out, weights}}, {{Constant(1.0f)}});
  }
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }

  std::shared_ptr<Executable> executable_;
  TextureBinding in_, out_;
  BufferBinding weights_;
  std::shared_ptr<CommandBuffer> commands_;
};

TEST_F(DispatchMisuseTest, CountsAndEntryPoints) {
  TL_ASSERT_OK(dispatch(in_, out_, weights_));
  EXPECT_THAT(commands_->dispatch(nullptr, 0, {1, 1, 1}, {}, {}), refused("executable is null"));
  EXPECT_THAT(commands_->dispatch(executable_, 1, {1, 1, 1}, {}, {}),
              refused("entry point 1 of 1"));
  EXPECT_THAT(commands_->dispatch(executable_, 0, {1, 1, 1}, {{in_, out_}}, {{Constant(1.0f)}}),
              refused("kernel \"mix2\" takes 3 buffers and textures, got 2"));
  EXPECT_THAT(commands_->dispatch(executable_, 0, {1, 1, 1}, {{in_, out_, weights_}}, {}),
              refused("kernel \"mix2\" takes 1 constants, got 0"));
  EXPECT_THAT(
      commands_->dispatch(executable_, 0, {1, 1, 1}, {{in_, out_, weights_}}, {{Constant(1)}}),
      refused("argument 3 \"k\": wants a constant float32, got one of int32"));
}

TEST_F(DispatchMisuseTest, KindFormatAndUsage) {
  EXPECT_THAT(dispatch(weights_, out_, weights_),
              refused("kernel \"mix2\": argument 0 \"in\": wants a texture rgba32float, got a "
                      "buffer"));
  EXPECT_THAT(dispatch(in_, out_, in_), refused("argument 2 \"w\": wants a buffer, got a texture"));
  EXPECT_THAT(
      dispatch(TextureBinding{make_texture({4, 4}, TexelFormat::Rgba16Float)}, out_, weights_),
      refused("argument 0 \"in\": wants a texture rgba32float, got one of rgba16float"));
  const auto usage = [&](TextureUsage u) {
    return TextureBinding{make_texture({8, 8}, TexelFormat::Rgba32Float, u)};
  };
  EXPECT_THAT(dispatch(usage(TextureUsage::Storage), out_, weights_), refused("argument 0"));
  EXPECT_THAT(dispatch(in_, usage(TextureUsage::Sampled), weights_), refused("argument 1"));
  TL_ASSERT_OK(dispatch(usage(TextureUsage::Sampled), usage(TextureUsage::Storage), weights_));
  EXPECT_THAT(dispatch(in_, out_, BufferBinding{make_buffer(4096, BufferUsage::CopySource)}),
              refused("argument 2 \"w\": the buffer was made without the usage"));
  EXPECT_THAT(dispatch(TextureBinding{}, out_, weights_),
              refused("argument 0 \"in\": the texture"));
  EXPECT_THAT(dispatch(in_, out_, BufferBinding{}), refused("the buffer is null"));
}

TEST_F(DispatchMisuseTest, ExtentsOriginsAndOffsets) {
  EXPECT_THAT(
      dispatch(TextureBinding{make_texture({3, 4}, TexelFormat::Rgba32Float)}, out_, weights_),
      refused("argument 0 \"in\": the texture has 3x4 texels, wanted 4x4 texels"));
  out_.origin = {5, 4};
  EXPECT_THAT(dispatch(in_, out_, weights_), refused("wanted 4x4 texels at (5, 4)"));
  out_.origin = {4, 5};
  EXPECT_THAT(dispatch(in_, out_, weights_), refused("wanted 4x4 texels at (4, 5)"));
  out_.origin = {0, 4};
  TL_ASSERT_OK(dispatch(in_, out_, weights_));
  const TextureBinding moved{make_texture({8, 8}, TexelFormat::Rgba32Float), {1, 0}};
  EXPECT_THAT(dispatch(moved, out_, weights_), refused("specialised for origin (0, 0)"));

  weights_.offset = 4096 - 63;
  EXPECT_THAT(dispatch(in_, out_, weights_), refused("4096 bytes, wanted 64 at offset 4033"));
  weights_.offset = 4;
  ASSERT_GT(alignment(), 4u);
  EXPECT_THAT(dispatch(in_, out_, weights_), refused("offset 4 is not a multiple"));
}

TEST_F(DispatchMisuseTest, OffsetAtTheEndOfABuffer) {
  const auto executable = make_executable("__kernel void k(__global float* w) { }",
                                          {.name = "k", .params = {BufferParam{.name = "w"}}});
  const BufferBinding end{make_buffer(4 * alignment()), 4 * alignment()};
  EXPECT_THAT(commands_->dispatch(executable, 0, {1, 1, 1}, {{end}}, {}),
              refused("is the end of the buffer"));
}

TEST_F(DispatchMisuseTest, OneTextureReadAndWritten) {
  const TextureBinding both{out_.texture};
  EXPECT_THAT(dispatch(both, out_, weights_),
              refused("arguments \"in\" (read) and \"out\" (write) are the same texture"));
}

class BufferAliasTest : public OpenClTest {
 protected:
  Status dispatch(const BufferBinding& from, const BufferBinding& to) {
    const auto executable = make_executable(
        "__kernel void k(__global const float* from, __global float* to) { to[0] = from[0]; }",
        {.name = "k",
         .params = {BufferParam{.name = "from", .access = Access::Read, .min_bytes = 64},
                    BufferParam{.name = "to", .access = Access::Write, .min_bytes = 64}}});
    const std::array<Binding, 2> bindings = {from, to};
    return device_->create_command_buffer()->dispatch(executable, 0, {1, 1, 1}, bindings, {});
  }
  std::uint64_t alignment() const { return device_->info().limits.buffer_offset_alignment; }
};

TEST_F(BufferAliasTest, OneBufferReadAndWritten) {
  const auto buffer = make_buffer(4 * alignment());
  EXPECT_THAT(dispatch({buffer}, {buffer}),
              fails_with(StatusCode::InvalidArgument,
                         "arguments \"from\" (read) and \"to\" (write) are the same memory"));
}

TEST_F(BufferAliasTest, PartsOfOneBuffer) {
  ASSERT_GE(alignment(), 64u);
  const auto buffer = make_buffer(4 * alignment());
  TL_ASSERT_OK(dispatch({buffer, 0}, {buffer, alignment()}));
  TL_ASSERT_OK(dispatch({buffer, alignment()}, {buffer, 0}));
}

// The kernel copies one element from one half of a buffer to the other.
TEST_F(BufferAliasTest, HalvesOfOneBuffer) {
  std::vector<float> values(2 * alignment() / 4, 0.0f);
  values[0] = 3;
  const auto buffer = make_buffer(bytes_of(values));
  const auto executable = make_executable(
      "__kernel void k(__global const float* from, __global float* to) { to[0] = from[0] + 1; }",
      {.name = "k",
       .params = {BufferParam{.name = "from", .access = Access::Read, .min_bytes = 4},
                  BufferParam{.name = "to", .access = Access::Write, .min_bytes = 4}}});
  const std::array<Binding, 2> bindings = {BufferBinding{buffer, 0},
                                           BufferBinding{buffer, alignment()}};
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1}, bindings, {}));
  TL_ASSERT_OK(run(commands));
  values[alignment() / 4] = 4;
  EXPECT_EQ(values_of<float>(buffer), values);
}

}  // namespace
}  // namespace texloom::hal
