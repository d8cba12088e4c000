#include "runtime/drivers/opencl/kernels/kernel_arguments.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "runtime/drivers/opencl/api/error.h"
#include "runtime/drivers/opencl/memory/memory.h"

namespace texloom::hal::opencl {

AddressedParams addressed_params(const Context& context, const KernelCall& call,
                                 std::span<const Binding> table) {
  if (!context.has_addresses()) return {};
  AddressedParams addressed;
  auto binding = call.bindings.begin();
  for (const KernelParam& param : call.entry().params) {
    addressed.push_back(std::holds_alternative<BufferParam>(param) &&
                        as_opencl(*resolve_buffer(*binding, table).buffer).address() != nullptr);
    if (is_bound(param)) ++binding;
  }
  return addressed;
}

// A kernel that accesses both a buffer and a part of it has undefined results (OpenCL 1.2,
// clCreateSubBuffer). If several bindings refer to the same buffer, each binding becomes a part.
bool KernelArguments::needs_part(const BoundBuffer& bound) const {
  if (bound.offset != 0) return true;
  const auto of_same_buffer =
      std::count_if(buffers_.begin(), buffers_.end(),
                    [&](const BoundBuffer& other) { return other.buffer == bound.buffer; });
  return of_same_buffer > 1;
}

Status KernelArguments::replace(cl_uint index, Argument argument, FunctionRef<Status()> set) {
  arguments_[index].is_set = false;
  TL_RETURN_IF_ERROR(set());
  argument.is_set = true;
  arguments_[index] = std::move(argument);
  return {};
}

Status KernelArguments::replace(const Context& context, cl_uint index, Argument argument,
                                cl_mem memory, cl_kernel kernel) {
  return replace(index, std::move(argument),
                 [&] { return set_once(context, index, {sizeof memory, &memory}, kernel); });
}

Status KernelArguments::set_buffer(const Context& context, const BufferParam& param,
                                   const BoundBuffer& bound, cl_uint index, cl_kernel kernel) {
  const OpenClBuffer& buffer = as_opencl(*bound.buffer);
  Argument wanted{.object = buffer.id()};
  if (std::byte* const address = buffer.address()) {
    wanted.offset = bound.offset;
    if (arguments_[index].has(wanted)) return {};
    return replace(index, std::move(wanted), [&] {
      return to_status(
          context.api().clSetKernelArgSVMPointer(kernel, index, address + bound.offset),
          "clSetKernelArgSVMPointer");
    });
  }
  const bool is_part = needs_part(bound);
  if (is_part) {
    // The part has only the bytes that the kernel accesses, because overlapping parts must not be
    // written.
    wanted.offset = bound.offset;
    wanted.bytes = touched_bytes(param, bound);
  }
  if (arguments_[index].has(wanted)) return {};
  if (!is_part) return replace(context, index, std::move(wanted), buffer.get(), kernel);
  TL_ASSIGN_OR_RETURN(wanted.part, buffer.part(wanted.offset, wanted.bytes));
  const cl_mem memory = wanted.part.get();
  return replace(context, index, std::move(wanted), memory, kernel);
}

Status KernelArguments::set_texture(const Context& context, const BoundTexture& bound,
                                    cl_uint index, cl_kernel kernel) {
  const OpenClTexture& texture = as_opencl(*bound.texture);
  Argument wanted{.object = texture.id()};
  if (arguments_[index].has(wanted)) return {};
  return replace(context, index, std::move(wanted), texture.get(), kernel);
}

Status KernelArguments::set_once(const Context& context, cl_uint index, const Value& value,
                                 cl_kernel kernel) {
  if (arguments_[index].is_set) return {};
  TL_RETURN_IF_ERROR(to_status(context.api().clSetKernelArg(kernel, index, value.bytes, value.data),
                               "clSetKernelArg"));
  arguments_[index].is_set = true;
  return {};
}

Status KernelArguments::set(const Context& context, const KernelCall& call,
                            std::span<const Binding> table, cl_kernel kernel) {
  const EntryPoint& entry = call.entry();
  arguments_.resize(entry.params.size());
  buffers_.clear();
  auto binding = call.bindings.begin();
  for (const KernelParam& param : entry.params) {
    if (std::holds_alternative<BufferParam>(param))
      buffers_.push_back(resolve_buffer(*binding, table));
    if (is_bound(param)) ++binding;
  }
  binding = call.bindings.begin();
  auto bound = buffers_.begin();
  auto constant = call.constants.begin();
  for (cl_uint i = 0; i < entry.params.size(); ++i) {
    const KernelParam& param = entry.params[i];
    Status status;
    if (const auto* buffer = std::get_if<BufferParam>(&param)) {
      status = set_buffer(context, *buffer, *bound++, i, kernel);
      ++binding;
    } else if (std::holds_alternative<TextureParam>(param)) {
      status = set_texture(context, resolve_texture(*binding++, table), i, kernel);
    } else if (const auto* local = std::get_if<LocalParam>(&param)) {
      status = set_once(context, i, {local->bytes, nullptr}, kernel);
    } else {
      status = set_once(context, i, {byte_size(constant->type()), constant->data()}, kernel);
      ++constant;
    }
    if (!status.ok())
      return std::move(status).with_context(
          fmt::format("kernel \"{}\": argument {} \"{}\"", entry.name, i, name_of(param)));
  }
  return {};
}

}  // namespace texloom::hal::opencl
