// Binds devices and the properties that they report.

#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include "compile/device_target.h"
#include "core/handles.h"
#include "core/runtime/device_info.h"
#include "core/runtime/open_devices.h"
#include "core/runtime/wait_notice.h"
#include "runtime/hal/binary_cache.h"

namespace texloom::python {

namespace {

void append(py::list& list, const std::string& driver, const std::vector<hal::DeviceInfo>& infos) {
  for (const hal::DeviceInfo& info : infos) {
    py::dict row = info_dict(info);
    row["driver"] = driver;
    list.append(row);
  }
}

py::list devices_of(const std::string& driver) {
  const auto infos = device_infos(driver);
  throw_if_error(infos.status());
  py::list list;
  append(list, driver, *infos);
  return list;
}

// The devices of all drivers that find some, except the driver `null`.
py::list all_devices() {
  py::list list;
  for (const std::string& driver : driver_names()) {
    if (driver == kNullDriver) continue;
    if (const auto infos = device_infos(driver); infos.ok()) append(list, driver, *infos);
  }
  return list;
}

}  // namespace

void bind_devices(py::module_& m) {
  py::module_::import("atexit").attr("register")(py::cpp_function(close_devices));
  py::class_<PyDevice>(m, "Device", R"(A device by driver and number, such as ``texloom.opencl(0)``.

It is opened when it is first used; TL5006 if there is none. Devices that ``texloom.opencl_of`` and
``texloom.metal_of`` return are over an application's own objects.
)")
      .def(py::init([](size_t ordinal) { return PyDevice{.ordinal = ordinal}; }))
      .def(py::init(
          [](std::string driver, size_t ordinal) { return PyDevice{std::move(driver), ordinal}; }))
      .def("__eq__",
           [](const PyDevice& a, const py::object& b) {
             return py::isinstance<PyDevice>(b) && a == b.cast<const PyDevice&>();
           })
      .def("__hash__",
           [](const PyDevice& d) {
             return py::hash(py::make_tuple(d.driver, d.ordinal,
                                            reinterpret_cast<std::uintptr_t>(d.shared.get())));
           })
      .def("__repr__", [](const PyDevice& d) { return to_string(d); })
      .def(
          "sync", [](const PyDevice& d) { wait_for(*open_device(d)); },
          "Wait for all work submitted to the device; Ctrl-C ends the wait. Raises an error of "
          "that work.")
      .def_property_readonly(
          "_target", [](const PyDevice& d) { return compile::target_of(open_device(d)->info()); })
      .def_property_readonly(
          "driver", [](const PyDevice& d) { return d.driver; },
          "The driver: ``\"opencl\"``, or ``\"host\"``, which interprets kernels.")
      .def_property_readonly(
          "device_id", [](const PyDevice& d) { return d.ordinal; },
          "The number among the devices of its driver, from 0.")
      .def_property_readonly(
          "info", [](const PyDevice& d) { return info_dict(open_device(d)->info()); },
          "A dict of the device's name, limits and features, as ``texloom.devices()`` lists them.")
      .def_property_readonly(
          "memory_statistics", [](const PyDevice& d) { return memory_dict(*open_device(d)); },
          "The current and peak bytes and objects of arrays and programs in each kind of memory, "
          "and the statistics of the workspace pool.");
  m.def("device_over", [](const std::string& driver, std::uintptr_t context, std::uintptr_t device,
                          std::uintptr_t queue) {
    return device_over(driver, {.context = reinterpret_cast<void*>(context),
                                .device = reinterpret_cast<void*>(device),
                                .queue = reinterpret_cast<void*>(queue)});
  });
  m.def("driver_names", driver_names);
  m.def("kernel_cache_folder", hal::binary_cache_folder_of_user,
        "The folder of compiled kernels; \"\" if none are stored.");
  m.attr("KERNEL_CACHE_BYTES") = hal::BinaryCacheOptions().max_bytes;
  m.def("show_notices", show_notices, py::arg("enabled"));
  m.def(
      "say_notice", [](const std::string& line) { WaitNotice(shows_notices()).say(line); },
      py::arg("line"));
  m.def("devices_of", devices_of);
  m.def("all_devices", all_devices);
}

}  // namespace texloom::python
