// Tests recording: barriers and hazards, retained objects, and merged commands. Uses the driver
// `null`, whose device does not run commands in order.
#include "runtime/hal/command_buffer.h"

#include <array>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "runtime/drivers/null/driver.h"
#include "runtime/hal/internal/recording/hazards.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal {
namespace {

using testing::ElementsAre;

class CommandBufferTest : public ::testing::Test {
 protected:
  std::shared_ptr<Buffer> make_buffer(std::uint64_t bytes = 256) const {
    return *device_->create_buffer({.bytes = bytes});
  }
  // Makes a kernel that reads 64 bytes of "in" and writes 64 bytes of "out", or all bound bytes if
  // `bytes` is 0.
  std::shared_ptr<Executable> make_kernel(const std::string& name = "twice",
                                          std::uint64_t bytes = 64) const {
    const EntryPoint entry{
        .name = name,
        .params = {BufferParam{.name = "in", .access = Access::Read, .min_bytes = bytes},
                   BufferParam{.name = "out", .access = Access::Write, .min_bytes = bytes}}};
    ExecutableDesc desc;
    desc.codes = opencl_c("anything");
    desc.entry_points = {entry};
    auto made = device_->create_executable(desc);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return *made;
  }
  std::shared_ptr<CommandBuffer> make_commands(Barriers barriers = Barriers::Automatic) const {
    return device_->create_command_buffer({.barriers = barriers});
  }
  static std::vector<std::string> names(const CommandBuffer& commands) {
    std::vector<std::string> all;
    for (const Segment& segment : commands.segments()) all.emplace_back(name_of(segment));
    return all;
  }
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }

  static constexpr std::array<std::byte, 1> kZero = {};
  std::shared_ptr<Device> device_ = *null::create_driver()->open(0);
  std::shared_ptr<Buffer> a_ = make_buffer(), b_ = make_buffer(), c_ = make_buffer();
};

TEST_F(CommandBufferTest, BarriersStandWhereOneCommandNeedsAnother) {
  const auto commands = make_commands();
  const auto kernel = make_kernel();
  TL_ASSERT_OK(
      commands->dispatch(kernel, 0, {1, 1, 1}, {{BufferBinding{a_}, BufferBinding{b_}}}, {}));
  // Reads the same bytes and writes other bytes of the same buffer.
  TL_ASSERT_OK(
      commands->dispatch(kernel, 0, {1, 1, 1}, {{BufferBinding{a_}, BufferBinding{b_, 64}}}, {}));
  EXPECT_THAT(names(*commands), ElementsAre("dispatch", "dispatch"));
  // Reads what the second dispatch wrote.
  TL_ASSERT_OK(commands->copy_buffer(b_, 127, c_, 0, 1));
  EXPECT_THAT(names(*commands), ElementsAre("dispatch", "dispatch", "barrier", "copy_buffer"));
  // Writes bytes that were read before the barrier; that read is complete.
  TL_ASSERT_OK(commands->fill(a_, 0, 64, kZero));
  EXPECT_EQ(names(*commands).size(), 5U);
  // Writes bytes that the copy reads.
  TL_ASSERT_OK(commands->fill(b_, 120, 8, kZero));
  EXPECT_THAT(names(*commands), ElementsAre("dispatch", "dispatch", "barrier", "copy_buffer",
                                            "fill", "barrier", "fill"));
}

TEST_F(CommandBufferTest, TexturesAreTakenByRectangles) {
  const auto texture = *device_->create_texture({.extent = {8, 8}});
  const auto commands = make_commands();
  const auto write = [&](Offset2D origin) {
    return commands->copy_buffer_to_texture(a_, texture, {.origin = origin, .extent = {2, 2}});
  };
  TL_ASSERT_OK(write({0, 0}));
  TL_ASSERT_OK(write({2, 0}));
  TL_ASSERT_OK(write({0, 2}));
  TL_ASSERT_OK(commands->copy_texture_to_buffer(texture, b_, {.origin = {2, 2}, .extent = {4, 4}}));
  EXPECT_EQ(names(*commands).size(), 4U);
  TL_ASSERT_OK(commands->copy_texture_to_buffer(texture, c_, {.origin = {1, 1}, .extent = {2, 2}}));
  EXPECT_EQ(names(*commands)[4], "barrier");
}

