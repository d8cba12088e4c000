// A list of commands for a device, recorded once and submitted any number of times.
//
// Two phases: recording checks each command and appends a segment, here, for every driver alike;
// a driver walks the segments when a queue submits them, and so sees neighbours.
//
// Commands run in the order of recording, each after the one before it is complete. A command
// that moves nothing (zero groups, zero bytes, an empty region) is checked and then left out.
// A refused command returns InvalidArgument (Unimplemented where the device cannot do it) and
// leaves the command buffer as it was.
//
// Recording is for one thread at a time. After finish() the object is immutable and may be
// submitted from any thread. It keeps every object that it names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal {

enum class HostMemory : std::uint8_t {
  Copied,    // the command buffer keeps a copy
  Borrowed,  // the caller keeps it, unchanged, until the queue has run the command
};

// Made by Device::create_command_buffer.
class CommandBuffer {
 public:
  explicit CommandBuffer(std::shared_ptr<const DeviceInfo> device_info)
      : device_info_(std::move(device_info)) {}
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;

  // Runs an entry point over `groups` work groups. Bindings are the buffers and textures among
  // its parameters in order, constants the scalars among them in order.
  Status dispatch(std::shared_ptr<Executable> executable, std::uint32_t entry_point,
                  std::array<std::uint32_t, 3> groups, std::span<const Binding> bindings,
                  std::span<const Constant> constants);

  // The same over as many groups as the entry point's grid has for these numbers.
  Status dispatch_workload(std::shared_ptr<Executable> executable, std::uint32_t entry_point,
                           std::span<const std::int64_t> workload,
                           std::span<const Binding> bindings, std::span<const Constant> constants);

  // Writes host memory to [offset, offset + data.size()) of the buffer. OutOfMemory when the host
  // has no room for the copy.
  Status update(std::shared_ptr<Buffer> target, std::uint64_t offset,
                std::span<const std::byte> data, HostMemory memory = HostMemory::Copied);

  // Reads into host memory that the caller keeps until the queue has run the command.
  Status readback(std::shared_ptr<Buffer> source, std::uint64_t offset, std::span<std::byte> data);

  // Ranges within one buffer may not overlap.
  Status copy_buffer(std::shared_ptr<Buffer> source, std::uint64_t source_offset,
                     std::shared_ptr<Buffer> target, std::uint64_t target_offset,
                     std::uint64_t bytes);

  Status copy_buffer_to_texture(std::shared_ptr<Buffer> source, std::shared_ptr<Texture> target,
                                const BufferTextureRegion& region);
  Status copy_texture_to_buffer(std::shared_ptr<Texture> source, std::shared_ptr<Buffer> target,
                                const BufferTextureRegion& region);

  // Both of one format; regions within one texture may not overlap.
  Status copy_texture(std::shared_ptr<Texture> source, Offset2D source_origin,
                      std::shared_ptr<Texture> target, Offset2D target_origin, Extent2D extent);

  // Ends recording. Needed before a submission; refused the second time.
  Status finish();
  bool finished() const { return finished_; }

  const std::vector<Segment>& segments() const { return segments_; }
  const DeviceInfo& device_info() const { return *device_info_; }

 private:
  Status check_recording(const char* command) const;

  std::shared_ptr<const DeviceInfo> device_info_;
  std::vector<Segment> segments_;
  bool finished_ = false;
};

}  // namespace texloom::hal
