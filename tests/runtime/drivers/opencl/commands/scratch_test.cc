// Tests transfers that pass through a queue's scratch memory in blocks: rows with gaps between
// textures and buffers, and updates that the device cannot execute directly.
#include "runtime/drivers/opencl/commands/scratch.h"

#include <algorithm>
#include <vector>

#include "runtime/hal/profile.h"
#include "tests/runtime/drivers/opencl/replaced_call_fixture.h"

namespace texloom::hal::opencl {
namespace {

const std::uint64_t kBlock = DriverOptions().scratch_bytes;
constexpr std::byte kSentinel{0x5a};

void as_it_is(Api&) {}

class ScratchTest : public ReplacedCallTest {
 protected:
  // Copies a region of a texture, which has two more texels in each direction, to a buffer and
  // back. Rows start at byte 5 and are `pitch` bytes apart; everything around them must keep its
  // contents.
  void expect_copies(Extent2D extent, std::uint64_t gap) {
    const Extent2D whole = {extent.width + 2, extent.height + 2};
    const std::uint64_t row = 16 * std::uint64_t{extent.width};
    const std::uint64_t pitch = row + gap;
    const std::uint64_t whole_row = 16 * std::uint64_t{whole.width};
    const BufferTextureRegion region{
        .origin = {1, 2}, .extent = extent, .buffer_offset = 5, .row_pitch = pitch};
    const auto in_texture = [&](std::uint64_t y) { return (y + 2) * whole_row + 16; };
    const auto in_buffer = [&](std::uint64_t y) { return y * pitch + 5; };
    // The buffer ends with the last row.
    const Bytes lines = random_bytes(in_buffer(extent.height - 1) + row, 1);
    const auto buffer = make_buffer(lines);
    const auto back = make_buffer(Bytes(lines.size(), kSentinel));
    const auto texture = make_texture_full_of(kSentinel, whole, TexelFormat::Rgba32UInt);
    const auto commands = device_->create_command_buffer();
    TL_ASSERT_OK(commands->copy_buffer_to_texture(buffer, texture, region));
    TL_ASSERT_OK(commands->copy_texture_to_buffer(texture, back, region));
    TL_ASSERT_OK(run(commands));
    Bytes texels(whole_row * whole.height, kSentinel);
    Bytes expected(lines.size(), kSentinel);
    for (std::uint64_t y = 0; y < extent.height; ++y) {
      std::copy_n(&lines[in_buffer(y)], row, &texels[in_texture(y)]);
      std::copy_n(&lines[in_buffer(y)], row, &expected[in_buffer(y)]);
    }
    EXPECT_TRUE(content_of(texture) == texels) << to_string(extent) << ", gap " << gap;
    EXPECT_TRUE(content_of(back) == expected) << to_string(extent) << ", gap " << gap;
  }
};

// Rows of 4 KiB move 256 per block: whole blocks, one more row, and an odd remainder.
TEST_F(ScratchTest, RowsWithGapsGoInBlocks) {
  open_with(as_it_is);
  for (const std::uint32_t height : {256U, 512U, 513U, 771U}) expect_copies({256, height}, 48);
  expect_copies({61, static_cast<std::uint32_t>(2 * kBlock / (61 * 16) + 35)}, 7);
  open_with(pretend_nvidia);
  expect_copies({256, 513}, 48);
  expect_copies({256, 771}, 48);
}

// Blocks may have two rows or one row, and rows may be larger than the scratch memory.
TEST_F(ScratchTest, RowsOfAnyLengthGoThroughLittleMemory) {
  for (const auto replace : {&as_it_is, &pretend_nvidia}) {
    open_with(replace, {.scratch_bytes = 64});
    for (const std::uint32_t width : {1U, 2U, 3U, 4U, 5U, 9U}) {
      for (const std::uint32_t height : {1U, 2U, 3U, 7U, 8U}) expect_copies({width, height}, 13);
    }
  }
}

TEST_F(ScratchTest, UnalignedUpdatesGoInBlocks) {
  for (const std::uint64_t block : {std::uint64_t{16}, kBlock}) {
    open_with(as_it_is, {.transfer_alignment = 4, .scratch_bytes = block});
    for (const std::uint64_t length : {block - 1, block, block + 1, 2 * block + 7, 3 * block}) {
      for (const std::uint64_t offset : {1, 3, 18}) {
        const Bytes data = random_bytes(length, 2);
        Bytes expected(length + 32, kSentinel);
        const auto target = make_buffer(expected);
        for (const HostMemory memory : {HostMemory::Copied, HostMemory::Borrowed}) {
          const auto commands = device_->create_command_buffer();
          TL_ASSERT_OK(commands->fill(target, 0, expected.size(), Bytes(1, kSentinel)));
          TL_ASSERT_OK(commands->update(target, offset, data, memory));
          TL_ASSERT_OK(run(commands));
          std::copy(data.begin(), data.end(), &expected[offset]);
          EXPECT_TRUE(content_of(target) == expected) << length << " bytes at " << offset;
        }
      }
    }
  }
}

TEST_F(ScratchTest, AQueueMakesItOnceWhenItIsNeeded) {
  open_with([](Api& api) { count_calls<&Api::clCreateBuffer>(real, api); },
            {.transfer_alignment = 4});
  const auto buffer = make_buffer(4096);
  const auto texture = make_texture({4, 4}, TexelFormat::Rgba8Int);
  const auto second = *device_->create_queue();
  const auto submit = [&](Queue& queue) {
    const auto commands = device_->create_command_buffer();
    TL_RETURN_IF_ERROR(
        commands->copy_buffer_to_texture(buffer, texture, {.extent = {4, 4}, .row_pitch = 20}));
    TL_RETURN_IF_ERROR(
        commands->copy_texture_to_buffer(texture, buffer, {.extent = {4, 3}, .row_pitch = 24}));
    TL_RETURN_IF_ERROR(commands->update(buffer, 1, Bytes(7)));
    TL_RETURN_IF_ERROR(commands->finish());
    TL_RETURN_IF_ERROR(queue.submit(commands));
    return queue.wait_idle();
  };
  const int before = calls_of<&Api::clCreateBuffer>();
  for (int i = 0; i < 3; ++i) TL_ASSERT_OK(submit(*device_->queue()));
  EXPECT_EQ((calls_of<&Api::clCreateBuffer>()), before + 1);
  TL_ASSERT_OK(submit(*second));
  EXPECT_EQ((calls_of<&Api::clCreateBuffer>()), before + 2);
}

// Replaces the device's clock: each call takes 10 ns, starts 2 ns after the previous call's end,
// and is queued 1 ns after the previous one. The event's handle identifies the call.
class InventedTimes {
 public:
  static void replace(Api& api) {
    events().clear();
    api.clEnqueueCopyBufferRect =
        [](cl_command_queue queue, cl_mem source, cl_mem target, const std::size_t* from,
           const std::size_t* to, const std::size_t* region, std::size_t source_pitch,
           std::size_t source_slice, std::size_t target_pitch, std::size_t target_slice,
           cl_uint waits, const cl_event* wait_events, cl_event* done) -> cl_int {
      const cl_int code = real().clEnqueueCopyBufferRect(queue, source, target, from, to, region,
                                                         source_pitch, source_slice, target_pitch,
                                                         target_slice, waits, wait_events, done);
      return add(code, done);
    };
    api.clEnqueueCopyBufferToImage = [](cl_command_queue queue, cl_mem source, cl_mem target,
                                        std::size_t offset, const std::size_t* origin,
                                        const std::size_t* region, cl_uint waits,
                                        const cl_event* wait_events, cl_event* done) -> cl_int {
      const cl_int code = real().clEnqueueCopyBufferToImage(queue, source, target, offset, origin,
                                                            region, waits, wait_events, done);
      return add(code, done);
    };
    api.clGetEventProfilingInfo = [](cl_event event, cl_profiling_info what, std::size_t,
                                     void* value, std::size_t*) -> cl_int {
      const auto found = std::find(events().begin(), events().end(), event);
      const auto place = static_cast<cl_ulong>(found - events().begin());
      auto& time = *static_cast<cl_ulong*>(value);
      if (what == CL_PROFILING_COMMAND_QUEUED) time = 1000 + place;
      if (what == CL_PROFILING_COMMAND_START) time = 2000 + 12 * place;
      if (what == CL_PROFILING_COMMAND_END) time = 2010 + 12 * place;
      return CL_SUCCESS;
    };
  }
  static Api& real() {
    static Api real;
    return real;
  }