// Kernels that state no size access only the bound subspan, not the bytes after it.
TEST_F(CommandBufferTest, DisjointSubspansNeedNoBarrier) {
  const auto kernel = make_kernel("any", 0);
  for (const Barriers barriers : {Barriers::Automatic, Barriers::Checked}) {
    const auto commands = make_commands(barriers);
    for (const std::uint64_t offset : {0U, 64U}) {
      const std::array<Binding, 2> bindings = {BufferBinding{*a_->subspan(offset, 64)},
                                               BufferBinding{*b_->subspan(offset, 64)}};
      TL_ASSERT_OK(commands->dispatch(kernel, 0, {1, 1, 1}, bindings, {}));
    }
    EXPECT_THAT(names(*commands), ElementsAre("dispatch", "dispatch"));
    const auto& second = std::get<DispatchSegment>(commands->segments().back());
    const BoundBuffer out = resolve_buffer(second.call.bindings[1], {});
    EXPECT_EQ(out.buffer, b_.get());
    EXPECT_EQ(out.offset, 64U);
    EXPECT_EQ(out.bytes, 64U);
    EXPECT_EQ(bytes_of(commands->segments().back(), {}), 128U);
    TL_ASSERT_OK(commands->copy_buffer(b_, 127, c_, 0, 1));
    EXPECT_EQ(commands->finish().ok(), barriers == Barriers::Automatic);
  }
}

TEST_F(CommandBufferTest, SlotsHaveTheBytesOfTheSubspanInTheTable) {
  const std::array<Binding, 1> table = {BufferBinding{*a_->subspan(128, 96), 32}};
  const BoundBuffer bound = resolve_buffer(BindingSlot{.offset = 16}, table);
  EXPECT_EQ(bound.buffer, a_.get());
  EXPECT_EQ(bound.offset, 176U);
  EXPECT_EQ(bound.bytes, 48U);
}

// A subspan shares its buffer's memory, and so does a texture view over a buffer.
TEST_F(CommandBufferTest, PartsAndViewsAreMemoryOfTheirBuffer) {
  const auto part = *a_->subspan(128, 64);
  const auto view = *device_->allocator()->create_view(
      a_, {.texture = {.extent = {4, 2}}, .offset = 64, .row_pitch = 64});
  const auto commands = make_commands();
  TL_ASSERT_OK(commands->fill(part, 4, 8, kZero));
  EXPECT_EQ(std::get<FillSegment>(commands->segments().back()).target.offset, 132U);
  // Copies the rows from 64 to 128, then those from 128 to 192.
  TL_ASSERT_OK(commands->copy_texture_to_buffer(view, b_, {.origin = {0, 0}, .extent = {4, 1}}));
  EXPECT_EQ(names(*commands).size(), 2U);
  TL_ASSERT_OK(commands->copy_texture_to_buffer(view, c_, {.origin = {0, 1}, .extent = {4, 1}}));
  TL_ASSERT_OK(commands->fill(a_, 100, 1, kZero));
  EXPECT_THAT(names(*commands), ElementsAre("fill", "copy_texture_to_buffer", "barrier",
                                            "copy_texture_to_buffer", "fill"));
  TL_ASSERT_OK(commands->fill(a_, 191, 1, kZero));
  EXPECT_EQ(names(*commands)[5], "barrier");
}

