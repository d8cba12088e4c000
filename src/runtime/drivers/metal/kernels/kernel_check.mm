#include "runtime/drivers/metal/kernels/kernel_check.h"

#include <string_view>

#include "runtime/drivers/metal/kernels/kernel_slots.h"

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

// What a kernel has at each index of each kind. Samplers of the source are no arguments.
class Arguments {
 public:
  explicit Arguments(NSArray<id<MTLBinding>>* bindings) : bindings_(bindings) {}

  id<MTLBinding> find(MTLBindingType type, NSUInteger index) const {
    for (id<MTLBinding> each in bindings_) {
      if (each.type == type && each.index == index) return each;
    }
    return nil;
  }

  // Refuses arguments that the table does not have.
  Status check_known(const KernelSlots& slots) const {
    for (id<MTLBinding> each in bindings_) {
      NSUInteger known = 0;
      if (each.type == MTLBindingTypeBuffer)
        known = slots.buffers + (slots.constant_bytes == 0 ? 0 : 1);
      else if (each.type == MTLBindingTypeTexture)
        known = slots.textures;
      else if (each.type == MTLBindingTypeThreadgroupMemory)
        known = slots.locals;
      if (each.index >= known)
        return invalid_argument("the kernel takes {} {} \"{}\", which the table does not have",
                                word_for(each.type), static_cast<unsigned long>(each.index),
                                to_string(each.name));
    }
    return {};
  }

 private:
  NSArray<id<MTLBinding>>* bindings_;
};

Status check_access(Access access, MTLBindingAccess has, std::string_view what) {
  const bool can_write = has != MTLBindingAccessReadOnly;
  if (!writes(access) || can_write) return {};
  return invalid_argument("the table says {} for {}, the kernel only reads it", what,
                          to_string(access));
}

// Whether a texture of the format fits one whose channels the kernel sees as this type.
bool is_class_of(TexelFormat format, MTLDataType type) {
  if (is_normalized(format)) return type == MTLDataTypeFloat || type == MTLDataTypeHalf;
  switch (channel_type(format)) {
    case ElementType::Int8:
    case ElementType::Int16:
    case ElementType::Int32:
      return type == MTLDataTypeInt || type == MTLDataTypeShort;
    case ElementType::UInt8:
    case ElementType::UInt16:
    case ElementType::UInt32:
      return type == MTLDataTypeUInt || type == MTLDataTypeUShort;
    default:
      return type == MTLDataTypeFloat || type == MTLDataTypeHalf;
  }
}

Status check_texture(const TextureParam& param, id<MTLBinding> binding) {
  id<MTLTextureBinding> texture = (id<MTLTextureBinding>)binding;
  if (texture.textureType != MTLTextureType2D || texture.depthTexture)
    return invalid_argument("the table says a 2-D texture, the kernel has one of another type");
  if (!is_class_of(param.format, texture.textureDataType))
    return invalid_argument(
        "the table says a texture {}, the kernel's texture has channels of another type",
        to_string(param.format));
  if (reads(param.access) && texture.access == MTLBindingAccessWriteOnly)
    return invalid_argument("the table says a texture for {}, the kernel only writes it",
                            to_string(param.access));
  return check_access(param.access, texture.access, "a texture");
}

Status check_arguments(const Arguments& arguments, const EntryPoint& entry) {
  KernelSlots next;
  for (const KernelParam& param : entry.params) {
    if (std::holds_alternative<ConstantParam>(param)) continue;
    const auto* buffer = std::get_if<BufferParam>(&param);
    const auto* texture = std::get_if<TextureParam>(&param);
    const MTLBindingType type = buffer != nullptr    ? MTLBindingTypeBuffer
                                : texture != nullptr ? MTLBindingTypeTexture
                                                     : MTLBindingTypeThreadgroupMemory;
    std::uint32_t& index = buffer != nullptr    ? next.buffers
                           : texture != nullptr ? next.textures
                                                : next.locals;
    id<MTLBinding> binding = arguments.find(type, index);
    Status status;
    if (binding == nil)
      status = invalid_argument("the table says {}, the kernel has no {} {}", describe(param),
                                word_for(type), index);
    else if (buffer != nullptr)
      status = check_access(buffer->access, binding.access, "a buffer");
    else if (texture != nullptr)
      status = check_texture(*texture, binding);
    if (!status.ok()) return status.with_context(fmt::format("argument \"{}\"", name_of(param)));
    ++index;
  }
  return {};
}

Status check_constants(const Arguments& arguments, const KernelSlots& slots) {
  if (slots.constant_bytes == 0) return {};
  id<MTLBufferBinding> constants =
      (id<MTLBufferBinding>)arguments.find(MTLBindingTypeBuffer, slots.buffers);
  if (constants == nil)
    return invalid_argument("the table has constants, the kernel has no buffer {} for them",
                            slots.buffers);
  if (constants.bufferDataSize == slots.constant_bytes) return {};
  return invalid_argument("the table's constants take {} bytes, the kernel's buffer {} has {}",
                          slots.constant_bytes, slots.buffers,
                          static_cast<unsigned long>(constants.bufferDataSize));
}

Status check_workgroup(const Context& context, id<MTLComputePipelineState> pipeline,
                       const EntryPoint& entry) {
  const auto& size = entry.workgroup_size;
  const std::uint64_t largest = pipeline.maxTotalThreadsPerThreadgroup;
  if (std::uint64_t{size[0]} * size[1] * size[2] > largest)
    return invalid_argument(
        "a workgroup of {} x {} x {} work items, device {} runs this kernel with at most {}",
        size[0], size[1], size[2], context.info()->name, largest);
  const std::uint64_t local_limit = context.info()->limits.local_memory_bytes;
  const std::uint64_t wanted = pipeline.staticThreadgroupMemoryLength + local_bytes(entry.params);
  if (wanted > local_limit)
    return invalid_argument("takes {} bytes of local memory, device {} has {}", wanted,
                            context.info()->name, local_limit);
  return {};
}

// One slot of buffers may be that of the constants.
Status check_slots(const Context& context, const KernelSlots& slots) {
  const std::uint32_t limit = context.info()->limits.max_buffers;
  const std::uint32_t textures = context.info()->limits.max_read_images;
  const std::uint32_t buffers = slots.buffers + (slots.constant_bytes == 0 ? 0 : 1);
  if (buffers > limit)
    return invalid_argument("takes {} buffers with that of its constants, device {} has {} slots",
                            buffers, context.info()->name, limit);
  if (slots.textures > textures)
    return invalid_argument("takes {} textures, device {} has {} slots", slots.textures,
                            context.info()->name, textures);
  return {};
}

}  // namespace

Status check_kernel(const Context& context, id<MTLComputePipelineState> pipeline,
                    NSArray<id<MTLBinding>>* bindings, const EntryPoint& entry) {
  const KernelSlots slots = slots_of(entry);
  const Arguments arguments(bindings);
  Status status = check_slots(context, slots);
  if (status.ok()) status = check_arguments(arguments, entry);
  if (status.ok()) status = check_constants(arguments, slots);
  if (status.ok()) status = arguments.check_known(slots);
  if (status.ok()) status = check_workgroup(context, pipeline, entry);
  return status.with_context(fmt::format("kernel \"{}\"", entry.name));
}

}  // namespace texloom::hal::metal
