// An application that uses a driver's API itself, and shares its objects with the driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/hal/device.h"
#include "runtime/hal/driver.h"
#include "runtime/hal/types.h"

namespace texloom::hal::conformance {

// Owns a context and a queue, and the memory that it makes. Calls that fail are failures of the
// test. Used by one thread.
class Application {
 public:
  virtual ~Application() = default;

  virtual NativeDevice objects() const = 0;  // with the queue

  // Makes memory for all uses, which lives until release() or the end of the application.
  virtual void* make_buffer(std::uint64_t bytes) = 0;
  virtual void* make_image(Extent2D extent, TexelFormat format) = 0;
  virtual void* make_image_of_other_order(Extent2D extent) = 0;  // of channels; no texture has it
  virtual void release(void* memory) = 0;
  virtual std::size_t references(void* memory) = 0;  // to the object, from anywhere

  // Enqueue commands without waiting. Host memory must live until finish() has returned.
  virtual void write(void* buffer, std::span<const std::byte> data) = 0;
  virtual void read(void* buffer, std::span<std::byte> data) = 0;
  // Copies a whole image from or to the beginning of a buffer.
  virtual void copy_to_image(void* buffer, void* image, Extent2D extent, TexelFormat format) = 0;
  virtual void copy_from_image(void* image, void* buffer, Extent2D extent, TexelFormat format) = 0;
  virtual void finish() = 0;
};

// Make an application on the same device as `device`, with objects of its own.
std::unique_ptr<Application> make_opencl_application(Device& device);
std::unique_ptr<Application> make_metal_application(Device& device);

}  // namespace texloom::hal::conformance