TEST_F(CommandBufferTest, NoneWhereTheDeviceRunsCommandsInOrderOrTheCallerRecordsThem) {
  DeviceInfo info = null::default_device();
  info.features.in_order_commands = true;
  const auto in_order = *null::create_driver(info)->open(0);
  const auto buffer = *in_order->create_buffer({.bytes = 64});
  const auto automatic = in_order->create_command_buffer();
  const auto explicitly = make_commands(Barriers::Explicit);
  for (int i = 0; i < 2; ++i) {
    TL_ASSERT_OK(automatic->fill(buffer, 0, 64, kZero));
    TL_ASSERT_OK(explicitly->fill(a_, 0, 64, kZero));
  }
  TL_ASSERT_OK(explicitly->barrier());
  EXPECT_THAT(names(*automatic), ElementsAre("fill", "fill"));
  EXPECT_THAT(names(*explicitly), ElementsAre("fill", "fill", "barrier"));
}

TEST_F(CommandBufferTest, AMissingBarrierIsNamed) {
  const auto commands = make_commands(Barriers::Checked);
  TL_ASSERT_OK(commands->fill(a_, 0, 4, kZero));
  TL_ASSERT_OK(commands->barrier());
  TL_ASSERT_OK(commands->dispatch(make_kernel("first"), 0, {1, 1, 1},
                                  {{BufferBinding{a_}, BufferBinding{b_}}}, {}));
  TL_ASSERT_OK(commands->dispatch(make_kernel("second"), 0, {1, 1, 1},
                                  {{BufferBinding{b_, 32}, BufferBinding{c_}}}, {}));
  EXPECT_THAT(commands->finish(),
              refused("finish: no barrier between command 2 (dispatch of kernel \"first\") and "
                      "command 3 (dispatch of kernel \"second\"), which share a buffer of 256 "
                      "bytes: the first writes bytes 0 to 64 as \"out\", the second reads bytes "
                      "32 to 96 as \"in\""));
  EXPECT_FALSE(commands->finished());
  EXPECT_FALSE(commands->finish().ok());
}

TEST_F(CommandBufferTest, RecordedBarriersAndHostCallsAreEnough) {
  const auto commands = make_commands(Barriers::Checked);
  TL_ASSERT_OK(commands->fill(a_, 0, 4, kZero));
  TL_ASSERT_OK(commands->barrier());
  TL_ASSERT_OK(commands->fill(a_, 0, 4, kZero));
  TL_ASSERT_OK(commands->host_call([] { return Status(); }));
  TL_ASSERT_OK(commands->fill(a_, 0, 4, kZero));
  TL_ASSERT_OK(commands->finish());
}

// An automatic barrier names, once each, the objects accessed since the last barrier.
TEST_F(CommandBufferTest, BarriersNameWhatTheyOrder) {
  const auto commands = make_commands();
  TL_ASSERT_OK(commands->fill(a_, 16, 16, kZero));
  TL_ASSERT_OK(commands->fill(a_, 64, 8, kZero));
  TL_ASSERT_OK(commands->copy_buffer(b_, 8, c_, 0, 4));
  TL_ASSERT_OK(commands->fill(a_, 20, 4, kZero));
  const auto segments =
      std::vector<Segment>(commands->segments().begin(), commands->segments().end());
  ASSERT_THAT(names(*commands), ElementsAre("fill", "fill", "copy_buffer", "barrier", "fill"));
  const auto& barrier = std::get<BarrierSegment>(segments[3]);
  EXPECT_EQ(barrier.commands, CommandKinds::Transfers);
  EXPECT_EQ(barrier.memory, BarrierScope::Buffers);
  ASSERT_EQ(barrier.resources.size(), 3U);
  const auto expect = [&](std::size_t i, const Buffer& buffer, std::uint64_t offset,
                          std::uint64_t bytes, bool is_written) {
    const auto& place = std::get<BoundBuffer>(barrier.resources[i].memory);
    EXPECT_EQ(place.buffer, &buffer);
    EXPECT_EQ(place.offset, offset);
    EXPECT_EQ(place.bytes, bytes);
    EXPECT_EQ(barrier.resources[i].is_written, is_written);
  };
  expect(0, *a_, 16, 56, true);
  expect(1, *b_, 8, 4, false);
  expect(2, *c_, 0, 4, true);
}

