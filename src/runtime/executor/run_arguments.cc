#include "runtime/executor/run_arguments.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

namespace texloom::runtime {
namespace {

// The help for any kind of memory: an executor can copy arrays instead.
constexpr std::string_view kCopies =
    "bind nothing: set_input() and get_output() copy arrays to and from any memory";

Status check_argument(const TensorSpec& tensor, const hal::Binding& binding) {
  if (const auto* wanted = std::get_if<TextureStorage>(&tensor.storage)) {
    const auto* bound = std::get_if<hal::TextureBinding>(&binding);
    if (bound == nullptr)
      return invalid_argument("expected {}, got a buffer; help: bind a texture, or {}",
                              describe(tensor.storage), kCopies);
    if (bound->texture == nullptr) return invalid_argument("the texture is null");
    if (bound->texture->format() != wanted->format ||
        !hal::region_fits(bound->origin, wanted->extent, bound->texture->extent()) ||
        (wanted->exact_extent && bound->texture->extent() != wanted->extent))
      return invalid_argument("expected {}, got one of {} with {}, at origin {}",
                              describe(tensor.storage), hal::to_string(bound->texture->format()),
                              hal::to_string(bound->texture->extent()),
                              hal::to_string(bound->origin));
    return {};
  }
  const std::uint64_t wanted = std::get<BufferStorage>(tensor.storage).bytes;
  const auto* bound = std::get_if<hal::BufferBinding>(&binding);
  if (bound == nullptr)
    return invalid_argument("expected {}, got a texture; help: bind a buffer, or {}",
                            describe(tensor.storage), kCopies);
  if (bound->buffer == nullptr) return invalid_argument("the buffer is null");
  if (!hal::range_fits(bound->offset, wanted, bound->buffer->bytes()))
    return invalid_argument("expected {}, got one of {} bytes, at offset {}",
                            describe(tensor.storage), bound->buffer->bytes(), bound->offset);
  return {};
}

}  // namespace

Status check_arguments(const LaunchPlan& plan, std::span<const hal::Binding> bindings) {
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const Status status = check_argument(plan.arguments[i], bindings[i]);
    if (!status.ok())
      return status.with_context(fmt::format("argument {} \"{}\"", i, plan.arguments[i].name));
  }
  return {};
}

Status check_scalars(std::span<const ScalarSpec> wanted, std::span<const hal::Constant> given) {
  if (given.size() != wanted.size())
    return invalid_argument("the plan has {} scalars, got {}", wanted.size(), given.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (given[i].type() != wanted[i].element)
      return invalid_argument("the scalar \"{}\" is {}, got {}", wanted[i].name,
                              hal::to_string(wanted[i].element), hal::to_string(given[i].type()));
  }
  return {};
}

Result<std::vector<hal::Binding>> cut_to_size(std::span<const TensorSpec> tensors,
                                              std::span<const hal::Binding> bindings) {
  std::vector<hal::Binding> cut(bindings.begin(), bindings.end());
  for (std::size_t i = 0; i < cut.size(); ++i) {
    auto* bound = std::get_if<hal::BufferBinding>(&cut[i]);
    const auto* storage = std::get_if<BufferStorage>(&tensors[i].storage);
    if (bound == nullptr || storage == nullptr || bound->buffer == nullptr) continue;
    if (storage->bytes == 0 || storage->bytes == bound->buffer->bytes()) continue;
    TL_ASSIGN_OR_RETURN(bound->buffer, bound->buffer->subspan(bound->offset, storage->bytes));
    bound->offset = 0;
  }
  return cut;
}

}  // namespace texloom::runtime
