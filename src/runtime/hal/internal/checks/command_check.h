// The checks that every command passes when it is recorded, so that no driver sees a bad one.
// Pure functions over descriptions; all failures are InvalidArgument and name what is wrong.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal {

// `device` is the command buffer's; objects must be of the same one. `what` begins the message.
Status check_buffer_range(const DeviceInfo& device, std::string_view what, const Buffer* buffer,
                          BufferUsage usage, std::uint64_t offset, std::uint64_t bytes);
Status check_texture_region(const DeviceInfo& device, std::string_view what, const Texture* texture,
                            TextureUsage usage, Offset2D origin, Extent2D extent);

// The buffer's side of a copy from or to a texture: the region with its row pitch filled in.
Result<BufferTextureRegion> check_buffer_rows(const DeviceInfo& device, std::string_view what,
                                              const Buffer* buffer, BufferUsage usage,
                                              const BufferTextureRegion& region,
                                              TexelFormat format);

// Checks arguments against the entry point's table: count, kind, format, access, extents and bytes
// from the bound place on, alignment, and that no texture is both read and written. Buffers are the
// caller's handles; slots are left to check_table.
Status check_dispatch(const DeviceInfo& device, const Executable* executable,
                      std::uint32_t entry_point, std::span<const SegmentBinding> bindings,
                      std::span<const Constant> constants);

// The same for what a table has in the slots of a recorded call.
Status check_table(const DeviceInfo& device, const KernelCall& call,
                   std::span<const Binding> table);

// The numbers of groups of a direct dispatch against the device's limit.
Status check_groups(const DeviceInfo& device, const std::array<std::uint32_t, 3>& groups);

// The entry of a table for a slot, with the caller's handle.
Status look_up(const BindingSlot& slot, std::span<const Binding> table, SegmentBinding& entry);

// Checks the buffer with the numbers of groups of an indirect dispatch, with the caller's handle.
Status check_indirect_groups(const DeviceInfo& device, const SegmentBinding& groups);

// The arguments of a native command: objects, usage and ranges. Buffers are the caller's handles;
// slots are left to check_native_table.
Status check_native(const DeviceInfo& device, std::span<const NativeArgument> arguments);

// The same for what a table has in the slots of a native command.
Status check_native_table(const DeviceInfo& device, const NativeSegment& segment,
                          std::span<const Binding> table);

}  // namespace texloom::hal
