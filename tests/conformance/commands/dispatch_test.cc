// Tests valid dispatches: groups, constants, bindings and textures, with both binding styles.
#include <numeric>

#include "tests/conformance/textures/texture_fixture.h"

namespace texloom::hal::conformance {
namespace {

class Dispatches : public DispatchFixture {
 protected:
  std::uint64_t alignment() const { return limits().buffer_offset_alignment; }
};
TL_ON_EVERY_DEVICE_WITH_EVERY_BINDING(Dispatches);

TEST_P(Dispatches, OfAKernelWithoutArguments) {
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::nothing()), {3, 1, 1}, {}));
  TL_ASSERT_OK(run(commands));
}

TEST_P(Dispatches, OfOneGroup) {
  const auto a = make_buffer(bytes_of(counting(1, 41))), b = make_buffer(4);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::add_one()), {1, 1, 1},
                        {BufferBinding{a}, BufferBinding{b}}));
  TL_ASSERT_OK(run(commands));
  expect_values<std::int32_t>(b, {42});
}

TEST_P(Dispatches, OfManyGroups) {
  const std::uint32_t count = std::min(100'003U, limits().max_groups[0]);
  const auto a = make_buffer(bytes_of(counting(count))), b = make_buffer(std::uint64_t{4} * count);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::add_one()), {count, 1, 1},
                        {BufferBinding{a}, BufferBinding{b}}));
  TL_ASSERT_OK(run(commands));
  expect_values(b, counting(count, 1));
}

TEST_P(Dispatches, OfGroupsOverThreeAxes) {
  const int width = 2 * 4, height = 3 * 2, depth = 3;
  const auto out = make_buffer(4 * width * height * depth);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::index()), {4, 2, 3}, {BufferBinding{out}},
                        {Constant(width), Constant(height)}));
  TL_ASSERT_OK(run(commands));
  expect_values(out, kernels::written_by_index(width, height, depth));
}

// Work items beyond the requested groups would overwrite the last values of b.
TEST_P(Dispatches, WriteNothingBeyondTheirGroups) {
  const auto a = make_buffer(bytes_of(counting(16)));
  const auto b = make_buffer(bytes_of(std::vector<std::int32_t>(16, -7)));
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::add_one()), {9, 1, 1},
                        {BufferBinding{a}, BufferBinding{b}}));
  TL_ASSERT_OK(run(commands));
  std::vector<std::int32_t> expected(16, -7);
  std::iota(expected.begin(), expected.begin() + 9, 1);
  expect_values(b, expected);
}

TEST_P(Dispatches, OfGroupsThatShareLocalMemory) {
  const auto in = make_buffer(bytes_of(counting(64))), out = make_buffer(256);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::reverse()), {4, 1, 1},
                        {BufferBinding{in}, BufferBinding{out}}));
  TL_ASSERT_OK(run(commands));
  std::vector<std::int32_t> expected(64);
  for (int i = 0; i < 64; ++i) expected[i] = i / 16 * 16 + 15 - i % 16;
  expect_values(out, expected);
}

TEST_P(Dispatches, HandOverLocalMemory) {
  const auto in = make_buffer(bytes_of(counting(64))), out = make_buffer(256);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::reverse_and_rotate()), {4, 1, 1},
                        {BufferBinding{in}, BufferBinding{out}}, {Constant(100)}));
  TL_ASSERT_OK(run(commands));
  std::vector<std::int32_t> expected(64);
  for (int i = 0; i < 64; ++i)
    expected[i] = i / 16 * 16 + 15 - i % 16 + 100 * (i / 16 * 16 + (i + 1) % 16);
  expect_values(out, expected);
}

TEST_P(Dispatches, OfZeroGroupsRunNothing) {
  const Bytes old(64, std::byte{7});
  const auto out = make_buffer(old);
  const auto commands = begin();
  for (const std::array<std::uint32_t, 3> groups :
       {std::array{0U, 1U, 1U}, std::array{1U, 0U, 1U}, std::array{1U, 1U, 0U}})
    TL_ASSERT_OK(dispatch(*commands, executable(kernels::index()), groups, {BufferBinding{out}},
                          {Constant(1), Constant(1)}));
  EXPECT_TRUE(commands->segments().empty());
  TL_ASSERT_OK(run(commands));
  expect_content(out, old);
}

