// Binds profiles of the work of devices.

#include <pybind11/stl.h>

#include <chrono>
#include <string>
#include <tuple>
#include <vector>

#include "core/handles.h"
#include "core/runtime/open_devices.h"
#include "runtime/drivers/all/drivers.h"
#include "runtime/hal/profile.h"

namespace texloom::python {

namespace {

using SharedProfile = std::shared_ptr<hal::Profile>;

int64_t nanoseconds(std::chrono::nanoseconds time) { return time.count(); }

// (queue, command, nanoseconds on the device, nanoseconds in the queue, bytes)
using DeviceSpan = std::tuple<std::string, std::string, int64_t, int64_t, uint64_t>;

std::vector<DeviceSpan> device_spans(const hal::Profile& profile) {
  const hal::ProfileSnapshot snapshot = profile.snapshot();
  std::vector<DeviceSpan> result;
  for (const hal::ProfileSpan& span : snapshot.spans) {
    const hal::ProfileTrack& track = snapshot.tracks[span.track];
    if (track.kind != hal::ProfileTrack::Kind::DeviceQueue) continue;
    result.emplace_back(track.name, span.name, nanoseconds(span.end - span.begin),
                        nanoseconds(span.queue_wait), span.bytes);
  }
  return result;
}

// (command, nanoseconds at its begin and at its end, by the clock of profiles)
using Command = std::tuple<std::string, int64_t, int64_t>;

std::vector<Command> commands(const hal::Profile& profile) {
  const auto since_start = [](hal::ProfileClock::time_point time) {
    return nanoseconds(time.time_since_epoch());
  };
  const hal::ProfileSnapshot snapshot = profile.snapshot();
  std::vector<Command> result;
  for (const hal::ProfileSpan& span : snapshot.spans) {
    if (snapshot.tracks[span.track].kind == hal::ProfileTrack::Kind::DeviceQueue)
      result.emplace_back(span.name, since_start(span.begin), since_start(span.end));
  }
  return result;
}

SharedProfile start_profile() {
  auto profile = std::make_shared<hal::Profile>();
  if (!profile_devices(profile)) return nullptr;
  profile->name_host_track("Python");
  return profile;
}

const hal::Capture& capture_of(const std::string& driver) {
  const hal::Capture* capture = hal::capture_of(driver);
  if (capture == nullptr)
    throw_if_error(make_error(StatusCode::Unavailable,
                              "this build has no {} driver that can make captures", driver));
  return *capture;
}

void check_capture(const PyDevice& device, const std::string& path) {
  throw_if_error(capture_of(device.driver).check(device.ordinal, path));
}

void start_capture(const PyDevice& device, const std::string& path) {
  throw_if_error(capture_of(device.driver).start(device.ordinal, path));
}

void stop_capture(const PyDevice& device) { capture_of(device.driver).stop(); }

}  // namespace

void bind_profiling(py::module_& m) {
  py::class_<hal::Profile, SharedProfile>(m, "Profile", "Records what ran when; see texloom.trace.")
      .def_property_readonly("dropped", &hal::Profile::dropped, "Spans that were not kept.")
      .def("clear", &hal::Profile::clear, "Forgets what was recorded.")
      .def("commands", &commands,
           "For each command of a device: its name, nanoseconds at its begin and at its end.")
      .def("chrome_trace", &hal::chrome_trace, "The JSON of Chrome's trace viewer and of Perfetto.")
      .def("device_spans", &device_spans,
           "For each command of a device: queue, name, nanoseconds on the device, nanoseconds "
           "in the queue, bytes.");
  m.def("start_profile", &start_profile,
        "A profile of all devices that are opened from now on; None if one is already open.");
  m.def("check_capture", check_capture, py::arg("device"), py::arg("path"),
        "Fails as start_capture() would, as far as that is known before.");
  m.def("start_capture", start_capture, py::arg("device"), py::arg("path"),
        "Begins to capture a device's work, for Metal in a new document *.gputrace.");
  m.def("stop_capture", stop_capture, py::arg("device"), "Ends the capture.");
  m.def("finish_devices", &wait_for_open_devices, "Waits for all devices; Ctrl-C ends the wait.");
}

}  // namespace texloom::python