// A barrier does not name accesses before an earlier barrier.
TEST_F(CommandBufferTest, BarriersForgetWhatIsOrdered) {
  const auto commands = make_commands();
  TL_ASSERT_OK(commands->fill(a_, 0, 16, kZero));
  TL_ASSERT_OK(commands->barrier());
  TL_ASSERT_OK(commands->dispatch(make_kernel("first"), 0, {1, 1, 1},
                                  {{BufferBinding{a_}, BufferBinding{b_}}}, {}));
  TL_ASSERT_OK(commands->barrier());
  const auto segments =
      std::vector<Segment>(commands->segments().begin(), commands->segments().end());
  EXPECT_EQ(std::get<BarrierSegment>(segments[1]).resources.size(), 1U);
  const auto& second = std::get<BarrierSegment>(segments[3]);
  EXPECT_EQ(second.commands, CommandKinds::Dispatches);
  EXPECT_EQ(second.resources.size(), 2U);
}

TEST_F(CommandBufferTest, BarriersOfSlotsAreOfAllMemory) {
  const auto commands = make_commands();
  TL_ASSERT_OK(commands->dispatch_with_table(make_kernel("first"), 0, {1, 1, 1},
                                             {{BindingSlot{3}, BufferBinding{b_}}}, {}));
  TL_ASSERT_OK(commands->barrier());
  const auto& barrier = std::get<BarrierSegment>(commands->segments().back());
  EXPECT_EQ(barrier.memory, BarrierScope::All);
  ASSERT_EQ(barrier.resources.size(), 2U);
  EXPECT_EQ(std::get<BindingSlot>(barrier.resources[0].memory).index, 3U);
  EXPECT_FALSE(barrier.resources[0].is_written);
}

// The caller's barriers are not analyzed, so they cover all memory.
TEST_F(CommandBufferTest, ExplicitBarriersAreOfAllMemory) {
  const auto commands = make_commands(Barriers::Explicit);
  TL_ASSERT_OK(commands->fill(a_, 0, 16, kZero));
  TL_ASSERT_OK(commands->barrier());
  const auto& barrier = std::get<BarrierSegment>(commands->segments().back());
  EXPECT_EQ(barrier.commands, CommandKinds::All);
  EXPECT_EQ(barrier.memory, BarrierScope::All);
  EXPECT_TRUE(barrier.resources.empty());
}

