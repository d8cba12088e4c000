// Tests the driver that runs the program's functions as kernels on the CPU.
#include "runtime/drivers/host/driver.h"

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::host {
namespace {

// Computes y[i] = a * x[i], one work item after the other.
Status scale(const WorkGroup& group) {
  const auto x = group.buffer<const float>(0);
  const auto y = group.buffer<float>(1);
  const auto a = group.constant<float>(2);
  const std::size_t begin = std::size_t{group.id[0]} * group.size[0];
  for (std::size_t i = begin; i < begin + group.size[0]; ++i) y[i] = a * x[i];
  return {};
}

// Copies to each texel in the group's column its left neighbor, both relative to the origins.
Status shift(const WorkGroup& group) {
  const TextureArgument& source = group.texture(0);
  const TextureArgument& target = group.texture(1);
  const std::int64_t x = group.id[0];
  const std::int64_t y = group.id[1];
  target.image.write(target.origin.x + x, target.origin.y + y,
                     source.image.read<float>(source.origin.x + x - 1, source.origin.y + y));
  return {};
}

// Counts how often each group has run.
Status count_groups(const WorkGroup& group) {
  const auto counts = group.buffer<std::uint32_t>(0);
  const std::size_t number =
      group.id[0] + group.groups[0] * (group.id[1] + std::size_t{group.groups[1]} * group.id[2]);
  // No other group may change the scratch memory while this group runs.
  std::fill(group.scratch.begin(), group.scratch.end(), static_cast<std::byte>(number));
  for (const std::byte each : group.scratch)
    if (each != static_cast<std::byte>(number)) return Status(StatusCode::Internal, "not alone");
  ++counts[number];
  return {};
}

std::atomic<unsigned> missing = 0;

// Waits until the expected number of groups is running.
Status meet(const WorkGroup&) {
  --missing;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (missing != 0) {
    if (std::chrono::steady_clock::now() > end) return Status(StatusCode::Internal, "alone");
    std::this_thread::yield();
  }
  return {};
}

// Uses two pieces of local memory of 48 bytes each, which must not overlap.
Status use_local_memory(const WorkGroup& group) {
  const auto first = group.local<std::byte>(0), second = group.local<std::byte>(1);
  for (const auto piece : {first, second}) {
    if (reinterpret_cast<std::uintptr_t>(piece.data()) % 16 != 0)
      return Status(StatusCode::Internal, "not aligned");
  }
  const std::byte* end = group.scratch.data() + group.scratch.size();
  const bool apart = first.data() + first.size() <= second.data();
  return apart && first.size() == 48 && second.data() + 48 <= end
             ? Status()
             : Status(StatusCode::Internal, "not a place of its own");
}

Status fail_at_seven(const WorkGroup& group) {
  if (group.id[0] == 7) return make_error(StatusCode::DeviceError, "group {} fails", group.id[0]);
  return {};
}

// Stores the size in bytes of the second argument, as the function sees it.
Status size_of_second(const WorkGroup& group) {
  group.buffer<std::uint32_t>(0)[0] =
      static_cast<std::uint32_t>(group.buffer<const std::byte>(1).size());
  return {};
}

class HostDriverTest : public DeviceTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    driver_ = create_driver({.threads = GetParam(),
                             .libraries = {{"test",
                                            {{"scale", scale},
                                             {"shift", shift},
                                             {"count_groups", count_groups},
                                             {"meet", meet},
                                             {"use_local_memory", use_local_memory},
                                             {"size_of_second", size_of_second},
                                             {"fail_at_seven", fail_at_seven}}}}});
    auto device = driver_->open(0);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }

  // Makes an executable from the library "test".
  std::shared_ptr<Executable> make_functions(EntryPoint entry) const {
    auto executable = device_->create_executable(
        {.codes = {{.format = KernelFormat::HostFunctions, .code = "test"}},
         .entry_points = {std::move(entry)}});
    EXPECT_TRUE(executable.ok()) << executable.status().to_string();
    return executable.ok() ? *executable : nullptr;
  }
};

