#include "runtime/custom/shapes_like.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace texloom::runtime {

Status check_like(const OperatorInfo& info, const LikeInputs& like) {
  const auto has = [&](const std::string& name, bool is_read) {
    return std::any_of(info.arguments.begin(), info.arguments.end(),
                       [&](const OperatorArgument& each) {
                         return each.name == name && hal::reads(each.access) == is_read;
                       });
  };
  for (const auto& [output, input] : like) {
    if (!has(output, false))
      return invalid_argument("like: \"{}\" is not an argument that is only written", output);
    if (!has(input, true))
      return invalid_argument("like: \"{}\" is not an argument that is read", input);
  }
  return {};
}

Result<std::vector<TensorType>> shapes_like(const OperatorInfo& info, const LikeInputs& like,
                                            std::span<const TensorType> inputs) {
  std::vector<std::string_view> names;  // of the inputs
  for (const OperatorArgument& each : info.arguments)
    if (hal::reads(each.access)) names.push_back(each.name);
  if (inputs.size() != names.size())
    return invalid_argument("operator \"{}\" reads {} tensors, got {}", info.name, names.size(),
                            inputs.size());
  std::vector<TensorType> result;
  for (const OperatorArgument& each : info.arguments) {
    if (hal::reads(each.access)) continue;
    const auto named = like.find(each.name);
    const auto source =
        named == like.end() ? names.begin() : std::find(names.begin(), names.end(), named->second);
    if (source == names.end())
      return invalid_argument(
          "operator \"{}\": the shape of \"{}\" is unknown, because the operator reads no tensor",
          info.name, each.name);
    result.push_back(inputs[static_cast<std::size_t>(source - names.begin())]);
  }
  return result;
}

}  // namespace texloom::runtime
