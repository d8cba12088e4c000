// The workload that runs while an OpenCL call fails.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/hal/driver.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// Uses a device in steps; each step returns the first error that the HAL reports.
class FaultWorkload {
 public:
  FaultWorkload(std::shared_ptr<const Api> api, std::string cache_folder, bool is_slow)
      : api_(std::move(api)), cache_folder_(std::move(cache_folder)), is_slow_(is_slow) {}

  // Runs the steps until one fails. Keeps the device open.
  Status run();
  const std::string& step() const { return step_; }  // the last step that ran

  // Runs more work, on the same device if there is one. Errors of run() must not be reported again.
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
  // Finds the source in the cache.
  Status load();
  // Creates an executable of the same program while the program is in use.
  Status share();
  // Creates an executable with an error that the driver finds without its compiler.
  Status build_bad();
  // Submits to the first queue and waits. Checks that the signaled semaphore gives the same error.
  Status submit(const std::shared_ptr<CommandBuffer>& commands);
  // Uses two parts of one buffer, and a texture.
  Status dispatch();
  Status dispatch_again();
  // Transfers whole words and odd bytes.
  Status transfer();
  // Copies rows with and without gaps, both ways, and from texture to texture.
  Status copy_textures();
  Status call_host();
  // Submits a kernel that cannot be built after valid commands, which must be waited for.
  Status submit_badly();
  // Makes the second queue wait for the first, which waits for the host.
  Status two_queues();
  Status native_wait();
  Status profile();

  static constexpr Extent2D kExtent = {4, 2};
  static constexpr std::size_t kTexels = 8;
  static constexpr std::uint64_t kBytes = 4096;  // more than any offset alignment

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
