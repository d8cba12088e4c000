// Copies between the device's memory and the host, through a queue that a host call may wait for.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/hal/binding.h"
#include "runtime/hal/device.h"
#include "runtime/hal/queue.h"
#include "runtime/hal/types.h"
#include "support/status.h"

namespace texloom::runtime {

// Collects copies, and runs them together. The host memory belongs to the caller until run() has
// returned. Rows of textures are contiguous on the host.
class TensorCopies {
 public:
  TensorCopies(hal::Device& device, std::shared_ptr<hal::Queue> queue);

  Status read(const hal::BufferBinding& source, std::span<std::byte> data);
  Status write(const hal::BufferBinding& target, std::span<const std::byte> data);
  Status read(const hal::TextureBinding& source, hal::Extent2D extent, std::span<std::byte> data);
  Status write(const hal::TextureBinding& target, hal::Extent2D extent,
               std::span<const std::byte> data);

  // Submits the copies and waits for them. Called once.
  Status run();

 private:
  Result<std::shared_ptr<hal::Buffer>> staging(std::uint64_t bytes);

  hal::Device& device_;
  std::shared_ptr<hal::Queue> queue_;
  std::shared_ptr<hal::CommandBuffer> commands_;
  std::vector<hal::Lease<hal::Buffer>> staging_;
};

}  // namespace texloom::runtime
