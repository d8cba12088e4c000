// Parses targets.

#include <pybind11/stl.h>

#include "core/handles.h"
#include "ir/target/target.h"

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

}  // namespace

void bind_targets(py::module_& m) {
  m.def("check_target",
        [](const std::string& text) { return to_string(parse_target(text, user_location())); });
  m.def("target_devices", target_devices);
  m.def("target_attributes", target_attributes);
}

}  // namespace texloom::python
