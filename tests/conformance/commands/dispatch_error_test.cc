// Tests dispatches whose arguments do not match the entry point: each error names the argument.
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class BufferArguments : public DispatchFixture {
 protected:
  void SetUp() override {
    DispatchFixture::SetUp();
    if (IsSkipped()) return;
    EntryPoint entry = kernels::advance();
    std::get<BufferParam>(entry.params[0]).min_bytes = 64;
    advance_ = executable(entry);
    buffer_ = make_buffer(4096);
  }
  Status bind(const Binding& binding) {
    return attempt(advance_, {1, 1, 1}, {binding}, {Constant(1)});
  }
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }

  std::shared_ptr<Executable> advance_;
  std::shared_ptr<Buffer> buffer_;
};
TL_ON_EVERY_DEVICE_WITH_EVERY_BINDING(BufferArguments);

TEST_P(BufferArguments, OfNoExecutableAreRefused) {
  EXPECT_THAT(attempt(nullptr, {1, 1, 1}, {}), refused("executable is null"));
}
TEST_P(BufferArguments, OfNoEntryPointAreRefused) {
  EXPECT_THAT(attempt(advance_, {1, 1, 1}, {}, {}, 1), refused("entry point 1 is out of range"));
}
TEST_P(BufferArguments, TooFewOrTooManyAreRefused) {
  const BufferBinding one{buffer_};
  EXPECT_THAT(attempt(advance_, {1, 1, 1}, {}, {Constant(1)}),
              refused("kernel \"advance\" takes 1 buffers and textures, got 0"));
  EXPECT_THAT(attempt(advance_, {1, 1, 1}, {one, one}, {Constant(1)}),
              refused("takes 1 buffers and textures, got 2"));
}
TEST_P(BufferArguments, OfTooFewOrTooManyConstantsAreRefused) {
  const BufferBinding one{buffer_};
  EXPECT_THAT(attempt(advance_, {1, 1, 1}, {one}), refused("takes 1 constants, got 0"));
  EXPECT_THAT(attempt(advance_, {1, 1, 1}, {one}, {Constant(1), Constant(2)}),
              refused("takes 1 constants, got 2"));
}
TEST_P(BufferArguments, OfConstantsOfAnotherTypeAreRefused) {
  EXPECT_THAT(attempt(advance_, {1, 1, 1}, {BufferBinding{buffer_}}, {Constant(1.0F)}),
              refused("argument 1 \"k\": expected a constant int32, got one of float32"));
  EXPECT_THAT(attempt(advance_, {1, 1, 1}, {BufferBinding{buffer_}}, {Constant(1U)}),
              refused("got one of uint32"));
}
TEST_P(BufferArguments, ThatAreNullAreRefused) {
  EXPECT_THAT(bind(BufferBinding{}), refused("the buffer is null"));
}
TEST_P(BufferArguments, WithoutTheUsageAreRefused) {
  EXPECT_THAT(bind(BufferBinding{make_buffer(4096, BufferUsage::CopySource)}),
              refused("argument 0 \"x\": the buffer was made without the usage"));
}
TEST_P(BufferArguments, ThatAreTexturesAreRefused) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  EXPECT_THAT(bind(TextureBinding{make_texture({4, 4})}),
              refused("argument 0 \"x\": expected a buffer, got a texture"));
}
TEST_P(BufferArguments, ThatAreTooSmallAreRefused) {
  TL_EXPECT_OK(bind(BufferBinding{make_buffer(64)}));
  EXPECT_THAT(bind(BufferBinding{make_buffer(63)}), refused("63 bytes, wanted 64 at offset 0"));
}
TEST_P(BufferArguments, ThatEndTooSoonAfterTheirOffsetAreRefused) {
  const std::uint64_t alignment = limits().buffer_offset_alignment;
  const auto buffer = make_buffer(4 * alignment + 63);
  EXPECT_THAT(bind(BufferBinding{buffer, 4 * alignment}),
              refused(fmt::format("wanted 64 at offset {}", 4 * alignment)));
  EXPECT_THAT(bind(BufferBinding{buffer, 64 * alignment}), refused("wanted 64 at offset"));
}
TEST_P(BufferArguments, AtOffsetsBetweenTheAlignmentAreRefused) {
  if (limits().buffer_offset_alignment == 1) GTEST_SKIP() << "any offset will do";
  EXPECT_THAT(bind(BufferBinding{buffer_, limits().buffer_offset_alignment / 2}),
              refused("is not a multiple"));
}
TEST_P(BufferArguments, AtTheEndOfABufferAreRefused) {
  const BufferBinding end{buffer_, 4096};
  EXPECT_THAT(attempt(executable(kernels::add_one()), {1, 1, 1}, {BufferBinding{buffer_}, end}),
              refused("is the end of the buffer"));
}
TEST_P(BufferArguments, OfAnotherDeviceAreRefused) {
  const auto other = open_another();
  EXPECT_THAT(bind(BufferBinding{*other->create_buffer({.bytes = 4096})}),
              refused("another device"));
}
TEST_P(BufferArguments, ReadAndWrittenAtOncePerBufferAreRefused) {
  EntryPoint entry = kernels::add_one();
  for (KernelParam& param : entry.params) std::get<BufferParam>(param).min_bytes = 64;
  entry.workgroup_size = {2, 1, 1};  // needs a different executable
  const auto made = device().create_executable(tested().kernels({entry}));
  TL_ASSERT_OK(made.status());
  EXPECT_THAT(attempt(*made, {1, 1, 1}, {BufferBinding{buffer_}, BufferBinding{buffer_}}),
              refused("arguments \"a\" (read) and \"b\" (write) are the same memory"));
}
TEST_P(BufferArguments, ThatArePartsOfOneBufferAreTaken) {
  EntryPoint entry = kernels::add_one();
  for (KernelParam& param : entry.params) std::get<BufferParam>(param).min_bytes = 4;
  const auto made = executable(entry);
  const BufferBinding first{buffer_}, second{buffer_, limits().buffer_offset_alignment};
  TL_EXPECT_OK(attempt(made, {1, 1, 1}, {first, second}));
  TL_EXPECT_OK(attempt(made, {1, 1, 1}, {second, first}));
}
// A kernel that states no size may access every byte of its binding.
TEST_P(BufferArguments, OfOneBufferThatTheKernelReachesTwiceAreRefused) {
  const auto add_one = executable(kernels::add_one());
  const std::uint64_t step = limits().buffer_offset_alignment;
  const BufferBinding whole{buffer_}, after{buffer_, step};
  EXPECT_THAT(attempt(add_one, {1, 1, 1}, {whole, whole}), refused("are the same memory"));
  EXPECT_THAT(attempt(add_one, {1, 1, 1}, {whole, after}), refused("are the same memory"));
  EXPECT_THAT(attempt(add_one, {1, 1, 1}, {after, whole}), refused("are the same memory"));
  const auto memory = make_buffer(Bytes(2 * std::max<std::uint64_t>(step, 4)));
  const std::uint64_t half = memory->bytes() / 2;
  const BufferBinding left{*memory->subspan(0, half)}, right{*memory->subspan(half, half)};
  TL_EXPECT_OK(attempt(add_one, {1, 1, 1}, {left, right}));
  TL_EXPECT_OK(attempt(add_one, {1, 1, 1}, {right, left}));
  const BufferBinding longer{*memory->subspan(0, half + 1)};
  EXPECT_THAT(attempt(add_one, {1, 1, 1}, {longer, right}), refused("are the same memory"));
}
TEST_P(BufferArguments, OfMoreGroupsThanTheDeviceHasAreRefused) {
  const std::uint32_t most = limits().max_groups[0];
  if (most == kNoLimit32) GTEST_SKIP() << "any number of groups will do";
  EXPECT_THAT(attempt(advance_, {most + 1, 1, 1}, {BufferBinding{buffer_}}, {Constant(1)}),
              refused("work groups along axis 0"));
}
TEST_P(BufferArguments, ThatWereRefusedLeaveTheCommandBufferUsable) {
  const auto x = make_buffer(bytes_of(std::vector<std::uint32_t>(16, 5)));
  const auto commands = begin();
  EXPECT_FALSE(dispatch(*commands, advance_, {1, 1, 1}, {}, {Constant(1)}).ok());
  TL_ASSERT_OK(dispatch(*commands, advance_, {1, 1, 1}, {BufferBinding{x}}, {Constant(1)}));
  EXPECT_FALSE(dispatch(*commands, advance_, {1, 1, 1}, {BufferBinding{x}}).ok());
  TL_ASSERT_OK(run(commands));
  std::vector<std::uint32_t> expected(16, 5);
  expected[0] = 16;
  expect_values(x, expected);
}
TEST_P(BufferArguments, AfterTheEndOfRecordingAreRefused) {
  const auto commands = begin();
  TL_ASSERT_OK(commands->finish());
  EXPECT_THAT(dispatch(*commands, advance_, {1, 1, 1}, {BufferBinding{buffer_}}, {Constant(1)}),
              refused("finished"));
}

