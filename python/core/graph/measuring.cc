#include "core/graph/measuring.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/handles.h"
#include "core/runtime/open_devices.h"
#include "core/runtime/released_lock.h"
#include "runtime/hal/profile.h"

namespace texloom::python {
namespace {

// (command, nanoseconds at its begin and at its end, by the clock of profiles)
using Command = std::tuple<std::string, std::int64_t, std::int64_t>;

std::int64_t nanoseconds(hal::ProfileClock::time_point time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

std::vector<Command> commands_of(const hal::Profile& profile) {
  const hal::ProfileSnapshot snapshot = profile.snapshot();
  std::vector<Command> commands;
  for (const hal::ProfileSpan& span : snapshot.spans) {
    if (snapshot.tracks[span.track].kind == hal::ProfileTrack::Kind::DeviceQueue)
      commands.emplace_back(span.name, nanoseconds(span.begin), nanoseconds(span.end));
  }
  return commands;
}

// Runs a compiled graph on a device that notes when each command runs. Only one measurement may run
// on a device at a time.
class Measurement {
 public:
  Measurement(const PyCompiledGraph& graph, const PyDevice& device,
              const std::vector<py::array>& inputs) {
    const ProfiledDevice& opened = open_profiled_device(device);
    profile_ = opened.profile;
    is_kept_ = opened.device->info().is_gpu();
    const GraphArrays given(inputs);
    const Status status = [&]() -> Status {
      const ReleasedLock released;
      TL_ASSIGN_OR_RETURN(run_, graph.load(opened.device));
      return run_->run(given.inputs, {});
    }();
    throw_if_error(status);
  }

  // NVIDIA's driver 580 fails when what ran with time stamps is released while another context is
  // in use, so that stays until the process ends.
  ~Measurement() {
    if (is_kept_) static_cast<void>(run_.release());
  }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  // The commands of so many runs, in the order in which they ran, and the seconds that the runs
  // took.
  std::pair<double, std::vector<Command>> run(int times) {
    profile_->clear();
    Result<double> seconds = [&] {
      const ReleasedLock released;
      return run_->time(times);
    }();
    throw_if_error(seconds.status());
    return {*seconds, commands_of(*profile_)};
  }

 private:
  std::shared_ptr<hal::Profile> profile_;
  std::unique_ptr<GraphRun> run_;
  bool is_kept_ = false;
};

}  // namespace

void bind_measuring(CompiledGraphClass& compiled) {
  py::class_<Measurement>(compiled, "Measurement")
      .def(py::init<const PyCompiledGraph&, const PyDevice&, const std::vector<py::array>&>(),
           py::keep_alive<1, 2>())
      .def("run", &Measurement::run);
}

}  // namespace texloom::python
