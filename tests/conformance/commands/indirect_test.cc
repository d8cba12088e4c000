// Tests indirect dispatches: the group counts are read from a buffer when the command runs.
#include <numeric>

#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class IndirectDispatches : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    if (!info().features.indirect_dispatch) GTEST_SKIP() << "no indirect dispatches";
    std::vector<std::int32_t> from(64);
    std::iota(from.begin(), from.end(), 0);
    a_ = make_buffer(bytes_of(from));
    b_ = make_buffer(Bytes(256, std::byte{0xff}));  // every value is -1
    add_one_ = executable(kernels::add_one());
  }
  // Records add_one over as many groups as `groups` contains.
  Status record(CommandBuffer& commands, const BindingRef& groups) {
    const std::array<BindingRef, 2> bindings = {BufferBinding{a_}, BufferBinding{b_}};
    return commands.dispatch_indirect(add_one_, 0, groups, bindings, {});
  }
  std::shared_ptr<Buffer> numbers(const std::vector<std::uint32_t>& values) {
    return make_buffer(bytes_of(values));
  }
  void expect_written(std::int32_t count) {
    std::vector<std::int32_t> expected(64, -1);
    std::iota(expected.begin(), expected.begin() + count, 1);
    expect_values(b_, expected);
  }
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }

  std::shared_ptr<Buffer> a_, b_;
  std::shared_ptr<Executable> add_one_;
};
TL_ON_EVERY_DEVICE(IndirectDispatches);

