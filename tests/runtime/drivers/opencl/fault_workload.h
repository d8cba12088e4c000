// What is run while a call of OpenCL fails.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/hal/driver.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// One process's life with a device, in steps; each returns the first error that the HAL tells.
class FaultWorkload {
 public:
  FaultWorkload(std::shared_ptr<const Api> api, std::string cache_folder, bool is_slow)
      : api_(std::move(api)), cache_folder_(std::move(cache_folder)), is_slow_(is_slow) {}

  // Until a step fails, or has survived the fault. The device stays.
  Status run();
  const std::string& step() const { return step_; }  // the last one

  // The next work, on the same device where there is one. Nothing of run() is told again.
  Status run_next();

 private:
  Status find_driver();
  Status open_device();
  Status make_buffers();
  Status map_buffers();
  Status import_memory();
  Status make_textures();
  Result<std::shared_ptr<Executable>> executable(std::vector<std::string> options = {});
  Status build();
  // The source is found in the cache now.
  Status load();
  // A mistake that costs no run of the compiler.
  Status build_bad();
  // Submits to the first queue and waits: for the semaphore that it signals, which says the same.
  Status submit(const std::shared_ptr<CommandBuffer>& commands);
  // Two parts of one buffer, and a texture.
  Status dispatch();
  // On whole words and on odd bytes.
  Status transfer();
  // Rows with and without gaps, both ways, and from texture to texture.
  Status copy_textures();
  Status call_host();
  // A kernel that cannot be built behind what was given already, which has to be waited for.
  Status submit_badly();
  // The second queue waits for the first, which waits for the host.
  Status two_queues();
  Status native_wait();
  Status profile();

  static constexpr Extent2D kExtent = {4, 2};
  static constexpr std::size_t kTexels = 8;
  static constexpr std::uint64_t kBytes = 4096;  // more than any alignment of offsets

  std::shared_ptr<const Api> api_;
  std::string cache_folder_;
  bool is_slow_;
  std::string step_;
  std::shared_ptr<Driver> driver_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<Buffer> a_, b_, shared_, managed_;
  std::shared_ptr<Texture> texture_, other_texture_;
  std::shared_ptr<Executable> executable_;
};

}  // namespace texloom::hal::opencl