TEST_P(Dispatches, OfZeroGroupsAreCheckedAllTheSame) {
  EXPECT_THAT(attempt(executable(kernels::index()), {0, 1, 1}, {}),
              fails_with(StatusCode::InvalidArgument, "takes 1 buffers and textures, got 0"));
}

TEST_P(Dispatches, HandOverConstantsOfEveryType) {
  const auto out = make_buffer(5 * 8);
  const auto commands = begin();
  TL_ASSERT_OK(
      dispatch(*commands, executable(kernels::constants()), {1, 1, 1}, {BufferBinding{out}},
               {Constant(std::int32_t{-7}), Constant(0xfffffff0U), Constant(std::int64_t{-1} << 40),
                Constant(std::uint64_t{0xfedcba9876543210U}), Constant(1.5F)}));
  TL_ASSERT_OK(run(commands));
  expect_values<std::int64_t>(out, {-7, 0xfffffff0, std::int64_t{-1} << 40,
                                    static_cast<std::int64_t>(0xfedcba9876543210U), 0x3fc00000});
}

TEST_P(Dispatches, HandOverDoubles) {
  if (!info().features.float64) GTEST_SKIP() << "no float64";
  const auto out = make_buffer(8);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::double_bits()), {1, 1, 1},
                        {BufferBinding{out}}, {Constant(-2.25)}));
  TL_ASSERT_OK(run(commands));
  expect_values<std::int64_t>(out, {static_cast<std::int64_t>(0xc002000000000000U)});
}

// Each dispatch keeps its constants, even if the next dispatch is recorded right after it.
TEST_P(Dispatches, KeepConstantsOfTheirOwn) {
  const auto x = make_buffer(bytes_of(std::vector<std::uint32_t>{0}));
  const auto advance = executable(kernels::advance());
  const auto commands = begin();
  std::uint32_t expected = 0;
  for (int k = 1; k <= 9; ++k) {
    TL_ASSERT_OK(dispatch(*commands, advance, {1, 1, 1}, {BufferBinding{x}}, {Constant(k)}));
    expected = 3 * expected + static_cast<std::uint32_t>(k);
  }
  TL_ASSERT_OK(run(commands));
  expect_values<std::uint32_t>(x, {expected});
}

TEST_P(Dispatches, KeepBindingsOfTheirOwn) {
  std::vector<std::shared_ptr<Buffer>> buffers;
  const auto commands = begin();
  const auto add_one = executable(kernels::add_one());
  buffers.push_back(make_buffer(bytes_of(counting(8))));
  for (std::size_t i = 1; i <= 10; ++i) {
    buffers.push_back(make_buffer(32));
    TL_ASSERT_OK(dispatch(*commands, add_one, {8, 1, 1},
                          {BufferBinding{buffers[i - 1]}, BufferBinding{buffers[i]}}));
  }
  TL_ASSERT_OK(run(commands));
  for (std::size_t i = 0; i <= 10; ++i)
    expect_values(buffers[i], counting(8, static_cast<std::int32_t>(i)), std::to_string(i));
}

TEST_P(Dispatches, OfNineBuffers) {
  std::vector<Binding> bindings;
  for (std::int32_t i = 0; i < 8; ++i)
    bindings.emplace_back(BufferBinding{make_buffer(bytes_of(counting(5, 1 << i)))});
  const auto out = make_buffer(20);
  bindings.emplace_back(BufferBinding{out});
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::sum_of_eight()), {5, 1, 1}, bindings));
  TL_ASSERT_OK(run(commands));
  expect_values<std::int32_t>(out, {255, 263, 271, 279, 287});
}

// One buffer may be bound many times if it is only read.
TEST_P(Dispatches, OfOneBufferReadEightTimes) {
  const auto in = make_buffer(bytes_of(counting(5)));
  const auto out = make_buffer(20);
  std::vector<Binding> bindings(8, BufferBinding{in});
  bindings.emplace_back(BufferBinding{out});
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::sum_of_eight()), {5, 1, 1}, bindings));
  TL_ASSERT_OK(run(commands));
  expect_values<std::int32_t>(out, {0, 8, 16, 24, 32});
}

