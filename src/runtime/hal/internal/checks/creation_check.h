// Checks every request for an object before a driver sees it. Failures are InvalidArgument, or
// Unimplemented if this device can never do it.
#pragma once

#include "runtime/hal/allocator.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/device_info.h"
#include "runtime/hal/executable.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal {

// Rejects sizes that are zero or over the device's limits, and kinds of memory and textures that
// the device does not support.
Status check_creation(const DeviceInfo& device, const BufferDesc& desc);
Status check_creation(const DeviceInfo& device, const TextureDesc& desc);
Status check_creation(const DeviceInfo& device, const ImportDesc& desc);

// Checks a view. Returns its place in the root buffer.
Result<TextureBacking> check_view(const DeviceInfo& device, const std::shared_ptr<Buffer>& buffer,
                                  const TextureViewDesc& desc);

// Rejects missing code or entry points, duplicate names, workgroups and arguments over the limits,
// constants that do not have 32 or 64 bits, and minimum extents with only one axis.
Status check_creation(const DeviceInfo& device, const ExecutableDesc& desc);

}  // namespace texloom::hal
