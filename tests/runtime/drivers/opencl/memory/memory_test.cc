// Tests how kernels see memory that the host maps, lends or views as an image. Tests the release of
// memory, and the errors when memory runs out.
#include <array>
#include <atomic>

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/platform/quirks.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::opencl {
namespace {

constexpr const char* kAddOne =
    "__kernel void add_one(__global int* x) { x[get_global_id(0)] += 1; }";

class MemoryTest : public OpenClTest {
 protected:
  std::shared_ptr<CommandBuffer> add_one_commands(const std::shared_ptr<Buffer>& buffer) {
    const auto executable = make_executable(
        kAddOne,
        {.name = "add_one", .params = {BufferParam{.name = "x", .access = Access::ReadWrite}}});
    const auto commands = device_->create_command_buffer();
    const auto groups = static_cast<std::uint32_t>(buffer->bytes() / sizeof(int));
    EXPECT_TRUE(
        commands->dispatch(executable, 0, {groups, 1, 1}, {{BufferBinding{buffer}}}, {}).ok());
    return commands;
  }
};

TEST_F(MemoryTest, KernelsSeeWhatTheHostMapsAndTheOtherWayRound) {
  for (const MemoryKind kind : {MemoryKind::Shared, MemoryKind::Managed}) {
    const auto buffer = *device_->create_buffer({.bytes = 64, .memory = kind});
    Mapping write = *buffer->map(Access::Write);
    std::ranges::fill(write.as<int>(), 41);
    TL_ASSERT_OK(write.release());
    TL_ASSERT_OK(run(add_one_commands(buffer)));
    const Mapping read = *buffer->map(Access::Read);
    EXPECT_TRUE(std::ranges::all_of(read.as<int>(), [](int x) { return x == 42; }));
  }
}

// Managed memory stays mapped while the device works: flush and invalidate copy the named range.
TEST_F(MemoryTest, APersistentMappingIsFlushedAndInvalidated) {
  ASSERT_TRUE(device_->info().memory(MemoryKind::Managed).persistent);
  const auto buffer = *device_->create_buffer({.bytes = 64, .memory = MemoryKind::Managed});
  Mapping mapping = *buffer->map(Access::ReadWrite);
  std::ranges::fill(mapping.as<int>(), 1);
  TL_ASSERT_OK(mapping.flush(0, 64));
  TL_ASSERT_OK(run(add_one_commands(buffer)));
  EXPECT_EQ(mapping.as<int>()[3], 1);
  TL_ASSERT_OK(mapping.invalidate(0, 16));
  EXPECT_EQ(mapping.as<int>()[3], 2);
  EXPECT_EQ(mapping.as<int>()[4], 1);
}

TEST_F(MemoryTest, KernelsWorkInTheHostsMemory) {
  alignas(4096) static std::array<int, 64> memory;
  memory.fill(1);
  int released = 0;
  auto buffer = *device_->allocator()->import(
      {.memory = std::as_writable_bytes(std::span(memory)), .release = [&] { ++released; }});
  auto part = *buffer->subspan(128, 64);
  auto commands = add_one_commands(buffer);
  TL_ASSERT_OK(commands->copy_buffer(buffer, 0, part, 0, 4));
  TL_ASSERT_OK(run(commands));
  {
    const Mapping mapping = *buffer->map(Access::Read);
    EXPECT_EQ(mapping.as<int>().data(), memory.data());
    EXPECT_TRUE(std::ranges::all_of(memory, [](int x) { return x == 2; }));
  }
  buffer.reset();
  part.reset();
  EXPECT_EQ(released, 0);
  commands.reset();
  EXPECT_EQ(released, 1);
}

// Subspans are bound and copied at their offsets in the whole buffer.
TEST_F(MemoryTest, CommandsTakeSubspansAsPlacesInTheirBuffer) {
  const std::uint64_t step = device_->info().limits.buffer_offset_alignment;
  const auto buffer = make_buffer(Bytes(4 * step, std::byte{0}));
  const auto outer = *buffer->subspan(step, 3 * step);
  const auto part = *outer->subspan(step, step);
  TL_ASSERT_OK(run(add_one_commands(part)));
  TL_ASSERT_OK(write_buffer(*device_, part, 4, Bytes(4, std::byte{9})));
  std::vector<int> expected(4 * step / 4, 0);
  std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(2 * step / 4), step / 4, 1);
  expected[2 * step / 4 + 1] = 0x09090909;
  EXPECT_EQ(values_of<int>(buffer), expected);
  const auto commands = device_->create_command_buffer();
  EXPECT_THAT(commands->copy_buffer(part, 0, buffer, 2 * step + 1, 8),
              fails_with(StatusCode::InvalidArgument, "overlap"));
}

// A view shows the buffer's bytes as texels, and writes through the view change those bytes.
TEST_F(MemoryTest, ViewsAreTheBuffersBytes) {
  const DeviceInfo& info = device_->info();
  const TextureDesc desc{.extent = {5, 3}, .format = TexelFormat::Rgba8UInt};
  const std::uint64_t pitch = smallest_view_pitch(info, desc.format, desc.extent.width);
  const std::uint64_t start = info.limits.buffer_offset_alignment * info.limits.view_base_alignment;
  const Bytes data = random_bytes(start + 4 * pitch, 1);
  const auto buffer = make_buffer(data);
  const auto view = device_->allocator()->create_view(buffer, {.texture = desc, .offset = start});
  if (!info.features.texture_views) {
    EXPECT_THAT(view.status(), fails_with(StatusCode::Unimplemented, "no views over buffers"));
    return;
  }
  TL_ASSERT_OK(view.status());
  Bytes expected;
  for (std::size_t row = 0; row < 3; ++row) {
    const auto begin = data.begin() + static_cast<std::ptrdiff_t>(start + row * pitch);
    expected.insert(expected.end(), begin, begin + 20);
  }
  EXPECT_EQ(content_of(*view), expected);
  TL_ASSERT_OK(write_texture(*device_, *view, {{1, 2}, {1, 1}}, Bytes(4, std::byte{7})));
  const Bytes seen = content_of(buffer);
  EXPECT_EQ(seen[start + 2 * pitch + 4], std::byte{7});
  EXPECT_EQ(seen[start + 2 * pitch + 3], data[start + 2 * pitch + 3]);
}

// Pending work keeps its objects alive, whatever the caller releases, in any order.
TEST_F(MemoryTest, EverythingMayBeReleasedWhileTheDeviceUsesIt) {
  alignas(4096) static std::array<int, 64> memory;
  memory.fill(0);
  std::atomic<int> released = 0;
  const auto gate = Semaphore::create();
  const auto done = Semaphore::create();
  {
    auto imported = *device_->allocator()->import(
        {.memory = std::as_writable_bytes(std::span(memory)), .release = [&] { ++released; }});
    auto shared = *device_->create_buffer({.bytes = 256, .memory = MemoryKind::Shared});
    auto part = *shared->subspan(64, 64);
    auto commands = add_one_commands(imported);
    TL_ASSERT_OK(commands->update(part, 0, Bytes(64)));
    TL_ASSERT_OK(commands->copy_buffer(imported, 0, shared, 128, 64));
    TL_ASSERT_OK(commands->finish());
    TL_ASSERT_OK(device_->queue()->submit({{{gate, 1}}, {commands}, {{done, 1}}}));
    shared.reset();
    imported.reset();
  }
  EXPECT_EQ(released, 0);
  TL_ASSERT_OK(gate->signal(1));
  TL_ASSERT_OK(done->wait(1));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  device_.reset();
  EXPECT_EQ(released, 1);
}

// A driver that refuses a given number of calls for lack of memory.
class ShortMemoryTest : public MemoryTest {
 protected:
  static inline Api real = {};
  static inline std::atomic<int> refusals = 0;

  void SetUp() override {
    MemoryTest::SetUp();
    if (driver_ == nullptr) return;
    const auto loaded = load_api(DriverOptions().loader_paths);
    ASSERT_TRUE(loaded.ok());
    real = **loaded;
    refusals = 0;
    const auto api = std::make_shared<Api>(real);
    api->clCreateBuffer = [](cl_context context, cl_mem_flags flags, std::size_t bytes, void* host,
                             cl_int* code) -> cl_mem {
      if (refusals-- <= 0) return real.clCreateBuffer(context, flags, bytes, host, code);
      *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
      return nullptr;
    };
    device_ = *(*create_driver(std::shared_ptr<const Api>(api)))->open(0);
  }
};

TEST_F(ShortMemoryTest, AFailedRequestLeavesTheAllocatorUsable) {
  const auto before = make_buffer(64);
  const MemoryStatistics statistics = device_->allocator()->statistics();
  int released = 0;
  alignas(4096) static std::array<std::byte, 64> memory;
  refusals = 100;
  EXPECT_THAT(device_->create_buffer({.bytes = 12}).status(),
              fails_with(StatusCode::OutOfMemory,
                         "a buffer of 12 bytes: clCreateBuffer: CL_MEM_OBJECT_ALLOCATION_FAILURE"));
  EXPECT_EQ(device_->allocator()
                ->import({.memory = memory, .release = [&] { ++released; }})
                .status()
                .code(),
            StatusCode::OutOfMemory);
  refusals = 0;
  EXPECT_EQ(released, 0);
  const MemoryKind kind = MemoryKind::Device;
  EXPECT_EQ(device_->allocator()->statistics().of(kind), statistics.of(kind));
  EXPECT_EQ(device_->allocator()->statistics().imported, MemoryCount());
  EXPECT_TRUE(device_->create_buffer({.bytes = 12}).ok());
}

// A listener that may release memory, and counts its calls.
class CountingListener final : public PressureListener {
 public:
  explicit CountingListener(bool gives) : gives_(gives) {}
  bool release_unused() override {
    ++calls;
    return gives_;
  }
  int calls = 0;

 private:
  bool gives_;
};

TEST_F(ShortMemoryTest, ListenersAreAskedUntilTheRequestSucceeds) {
  const auto empty = std::make_shared<CountingListener>(false);
  const auto first = std::make_shared<CountingListener>(true);
  const auto second = std::make_shared<CountingListener>(true);
  auto gone = std::make_shared<CountingListener>(true);
  for (const auto& listener : {empty, gone, first, second})
    device_->allocator()->add_listener(listener);
  gone.reset();
  // The driver refuses the request, and the retry after the call of the device's own listener.
  refusals = 2;
  EXPECT_TRUE(device_->create_buffer({.bytes = 12}).ok());
  EXPECT_EQ(empty->calls, 1);
  EXPECT_EQ(first->calls, 1);
  EXPECT_EQ(second->calls, 0);
}

// Rows of the table match by parts of the device's strings; other devices get no quirks.
TEST(OpenClQuirks, FitTheirDevicesAlone) {
  DeviceInfo info;
  info.vendor = "The pocl project";
  add_quirks(info);
  EXPECT_TRUE(info.quirks.empty());
  info.vendor = "NVIDIA Corporation";
  add_quirks(info);
  EXPECT_TRUE(has_quirk(info, kUnderstatedWorkgroupLimit));
  for (const Quirk& quirk : info.quirks) EXPECT_FALSE(quirk.reason.empty()) << quirk.name;
}

}  // namespace
}  // namespace texloom::hal::opencl