class TextureArguments : public DispatchFixture {
 protected:
  void SetUp() override {
    DispatchFixture::SetUp();
    if (IsSkipped()) return;
    if (!info().features.images) GTEST_SKIP() << "no images";
    twice_ = executable(kernels::twice_at_origins());
    copy_ = executable(kernels::copy_texels(TexelFormat::Rgba32Float));
  }
  Status twice(const Binding& in, const Binding& out) {
    return attempt(twice_, {4, 3, 1}, {in, out},
                   {Constant(0), Constant(0), Constant(0), Constant(0)});
  }
  Status copy(const Binding& in, const Binding& out) {
    return attempt(copy_, {1, 1, 1}, {in, out});
  }
  TextureBinding texture(Extent2D extent, TextureUsage usage = TextureUsage::All) {
    return {make_texture(extent, TexelFormat::Rgba32Float, usage)};
  }
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }

  std::shared_ptr<Executable> twice_, copy_;
};
TL_ON_EVERY_DEVICE_WITH_EVERY_BINDING(TextureArguments);

TEST_P(TextureArguments, ThatAreNullAreRefused) {
  EXPECT_THAT(copy(TextureBinding{}, texture({4, 4})), refused("argument 0 \"in\": the texture"));
}
TEST_P(TextureArguments, ThatAreBuffersAreRefused) {
  EXPECT_THAT(copy(BufferBinding{make_buffer(64)}, texture({4, 4})),
              refused("argument 0 \"in\": expected a texture rgba32float, got a buffer"));
}
TEST_P(TextureArguments, OfAnotherFormatAreRefused) {
  EXPECT_THAT(copy(TextureBinding{make_texture({4, 4}, TexelFormat::Rgba16Float)}, texture({4, 4})),
              refused("argument 0 \"in\": expected a texture rgba32float, got one of rgba16float"));
}
TEST_P(TextureArguments, WithoutTheUsageAreRefused) {
  EXPECT_THAT(copy(texture({4, 4}, TextureUsage::Storage), texture({4, 4})), refused("argument 0"));
  EXPECT_THAT(copy(texture({4, 4}), texture({4, 4}, TextureUsage::Sampled)), refused("argument 1"));
  TL_EXPECT_OK(
      copy(texture({4, 4}, TextureUsage::Sampled), texture({4, 4}, TextureUsage::Storage)));
}
TEST_P(TextureArguments, ThatAreTooSmallAreRefused) {
  EXPECT_THAT(twice(texture({3, 3}), texture({4, 3})),
              refused("argument 0 \"in\": the texture has 3x3 texels, wanted 4x3 texels"));
  EXPECT_THAT(twice(texture({4, 3}), texture({4, 2})), refused("4x2 texels, wanted 4x3 texels"));
}
TEST_P(TextureArguments, ThatEndTooSoonAfterTheirOriginAreRefused) {
  const TextureBinding right = texture({8, 8});
  TL_EXPECT_OK(twice({TextureBinding{right.texture, {4, 5}}}, texture({4, 3})));
  EXPECT_THAT(twice(TextureBinding{right.texture, {5, 5}}, texture({4, 3})),
              refused("wanted 4x3 texels at (5, 5)"));
  EXPECT_THAT(twice(TextureBinding{right.texture, {4, 6}}, texture({4, 3})),
              refused("wanted 4x3 texels at (4, 6)"));
}
TEST_P(TextureArguments, AtOriginsThatTheKernelDoesNotAddAreRefused) {
  const TextureBinding moved{make_texture({8, 8}), {1, 0}};
  EXPECT_THAT(copy(moved, texture({8, 8})), refused("specialized for origin (0, 0)"));
}
// An extent of zero along one axis would mean that the kernel accesses nothing.
TEST_P(TextureArguments, ThatAreStatedInOneAxisAreRefused) {
  EntryPoint entry = kernels::copy_texels(TexelFormat::Rgba32Float);
  std::get<TextureParam>(entry.params[1]).min_extent = {4, 0};
  EXPECT_THAT(device().create_executable(tested().kernels({entry})).status(),
              refused("texture \"out\" of at least 4x0 texels"));
}
TEST_P(TextureArguments, ReadAndWrittenAtOnceAreRefused) {
  const TextureBinding both = texture({4, 4});
  EXPECT_THAT(copy(both, both),
              refused("arguments \"in\" (read) and \"out\" (write) are the same texture"));
}
TEST_P(TextureArguments, ReadAndWrittenAtOnceInPartsAreRefused) {
  const auto both = make_texture({8, 8});
  EXPECT_THAT(twice(TextureBinding{both, {0, 0}}, TextureBinding{both, {4, 4}}),
              refused("are the same texture"));
}
TEST_P(TextureArguments, OfAnotherDeviceAreRefused) {
  const auto other = open_another();
  EXPECT_THAT(copy(TextureBinding{*other->create_texture({.extent = {4, 4}})}, texture({4, 4})),
              refused("another device"));
}

}  // namespace
}  // namespace texloom::hal::conformance