 private:
  // The events of all calls; null for a call without one.
  static std::vector<cl_event>& events() {
    static std::vector<cl_event> events;
    return events;
  }
  static cl_int add(cl_int code, const cl_event* done) {
    events().push_back(done == nullptr ? nullptr : *done);
    return code;
  }
};

// Four blocks make eight calls but one span, from the first call's start to the last one's end.
TEST_F(ScratchTest, AProfileHasOneSpanForAllBlocks) {
  const auto profile = std::make_shared<Profile>();
  open_with(
      [](Api& api) {
        InventedTimes::real() = real;
        InventedTimes::replace(api);
      },
      {.scratch_bytes = 64}, {.profile = profile});
  const auto buffer = make_buffer(1024);
  const auto texture = make_texture({2, 8}, TexelFormat::Rgba32Float);
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(
      commands->copy_buffer_to_texture(buffer, texture, {.extent = {2, 8}, .row_pitch = 48}));
  TL_ASSERT_OK(run(commands));
  const ProfileSnapshot snapshot = profile->snapshot();
  std::vector<ProfileSpan> copies;
  for (const ProfileSpan& span : snapshot.spans) {
    if (span.name == "copy_buffer_to_texture") copies.push_back(span);
  }
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ((copies[0].end - copies[0].begin).count(), 7 * 12 + 10);
  EXPECT_EQ(copies[0].queue_wait.count(), 1000);
  EXPECT_EQ(copies[0].bytes, 2U * (2 * 8 * 16));  // read and written
}

}  // namespace
}  // namespace texloom::hal::opencl
