// Tests native commands: a function that encodes with the driver's handles, between other commands.
#include <atomic>

#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class NativeRuns : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    if (!info().features.native_commands) GTEST_SKIP() << "no native commands";
    x_ = make_buffer(bytes_of(std::vector<std::uint32_t>(8, 1)));
    advance_ = executable(kernels::advance());
  }
  // x = 3 x + k
  Status advance(CommandBuffer& commands, int k) {
    const std::array<Binding, 1> bindings = {BufferBinding{x_}};
    const std::array constants = {Constant(k)};
    return commands.dispatch(advance_, 0, {8, 1, 1}, bindings, constants);
  }
  // Returns a function that fills the first 32 bytes of the first memory and counts its own calls.
  EncodeNative fill_with(std::byte value) {
    const EncodeNative fill = computes() ? tested().native_fill(32, value) : EncodeNative();
    return [this, fill](const NativeCommands& commands) {
      ++calls_;
      EXPECT_EQ(commands.driver, tested().name);
      return fill(commands);
    };
  }
  static std::vector<NativeAccess> all_of(const BindingRef& memory) {
    return {{.memory = memory, .access = Access::ReadWrite, .bytes = 32}};
  }
  void expect_calls(int calls) { EXPECT_EQ(calls_, computes() ? calls : 0); }

  std::shared_ptr<Buffer> x_;
  std::shared_ptr<Executable> advance_;
  std::atomic<int> calls_ = 0;
};
TL_ON_EVERY_DEVICE(NativeRuns);

TEST_P(NativeRuns, AreInOrderWithOtherCommands) {
  const auto commands = begin();
  TL_ASSERT_OK(advance(*commands, 5));
  TL_ASSERT_OK(commands->native(all_of(BufferBinding{x_}), fill_with(std::byte{1})));
  TL_ASSERT_OK(advance(*commands, 7));
  EXPECT_FALSE(commands->has_host_calls());
  TL_ASSERT_OK(run(commands));
  expect_values(x_, std::vector<std::uint32_t>(8, 3 * 0x01010101 + 7));
  expect_calls(1);
}
TEST_P(NativeRuns, MayBeAllOfASubmission) {
  const auto commands = begin();
  TL_ASSERT_OK(commands->native(all_of(BufferBinding{x_}), fill_with(std::byte{2})));
  TL_ASSERT_OK(run(commands));
  expect_values(x_, std::vector<std::uint32_t>(8, 0x02020202));
}
TEST_P(NativeRuns, AreCalledOnceForEachSubmission) {
  const auto commands = begin_reusable();
  TL_ASSERT_OK(advance(*commands, 1));
  TL_ASSERT_OK(commands->native(all_of(BufferBinding{x_}), fill_with(std::byte{3})));
  TL_ASSERT_OK(commands->finish());
  for (int i = 0; i < 3; ++i) TL_ASSERT_OK(queue().submit(commands));
  TL_ASSERT_OK(queue().wait_idle());
  expect_calls(3);
  expect_values(x_, std::vector<std::uint32_t>(8, 0x03030303));
}
TEST_P(NativeRuns, TakeMemoryFromTheTable) {
  const auto commands = begin_reusable();
  TL_ASSERT_OK(commands->native(all_of(BindingSlot{1, 32}), fill_with(std::byte{4})));
  TL_ASSERT_OK(commands->finish());
  const auto large = make_buffer(Bytes(64, std::byte{9}));
  const auto submit = [&](std::vector<Binding> table) {
    return queue().submit({.commands = {{commands, std::move(table)}}});
  };
  TL_ASSERT_OK(submit({BufferBinding{x_}, BufferBinding{large}}));
  Bytes expected(64, std::byte{9});
  std::fill(expected.begin() + 32, expected.end(), std::byte{4});
  expect_content(large, expected);
  EXPECT_EQ(submit({BufferBinding{x_}}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(submit({BufferBinding{x_}, BufferBinding{x_}}).code(), StatusCode::InvalidArgument);
}
TEST_P(NativeRuns, FailTheirSubmission) {
  if (!computes()) GTEST_SKIP() << "the function is not called";
  const auto commands = begin();
  TL_ASSERT_OK(advance(*commands, 1));
  TL_ASSERT_OK(commands->native({}, [](const NativeCommands&) {
    return make_error(StatusCode::DeviceError, "the operator's own error");
  }));
  EXPECT_THAT(run(commands), fails_with(StatusCode::DeviceError, "the operator's own error"));
  const auto after = begin();
  TL_ASSERT_OK(after->fill(x_, 0, 32, Bytes(1)));
  TL_ASSERT_OK(run(after));
  expect_values(x_, std::vector<std::uint32_t>(8, 0));
}

// The accesses of native commands count like those of any command: a hazard requires a barrier.
TEST_P(NativeRuns, NeedBarriers) {
  const auto record = [&](Access access, bool with_barrier) {
    const auto commands = device().create_command_buffer({.barriers = Barriers::Checked});
    TL_EXPECT_OK(commands->copy_buffer(x_, 0, make_buffer(32), 0, 32));
    if (with_barrier) {
      TL_EXPECT_OK(commands->barrier());
    }
    const std::array accesses = {NativeAccess{BufferBinding{x_}, access, 32, {}}};
    TL_EXPECT_OK(commands->native(accesses, fill_with(std::byte{0})));
    return commands->finish();
  };
  TL_EXPECT_OK(record(Access::Read, false));
  TL_EXPECT_OK(record(Access::Write, true));
  EXPECT_THAT(record(Access::Write, false),
              fails_with(StatusCode::InvalidArgument, "command 1 (native)"));
}
TEST_P(NativeRuns, AreRefusedWithWrongMemory) {
  const auto commands = begin();
  const auto native = [&](const NativeAccess& access) {
    return commands->native({&access, 1}, fill_with(std::byte{0})).code();
  };
  const auto other = open_another();
  EXPECT_EQ(native({BufferBinding{}}), StatusCode::InvalidArgument);
  EXPECT_EQ(native({TextureBinding{}}), StatusCode::InvalidArgument);
  EXPECT_EQ(native({BufferBinding{x_}, Access::Read, 33}), StatusCode::InvalidArgument);
  EXPECT_EQ(native({BufferBinding{x_, 33}}), StatusCode::InvalidArgument);
  EXPECT_EQ(native({BufferBinding{make_buffer(32, BufferUsage::CopySource)}}),
            StatusCode::InvalidArgument);
  EXPECT_EQ(native({BufferBinding{*other->create_buffer({.bytes = 32})}}),
            StatusCode::InvalidArgument);
  EXPECT_EQ(commands->native({}, nullptr).code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(commands->segments().empty());
  if (!info().features.images) return;
  const auto texture = make_texture({4, 4}, TexelFormat::Rgba32Float, TextureUsage::Sampled);
  EXPECT_EQ(native({TextureBinding{texture}, Access::Write}), StatusCode::InvalidArgument);
  EXPECT_EQ(native({TextureBinding{texture, {1, 1}}, Access::Read, 0, {4, 4}}),
            StatusCode::InvalidArgument);
  EXPECT_EQ(native({TextureBinding{texture, {1, 1}}, Access::Read, 0, {3, 3}}), StatusCode::Ok);
}

}  // namespace
}  // namespace texloom::hal::conformance
