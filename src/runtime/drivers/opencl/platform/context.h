// The state that all objects of one open device share: its function table, context and description.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/platform/assembler.h"
#include "runtime/drivers/opencl/platform/platform.h"
#include "runtime/drivers/opencl/platform/shared_programs.h"
#include "runtime/hal/binary_cache.h"
#include "runtime/hal/types.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// The memory flags for a texture with this usage.
cl_mem_flags memory_flags(TextureUsage usage);
cl_image_format image_format(TexelFormat format);

// Immutable; kept alive by each object of the device.
class Context {
 public:
  // `shared` is the application's context, or null: the device then has one of its own.
  static Result<std::shared_ptr<const Context>> create(std::shared_ptr<const Api> api,
                                                       const PlatformDevice& device,
                                                       cl_context shared,
                                                       std::shared_ptr<BinaryCache> binary_cache,
                                                       std::shared_ptr<Profile> profile,
                                                       std::uint64_t scratch_bytes);

  const Api& api() const { return *api_; }
  const std::shared_ptr<const Api>& shared_api() const { return api_; }
  cl_device_id device() const { return device_; }
  cl_context get() const { return context_.get(); }
  bool is_shared() const { return is_shared_; }  // the cl_context is an application's
  const std::shared_ptr<const DeviceInfo>& info() const { return info_; }
  bool supports(TexelFormat format, TextureUsage usage) const;
  BinaryCache* binary_cache() const { return binary_cache_.get(); }  // null if there is none
  Profile* profile() const { return profile_.get(); }                // null if there is none
  // Held while a program is built; locks nothing if the device builds several at a time.
  std::unique_lock<std::mutex> lock_build() const;
  SharedPrograms& programs() const { return programs_; }
  Assembler& assembler() const { return assembler_; }
  // Whether buffers are in shared virtual memory if nothing prevents it, and kernels get addresses
  // instead of memory objects.
  bool has_addresses() const { return has_addresses_; }
  std::uint64_t scratch_bytes() const { return scratch_bytes_; }  // of each queue

 private:
  Context(std::shared_ptr<const Api> api, const PlatformDevice& device, ContextHandle context)
      : api_(std::move(api)),
        device_(device.device),
        info_(device.info),
        context_(std::move(context)),
        assembler_(device.info->name) {}
  Status read_image_formats();
  bool can_pass_addresses() const;

  std::shared_ptr<const Api> api_;
  cl_device_id device_;
  std::shared_ptr<const DeviceInfo> info_;
  ContextHandle context_;
  bool is_shared_ = false;
  std::shared_ptr<BinaryCache> binary_cache_;
  std::shared_ptr<Profile> profile_;
  std::uint64_t scratch_bytes_ = 0;
  bool has_addresses_ = false;
  mutable std::mutex building_;
  mutable SharedPrograms programs_;
  mutable Assembler assembler_;
  // By texel format: the memory flags with which a 2-D image of the format can be created.
  std::array<cl_mem_flags, kAllTexelFormats.size()> image_flags_ = {};
};

}  // namespace texloom::hal::opencl
