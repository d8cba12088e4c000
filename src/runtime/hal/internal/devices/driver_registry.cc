#include "runtime/hal/driver_registry.h"

#include <algorithm>
#include <utility>

namespace texloom::hal {

Status DriverRegistry::add(std::string name, Factory factory) {
  if (name.empty() || name.find(':') != std::string::npos)
    return invalid_argument("\"{}\" is not a driver name: it must not be empty or contain a colon",
                            name);
  if (factory == nullptr) return invalid_argument("the driver \"{}\" has no factory", name);
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.name == name) return invalid_argument("the driver \"{}\" was added before", name);
  }
  entries_.push_back({std::move(name), std::move(factory), nullptr});
  return {};
}

std::vector<std::string> DriverRegistry::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

Result<std::shared_ptr<Driver>> DriverRegistry::find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  std::string known;
  for (Entry& entry : entries_) {
    if (entry.name == name) {
      if (entry.driver == nullptr) {
        TL_ASSIGN_OR_RETURN(entry.driver, entry.factory());
      }
      return entry.driver;
    }
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  return make_error(StatusCode::NotFound, "no driver \"{}\": this program has {}", name,
                    known.empty() ? "none" : known);
}

Result<std::shared_ptr<Device>> DriverRegistry::open(std::string_view path,
                                                     const DeviceOptions& options) {
  constexpr std::string_view kUrl = "://";
  const std::size_t end = std::min(path.find(':'), path.size());
  const std::string_view rest = path.substr(end);
  const bool is_url = rest.starts_with(kUrl);
  if (end == 0 || rest == ":" || (rest.starts_with(":/") && !is_url))
    return invalid_argument("\"{}\" is not a device path: write \"<driver>:<number or id>\"", path);
  TL_ASSIGN_OR_RETURN(const std::shared_ptr<Driver> driver, find(path.substr(0, end)));
  const std::size_t separator = is_url ? kUrl.size() : 1;
  return driver->open_by_name(rest.substr(std::min(separator, rest.size())), options);
}

}  // namespace texloom::hal
