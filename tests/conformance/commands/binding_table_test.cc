// Tests binding tables: slots that are filled when a command buffer is submitted.
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class BindingTables : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    add_one_ = executable(kernels::add_one());
  }
  // Records add_one over `count` items; `from` and `to` are slots or memory.
  Status record(CommandBuffer& commands, const BindingRef& from, const BindingRef& to,
                std::uint32_t count = 8) {
    const std::array bindings = {from, to};
    return commands.dispatch_with_table(add_one_, 0, {count, 1, 1}, bindings, {});
  }
  std::shared_ptr<CommandBuffer> slots_0_to_1() {
    auto commands = begin_reusable();
    TL_EXPECT_OK(record(*commands, BindingSlot{0}, BindingSlot{1}));
    TL_EXPECT_OK(commands->finish());
    return commands;
  }
  Status submit(const std::shared_ptr<CommandBuffer>& commands, std::vector<Binding> table) {
    return queue().submit({.commands = {{commands, std::move(table)}}});
  }
  std::shared_ptr<Buffer> numbers(std::int32_t from, std::size_t count = 8) {
    return make_buffer(bytes_of(counting(count, from)));
  }
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }

  std::shared_ptr<Executable> add_one_;
};
TL_ON_EVERY_DEVICE(BindingTables);