INSTANTIATE_TEST_SUITE_P(Threads, HostDriverTest, ::testing::Values(1U, 4U),
                         [](const auto& param) { return std::to_string(param.param); });

TEST_P(HostDriverTest, DescribesTheMachine) {
  EXPECT_EQ(driver_->name(), "host");
  ASSERT_EQ(driver_->devices().size(), 1U);
  const DeviceInfo& info = device_->info();
  EXPECT_FALSE(info.name.empty());
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("model name\t: ")) continue;  // ARM has none
    EXPECT_EQ("model name\t: " + info.name, line);
    break;
  }
  EXPECT_EQ(info.type, DeviceType::Cpu);
  EXPECT_EQ(info.limits.compute_units, GetParam());
  EXPECT_GT(info.limits.global_memory_bytes, std::uint64_t{1} << 26);
  EXPECT_THAT(driver_->open(1).status(), fails_with(StatusCode::NotFound, "no host device 1"));
}

TEST_P(HostDriverTest, RunsAFunctionForEachGroup) {
  const auto executable = make_functions(
      {.name = "scale",
       .params = {BufferParam{"x", Access::Read, 256}, BufferParam{"y", Access::Write, 256},
                  ConstantParam{"a", ElementType::Float32}},
       .workgroup_size = {16, 1, 1}});
  std::vector<float> input(80);
  std::iota(input.begin(), input.end(), 0.0F);
  const auto x = make_buffer(bytes_of(input));
  const auto y = make_buffer(bytes_of(std::vector<float>(80, -1.0F)));
  const auto commands = device_->create_command_buffer();
  // Both bindings start at element 16.
  const std::array<Binding, 2> bindings = {BufferBinding{x, 64}, BufferBinding{y, 64}};
  const std::array constants = {Constant(0.5F)};
  TL_ASSERT_OK(commands->dispatch(executable, 0, {4, 1, 1}, bindings, constants));
  TL_ASSERT_OK(run(commands));
  const std::vector<float> output = values_of<float>(y);
  for (std::size_t i = 0; i < 80; ++i)
    EXPECT_EQ(output[i], i < 16 ? -1.0F : 0.5F * static_cast<float>(i));
}

TEST_P(HostDriverTest, DispatchesBetweenBarriersRunTogether) {
  if (GetParam() == 1) GTEST_SKIP() << "one thread";
  const auto executable = make_functions({.name = "meet", .params = {}});
  const auto commands = device_->create_command_buffer();
  for (int i = 0; i < 2; ++i) TL_ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1}, {}, {}));
  missing = 2;
  TL_ASSERT_OK(run(commands));
}

TEST_P(HostDriverTest, EachThreadRunsAGroup) {
  const auto executable = make_functions({.name = "meet", .params = {}});
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->dispatch(executable, 0, {GetParam(), 1, 1}, {}, {}));
  missing = GetParam();
  TL_ASSERT_OK(run(commands));
}

TEST_P(HostDriverTest, LocalMemoryIsAligned) {
  const auto executable = make_functions(
      {.name = "use_local_memory", .params = {LocalParam{"first", 48}, LocalParam{"second", 48}}});
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1}, {}, {}));
  TL_ASSERT_OK(run(commands));
}

// Each group of each dispatch runs once, on any thread.
TEST_P(HostDriverTest, DispatchesThatRunTogetherAreWhole) {
  const auto executable = make_functions(
      {.name = "count_groups", .params = {BufferParam{"counts", Access::ReadWrite, 4}}});
  const auto commands = device_->create_command_buffer();
  std::vector<std::shared_ptr<Buffer>> counts;
  for (std::uint32_t groups = 1; groups <= 40; ++groups) {
    counts.push_back(make_buffer(bytes_of(std::vector<std::uint32_t>(64))));
    const std::array<Binding, 1> bindings = {BufferBinding{counts.back()}};
    TL_ASSERT_OK(commands->dispatch(executable, 0, {groups, 1, 1}, bindings, {}));
  }
  TL_ASSERT_OK(run(commands));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::vector<std::uint32_t> expected(64);
    std::fill_n(expected.begin(), i + 1, 1U);
    EXPECT_EQ(values_of<std::uint32_t>(counts[i]), expected) << i;
  }
}

