// The checks that every request for an object passes before a driver sees it.
// Failures are InvalidArgument, or Unimplemented where this device can never do it.
#pragma once

#include "runtime/hal/allocator.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/device_info.h"
#include "runtime/hal/executable.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal {

// Sizes that are zero or over the device's limits; kinds of memory and of textures that it lacks.
Status check_creation(const DeviceInfo& device, const BufferDesc& desc);
Status check_creation(const DeviceInfo& device, const TextureDesc& desc);
Status check_creation(const DeviceInfo& device, const ImportDesc& desc);

// The place in the root buffer that a view would have.
Result<TextureBacking> check_view(const DeviceInfo& device, const std::shared_ptr<Buffer>& buffer,
                                  const TextureViewDesc& desc);

// Code and table without content, names used twice, workgroups and arguments over the limits,
// constants that are not of 32 or 64 bits, extents of one axis.
Status check_creation(const DeviceInfo& device, const ExecutableDesc& desc);

}  // namespace texloom::hal
