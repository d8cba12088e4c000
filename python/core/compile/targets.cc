// Binds targets, which schedules and the compiler take as arguments.

#include <pybind11/stl.h>

#include <optional>
#include <utility>

#include "codegen/backend.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/mmt4d.h"
#include "codegen/llvm/vector_unit.h"
#include "core/handles.h"
#include "ir/layout/layout_fold.h"
#include "ir/layout/layout_pattern.h"
#include "ir/target/presets.h"
#include "ir/target/target.h"
#include "schedule/storage.h"
#include "support/check.h"

namespace texloom::python {

using namespace ir;  // the whole file works on targets

namespace {

// Maps each kind of target that kernels are built for to its name in messages: "opencl" to
// "OpenCL".
py::dict target_kinds() {
  py::dict kinds;
  for (const Preset& preset : presets())
    kinds[py::str(std::string(to_string(preset.kind)))] = std::string(api_name(preset.kind));
  return kinds;
}

// The devices with presets for a kind such as "opencl"; empty if there is no such kind.
std::vector<std::string> target_devices(std::string_view kind) {
  std::vector<std::string> devices;
  for (const Preset& preset : presets()) {
    if (to_string(preset.kind) == kind && !preset.device.empty())
      devices.emplace_back(preset.device);
  }
  if (kind == to_string(TargetKind::Llvm)) {
    for (const ProcessorPreset& each : processors()) devices.emplace_back(each.name);
  }
  return devices;
}

py::dict target_attributes(const Target& target) {
  py::dict values;
  values["device"] = target.device;
  for (const auto& [name, value] : attributes(target))
    values[py::str(std::string(name))] = py::cast(value);
  return values;
}

// Whether a tensor in a texture of this scope or layout fits an image of the target, if necessary
// with its rows or columns split ("folded").
bool fits_image(const Shape& shape, const std::string& storage, const Target& target) {
  const bool is_layout = storage.ends_with(']');
  const schedule::Storage parsed = schedule::parse_storage(
      is_layout ? "" : storage, is_layout ? storage : "", shape, user_location());
  const Layout layout = parsed.layout ? layout_for(*parsed.layout, shape)
                                      : texture_layout(shape, parsed.scope.texture.value());
  return best_fold(layout, target.images()).has_value();
}

// The micro-kernels that the target's machine can run, from the least to the most capable: names,
// types, targets and tiles.
py::list mmt4d_variants(const Target& target) {
  py::list rows;
  for (const codegen::native::Mmt4dVariant& each : codegen::native::mmt4d_variants(target)) {
    rows.append(py::make_tuple(std::string(each.name), std::string(each.types),
                               std::string(each.target), each.m0, each.n0, each.k0));
  }
  return rows;
}

// The bytes and the number of the vector registers of a target of kind "llvm", and whether it has
// instructions for dot products of four integers of 8 bits, and of two of 16 bits.
py::tuple vector_unit(const Target& target) {
  const codegen::native::VectorUnit unit = codegen::native::vector_unit(target);
  return py::make_tuple(unit.bytes, unit.registers, unit.has_dots_of_bytes, unit.has_dots_of_pairs);
}

// Where the plug-in for the kind "llvm" is, why it cannot be used, and what to do: both empty if it
// can.
py::tuple llvm_plugin() {
  const codegen::native::PluginState state = codegen::native::plugin_state();
  return py::make_tuple(state.path, state.problem, state.help);
}

}  // namespace

void bind_targets(py::module_& m) {
  py::class_<Target>(m, "TargetValue",
                     R"(A target that kernels can be built for, as schedules are given it.

``texloom.target.Target`` makes one of a text, and adds what TVM's scripts ask of a target.
``str()`` is its text, with the attributes in which it differs from its preset.
)")
      .def(py::init([](const std::string& text) { return parse_target(text, user_location()); }))
      .def("__str__", [](const Target& t) { return to_string(t); })
      .def("__repr__", [](const Target& t) { return "TargetValue('" + to_string(t) + "')"; })
      .def("__eq__",
           [](const Target& a, const py::object& b) {
             return py::isinstance<Target>(b) && a == b.cast<const Target&>();
           })
      .def("__hash__", [](const Target& t) { return py::hash(py::str(to_string(t))); })
      .def_property_readonly(
          "kind", [](const Target& t) { return to_string(t.kind); },
          "The first word of the text: ``\"opencl\"``, ``\"metal\"``.")
      .def_property_readonly(
          "device", [](const Target& t) { return t.device; },
          "The preset, such as ``\"adreno\"``, or empty.")
      .def_property_readonly(
          "device_class", [](const Target& t) { return to_string(t.device_class); },
          "``\"cpu\"`` or ``\"gpu\"``: a processor has few threads, wide vectors and large caches.")
      .def_property_readonly(
          "is_cpu", [](const Target& t) { return t.device_class == DeviceClass::Cpu; },
          "Whether :attr:`device_class` is ``\"cpu\"``.")
      .def_property_readonly("attrs", target_attributes,
                             "The preset, limits and features, by their names in the text.")
      .def_property_readonly(
          "max_threads", [](const Target& t) { return t.limits.max_threads; },
          "The threads that a block may have.")
      .def_property_readonly(
          "vectors",
          [](const Target& t) -> std::optional<std::pair<int64_t, int64_t>> {
            if (t.kind == TargetKind::Llvm) {
              const auto unit = codegen::native::vector_unit(t);
              return std::pair<int64_t, int64_t>(unit.registers, unit.bytes);
            }
            if (!t.has_known_vectors()) return {};
            return std::pair{t.vectors.count, t.vectors.bytes};
          },
          "The number of a processor's vector registers, and the bytes of one; None if unknown.")
      .def_property_readonly(
          "matrix_unit",
          [](const Target& t) { return std::string(to_string(t.features.matrix_unit)); },
          "How SIMD-groups multiply fragments: none, loops, mma_sync or simdgroup.")
      .def_property_readonly(
          "local_memory_bytes", [](const Target& t) { return t.limits.local_memory_bytes; },
          "The bytes of ``shared`` memory that a block may have.")
      .def_property_readonly(
          "device_fence", [](const Target& t) { return t.features.device_fence; },
          "Whether blocks of a kernel may share out a stage, which the last of them reads.")
      .def_property_readonly(
          "has_images", [](const Target& t) { return t.features.images; },
          "Whether kernels may use textures.")
      .def_property_readonly(
          "max_image_size", [](const Target& t) { return t.images().max_width; },
          "The texels that an image may have along an axis.");
  m.def("fits_image", fits_image);
  m.def("mmt4d_variants", mmt4d_variants);
  m.def("vector_unit", vector_unit);
  m.def("target_kinds", target_kinds);
  m.def("target_devices", target_devices);
  m.def("llvm_plugin", llvm_plugin);
  // The driver of the devices that run kernels for targets of a kind.
  m.def("driver_of_kind", [](const std::string& kind) {
    const codegen::Backend* backend = codegen::find_backend(kind);
    TL_CHECK(backend != nullptr, kind);
    return std::string(backend->driver);
  });
}

}  // namespace texloom::python
