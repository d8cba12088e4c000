// Tests the order of commands, of command buffers and of submissions, and reused command buffers.
#include "tests/conformance/textures/texture_fixture.h"

namespace texloom::hal::conformance {
namespace {

class Ordering : public DispatchFixture {
 protected:
  void SetUp() override {
    DispatchFixture::SetUp();
    if (IsSkipped()) return;
    x_ = make_buffer(bytes_of(std::vector<std::uint32_t>(8, 0)));
    advance_ = executable(kernels::advance());
  }
  Status record(CommandBuffer& commands, int k) {
    return dispatch(commands, advance_, {8, 1, 1}, {BufferBinding{x_}}, {Constant(k)});
  }
  std::shared_ptr<CommandBuffer> recorded(int k) {
    auto commands = begin_reusable();
    TL_EXPECT_OK(record(*commands, k));
    TL_EXPECT_OK(commands->finish());
    return commands;
  }
  static std::uint32_t next(std::uint32_t x, int k) {
    return 3 * x + static_cast<std::uint32_t>(k);
  }
  void expect_x(std::uint32_t value) { expect_values(x_, std::vector<std::uint32_t>(8, value)); }

  std::shared_ptr<Buffer> x_;
  std::shared_ptr<Executable> advance_;
};
TL_ON_EVERY_DEVICE_WITH_EVERY_BINDING(Ordering);

// The steps do not commute, so any other order gives a different number.
TEST_P(Ordering, OfDispatchesInACommandBuffer) {
  const auto commands = begin();
  std::uint32_t expected = 0;
  for (int k = 1; k <= 40; ++k) {
    TL_ASSERT_OK(record(*commands, k));
    expected = next(expected, k);
  }
  TL_ASSERT_OK(run(commands));
  expect_x(expected);
}

TEST_P(Ordering, OfSubmissions) {
  std::uint32_t expected = 0;
  for (int k = 1; k <= 40; ++k) {
    const auto commands = begin();
    TL_ASSERT_OK(record(*commands, k));
    TL_ASSERT_OK(start(commands));
    expected = next(expected, k);
  }
  TL_ASSERT_OK(queue().wait_idle());
  expect_x(expected);
}

TEST_P(Ordering, OfCommandBuffersInASubmission) {
  Submission submission;
  std::uint32_t expected = 0;
  for (int k = 1; k <= 10; ++k) {
    submission.commands.emplace_back(with_table(recorded(k)));
    expected = next(expected, k);
  }
  TL_ASSERT_OK(queue().submit(std::move(submission)));
  TL_ASSERT_OK(queue().wait_idle());
  expect_x(expected);
}

TEST_P(Ordering, OfTwoHundredRapidSubmissions) {
  std::vector<std::shared_ptr<CommandBuffer>> all;
  for (int k = 0; k < 4; ++k) all.push_back(recorded(k));
  std::uint32_t expected = 0;
  for (int i = 0; i < 200; ++i) {
    TL_ASSERT_OK(queue().submit({.commands = {with_table(all[i % 4])}}));
    expected = next(expected, i % 4);
  }
  TL_ASSERT_OK(queue().wait_idle());
  expect_x(expected);
}

TEST_P(Ordering, OfACommandBufferTwiceInASubmission) {
  const auto commands = recorded(1);
  TL_ASSERT_OK(queue().submit({.commands = {with_table(commands), with_table(commands)}}));
  TL_ASSERT_OK(queue().wait_idle());
  expect_x(4);
}

TEST_P(Ordering, OfACommandBufferUsedAgainAtOnce) {
  const auto commands = recorded(1);
  for (int i = 0; i < 3; ++i) TL_ASSERT_OK(queue().submit({.commands = {with_table(commands)}}));
  TL_ASSERT_OK(queue().wait_idle());
  expect_x(1 + 3 + 9);
}

TEST_P(Ordering, OfACommandBufferUsedAgainWhenItWasComplete) {
  const auto commands = recorded(1);
  for (int i = 0; i < 3; ++i) {
    TL_ASSERT_OK(queue().submit({.commands = {with_table(commands)}}));
    TL_ASSERT_OK(queue().wait_idle());
  }
  expect_x(1 + 3 + 9);
}

// Each run reads the contents anew.
TEST_P(Ordering, OfHostWritesBetweenTwoRuns) {
  const auto commands = recorded(1);
  TL_ASSERT_OK(queue().submit({.commands = {with_table(commands)}}));
  TL_ASSERT_OK(write_buffer(device(), x_, 0, bytes_of(std::vector<std::uint32_t>(8, 100))));
  TL_ASSERT_OK(queue().submit({.commands = {with_table(commands)}}));
  TL_ASSERT_OK(queue().wait_idle());
  expect_x(301);
}

TEST_P(Ordering, OfUpdateDispatchAndReadback) {
  std::vector<std::uint32_t> before(8), after(8);
  const auto commands = begin();
  TL_ASSERT_OK(commands->update(x_, 0, bytes_of(std::vector<std::uint32_t>(8, 10))));
  TL_ASSERT_OK(commands->readback(x_, 0, writable_bytes_of(before)));
  TL_ASSERT_OK(record(*commands, 1));
  TL_ASSERT_OK(commands->readback(x_, 0, writable_bytes_of(after)));
  TL_ASSERT_OK(run(commands));
  expect_bytes(bytes_of(before), bytes_of(std::vector<std::uint32_t>(8, 10)), "before");
  expect_bytes(bytes_of(after), bytes_of(std::vector<std::uint32_t>(8, 31)), "after");
}

TEST_P(Ordering, OfCopiesThatFollowEachOther) {
  const Bytes data = random_bytes(64, 1);
  const auto a = make_buffer(data), b = make_buffer(64), c = make_buffer(64);
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer(a, 0, b, 0, 64));
  TL_ASSERT_OK(commands->copy_buffer(b, 0, c, 0, 64));
  TL_ASSERT_OK(commands->update(b, 0, Bytes(64, std::byte{0})));
  TL_ASSERT_OK(commands->copy_buffer(b, 0, a, 0, 64));
  TL_ASSERT_OK(run(commands));
  expect_content(c, data);
  expect_content(a, Bytes(64, std::byte{0}));
}

TEST_P(Ordering, OfDispatchesAndCopiesInTurns) {
  const auto saved = make_buffer(10 * 32);
  const auto commands = begin();
  std::vector<std::uint32_t> expected;
  std::uint32_t x = 0;
  for (int k = 1; k <= 10; ++k) {
    TL_ASSERT_OK(record(*commands, k));
    TL_ASSERT_OK(commands->copy_buffer(x_, 0, saved, 32 * (k - 1), 32));
    x = next(x, k);
    expected.insert(expected.end(), 8, x);
  }
  TL_ASSERT_OK(run(commands));
  expect_values(saved, expected);
}

TEST_P(Ordering, OfWritesAfterReads) {
  const auto b = make_buffer(32);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::add_one()), {8, 1, 1},
                        {BufferBinding{x_}, BufferBinding{b}}));
  TL_ASSERT_OK(commands->update(x_, 0, Bytes(32, kSentinel)));
  TL_ASSERT_OK(run(commands));
  expect_values(b, std::vector<std::uint32_t>(8, 1));
}