TEST_P(Dispatches, ReachWhatLiesPastAnOffset) {
  const std::size_t step = alignment() / 4;
  const auto a = make_buffer(bytes_of(counting(4 * step))), b = make_buffer(16);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::add_one()), {4, 1, 1},
                        {BufferBinding{a, 3 * alignment()}, BufferBinding{b}}));
  TL_ASSERT_OK(run(commands));
  expect_values(b, counting(4, static_cast<std::int32_t>(3 * step + 1)));
}

TEST_P(Dispatches, ReadAndWritePartsOfOneBuffer) {
  const std::size_t step = alignment() / 4;
  std::vector<std::int32_t> data = counting(4 * step);
  const auto buffer = make_buffer(bytes_of(data));
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::add_one()), {3, 1, 1},
                        {BufferBinding{*buffer->subspan(alignment(), alignment())},
                         BufferBinding{buffer, 3 * alignment()}}));
  TL_ASSERT_OK(run(commands));
  for (std::size_t i = 0; i < 3; ++i) data[3 * step + i] = static_cast<std::int32_t>(step + i + 1);
  expect_values(buffer, data);
}

TEST_P(Dispatches, OfEveryEntryPointOfAnExecutable) {
  const auto both = executable({kernels::add_one(), kernels::advance()});
  const auto a = make_buffer(bytes_of(counting(4))), b = make_buffer(16);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, both, {4, 1, 1}, {BufferBinding{a}, BufferBinding{b}}, {}, 0));
  TL_ASSERT_OK(dispatch(*commands, both, {4, 1, 1}, {BufferBinding{b}}, {Constant(5)}, 1));
  TL_ASSERT_OK(run(commands));
  expect_values<std::int32_t>(b, {8, 11, 14, 17});
}

// The executable's table lists its entry points in another order than its code.
TEST_P(Dispatches, OfEntryPointsInAnyOrder) {
  const auto both = executable({kernels::nothing(), kernels::advance(), kernels::add_one()});
  const auto a = make_buffer(bytes_of(counting(4))), b = make_buffer(16);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, both, {4, 1, 1}, {BufferBinding{a}, BufferBinding{b}}, {}, 2));
  TL_ASSERT_OK(run(commands));
  expect_values(b, counting(4, 1));
}

TEST_P(Dispatches, OfAKernelThatTakesItsTime) {
  constexpr std::uint32_t kSteps = 200'000;
  const auto out = make_buffer(16 * 4);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, executable(kernels::walk()), {16, 1, 1}, {BufferBinding{out}},
                        {Constant(kSteps)}));
  TL_ASSERT_OK(run(commands));
  std::vector<std::uint32_t> expected(16);
  for (std::uint32_t i = 0; i < 16; ++i) {
    expected[i] = i + 1;
    for (std::uint32_t step = 0; step < kSteps; ++step)
      expected[i] = expected[i] * 1664525U + 1013904223U;
  }
  expect_values(out, expected);
}

TEST_P(Dispatches, OfOneExecutableInManyCommandBuffers) {
  const auto x = make_buffer(bytes_of(std::vector<std::uint32_t>{0}));
  const auto advance = executable(kernels::advance());
  std::vector<std::shared_ptr<const CommandBuffer>> all;
  std::uint32_t expected = 0;
  for (int k = 1; k <= 7; ++k) {
    const auto commands = begin();
    TL_ASSERT_OK(dispatch(*commands, advance, {1, 1, 1}, {BufferBinding{x}}, {Constant(k)}));
    TL_ASSERT_OK(start(commands));
    all.push_back(commands);
    expected = 3 * expected + static_cast<std::uint32_t>(k);
  }
  TL_ASSERT_OK(queue().wait_idle());
  expect_values<std::uint32_t>(x, {expected});
}

}  // namespace
}  // namespace texloom::hal::conformance
