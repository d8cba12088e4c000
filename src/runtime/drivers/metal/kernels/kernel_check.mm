#include "runtime/drivers/metal/kernels/kernel_check.h"

#include <optional>
#include <string_view>
#include <tuple>

#include "runtime/drivers/metal/kernels/kernel_arguments.h"

namespace texloom::hal::metal {
namespace {

Status check_access(Access access, MTLBindingAccess has, std::string_view what) {
  const bool can_write = has != MTLBindingAccessReadOnly;
  if (!writes(access) || can_write) return {};
  return invalid_argument("the entry point declares {} for {}, but the kernel only reads it", what,
                          to_string(access));
}

// Whether a texture of the format can be bound where the kernel declares channels of this type.
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

Status check_texture(const TextureParam& param, const KernelArgument& texture) {
  if (texture.texture_type != MTLTextureType2D || texture.is_depth)
    return invalid_argument(
        "the entry point declares a 2-D texture, but the kernel has a texture of another type");
  if (!is_class_of(param.format, texture.channels))
    return invalid_argument("the entry point declares a texture {}, but the kernel's texture has "
                            "channels of another type",
                            to_string(param.format));
  if (reads(param.access) && texture.access == MTLBindingAccessWriteOnly)
    return invalid_argument(
        "the entry point declares a texture for {}, but the kernel only writes it",
        to_string(param.access));
  return check_access(param.access, texture.access, "a texture");
}

Status check_argument(const KernelArguments& arguments, const KernelParam& param,
                      const KernelSlots& before) {
  const auto* buffer = std::get_if<BufferParam>(&param);
  const auto* texture = std::get_if<TextureParam>(&param);
  const MTLBindingType type = buffer != nullptr    ? MTLBindingTypeBuffer
                              : texture != nullptr ? MTLBindingTypeTexture
                                                   : MTLBindingTypeThreadgroupMemory;
  const std::optional<KernelArgument> found = arguments.find(type, before);
  if (!found)
    return invalid_argument("the entry point declares {}, but the kernel has no {}",
                            describe(param), KernelArguments::describe(type, before));
  if (buffer != nullptr) return check_access(buffer->access, found->access, "a buffer");
  if (texture != nullptr) return check_texture(*texture, *found);
  return {};
}

Status check_arguments(const KernelArguments& arguments, const EntryPoint& entry) {
  KernelSlots before;
  before.in_argument_buffer = arguments.has_argument_buffer();
  for (const KernelParam& param : entry.params) {
    if (std::holds_alternative<ConstantParam>(param)) continue;
    TL_RETURN_IF_ERROR(check_argument(arguments, param, before)
                           .with_context(fmt::format("argument \"{}\"", name_of(param))));
    count(param, before);
  }
  return {};
}

Status check_constants(const KernelArguments& arguments, const KernelSlots& slots) {
  if (slots.constant_bytes == 0) return {};
  if (slots.constant_bytes > kMaxSetBytes)
    return invalid_argument(
        "takes {} bytes of constants, counting the gaps between them; the limit is {}",
        slots.constant_bytes, kMaxSetBytes);
  const std::uint32_t slot = slots.constants_slot();
  const std::optional<std::uint64_t> bytes = arguments.struct_bytes(slot);
  if (!bytes)
    return invalid_argument(
        "the entry point declares constants, but the kernel has no buffer {} for them", slot);
  if (*bytes == slots.constant_bytes) return {};
  return invalid_argument(
      "the entry point's constants take {} bytes, but the kernel's buffer {} has {}",
      slots.constant_bytes, slot, *bytes);
}

Status check_argument_buffer(const Context& context, const KernelSlots& slots) {
  if (!context.info()->features.argument_buffers)
    return make_error(StatusCode::Unimplemented,
                      "takes an argument buffer of tier 2, which device {} does not have",
                      context.info()->name);
  constexpr std::size_t kMost = std::tuple_size_v<ArgumentAddresses>;
  if (slots.resources() <= kMost) return {};
  return invalid_argument("takes {} buffers and textures, but an argument buffer has at most {}",
                          slots.resources(), kMost);
}

// One of the buffer slots may hold the constants.
Status check_slots(const Context& context, const KernelSlots& slots) {
  if (slots.in_argument_buffer) return check_argument_buffer(context, slots);
  const DeviceLimits& limits = context.info()->limits;
  if (slots.buffer_slots() > limits.max_buffers)
    return invalid_argument("takes {} buffers, counting that of its constants, but device {} has "
                            "{} slots; help: pass them in an "
                            "argument buffer",
                            slots.buffer_slots(), context.info()->name, limits.max_buffers);
  if (slots.textures > limits.max_read_images)
    return invalid_argument(
        "takes {} textures, but device {} has {} slots; help: pass them in an argument buffer",
        slots.textures, context.info()->name, limits.max_read_images);
  return {};
}

}  // namespace

Status check_workgroup(const Context& context, id<MTLComputePipelineState> pipeline,
                       const EntryPoint& entry) {
  const auto& size = entry.workgroup_size;
  const std::uint64_t largest = pipeline.maxTotalThreadsPerThreadgroup;
  if (std::uint64_t{size[0]} * size[1] * size[2] > largest)
    return invalid_argument(
        "a workgroup has {} x {} x {} work items, but device {} runs this kernel with at most {}",
        size[0], size[1], size[2], context.info()->name, largest);
  const std::uint64_t local_limit = context.info()->limits.local_memory_bytes;
  const std::uint64_t wanted = pipeline.staticThreadgroupMemoryLength + local_bytes(entry.params);
  if (wanted > local_limit)
    return invalid_argument("takes {} bytes of local memory, but device {} has {}", wanted,
                            context.info()->name, local_limit);
  return {};
}

Result<KernelSlots> check_kernel(const Context& context, id<MTLComputePipelineState> pipeline,
                                 NSArray<id<MTLBinding>>* bindings, const EntryPoint& entry) {
  const KernelArguments arguments(bindings);
  KernelSlots slots = slots_of(entry);
  slots.in_argument_buffer = arguments.has_argument_buffer();
  Status status = check_slots(context, slots);
  if (status.ok()) status = check_arguments(arguments, entry);
  if (status.ok()) status = check_constants(arguments, slots);
  if (status.ok()) status = arguments.check_known(slots);
  if (status.ok()) status = check_workgroup(context, pipeline, entry);
  if (!status.ok()) return status.with_context(fmt::format("kernel \"{}\"", entry.name));
  return slots;
}

}  // namespace texloom::hal::metal