// Functions get the size of the bound range: the size of the whole buffer would hide overruns.
TEST_P(HostDriverTest, FunctionsSeeTheBytesOfTheSubspanThatIsBound) {
  const auto executable = make_functions(
      {.name = "size_of_second", .params = {BufferParam{"size", Access::Write}, BufferParam{"x"}}});
  const auto whole = make_buffer(1024);
  const auto part = *whole->subspan(256, 64);
  const auto size_seen = [&](const BufferBinding& x, bool in_table) {
    const auto size = make_buffer(4);
    const auto commands = device_->create_command_buffer();
    std::vector<Binding> table;
    if (in_table) {
      table = {x};
      const std::array<BindingRef, 2> refs = {BufferBinding{size}, BindingSlot{.offset = 16}};
      TL_EXPECT_OK(commands->dispatch_with_table(executable, 0, {1, 1, 1}, refs, {}));
    } else {
      TL_EXPECT_OK(commands->dispatch(executable, 0, {1, 1, 1}, {{BufferBinding{size}, x}}, {}));
    }
    TL_EXPECT_OK(commands->finish());
    TL_EXPECT_OK(device_->queue()->submit({.commands = {{commands, table}}}));
    return values_of<std::uint32_t>(size)[0];
  };
  EXPECT_EQ(size_seen({whole, 32}, false), 992U);
  EXPECT_EQ(size_seen({part}, false), 64U);
  EXPECT_EQ(size_seen({part, 16}, false), 48U);
  EXPECT_EQ(size_seen({part, 32}, true), 16U);
}

// The tensors start at origins; the rest of the image is zero.
TEST_P(HostDriverTest, FunctionsReadAndWriteTextures) {
  const TextureParam read{
      "s", TexelFormat::Rgba16Float, Access::Read, {3, 2}, TextureOrigin::Constants};
  const TextureParam write{
      "t", TexelFormat::Rgba32Float, Access::Write, {3, 2}, TextureOrigin::Constants};
  const auto executable = make_functions({.name = "shift", .params = {read, write}});
  const auto source = make_texture({3, 4}, TexelFormat::Rgba16Float);
  std::vector<std::uint16_t> halves(3 * 4 * 4);
  for (std::size_t i = 0; i < halves.size(); ++i)
    halves[i] = static_cast<std::uint16_t>(0x3c00 + i);
  TL_ASSERT_OK(write_texture(*device_, source, {{}, {3, 4}}, bytes_of(halves)));
  const auto target = make_texture_full_of(std::byte{0}, {5, 5}, TexelFormat::Rgba32Float);
  const auto commands = device_->create_command_buffer();
  const std::array<Binding, 2> bindings = {TextureBinding{source, {0, 2}},
                                           TextureBinding{target, {1, 3}}};
  TL_ASSERT_OK(commands->dispatch(executable, 0, {3, 2, 1}, bindings, {}));
  TL_ASSERT_OK(run(commands));
  std::vector<float> expected(5 * 5 * 4, 0.0F);
  for (std::size_t y = 0; y < 2; ++y) {
    for (std::size_t x = 1; x < 3; ++x) {
      for (std::size_t lane = 0; lane < 4; ++lane) {
        const std::size_t from = ((y + 2) * 3 + x - 1) * 4 + lane;
        expected[((y + 3) * 5 + x + 1) * 4 + lane] = 1.0F + static_cast<float>(from) / 1024.0F;
      }
    }
  }
  EXPECT_EQ(values_of<float>(target), expected);
}