TEST_P(IndirectDispatches, RunAsManyGroupsAsTheBufferSays) {
  const auto commands = begin();
  TL_ASSERT_OK(record(*commands, BufferBinding{numbers({9, 1, 1})}));
  TL_ASSERT_OK(run(commands));
  expect_written(9);
}
TEST_P(IndirectDispatches, TakeTheirNumbersFromAnOffset) {
  const auto commands = begin();
  TL_ASSERT_OK(record(*commands, BufferBinding{numbers({1, 1, 1, 7, 1, 1, 3, 3}), 12}));
  TL_ASSERT_OK(run(commands));
  expect_written(7);
}
TEST_P(IndirectDispatches, TakeTheirNumbersFromASlot) {
  const auto commands = begin();
  TL_ASSERT_OK(record(*commands, BindingSlot{.index = 0}));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(queue().submit({.commands = {{commands, {BufferBinding{numbers({5, 1, 1})}}}}}));
  TL_ASSERT_OK(queue().wait_idle());
  expect_written(5);
}
// The slot's offset in the table and the recorded offset are added.
TEST_P(IndirectDispatches, AddTheOffsetsOfTheSlotAndOfTheTable) {
  const std::uint64_t alignment = std::max<std::uint64_t>(limits().buffer_offset_alignment, 4);
  std::vector<std::uint32_t> values(alignment / 4 + 8, 1);
  values[alignment / 4 + 2] = 6;
  const auto commands = begin();
  TL_ASSERT_OK(record(*commands, BindingSlot{.index = 0, .offset = 8}));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(
      queue().submit({.commands = {{commands, {BufferBinding{numbers(values), alignment}}}}}));
  TL_ASSERT_OK(queue().wait_idle());
  expect_written(6);
}
TEST_P(IndirectDispatches, TakeTheirNumbersFromAPartOfABuffer) {
  const auto whole = numbers({1, 1, 1, 1, 1, 11, 1, 1, 1});
  const auto part = whole->subspan(16, 20);
  TL_ASSERT_OK(part.status());
  const auto commands = begin();
  TL_ASSERT_OK(record(*commands, BufferBinding{*part, 4}));
  TL_ASSERT_OK(run(commands));
  expect_written(11);
}
TEST_P(IndirectDispatches, OfZeroGroupsRunNothing) {
  for (const std::vector<std::uint32_t>& zero :
       {std::vector<std::uint32_t>{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0, 0, 0}}) {
    const auto commands = begin();
    TL_ASSERT_OK(record(*commands, BufferBinding{numbers(zero)}));
    TL_ASSERT_OK(run(commands));
  }
  expect_written(0);
}
TEST_P(IndirectDispatches, OverThreeAxes) {
  const int width = 2 * 4, height = 3 * 2, depth = 3;
  const auto out = make_buffer(4 * width * height * depth);
  const auto commands = begin();
  const std::array<BindingRef, 1> bindings = {BufferBinding{out}};
  const std::array constants = {Constant(width), Constant(height)};
  TL_ASSERT_OK(commands->dispatch_indirect(executable(kernels::index()), 0,
                                           BufferBinding{numbers({4, 2, 3})}, bindings, constants));
  TL_ASSERT_OK(run(commands));
  expect_values(out, kernels::written_by_index(width, height, depth));
}
TEST_P(IndirectDispatches, OfAKernelWithoutBindings) {
  const auto commands = begin();
  TL_ASSERT_OK(commands->dispatch_indirect(executable(kernels::nothing()), 0,
                                           BufferBinding{numbers({3, 2, 1})}, {}, {}));
  TL_ASSERT_OK(run(commands));
}
// The counts are those that the previous command wrote, not those at recording time.
TEST_P(IndirectDispatches, ReadWhatACommandBeforeWrote) {
  const auto groups = numbers({1, 1, 1});
  const auto commands = begin();
  const std::vector<std::uint32_t> later = {13, 1, 1};
  TL_ASSERT_OK(commands->update(groups, 0, bytes_of(later)));
  TL_ASSERT_OK(record(*commands, BufferBinding{groups}));
  TL_ASSERT_OK(run(commands));
  expect_written(13);
}
TEST_P(IndirectDispatches, ReadWhatAKernelBeforeWrote) {
  const auto source = numbers({20, 0, 0}), groups = numbers({0, 0, 0});
  const auto commands = begin();
  const std::array<Binding, 2> bindings = {BufferBinding{source}, BufferBinding{groups}};
  TL_ASSERT_OK(commands->dispatch(add_one_, 0, {3, 1, 1}, bindings, {}));
  TL_ASSERT_OK(record(*commands, BufferBinding{groups}));
  TL_ASSERT_OK(run(commands));
  expect_written(21);
}
TEST_P(IndirectDispatches, OfNumbersThatAreNullAreRefused) {
  EXPECT_THAT(record(*begin(), BufferBinding{}), refused("the buffer of groups is null"));
}
TEST_P(IndirectDispatches, OfNumbersWithoutTheUsageAreRefused) {
  EXPECT_THAT(record(*begin(), BufferBinding{make_buffer(12, BufferUsage::Storage)}),
              refused("usage"));
}
TEST_P(IndirectDispatches, OfNumbersPastTheEndAreRefused) {
  EXPECT_THAT(record(*begin(), BufferBinding{numbers({1, 1, 1}), 4}),
              refused("wanted 12 at offset 4"));
}
TEST_P(IndirectDispatches, OfNumbersBetweenTheAlignmentAreRefused) {
  EXPECT_THAT(record(*begin(), BufferBinding{numbers({1, 1, 1, 1}), 2}), refused("multiple of 4"));
}
// The sum of the table's offset and the slot's is checked.
TEST_P(IndirectDispatches, OfASlotBetweenTheAlignmentAreRefusedAtSubmission) {
  const auto commands = begin_reusable();
  TL_ASSERT_OK(record(*commands, BindingSlot{.index = 0, .offset = 4}));
  TL_ASSERT_OK(commands->finish());
  const auto groups = numbers({1, 1, 1, 1, 1, 1, 1});
  EXPECT_THAT(queue().submit({.commands = {{commands, {BufferBinding{groups, 6}}}}}),
              refused("at byte 10 of their buffer"));
  TL_ASSERT_OK(queue().submit({.commands = {{commands, {BufferBinding{groups, 8}}}}}));
  TL_ASSERT_OK(queue().wait_idle());
  expect_written(1);
}
TEST_P(IndirectDispatches, OfTexturesForNumbersAreRefused) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  EXPECT_THAT(record(*begin(), TextureBinding{make_texture({4, 4})}),
              refused("must be in a buffer"));
}

class WithoutIndirectDispatches : public On<> {};
TL_ON_EVERY_DEVICE(WithoutIndirectDispatches);

TEST_P(WithoutIndirectDispatches, TheyAreUnimplemented) {
  if (info().features.indirect_dispatch) GTEST_SKIP() << "the device has indirect dispatches";
  EXPECT_EQ(begin()
                ->dispatch_indirect(executable(kernels::nothing()), 0,
                                    BufferBinding{make_buffer(12)}, {}, {})
                .code(),
            StatusCode::Unimplemented);
}

}  // namespace
}  // namespace texloom::hal::conformance
