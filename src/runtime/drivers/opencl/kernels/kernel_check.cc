#include "runtime/drivers/opencl/kernels/kernel_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/drivers/opencl/api/error.h"
#include "runtime/drivers/opencl/platform/quirks.h"

namespace texloom::hal::opencl {
namespace {

struct ArgumentInfo {
  cl_kernel_arg_address_qualifier address = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  cl_kernel_arg_type_qualifier qualifier = CL_KERNEL_ARG_TYPE_NONE;
  std::string type;
};

// Nullopt if the implementation does not describe its kernels' arguments.
std::optional<ArgumentInfo> read_argument(const Api& api, cl_kernel kernel, cl_uint index) {
  ArgumentInfo info;
  std::size_t size = 0;
  if (api.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof info.address,
                             &info.address, nullptr) != CL_SUCCESS ||
      api.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof info.access,
                             &info.access, nullptr) != CL_SUCCESS ||
      api.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof info.qualifier,
                             &info.qualifier, nullptr) != CL_SUCCESS ||
      api.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, 0, nullptr, &size) !=
          CL_SUCCESS)
    return std::nullopt;
  info.type.resize(size);
  if (api.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, size, info.type.data(),
                             nullptr) != CL_SUCCESS)
    return std::nullopt;
  info.type = info.type.c_str();
  return info;
}

// Only the prefix is compared: the rest of the name differs between implementations ("image2d_t",
// "image2d_ro_t").
bool is_image(const ArgumentInfo& info) { return info.type.starts_with("image"); }
bool is_image_2d(const ArgumentInfo& info) {
  return info.type.starts_with("image2d_") && !info.type.starts_with("image2d_array");
}

// The element type of a scalar argument; nullopt for an unknown name.
std::optional<ElementType> scalar_type(const std::string& name) {
  if (name == "int") return ElementType::Int32;
  if (name == "uint" || name == "unsigned int") return ElementType::UInt32;
  if (name == "long") return ElementType::Int64;
  if (name == "ulong" || name == "unsigned long") return ElementType::UInt64;
  if (name == "float") return ElementType::Float32;
  if (name == "double") return ElementType::Float64;
  return std::nullopt;
}

// Whether the name is that of a type that no constant can have: a small type, a vector or a
// sampler. False for unknown names, which may be typedefs of any type.
bool is_never_a_constant(std::string_view name) {
  constexpr std::array kSmall = {"char", "uchar", "short", "ushort", "half", "sampler_t"};
  constexpr std::array kElements = {"char", "uchar", "short", "ushort", "half",  "int",
                                    "uint", "long",  "ulong", "float",  "double"};
  const std::string_view element = name.substr(0, name.find_last_not_of("0123456789") + 1);
  if (element.size() < name.size())
    return std::find(kElements.begin(), kElements.end(), element) != kElements.end();
  return std::find(kSmall.begin(), kSmall.end(), name) != kSmall.end();
}

// The access of an image, as a message names it.
std::string_view access_text(cl_kernel_arg_access_qualifier access) {
  switch (access) {
    case CL_KERNEL_ARG_ACCESS_READ_ONLY:
      return to_string(Access::Read);
    case CL_KERNEL_ARG_ACCESS_WRITE_ONLY:
      return to_string(Access::Write);
    case CL_KERNEL_ARG_ACCESS_READ_WRITE:
      return to_string(Access::ReadWrite);
    default:
      return "no access";
  }
}

