#include "runtime/executor/program_constants.h"

#include <cstddef>
#include <cstdint>
#include <variant>

#include "runtime/hal/transfer.h"
#include "runtime/plan/tensor_transfer.h"

namespace texloom::runtime {
namespace {

Result<hal::BindingRef> upload_one(hal::Device& device, const TensorSpec& constant,
                                   std::span<const std::byte> bytes) {
  const std::uint64_t wanted = bytes_of(constant.storage);
  if (bytes.size() != wanted)
    return invalid_argument("{} takes {} bytes, got {}", describe(constant.storage), wanted,
                            bytes.size());
  TL_ASSIGN_OR_RETURN(const hal::Binding binding, allocate(device, constant));
  if (const auto* texture = std::get_if<hal::TextureBinding>(&binding)) {
    const hal::Extent2D extent = std::get<TextureStorage>(constant.storage).extent;
    TL_RETURN_IF_ERROR(hal::write_texture(device, texture->texture, {{}, extent}, bytes));
    return hal::BindingRef(*texture);
  }
  const auto& buffer = std::get<hal::BufferBinding>(binding);
  TL_RETURN_IF_ERROR(hal::write_buffer(device, buffer.buffer, 0, bytes));
  return hal::BindingRef(buffer);
}

}  // namespace

Status ProgramConstants::upload(hal::Device& device, const LaunchPlan& plan) {
  if (source_ == nullptr) return {};
  std::vector<hal::BindingRef> made;
  made.reserve(plan.constants.size());
  for (std::uint32_t i = 0; i < plan.constants.size(); ++i) {
    TL_ASSIGN_OR_RETURN(const auto bytes, source_->bytes(i));  // its error names the constant
    auto binding = upload_one(device, plan.constants[i], bytes);
    if (!binding.ok())
      return binding.status().with_context(fmt::format("constant \"{}\"", plan.constants[i].name));
    made.push_back(*std::move(binding));
  }
  bindings_ = std::move(made);
  source_.reset();
  return {};
}

}  // namespace texloom::runtime
