// Reads a compiled kernel's arguments from Metal's reflection. For Objective-C++ sources alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/kernels/kernel_slots.h"
#include "support/status.h"

namespace texloom::hal::metal {

struct KernelArgument {
  MTLBindingAccess access = MTLBindingAccessReadOnly;
  // Of textures:
  MTLTextureType texture_type = MTLTextureType2D;
  MTLDataType channels = MTLDataTypeNone;
  bool is_depth = false;
};

// The arguments among the bindings of a compiled kernel; samplers that the source defines are not
// arguments. Valid only inside the autorelease pool of the bindings.
class KernelArguments {
 public:
  explicit KernelArguments(NSArray<id<MTLBinding>>* bindings);

  // Whether buffers and textures are members of the struct that the kernel takes as buffer 0.
  bool has_argument_buffer() const { return argument_buffer_ != nil; }

  // The next argument of this type after those that `before` counts; nullopt if there is none. In
  // an argument buffer, members must be in the order of their indices, so that each has 8 bytes.
  std::optional<KernelArgument> find(MTLBindingType type, const KernelSlots& before) const;
  // "buffer 1", "texture 0 in the argument buffer": what find() looks for.
  static std::string describe(MTLBindingType type, const KernelSlots& before);

  // The size of the struct at a slot for buffers; nullopt if the kernel has none there.
  std::optional<std::uint64_t> struct_bytes(std::uint32_t slot) const;
  // Refuses arguments beyond those that `slots` counts.
  Status check_known(const KernelSlots& slots) const;

 private:
  id<MTLBinding> binding(MTLBindingType type, NSUInteger index) const;
  std::optional<KernelArgument> member(MTLBindingType type, std::uint32_t index) const;

  NSArray<id<MTLBinding>>* bindings_;
  MTLStructType* argument_buffer_ = nil;
};

}  // namespace texloom::hal::metal
