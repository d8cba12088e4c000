#include "runtime/custom/operator_registry.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace texloom::runtime {

Status OperatorRegistry::add(const std::shared_ptr<const CustomOperator>& op) {
  if (op == nullptr) return invalid_argument("add: the operator is null");
  const OperatorInfo& info = op->info();
  TL_RETURN_IF_ERROR(validate(info));
  const auto [place, is_new] = operators_.try_emplace({info.name, info.version}, op);
  if (is_new) return {};
  return invalid_argument(
      "operator \"{}\" version {} is registered twice; help: give one of them another name or "
      "version",
      place->first.first, place->first.second);
}

Result<std::shared_ptr<const CustomOperator>> OperatorRegistry::find(std::string_view name,
                                                                     std::uint32_t version) const {
  const auto found = operators_.find({std::string(name), version});
  if (found != operators_.end()) return found->second;
  std::vector<std::string> names;
  std::vector<std::uint32_t> versions;
  for (const auto& [key, op] : operators_) {
    if (names.empty() || names.back() != key.first) names.push_back(key.first);
    if (key.first == name) versions.push_back(key.second);
  }
  if (versions.empty())
    return make_error(StatusCode::NotFound,
                      "operator \"{}\" is not registered; help: add it before the program is "
                      "loaded. Registered: {}",
                      name, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  return make_error(StatusCode::NotFound,
                    "operator \"{}\" is registered as version {}, and the program was built for "
                    "version {}; help: register version {}, or build the program again",
                    name, fmt::join(versions, ", "), version, version);
}

std::vector<std::shared_ptr<const CustomOperator>> OperatorRegistry::operators() const {
  std::vector<std::shared_ptr<const CustomOperator>> result;
  for (const auto& [key, op] : operators_) result.push_back(op);
  return result;
}

}  // namespace texloom::runtime
