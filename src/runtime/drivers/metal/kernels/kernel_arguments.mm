#include "runtime/drivers/metal/kernels/kernel_arguments.h"

#include <string>

namespace texloom::hal::metal {
namespace {

std::string_view word_for(MTLBindingType type) {
  switch (type) {
    case MTLBindingTypeBuffer:
      return "buffer";
    case MTLBindingTypeTexture:
      return "texture";
    case MTLBindingTypeThreadgroupMemory:
      return "threadgroup memory";
    default:
      return "argument of another kind";
  }
}

bool is_in_argument_buffer(MTLBindingType type, const KernelSlots& slots) {
  return slots.in_argument_buffer && type != MTLBindingTypeThreadgroupMemory;
}

std::uint32_t index_after(MTLBindingType type, const KernelSlots& before) {
  if (is_in_argument_buffer(type, before)) return before.resources();
  if (type == MTLBindingTypeBuffer) return before.buffers;
  return type == MTLBindingTypeTexture ? before.textures : before.locals;
}

bool is_resource(MTLDataType type) {
  return type == MTLDataTypePointer || type == MTLDataTypeTexture;
}

// A struct that the kernel may write is data, even if it has pointers.
bool is_argument_buffer(id<MTLBufferBinding> binding) {
  if (binding.access != MTLBindingAccessReadOnly) return false;
  for (MTLStructMember* each in binding.bufferStructType.members) {
    if (is_resource(each.dataType) || is_resource(each.arrayType.elementType)) return true;
  }
  return false;
}

}  // namespace

KernelArguments::KernelArguments(NSArray<id<MTLBinding>>* bindings) : bindings_(bindings) {
  id<MTLBufferBinding> first = (id<MTLBufferBinding>)binding(MTLBindingTypeBuffer, 0);
  if (is_argument_buffer(first)) argument_buffer_ = first.bufferStructType;
}

std::optional<KernelArgument> KernelArguments::find(MTLBindingType type,
                                                    const KernelSlots& before) const {
  if (is_in_argument_buffer(type, before)) return member(type, index_after(type, before));
  id<MTLBinding> found = binding(type, index_after(type, before));
  if (found == nil) return std::nullopt;
  KernelArgument argument{.access = found.access};
  if (type == MTLBindingTypeTexture) {
    id<MTLTextureBinding> texture = (id<MTLTextureBinding>)found;
    argument.texture_type = texture.textureType;
    argument.channels = texture.textureDataType;
    argument.is_depth = texture.depthTexture;
  }
  return argument;
}

std::string KernelArguments::describe(MTLBindingType type, const KernelSlots& before) {
  return fmt::format("{} {}{}", word_for(type), index_after(type, before),
                     is_in_argument_buffer(type, before) ? " in the argument buffer" : "");
}

std::optional<std::uint64_t> KernelArguments::struct_bytes(std::uint32_t slot) const {
  id<MTLBufferBinding> found = (id<MTLBufferBinding>)binding(MTLBindingTypeBuffer, slot);
  if (found == nil) return std::nullopt;
  return found.bufferDataSize;
}

Status KernelArguments::check_known(const KernelSlots& slots) const {
  for (id<MTLBinding> each in bindings_) {
    NSUInteger known = 0;
    if (each.type == MTLBindingTypeBuffer)
      known = slots.buffer_slots();
    else if (each.type == MTLBindingTypeTexture)
      known = slots.in_argument_buffer ? 0 : slots.textures;
    else if (each.type == MTLBindingTypeThreadgroupMemory)
      known = slots.locals;
    if (each.index >= known)
      return invalid_argument(
          "the kernel takes {} {} \"{}\", which the entry point does not declare",
          word_for(each.type), static_cast<unsigned long>(each.index), to_string(each.name));
  }
  if (argument_buffer_ == nil || argument_buffer_.members.count == slots.resources()) return {};
  return invalid_argument("the kernel's argument buffer has {} members, but the entry point "
                          "declares {} buffers and textures",
                          static_cast<unsigned long>(argument_buffer_.members.count),
                          slots.resources());
}

id<MTLBinding> KernelArguments::binding(MTLBindingType type, NSUInteger index) const {
  for (id<MTLBinding> each in bindings_) {
    if (each.type == type && each.index == index) return each;
  }
  return nil;
}

std::optional<KernelArgument> KernelArguments::member(MTLBindingType type,
                                                      std::uint32_t index) const {
  if (index >= argument_buffer_.members.count) return std::nullopt;
  MTLStructMember* const found = [argument_buffer_.members objectAtIndex:index];
  const bool is_texture = type == MTLBindingTypeTexture;
  if (found.argumentIndex != index ||
      found.dataType != (is_texture ? MTLDataTypeTexture : MTLDataTypePointer))
    return std::nullopt;
  if (!is_texture) return KernelArgument{.access = found.pointerType.access};
  MTLTextureReferenceType* const texture = found.textureReferenceType;
  return KernelArgument{.access = texture.access,
                        .texture_type = texture.textureType,
                        .channels = texture.textureDataType,
                        .is_depth = static_cast<bool>(texture.isDepthTexture)};
}

}  // namespace texloom::hal::metal
