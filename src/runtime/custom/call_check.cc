#include "runtime/custom/call_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

namespace texloom::runtime {
namespace {

std::string names_of(const std::vector<hal::ElementType>& types) {
  std::vector<std::string_view> names;
  for (const hal::ElementType type : types) names.push_back(hal::to_string(type));
  return fmt::format("({})", fmt::join(names, ", "));
}

// The axes of the digits, in order; digits of extent 1 have no effect.
std::vector<std::uint32_t> axes_of(const std::vector<LayoutDigit>& digits) {
  std::vector<std::uint32_t> axes;
  for (const LayoutDigit& digit : digits) {
    if (digit.extent != 1) axes.push_back(digit.axis);
  }
  return axes;
}

LayoutPattern pattern_of(const TensorLayout& layout) {
  return {
      .rows = axes_of(layout.rows), .cols = axes_of(layout.cols), .lanes = axes_of(layout.lanes)};
}

Status check_argument(const OperatorArgument& argument, hal::Access access,
                      const TensorSpec& tensor) {
  if (access != argument.access)
    return invalid_argument("it is declared as {}, but the call says {}",
                            hal::to_string(argument.access), hal::to_string(access));
  const bool is_texture = std::holds_alternative<TextureStorage>(tensor.storage);
  if (argument.storage == (is_texture ? ArgumentStorage::Buffer : ArgumentStorage::Texture))
    return invalid_argument(
        "it is declared as a {}, but \"{}\" is {}; help: change the scope of the tensor where the "
        "graph is built",
        to_string(argument.storage), tensor.name, describe(tensor.storage));
  if (argument.layout && !fits(*argument.layout, tensor.layout))
    return invalid_argument(
        "it is declared with the layout {}, but \"{}\" has {}; help: change the tensor's layout "
        "where the graph is built",
        to_string(*argument.layout), tensor.name, to_string(pattern_of(tensor.layout)));
  return {};
}

}  // namespace

Status check_arguments(const OperatorInfo& info, const OperatorCall& call, const CallStep& step,
                       const std::vector<TensorSpec>& tensors) {
  if (tensors.size() != info.arguments.size() || call.accesses.size() != info.arguments.size())
    return invalid_argument("has {} arguments, but the call has {}", info.arguments.size(),
                            tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const OperatorArgument& argument = info.arguments[i];
    TL_RETURN_IF_ERROR(check_argument(argument, call.accesses[i], tensors[i])
                           .with_context(fmt::format("argument \"{}\"", argument.name)));
    for (std::size_t other = 0; other < i; ++other) {
      const bool is_written =
          hal::writes(argument.access) || hal::writes(info.arguments[other].access);
      if (is_written && step.tensors[i] == step.tensors[other])
        return invalid_argument(
            "the arguments \"{}\" and \"{}\" are the same tensor, and one is written; help: "
            "declare one in-out argument",
            info.arguments[other].name, argument.name);
    }
  }
  return {};
}

Result<std::size_t> find_variant(const OperatorInfo& info, const std::vector<TensorSpec>& tensors) {
  if (info.variants.empty()) return std::size_t{0};
  std::vector<hal::ElementType> types;
  for (const TensorSpec& tensor : tensors) types.push_back(tensor.element);
  const auto found = std::find(info.variants.begin(), info.variants.end(), types);
  if (found != info.variants.end()) return static_cast<std::size_t>(found - info.variants.begin());
  std::vector<std::string> known;
  for (const auto& variant : info.variants) known.push_back(names_of(variant));
  return invalid_argument("has no variant for {}; help: it has {}", names_of(types),
                          fmt::join(known, ", "));
}

Status check_driver(const OperatorInfo& info, const hal::DeviceInfo& device) {
  if (info.drivers.empty() ||
      std::find(info.drivers.begin(), info.drivers.end(), device.driver) != info.drivers.end())
    return {};
  return make_error(
      StatusCode::Unimplemented,
      "works with devices of {}, but {} is a device of \"{}\"; help: load the program on "
      "another device, or register an operator for this one",
      fmt::join(info.drivers, ", "), device.name, device.driver);
}

}  // namespace texloom::runtime