// Every group runs once, whatever the shape of the grid.
TEST_P(HostDriverTest, GridsAreRunWhole) {
  const auto executable =
      make_functions({.name = "count_groups", .params = {BufferParam{"n", Access::ReadWrite, 4}}});
  for (const std::array<std::uint32_t, 3> grid :
       {std::array{1U, 1U, 1U}, std::array{97U, 1U, 1U}, std::array{3U, 5U, 7U}}) {
    const std::size_t groups = std::size_t{grid[0]} * grid[1] * grid[2];
    const auto counts = make_buffer(bytes_of(std::vector<std::uint32_t>(groups, 0)));
    const auto commands = device_->create_command_buffer();
    const std::array<Binding, 1> bindings = {BufferBinding{counts}};
    TL_ASSERT_OK(commands->dispatch(executable, 0, grid, bindings, {}));
    TL_ASSERT_OK(commands->dispatch(executable, 0, grid, bindings, {}));
    TL_ASSERT_OK(run(commands));
    EXPECT_EQ(values_of<std::uint32_t>(counts), std::vector<std::uint32_t>(groups, 2));
  }
}

// The rest of the submission does not run; the next submission does.
TEST_P(HostDriverTest, AnErrorEndsTheSubmission) {
  const auto executable = make_functions({.name = "fail_at_seven", .params = {}});
  const auto buffer = make_buffer(bytes_of(std::vector<std::uint32_t>{1}));
  const std::vector<std::uint32_t> two = {2};
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->dispatch(executable, 0, {100, 1, 1}, {}, {}));
  TL_ASSERT_OK(commands->update(buffer, 0, bytes_of(two)));
  EXPECT_THAT(run(commands),
              fails_with(StatusCode::DeviceError, "kernel \"fail_at_seven\": group 7 fails"));
  EXPECT_EQ(values_of<std::uint32_t>(buffer)[0], 1U);
  const auto next = device_->create_command_buffer();
  TL_ASSERT_OK(next->update(buffer, 0, bytes_of(two)));
  TL_ASSERT_OK(run(next));
  EXPECT_EQ(values_of<std::uint32_t>(buffer)[0], 2U);
}

TEST_P(HostDriverTest, GridsThatNeverEndAreRefused) {
  const auto executable = make_functions({.name = "fail_at_seven", .params = {}});
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->dispatch(executable, 0, {UINT32_MAX, UINT32_MAX, UINT32_MAX}, {}, {}));
  EXPECT_THAT(run(commands), fails_with(StatusCode::LimitExceeded, "work groups"));
}

TEST_P(HostDriverTest, FunctionsThatAreNotThereAreNotFound) {
  const auto create = [&](const char* library, const char* function) {
    return device_
        ->create_executable({.codes = {{.format = KernelFormat::HostFunctions, .code = library}},
                             .entry_points = {{.name = function, .params = {}}}})
        .status();
  };
  EXPECT_THAT(create("other", "scale"), fails_with(StatusCode::NotFound, "\"other\""));
  EXPECT_THAT(create("test", "halve"), fails_with(StatusCode::NotFound, "no function \"halve\""));
}

// The buffer's offset and the table's offset are added. The group counts are read when the command
// runs, and a count of zero runs nothing.
TEST_P(HostDriverTest, IndirectDispatchReadsItsGroupsWhenItRuns) {
  const auto executable =
      make_functions({.name = "count_groups", .params = {BufferParam{"n", Access::ReadWrite, 4}}});
  const auto counts = make_buffer(bytes_of(std::vector<std::uint32_t>(64, 0)));
  const auto groups = make_buffer(bytes_of(std::vector<std::uint32_t>{9, 9, 9, 9, 9, 9}));
  for (const std::uint32_t height : {5U, 0U}) {
    const std::vector<std::uint32_t> wanted = {3, height, 2};
    const auto commands = device_->create_command_buffer();
    TL_ASSERT_OK(commands->update(groups, 12, bytes_of(wanted)));
    const std::array<BindingRef, 1> bindings = {BindingSlot{0, 16}};
    TL_ASSERT_OK(
        commands->dispatch_indirect(executable, 0, BufferBinding{groups, 12}, bindings, {}));
    TL_ASSERT_OK(commands->finish());
    TL_ASSERT_OK(device_->queue()->submit({{}, {{commands, {BufferBinding{counts, 32}}}}, {}}));
    TL_ASSERT_OK(device_->queue()->wait_idle());
  }
  std::vector<std::uint32_t> expected(64, 0);
  std::fill_n(expected.begin() + 12, 30, 1);
  EXPECT_EQ(values_of<std::uint32_t>(counts), expected);
}

