// Checks every command when it is recorded, so that drivers see only valid ones. The checks are
// pure functions over descriptions; all failures are InvalidArgument and say what is wrong.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal {

// Objects must belong to `device`, the command buffer's device. `what` begins the message.
Status check_buffer_range(const DeviceInfo& device, std::string_view what, const Buffer* buffer,
                          BufferUsage usage, std::uint64_t offset, std::uint64_t bytes);
Status check_texture_region(const DeviceInfo& device, std::string_view what, const Texture* texture,
                            TextureUsage usage, Offset2D origin, Extent2D extent);

// Checks the buffer side of a copy from or to a texture. Returns the region with its row pitch
// filled in.
Result<BufferTextureRegion> check_buffer_rows(const DeviceInfo& device, std::string_view what,
                                              const Buffer* buffer, BufferUsage usage,
                                              const BufferTextureRegion& region,
                                              TexelFormat format);

// Checks arguments against the entry point's parameters: count, kind, format, access, alignment,
// the extents and bytes from the bound place on, and that no texture is both read and written.
// Buffers are as the caller passed them, so they may be subspans. Slots are checked later, by
// check_table().
Status check_dispatch(const DeviceInfo& device, const Executable* executable,
                      std::uint32_t entry_point, std::span<const SegmentBinding> bindings,
                      std::span<const Constant> constants);

// Like check_dispatch(), for the entries of a table that a recorded call refers to.
Status check_table(const DeviceInfo& device, const KernelCall& call,
                   std::span<const Binding> table);

// Checks the numbers of groups of a direct dispatch against the device's limits.
Status check_groups(const DeviceInfo& device, const std::array<std::uint32_t, 3>& groups);

// Looks up the table entry for a slot. Its buffer is as the caller passed it, so it may be a
// subspan.
Status look_up(const BindingSlot& slot, std::span<const Binding> table, SegmentBinding& entry);

// Checks the buffer that has the numbers of groups of an indirect dispatch. The buffer may be a
// subspan.
Status check_indirect_groups(const DeviceInfo& device, const SegmentBinding& groups);

// Checks the arguments of a native command: objects, usage and ranges. Buffers are as the caller
// passed them, so they may be subspans. Slots are checked later, by check_native_table().
Status check_native(const DeviceInfo& device, std::span<const NativeArgument> arguments);

// Like check_native(), for the entries of a table that a native command refers to.
Status check_native_table(const DeviceInfo& device, const NativeSegment& segment,
                          std::span<const Binding> table);

// Checks the memory that a host call names: objects of the device.
Status check_host_call(const DeviceInfo& device, std::span<const BindingRef> memory);

// Like check_host_call(), for the entries of a table that a host call refers to.
Status check_host_call_table(const DeviceInfo& device, std::span<const BindingRef> memory,
                             std::span<const Binding> table);

}  // namespace texloom::hal