Status check_argument(const ArgumentInfo& info, const KernelParam& param) {
  const bool is_pointer = info.address == CL_KERNEL_ARG_ADDRESS_GLOBAL ||
                          info.address == CL_KERNEL_ARG_ADDRESS_CONSTANT;
  // Some implementations report images as pointers to global memory.
  const bool is_buffer = is_pointer && !is_image(info);
  const Status mismatch = invalid_argument("the entry point declares {}, but the kernel has {}",
                                           describe(param), info.type);
  if (const auto* buffer = std::get_if<BufferParam>(&param)) {
    if (!is_buffer) return mismatch;
    const bool is_read_only = info.address == CL_KERNEL_ARG_ADDRESS_CONSTANT ||
                              (info.qualifier & CL_KERNEL_ARG_TYPE_CONST) != 0;
    if (!writes(buffer->access) || !is_read_only) return {};
    return invalid_argument(
        "the entry point declares a buffer for {}, but the kernel only reads it",
        to_string(buffer->access));
  }
  if (const auto* texture = std::get_if<TextureParam>(&param)) {
    if (!is_image_2d(info)) return mismatch;
    const cl_kernel_arg_access_qualifier wanted = texture->access == Access::Read
                                                      ? CL_KERNEL_ARG_ACCESS_READ_ONLY
                                                      : CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
    if (info.access == wanted) return {};
    return invalid_argument(
        "the entry point declares a texture for {}, but the kernel declares it for {}",
        to_string(texture->access), access_text(info.access));
  }
  if (std::holds_alternative<LocalParam>(param))
    return info.address == CL_KERNEL_ARG_ADDRESS_LOCAL ? Status() : mismatch;
  if (is_image(info) || info.address != CL_KERNEL_ARG_ADDRESS_PRIVATE) return mismatch;
  if (is_never_a_constant(info.type)) return mismatch;
  const std::optional<ElementType> type = scalar_type(info.type);
  return !type || *type == std::get<ConstantParam>(param).type ? Status() : mismatch;
}

Status check_arguments(const Context& context, cl_kernel kernel, const EntryPoint& entry) {
  cl_uint count = 0;
  TL_RETURN_IF_ERROR(to_status(
      context.api().clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr),
      "clGetKernelInfo"));
  if (count != entry.params.size())
    return invalid_argument("the entry point declares {} parameters, but the kernel has {}",
                            entry.params.size(), count);
  for (cl_uint i = 0; i < count; ++i) {
    const std::optional<ArgumentInfo> info = read_argument(context.api(), kernel, i);
    if (!info) continue;
    const Status status = check_argument(*info, entry.params[i]);
    if (!status.ok())
      return status.with_context(fmt::format("argument {} \"{}\"", i, name_of(entry.params[i])));
  }
  return {};
}

template <typename T>
Status read_workgroup_info(const Context& context, cl_kernel kernel, cl_kernel_work_group_info name,
                           T& value) {
  return to_status(context.api().clGetKernelWorkGroupInfo(kernel, context.device(), name,
                                                          sizeof value, &value, nullptr),
                   "clGetKernelWorkGroupInfo");
}

Status check_workgroup(const Context& context, cl_kernel kernel, const EntryPoint& entry) {
  std::size_t largest = 0;
  std::size_t required[3] = {0, 0, 0};
  cl_ulong declared_bytes = 0;  // local memory of the kernel's body; no argument is set yet
  TL_RETURN_IF_ERROR(read_workgroup_info(context, kernel, CL_KERNEL_WORK_GROUP_SIZE, largest));
  TL_RETURN_IF_ERROR(
      read_workgroup_info(context, kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, required));
  TL_RETURN_IF_ERROR(
      read_workgroup_info(context, kernel, CL_KERNEL_LOCAL_MEM_SIZE, declared_bytes));
  const auto& size = entry.workgroup_size;
  const std::uint64_t total = std::uint64_t{size[0]} * size[1] * size[2];
  const bool is_required = required[0] != 0;
  const bool is_limited = !is_required || !has_quirk(*context.info(), kUnderstatedWorkgroupLimit);
  if (is_limited && total > largest)
    return invalid_argument(
        "a workgroup has {} x {} x {} work items, but device {} runs this kernel with at most {}",
        size[0], size[1], size[2], context.info()->name, largest);
  if (is_required && (required[0] != size[0] || required[1] != size[1] || required[2] != size[2]))
    return invalid_argument(
        "the entry point declares a workgroup of {} x {} x {}, but the kernel requires {} x {} x "
        "{}",
        size[0], size[1], size[2], required[0], required[1], required[2]);
  const std::uint64_t local_limit = context.info()->limits.local_memory_bytes;
  const std::uint64_t wanted = declared_bytes + local_bytes(entry.params);
  if (wanted > local_limit)
    return invalid_argument("takes {} bytes of local memory, but device {} has {}", wanted,
                            context.info()->name, local_limit);
  return {};
}

}  // namespace

Status check_kernel(const Context& context, cl_kernel kernel, const EntryPoint& entry) {
  Status status = check_arguments(context, kernel, entry);
  if (status.ok()) status = check_workgroup(context, kernel, entry);
  return status.with_context(fmt::format("kernel \"{}\"", entry.name));
}

}  // namespace texloom::hal::opencl