// A host call runs at its place between the other commands, and an error of the call ends the
// submission.
TEST_P(HostDriverTest, HostCallsRunInOrder) {
  const auto buffer = make_buffer(bytes_of(std::vector<std::uint32_t>{1, 0}));
  std::uint32_t seen = 0;
  const std::vector<std::uint32_t> two = {2}, three = {3};
  for (const bool fails : {false, true}) {
    const auto commands = device_->create_command_buffer();
    TL_ASSERT_OK(commands->update(buffer, 4, bytes_of(two)));
    TL_ASSERT_OK(commands->readback(buffer, 4, std::as_writable_bytes(std::span(&seen, 1))));
    TL_ASSERT_OK(commands->host_call([&seen, fails] {
      EXPECT_EQ(std::exchange(seen, 7), 2U);
      return fails ? Status(StatusCode::Unavailable, "no more") : Status();
    }));
    TL_ASSERT_OK(commands->update(buffer, 4, bytes_of(three)));
    const Status status = run(commands);
    EXPECT_EQ(status.code(), fails ? StatusCode::Unavailable : StatusCode::Ok);
    EXPECT_EQ(seen, 7U);
    EXPECT_EQ(values_of<std::uint32_t>(buffer)[1], fails ? 2U : 3U);
  }
}

// A kernel reads zeros outside a view, although the buffer has other bytes around the view.
TEST_P(HostDriverTest, ViewsHaveBordersOfTheirOwn) {
  const TextureParam read{
      "s", TexelFormat::Rgba32Float, Access::Read, {2, 1}, TextureOrigin::Constants};
  const TextureParam write{
      "t", TexelFormat::Rgba32Float, Access::Write, {2, 1}, TextureOrigin::Constants};
  const auto executable = make_functions({.name = "shift", .params = {read, write}});
  const auto buffer = make_buffer(bytes_of(std::vector<float>(16, 5.0F)));
  const auto source = device_->allocator()->create_view(
      buffer, {.texture = {.extent = {2, 1}}, .offset = 16, .row_pitch = 32});
  ASSERT_TRUE(source.ok()) << source.status().to_string();
  const auto target = make_texture({2, 1}, TexelFormat::Rgba32Float);
  const auto commands = device_->create_command_buffer();
  const std::array<Binding, 2> bindings = {TextureBinding{*source}, TextureBinding{target}};
  TL_ASSERT_OK(commands->dispatch(executable, 0, {2, 1, 1}, bindings, {}));
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(values_of<float>(target), (std::vector<float>{0, 0, 0, 0, 5, 5, 5, 5}));
}

// A queue, a texture and an executable keep alive the device memory that they need.
TEST_P(HostDriverTest, ObjectsOutliveTheirDevice) {
  const auto executable =
      make_functions({.name = "count_groups", .params = {BufferParam{"n", Access::ReadWrite, 4}}});
  auto counts = make_buffer(bytes_of(std::vector<std::uint32_t>(64, 0)));
  const auto queue = device_->queue();
  auto commands = device_->create_command_buffer();
  const std::array<Binding, 1> bindings = {BufferBinding{counts}};
  std::vector<std::uint32_t> values(64);
  TL_ASSERT_OK(commands->dispatch(executable, 0, {64, 1, 1}, bindings, {}));
  TL_ASSERT_OK(commands->readback(counts, 0, writable_bytes_of(values)));
  TL_ASSERT_OK(commands->finish());
  device_.reset();
  driver_.reset();
  TL_ASSERT_OK(queue->submit(commands));
  commands.reset();
  counts.reset();
  TL_ASSERT_OK(queue->wait_idle());
  EXPECT_EQ(values, std::vector<std::uint32_t>(64, 1));
}

}  // namespace
}  // namespace texloom::hal::host