TEST_P(BindingTables, GiveTheMemoryOfASubmission) {
  const auto b = make_buffer(32);
  TL_ASSERT_OK(submit(slots_0_to_1(), {BufferBinding{numbers(4)}, BufferBinding{b}}));
  expect_values(b, counting(8, 5));
}
// By default slots may share memory, so each command is ordered after the previous one.
TEST_P(BindingTables, MayAliasUnderAutomaticBarriers) {
  const auto commands = begin_reusable();
  TL_ASSERT_OK(record(*commands, BindingSlot{0}, BindingSlot{1}));
  TL_ASSERT_OK(record(*commands, BindingSlot{2}, BindingSlot{3}));
  TL_ASSERT_OK(commands->finish());
  EXPECT_EQ(commands->segments().size(), info().features.in_order_commands ? 2U : 3U);
  const auto middle = make_buffer(32), last = make_buffer(32);
  TL_ASSERT_OK(submit(commands, {BufferBinding{numbers(4)}, BufferBinding{middle},
                                 BufferBinding{middle}, BufferBinding{last}}));
  expect_values(last, counting(8, 6));
}
// Replayed graphs know which of their slots share memory: they record their own barriers, and
// commands with no barrier between them may overlap.
TEST_P(BindingTables, OfAGraphThatShipsItsBarriers) {
  const auto commands =
      device().create_command_buffer({.reusable = true, .barriers = Barriers::Explicit});
  TL_ASSERT_OK(record(*commands, BindingSlot{0}, BindingSlot{1}));
  TL_ASSERT_OK(record(*commands, BindingSlot{0}, BindingSlot{2}));
  TL_ASSERT_OK(commands->barrier());
  TL_ASSERT_OK(record(*commands, BindingSlot{1}, BindingSlot{3}));
  TL_ASSERT_OK(record(*commands, BindingSlot{2}, BindingSlot{4}));
  TL_ASSERT_OK(commands->finish());
  EXPECT_EQ(commands->segments().size(), 5U);
  for (std::int32_t i = 0; i < 3; ++i) {
    const auto a = make_buffer(32), b = make_buffer(32);
    TL_ASSERT_OK(
        submit(commands, {BufferBinding{numbers(i)}, BufferBinding{make_buffer(32)},
                          BufferBinding{make_buffer(32)}, BufferBinding{a}, BufferBinding{b}}));
    expect_values(a, counting(8, i + 2));
    expect_values(b, counting(8, i + 2));
  }
}
TEST_P(BindingTables, DifferFromSubmissionToSubmission) {
  const auto commands = slots_0_to_1();
  std::vector<std::shared_ptr<Buffer>> results;
  for (std::int32_t i = 0; i < 5; ++i) {
    results.push_back(make_buffer(32));
    TL_ASSERT_OK(submit(commands, {BufferBinding{numbers(10 * i)}, BufferBinding{results.back()}}));
  }
  TL_ASSERT_OK(queue().wait_idle());
  for (std::int32_t i = 0; i < 5; ++i) expect_values(results[i], counting(8, 10 * i + 1));
}
TEST_P(BindingTables, DifferWithinASubmission) {
  const auto commands = slots_0_to_1();
  const auto a = numbers(0), b = make_buffer(32), c = make_buffer(32);
  TL_ASSERT_OK(queue().submit({.commands = {{commands, {BufferBinding{a}, BufferBinding{b}}},
                                            {commands, {BufferBinding{b}, BufferBinding{c}}}}}));
  expect_values(c, counting(8, 2));
}
TEST_P(BindingTables, MixWithMemoryThatWasRecorded) {
  const auto a = numbers(1), c = make_buffer(32);
  const auto commands = begin();
  TL_ASSERT_OK(record(*commands, BufferBinding{a}, BindingSlot{0}));
  TL_ASSERT_OK(record(*commands, BindingSlot{0}, BufferBinding{c}));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(submit(commands, {BufferBinding{make_buffer(32)}}));
  expect_values(c, counting(8, 3));
}
TEST_P(BindingTables, AddTheOffsetsOfTheSlotAndOfTheTable) {
  const std::uint64_t alignment = limits().buffer_offset_alignment;
  const std::size_t step = alignment / 4;
  const auto a = numbers(0, 4 * step);
  const auto b = make_buffer(4);
  const auto commands = begin();
  TL_ASSERT_OK(record(*commands, BindingSlot{.index = 0, .offset = alignment}, BindingSlot{1}, 1));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(submit(commands, {BufferBinding{a, 2 * alignment}, BufferBinding{b}}));
  expect_values(b, counting(1, static_cast<std::int32_t>(3 * step + 1)));
}
TEST_P(BindingTables, MayHaveMoreSlotsThanAreUsed) {
  const auto b = make_buffer(32);
  const auto commands = begin();
  TL_ASSERT_OK(record(*commands, BindingSlot{3}, BindingSlot{1}));
  TL_ASSERT_OK(commands->finish());
  const BufferBinding a{numbers(4)};
  TL_ASSERT_OK(submit(commands, {BufferBinding{}, BufferBinding{b}, BufferBinding{}, a, a}));
  expect_values(b, counting(8, 5));
}
TEST_P(BindingTables, HoldOneBufferTwice) {
  const std::uint64_t alignment = limits().buffer_offset_alignment;
  std::vector<std::int32_t> values = counting(alignment / 2, 0);
  const auto both = make_buffer(bytes_of(values));
  const auto commands = begin();
  TL_ASSERT_OK(record(*commands, BindingSlot{0}, BindingSlot{1}, 1));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(submit(
      commands, {BufferBinding{*both->subspan(0, alignment)}, BufferBinding{both, alignment}}));
  values[alignment / 4] = 1;
  expect_values(both, values);
}
TEST_P(BindingTables, KeepTheirMemory) {
  const auto go = make_semaphore();
  const auto b = make_buffer(32);
  TL_ASSERT_OK(queue().submit(
      {.waits = {{go, 1}},
       .commands = {{slots_0_to_1(), {BufferBinding{numbers(4)}, BufferBinding{b}}}}}));
  TL_ASSERT_OK(go->signal(1));
  TL_ASSERT_OK(queue().wait_idle());
  expect_values(b, counting(8, 5));
}
TEST_P(BindingTables, GiveTextures) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  const auto format = TexelFormat::Rgba32UInt;
  const Bytes data = random_bytes(4 * 4 * 16, 1);
  const auto in = make_texture({4, 4}, format, data), out = make_texture({4, 4}, format);
  const auto commands = begin();
  const std::array<BindingRef, 2> slots = {BindingSlot{1}, BindingSlot{0}};
  TL_ASSERT_OK(commands->dispatch_with_table(executable(kernels::copy_texels(format)), 0, {4, 4, 1},
                                             slots, {}));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(submit(commands, {TextureBinding{out}, TextureBinding{in}}));
  TL_ASSERT_OK(queue().wait_idle());
  expect_content(out, data);
}
TEST_P(BindingTables, ThatAreTooShortAreRefused) {
  const BufferBinding a{numbers(4)};
  EXPECT_THAT(submit(slots_0_to_1(), {a}), refused("slot 1"));
  EXPECT_THAT(submit(slots_0_to_1(), {}), refused("slot 0"));
  EXPECT_THAT(queue().submit(slots_0_to_1()), refused("slot 0"));
}
TEST_P(BindingTables, WithoutMemoryAreRefused) {
  EXPECT_THAT(submit(slots_0_to_1(), {BufferBinding{}, BufferBinding{make_buffer(32)}}),
              refused("null"));
}
TEST_P(BindingTables, OfAnotherKindAreRefused) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  EXPECT_THAT(submit(slots_0_to_1(),
                     {TextureBinding{make_texture({4, 4})}, BufferBinding{make_buffer(32)}}),
              refused("expected a buffer, got a texture"));
}
// The check includes the slot's offset.
TEST_P(BindingTables, PastTheEndOfTheirMemoryAreRefused) {
  EntryPoint entry = kernels::add_one();
  std::get<BufferParam>(entry.params[0]).min_bytes = 32;
  add_one_ = executable(entry);
  const std::uint64_t alignment = limits().buffer_offset_alignment;
  const auto memory = make_buffer(8 * alignment + 31), b = make_buffer(32);
  const auto commands = begin_reusable();
  TL_ASSERT_OK(record(*commands, BindingSlot{.index = 0, .offset = alignment}, BindingSlot{1}));
  TL_ASSERT_OK(commands->finish());
  EXPECT_THAT(
      submit(commands, {BufferBinding{memory, 7 * alignment}, BufferBinding{b}}),
      refused(fmt::format("argument 0 \"a\": the buffer has {} bytes, wanted 32 at offset {}",
                          8 * alignment + 31, 8 * alignment)));
  EXPECT_THAT(submit(commands, {BufferBinding{memory, ~std::uint64_t{0}}, BufferBinding{b}}),
              refused("exceeds 64 bits"));
}
TEST_P(BindingTables, ReadAndWrittenAtOnceAreRefused) {
  EntryPoint entry = kernels::add_one();
  for (KernelParam& param : entry.params) std::get<BufferParam>(param).min_bytes = 32;
  add_one_ = executable(entry);
  const BufferBinding a{numbers(4)};
  EXPECT_THAT(submit(slots_0_to_1(), {a, a}), refused("are the same memory"));
}
TEST_P(BindingTables, OfAnotherDeviceAreRefused) {
  const auto other = open_another();
  const auto foreign = *other->create_buffer({.bytes = 32});
  EXPECT_THAT(submit(slots_0_to_1(), {BufferBinding{numbers(4)}, BufferBinding{foreign}}),
              refused("another device"));
}
// A submission refused for its table does not use up a single-use command buffer.
TEST_P(BindingTables, ThatAreRefusedLeaveTheCommandBufferUsable) {
  const auto b = make_buffer(32);
  const auto commands = begin();
  TL_ASSERT_OK(record(*commands, BindingSlot{0}, BindingSlot{1}));
  TL_ASSERT_OK(commands->finish());
  EXPECT_FALSE(submit(commands, {}).ok());
  TL_ASSERT_OK(submit(commands, {BufferBinding{numbers(4)}, BufferBinding{b}}));
  expect_values(b, counting(8, 5));
}

}  // namespace
}  // namespace texloom::hal::conformance