// Compares with a list of all accesses since the last barrier. `Checked` must agree exactly;
// `Automatic` must never lack a barrier.
TEST_F(CommandBufferTest, RandomCommandsAgreeWithAListOfAll) {
  const std::array<std::shared_ptr<Buffer>, 3> buffers = {a_, b_, c_};
  struct Range {
    const Buffer* buffer;
    std::uint64_t begin, end;
    bool writes;
  };
  std::mt19937 random(7);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  int found = 0, missed = 0;
  for (int round = 0; round < 200; ++round) {
    HazardTracker exact(false), cautious(true);
    std::vector<Range> all;
    std::vector<std::unique_ptr<Segment>> segments;
    for (std::size_t i = 0; i < 100; ++i) {
      const Buffer* buffer = buffers[below(3)].get();
      const std::uint64_t begin = below(250), bytes = 1 + below(3);
      const bool writes = below(8) == 0;
      if (writes) {
        segments.push_back(std::make_unique<Segment>(FillSegment{{buffer, begin}, bytes, {}, 1}));
      } else {
        segments.push_back(std::make_unique<Segment>(ReadbackSegment{
            {buffer, begin}, std::span<std::byte>(static_cast<std::byte*>(nullptr), bytes)}));
      }
      const Range range{buffer, begin, begin + bytes, writes};
      const bool expected = std::any_of(all.begin(), all.end(), [&](const Range& other) {
        return other.buffer == range.buffer && (other.writes || range.writes) &&
               other.begin < range.end && range.begin < other.end;
      });
      ASSERT_EQ(exact.find(*segments.back()).has_value(), expected);
      ASSERT_TRUE(!expected || cautious.find(*segments.back()).has_value());
      ++(expected ? found : missed);
      if (expected) {
        segments.push_back(std::make_unique<Segment>(BarrierSegment{}));
        std::swap(segments.back(), segments[segments.size() - 2]);
        exact.add(BarrierSegment{}, 0);
        cautious.add(BarrierSegment{}, 0);
        all.clear();
      }
      exact.add(*segments.back(), i);
      cautious.add(*segments.back(), i);
      all.push_back(range);
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(missed, 100);
}

// Many ranges of one object are merged, which may add barriers but never omits one.
TEST_F(CommandBufferTest, ManyPlacesOfOneBuffer) {
  const auto large = make_buffer(1 << 20);
  const auto commands = make_commands();
  for (std::uint64_t i = 0; i < 1000; ++i) TL_ASSERT_OK(commands->fill(large, 16 * i, 8, kZero));
  for (std::uint64_t i = 0; i < 1000; ++i)
    TL_ASSERT_OK(commands->copy_buffer(large, 16 * i, a_, 0, 1));
  const std::vector<std::string> all = names(*commands);
  EXPECT_EQ(std::count(all.begin(), all.begin() + 1000, "barrier"), 0);
  EXPECT_EQ(all[1000], "barrier");
}

// Many objects are tracked without losing one.
TEST_F(CommandBufferTest, ManyBuffersBetweenTwoBarriers) {
  std::vector<std::shared_ptr<Buffer>> buffers(40);
  for (auto& buffer : buffers) buffer = make_buffer();
  for (const auto& again : buffers) {
    const auto commands = make_commands();
    for (const auto& buffer : buffers) TL_ASSERT_OK(commands->fill(buffer, 0, 4, kZero));
    TL_ASSERT_OK(commands->fill(again, 0, 4, kZero));
    EXPECT_EQ(commands->segments().size(), buffers.size() + 2);
    EXPECT_EQ(names(*commands)[buffers.size()], "barrier");
  }
}

TEST_F(CommandBufferTest, SlotsMayBeAnyMemory) {
  const auto kernel = make_kernel();
  const auto record = [&](CommandBuffer& commands, std::uint32_t in, std::uint32_t out) {
    const std::array<BindingRef, 2> refs = {BindingSlot{in}, BindingSlot{out}};
    return commands.dispatch_with_table(kernel, 0, {1, 1, 1}, refs, {});
  };
  const auto automatic = make_commands();
  TL_ASSERT_OK(record(*automatic, 0, 1));
  TL_ASSERT_OK(record(*automatic, 2, 3));
  TL_ASSERT_OK(automatic->fill(a_, 0, 1, kZero));
  EXPECT_THAT(names(*automatic), ElementsAre("dispatch", "barrier", "dispatch", "barrier", "fill"));
  // After a barrier, no earlier use of a slot conflicts with this memory.
  TL_ASSERT_OK(automatic->copy_buffer(b_, 0, c_, 0, 8));
  EXPECT_EQ(names(*automatic).back(), "copy_buffer");
  EXPECT_EQ(names(*automatic).size(), 6U);
  const auto checked = make_commands(Barriers::Checked);
  TL_ASSERT_OK(record(*checked, 0, 1));
  TL_ASSERT_OK(record(*checked, 2, 3));
  TL_ASSERT_OK(record(*checked, 3, 4));
  EXPECT_THAT(checked->finish(), refused("which share slot 3 of the table: the first writes it as "
                                         "\"out\", the second reads it as \"in\""));
}

TEST_F(CommandBufferTest, PatternsOfFillsAreRepeatedToFourBytes) {
  const auto commands = make_commands();
  const std::array<std::byte, 2> pattern = {std::byte{1}, std::byte{2}};
  TL_ASSERT_OK(commands->fill(a_, 251, 5, pattern));
  const auto& fill = std::get<FillSegment>(commands->segments().front());
  EXPECT_EQ(fill.pattern, (std::array{pattern[0], pattern[1], pattern[0], pattern[1]}));
}

TEST_F(CommandBufferTest, GroupsOverTheLimitOfAnAxisAreRefused) {
  const auto kernel = make_kernel();
  const std::array<Binding, 2> bindings = {BufferBinding{a_}, BufferBinding{b_}};
  const auto commands = make_commands();
  TL_ASSERT_OK(commands->dispatch(kernel, 0, {65535, 65535, 65535}, bindings, {}));
  EXPECT_THAT(commands->dispatch(kernel, 0, {1, 65536, 1}, bindings, {}),
              refused("dispatch: 65536 work groups along axis 1, but device null allows 65535"));
  EXPECT_THAT(commands->dispatch(kernel, 0, {0, 1, 65536}, bindings, {}), refused("axis 2"));
  const std::array<BindingRef, 2> refs = {BufferBinding{a_}, BindingSlot{0}};
  EXPECT_THAT(commands->dispatch_with_table(kernel, 0, {65536, 1, 1}, refs, {}), refused("axis 0"));
  EXPECT_EQ(commands->segments().size(), 1U);
}

TEST_F(CommandBufferTest, IndirectDispatchesAreAFeature) {
  DeviceInfo info = null::default_device();
  info.features.indirect_dispatch = false;
  const auto without = *null::create_driver(info)->open(0);
  EXPECT_EQ(without->create_command_buffer()->dispatch_indirect(nullptr, 0, {}, {}, {}).code(),
            StatusCode::Unimplemented);
}

// An indirect dispatch reads its group counts, so a barrier follows the command that writes them.
TEST_F(CommandBufferTest, GroupsAreMemoryThatIsRead) {
  const std::array<BindingRef, 2> refs = {BufferBinding{a_}, BufferBinding{b_}};
  const auto commands = make_commands();
  TL_ASSERT_OK(commands->fill(c_, 19, 1, kZero));
  TL_ASSERT_OK(commands->dispatch_indirect(make_kernel(), 0, BufferBinding{c_, 8}, refs, {}));
  EXPECT_THAT(names(*commands), ElementsAre("fill", "barrier", "dispatch_indirect"));
}

TEST_F(CommandBufferTest, ObjectsAreKeptOnce) {
  const auto kernel = make_kernel();
  auto commands = make_commands();
  for (int i = 0; i < 10; ++i) {
    TL_ASSERT_OK(
        commands->dispatch(kernel, 0, {1, 1, 1}, {{BufferBinding{a_}, BufferBinding{b_}}}, {}));
  }
  EXPECT_EQ(kernel.use_count(), 2);
  EXPECT_EQ(a_.use_count(), 2);
  commands.reset();
  EXPECT_EQ(a_.use_count(), 1);
}

TEST_F(CommandBufferTest, EachCommandKeepsWhatItNames) {
  const auto make_texture = [&] {
    return *device_->create_texture({.extent = {8, 8}, .format = TexelFormat::Rgba32Float});
  };
  struct Objects {
    std::shared_ptr<Buffer> x, y, z;
    std::shared_ptr<Texture> s, t;
    std::shared_ptr<Executable> kernel;
  };
  std::array<std::byte, 4> host = {};
  const BufferTextureRegion region{.extent = {1, 1}};
  struct Case {
    const char* name;
    long kept;  // objects
    std::function<Status(CommandBuffer&, const Objects&)> record;
  };
  const std::array<Case, 11> cases = {{
      {"dispatch", 3,
       [](CommandBuffer& commands, const Objects& o) {
         return commands.dispatch(o.kernel, 0, {1, 1, 1},
                                  {{BufferBinding{o.x}, BufferBinding{o.y}}}, {});
       }},
      {"dispatch_with_table", 2,
       [](CommandBuffer& commands, const Objects& o) {
         const std::array<BindingRef, 2> refs = {BindingSlot{0}, BufferBinding{o.y}};
         return commands.dispatch_with_table(o.kernel, 0, {1, 1, 1}, refs, {});
       }},
      {"dispatch_indirect", 4,
       [](CommandBuffer& commands, const Objects& o) {
         const std::array<BindingRef, 2> refs = {BufferBinding{o.x}, BufferBinding{o.y}};
         return commands.dispatch_indirect(o.kernel, 0, BufferBinding{o.z}, refs, {});
       }},
      {"fill", 1,
       [](CommandBuffer& commands, const Objects& o) { return commands.fill(o.x, 0, 4, kZero); }},
      {"update", 1,
       [&](CommandBuffer& commands, const Objects& o) { return commands.update(o.x, 0, host); }},
      {"readback", 1,
       [&](CommandBuffer& commands, const Objects& o) { return commands.readback(o.x, 0, host); }},
      {"copy_buffer", 2,
       [](CommandBuffer& commands, const Objects& o) {
         return commands.copy_buffer(o.x, 0, o.y, 0, 4);
       }},
      {"copy_buffer_to_texture", 2,
       [&](CommandBuffer& commands, const Objects& o) {
         return commands.copy_buffer_to_texture(o.x, o.t, region);
       }},
      {"copy_texture_to_buffer", 2,
       [&](CommandBuffer& commands, const Objects& o) {
         return commands.copy_texture_to_buffer(o.s, o.x, region);
       }},
      {"copy_texture", 2,
       [](CommandBuffer& commands, const Objects& o) {
         return commands.copy_texture(o.s, {}, o.t, {}, {1, 1});
       }},
      {"barrier", 0, [](CommandBuffer& commands, const Objects&) { return commands.barrier(); }},
  }};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    const Objects o{make_buffer(),  make_buffer(),  make_buffer(),
                    make_texture(), make_texture(), make_kernel()};
    const auto commands = make_commands();
    TL_EXPECT_OK(each.record(*commands, o));
    const long handles = o.x.use_count() + o.y.use_count() + o.z.use_count() + o.s.use_count() +
                         o.t.use_count() + o.kernel.use_count();
    EXPECT_EQ(handles, 6 + each.kept);
  }
}

// The null driver gets adjacent commands as one run.
TEST_F(CommandBufferTest, NeighborsAreSeenTogether) {
  const auto commands = make_commands(Barriers::Explicit);
  const Bytes four(4);
  TL_ASSERT_OK(commands->barrier());  // nothing before it
  TL_ASSERT_OK(commands->update(a_, 0, four));
  TL_ASSERT_OK(commands->update(a_, 4, four));
  TL_ASSERT_OK(commands->update(a_, 8, four));
  TL_ASSERT_OK(commands->update(a_, 16, four));  // after a gap
  TL_ASSERT_OK(commands->update(b_, 20, four));  // another buffer
  TL_ASSERT_OK(commands->barrier());
  TL_ASSERT_OK(commands->barrier());
  TL_ASSERT_OK(commands->update(b_, 24, four));  // after a barrier
  TL_ASSERT_OK(commands->fill(c_, 0, 8, kZero));
  TL_ASSERT_OK(commands->update(b_, 28, four));  // after another command
  TL_ASSERT_OK(commands->barrier());             // nothing after it
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(device_->queue()->submit(commands));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  const null::Statistics statistics = null::statistics(*device_);
  EXPECT_EQ(statistics.ranges, 1U);
  EXPECT_EQ(statistics.recorded_updates, 7U);
  EXPECT_EQ(statistics.writes, 5U);
  EXPECT_EQ(statistics.recorded_barriers, 4U);
  EXPECT_EQ(statistics.barriers, 1U);
  EXPECT_EQ(statistics.transfers, 1U);
}

}  // namespace
}  // namespace texloom::hal
