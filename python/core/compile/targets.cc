// Parses targets, and asks for their limits.

#include <pybind11/stl.h>

#include "core/handles.h"
#include "ir/layout/layout_fold.h"
#include "ir/layout/layout_pattern.h"
#include "ir/target/target.h"
#include "schedule/storage.h"

namespace texloom::python {

using namespace ir;  // the whole file speaks of targets

namespace {

// The presets of a kind, such as "opencl"; of none if nothing is built for it.
std::vector<std::string> target_devices(std::string_view kind) {
  std::vector<std::string> devices;
  for (const std::string& preset : target_presets()) {
    const Target t = parse_target(preset, {});
    if (to_string(t.kind) == kind && !t.device.empty()) devices.push_back(t.device);
  }
  return devices;
}

py::dict target_attributes(const std::string& text) {
  const Target t = parse_target(text, user_location());
  py::dict attributes;
  attributes["device"] = t.device;
  if (t.kind == TargetKind::Metal) attributes["msl"] = to_string(t.language);
  for (const auto& [name, value] : numeric_attributes(t)) {
    attributes[py::str(name.data(), name.size())] = value;
  }
  for (const auto& [name, is_on] : flag_attributes(t)) {
    attributes[py::str(name.data(), name.size())] = is_on;
  }
  return attributes;
}

// Whether a tensor in a texture of this scope or layout fits an image of the target, folded if need
// be.
bool fits_image(const Shape& shape, const std::string& storage, const std::string& target) {
  const bool is_layout = storage.ends_with(']');
  const schedule::Storage parsed = schedule::parse_storage(
      is_layout ? "" : storage, is_layout ? storage : "", shape, user_location());
  const Layout layout = parsed.layout ? layout_for(*parsed.layout, shape)
                                      : texture_layout(shape, parsed.scope.texture.value());
  return best_fold(layout, parse_target(target, {}).limits.images()).has_value();
}

}  // namespace

void bind_targets(py::module_& m) {
  m.def("check_target",
        [](const std::string& text) { return to_string(parse_target(text, user_location())); });
  m.def("fits_image", fits_image);
  m.def("target_devices", target_devices);
  m.def("target_attributes", target_attributes);
}

}  // namespace texloom::python