TEST_P(Ordering, OfTexturesBetweenCopiesAndKernels) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  const auto format = TexelFormat::Rgba32UInt;
  const auto a = make_texture({4, 4}, format), b = make_texture({4, 4}, format);
  const auto buffer = make_buffer(256);
  const auto copy = executable(kernels::copy_texels(format));
  const auto commands = begin();
  const Bytes first = random_bytes(256, 1), second = random_bytes(256, 2);
  TL_ASSERT_OK(commands->update(buffer, 0, first));
  TL_ASSERT_OK(commands->copy_buffer_to_texture(buffer, a, {.extent = {4, 4}}));
  TL_ASSERT_OK(dispatch(*commands, copy, {4, 4, 1}, {TextureBinding{a}, TextureBinding{b}}));
  TL_ASSERT_OK(commands->update(buffer, 0, second));
  TL_ASSERT_OK(commands->copy_buffer_to_texture(buffer, a, {.extent = {4, 4}}));
  TL_ASSERT_OK(commands->copy_texture_to_buffer(b, buffer, {.extent = {4, 4}}));
  TL_ASSERT_OK(run(commands));
  expect_content(buffer, first);
  expect_content(a, second);
}

TEST_P(Ordering, OfReadbacksInManySubmissions) {
  std::vector<std::uint32_t> reads(20 * 8);
  std::vector<std::uint32_t> expected;
  std::uint32_t x = 0;
  for (int k = 0; k < 20; ++k) {
    const auto commands = begin();
    TL_ASSERT_OK(record(*commands, k));
    TL_ASSERT_OK(
        commands->readback(x_, 0, writable_bytes_of(reads).subspan(std::size_t{32} * k, 32)));
    TL_ASSERT_OK(start(commands));
    x = next(x, k);
    expected.insert(expected.end(), 8, x);
  }
  TL_ASSERT_OK(queue().wait_idle());
  expect_bytes(bytes_of(reads), bytes_of(expected));
}

}  // namespace
}  // namespace texloom::hal::conformance
