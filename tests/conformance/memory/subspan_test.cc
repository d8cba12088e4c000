// Tests parts of buffers, which share the buffer's memory.
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class Subspans : public On<> {};
TL_ON_EVERY_DEVICE(Subspans);

TEST_P(Subspans, AreAPartOfTheMemory) {
  const Bytes data = random_bytes(100, 1);
  const auto whole = make_buffer(data);
  const auto part = whole->subspan(30, 40);
  TL_ASSERT_OK(part.status());
  EXPECT_EQ((*part)->bytes(), 40U);
  expect_content(*part, std::span(data).subspan(30, 40));
}
TEST_P(Subspans, SayWhereTheyAre) {
  const auto whole = make_buffer(64);
  const auto outer = *whole->subspan(16, 40), inner = *outer->subspan(8, 8);
  EXPECT_EQ(&inner->root(), whole.get());
  EXPECT_EQ(inner->base_offset(), 24U);
  EXPECT_EQ(inner->bytes(), 8U);
}
// Mapped ranges are tracked for the whole buffer, not per part.
TEST_P(Subspans, AreMappedAsTheMemoryOfTheWhole) {
  if (!info().memory(MemoryKind::Shared).mappable) GTEST_SKIP() << "no mappable shared memory";
  const auto whole = device().create_buffer({.bytes = 64, .memory = MemoryKind::Shared});
  TL_ASSERT_OK(whole.status());
  TL_ASSERT_OK(write_buffer(device(), *whole, 0, Bytes(64, kSentinel)));
  const auto outer = *(*whole)->subspan(16, 40), inner = *outer->subspan(8, 8);
  auto mapping = inner->map(Access::Write);
  TL_ASSERT_OK(mapping.status());
  EXPECT_THAT(outer->map(15, 1, Access::Read).status(),
              fails_with(StatusCode::InvalidArgument, "1 bytes at offset 31"));
  TL_EXPECT_OK(outer->map(16, 1, Access::Read).status());
  EXPECT_THAT(inner->map(4, 5, Access::Read).status(),
              fails_with(StatusCode::InvalidArgument, "the buffer has 8"));
  std::fill(mapping->bytes().begin(), mapping->bytes().end(), std::byte{2});
  TL_ASSERT_OK(mapping->release());
  Bytes expected(64, kSentinel);
  std::fill_n(expected.begin() + 24, 8, std::byte{2});
  expect_content(*whole, expected);
}
TEST_P(Subspans, AreWrittenThrough) {
  const auto whole = make_buffer(Bytes(100, kSentinel));
  const auto part = whole->subspan(30, 40);
  TL_ASSERT_OK(part.status());
  TL_ASSERT_OK(write_buffer(device(), *part, 5, Bytes(10, std::byte{1})));
  Bytes expected(100, kSentinel);
  std::fill_n(expected.begin() + 35, 10, std::byte{1});
  expect_content(whole, expected);
}
TEST_P(Subspans, OfSubspansAddTheirOffsets) {
  const Bytes data = random_bytes(100, 2);
  const auto whole = make_buffer(data);
  const auto part = whole->subspan(30, 40);
  TL_ASSERT_OK(part.status());
  const auto smaller = (*part)->subspan(7, 5);
  TL_ASSERT_OK(smaller.status());
  expect_content(*smaller, std::span(data).subspan(37, 5));
}
TEST_P(Subspans, KeepTheMemory) {
  const Bytes data = random_bytes(100, 3);
  auto whole = make_buffer(data);
  const std::weak_ptr<Buffer> watched = whole;
  auto part = *(*whole->subspan(20, 60))->subspan(10, 40);
  whole.reset();
  expect_content(part, std::span(data).subspan(30, 40));
  TL_ASSERT_OK(queue().wait_idle());
  part.reset();
  EXPECT_TRUE(watched.expired());
}
TEST_P(Subspans, AreBoundToKernels) {
  const std::uint64_t alignment = limits().buffer_offset_alignment;
  const std::size_t step = alignment / 4;
  std::vector<std::uint32_t> values(4 * step, 1);
  const auto whole = make_buffer(bytes_of(values));
  const auto part = *whole->subspan(2 * alignment, alignment);
  const auto commands = begin();
  const std::array<Binding, 1> bindings = {BufferBinding{part}};
  const std::array constants = {Constant(5)};
  TL_ASSERT_OK(
      commands->dispatch(executable(kernels::advance()), 0, {1, 1, 1}, bindings, constants));
  TL_ASSERT_OK(run(commands));
  values[2 * step] = 8;
  expect_values(whole, values);
}
// Dispatches that use disjoint parts of the same two buffers need no barrier.
TEST_P(Subspans, ThatAreDisjointNeedNoBarrier) {
  const std::uint64_t bytes = std::max<std::uint64_t>(limits().buffer_offset_alignment, 32);
  const auto from = make_buffer(bytes_of(std::vector<std::int32_t>(bytes / 2, 4)));
  const auto to = make_buffer(bytes_of(std::vector<std::int32_t>(bytes / 2, 0)));
  const auto commands = device().create_command_buffer({.barriers = Barriers::Checked});
  for (const std::uint64_t offset : {std::uint64_t{0}, bytes}) {
    const std::array<Binding, 2> bindings = {BufferBinding{*from->subspan(offset, bytes)},
                                             BufferBinding{*to->subspan(offset, bytes)}};
    TL_ASSERT_OK(commands->dispatch(executable(kernels::add_one()), 0,
                                    {static_cast<std::uint32_t>(bytes / 4), 1, 1}, bindings, {}));
  }
  TL_ASSERT_OK(run(commands));
  expect_values(to, std::vector<std::int32_t>(bytes / 2, 5));
}
// A kernel that states no size is bound to the whole part, not to its first byte.
TEST_P(Subspans, OfOneBufferAreBoundWhole) {
  const std::uint64_t bytes = std::max<std::uint64_t>(limits().buffer_offset_alignment, 32);
  std::vector<std::int32_t> values(bytes / 2, 4);
  const auto whole = make_buffer(bytes_of(values));
  const auto commands = begin();
  const std::array<Binding, 2> bindings = {BufferBinding{*whole->subspan(0, bytes)},
                                           BufferBinding{*whole->subspan(bytes, bytes)}};
  TL_ASSERT_OK(commands->dispatch(executable(kernels::add_one()), 0,
                                  {static_cast<std::uint32_t>(bytes / 4), 1, 1}, bindings, {}));
  TL_ASSERT_OK(run(commands));
  std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(bytes / 4), bytes / 4, 5);
  expect_values(whole, values);
}
TEST_P(Subspans, CopyWithinTheirBuffer) {
  Bytes data = random_bytes(64, 4);
  const auto whole = make_buffer(data);
  const auto left = *whole->subspan(0, 32), right = *whole->subspan(32, 32);
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer(left, 3, right, 5, 20));
  TL_ASSERT_OK(run(commands));
  std::copy_n(data.begin() + 3, 20, data.begin() + 37);
  expect_content(whole, data);
}
TEST_P(Subspans, ThatOverlapAreNotCopiedOntoEachOther) {
  const auto whole = make_buffer(64);
  const auto left = *whole->subspan(0, 40), right = *whole->subspan(24, 40);
  EXPECT_THAT(begin()->copy_buffer(left, 20, right, 0, 10),
              fails_with(StatusCode::InvalidArgument, "overlap"));
  TL_EXPECT_OK(begin()->copy_buffer(left, 0, right, 0, 10));
}
TEST_P(Subspans, PastTheEndAreRefused) {
  const auto whole = make_buffer(64);
  for (const auto& [offset, bytes] :
       {std::pair<std::uint64_t, std::uint64_t>{60, 5}, {64, 1}, {~std::uint64_t{0}, 2}, {0, 0}})
    EXPECT_THAT(whole->subspan(offset, bytes).status(),
                fails_with(StatusCode::InvalidArgument,
                           bytes == 0 ? "zero bytes"
                                      : fmt::format("{} bytes at offset {}", bytes, offset)));
  EXPECT_THAT((*whole->subspan(16, 16))->subspan(8, 9).status(),
              fails_with(StatusCode::InvalidArgument, "the buffer has 16"));
}
TEST_P(Subspans, DoNotReachBeyondTheirEnd) {
  const auto part = *make_buffer(64)->subspan(16, 16);
  EXPECT_THAT(begin()->update(part, 9, Bytes(8)),
              fails_with(StatusCode::InvalidArgument, "16 bytes, wanted 8 at offset 9"));
}

}  // namespace
}  // namespace texloom::hal::conformance
