#include "core/runtime/open_devices.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "compile/interpreted_kernels.h"
#include "core/handles.h"
#include "core/runtime/python_call.h"
#include "core/runtime/released_lock.h"
#include "core/runtime/wait_notice.h"
#include "runtime/drivers/all/drivers.h"
#include "runtime/hal/binary_cache.h"
#include "runtime/hal/driver_registry.h"
#include "support/check.h"
#include "support/diagnostic.h"
#include "support/function_ref.h"

namespace texloom::python {

namespace {

// The drivers of the process and their open devices. Never destroyed, because OpenCL
// implementations tear themselves down at exit, in an unknown order.
// Whether TEXLOOM_DEBUG asks for the files of native code.
bool keeps_native_code() {
  const char* value = std::getenv("TEXLOOM_DEBUG");
  return value != nullptr && std::string_view(value) == "files";
}

struct OpenDevices {
  OpenDevices() {
    const Status added =
        hal::add_drivers(drivers, {.binary_cache = [this] { return cache_of_drivers(); },
                                   .loaders = {compile::make_interpreter_loader()},
                                   .keeps_native_code = keeps_native_code()});
    TL_CHECK(added.ok());
  }

  // The cache that all drivers share; null if the user turned it off. Called by the drivers'
  // factories, so the mutex is locked.
  std::shared_ptr<hal::BinaryCache> cache_of_drivers() {
    if (cache == nullptr) {
      const std::string folder = hal::binary_cache_folder_of_user();
      if (!folder.empty())
        cache = std::make_shared<hal::BinaryCache>(hal::BinaryCacheOptions{.folder = folder});
    }
    return cache;
  }

  std::mutex mutex;
  std::shared_ptr<hal::BinaryCache> cache;  // null before its first use, or if the user wants none
  std::atomic<pid_t> process = 0;           // the process that created the first driver
  hal::DriverRegistry drivers;
  std::map<PyDevice, std::shared_ptr<hal::Device>> devices;
  // The devices over an application's objects that were opened; some may be closed.
  struct Shared {
    std::string driver;
    hal::NativeDevice objects;
    size_t ordinal;
    std::weak_ptr<hal::Device> device;
  };
  std::vector<Shared> shared;
  std::vector<std::weak_ptr<runtime::DeviceProgram>> compiling;  // see explain_waits_for()
  bool interrupted = false;               // Ctrl-C was pressed while work ran; guarded by the GIL
  bool shows_notices = true;              // guarded by the GIL
  std::shared_ptr<hal::Profile> profile;  // for devices that are opened from now on; may be null
};
OpenDevices& open_devices() {
  static auto* instance = new OpenDevices;
  return *instance;
}

// A forked process has a copy of an implementation's memory but none of its threads, so a wait for
// them would never end.
bool is_forked(const OpenDevices& state) { return state.process != 0 && state.process != getpid(); }

void check_process(const OpenDevices& state) {
  if (!is_forked(state)) return;
  fail(user_location(), Code::NoDevice,
       "start the process with the method \"spawn\" of multiprocessing, or use no device before "
       "the fork",
       "the devices were opened before this process was forked, and cannot be used in it");
}

// Must be called with the mutex locked.
Result<std::shared_ptr<hal::Driver>> find_driver(OpenDevices& state, const std::string& name) {
  state.process = getpid();
  return state.drivers.find(name);
}

Code code_of(StatusCode status) {
  switch (status) {
    case StatusCode::Unavailable:
      return Code::NoDevice;
    case StatusCode::OutOfMemory:
      return Code::OutOfDeviceMemory;
    case StatusCode::BuildFailed:
      return Code::KernelRefused;
    case StatusCode::LimitExceeded:
      return Code::TooManyLaunches;
    default:
      return Code::DeviceError;
  }
}

std::string help_for(Code code) {
  switch (code) {
    case Code::NoDevice:
      return "install an OpenCL implementation (Debian: pocl-opencl-icd runs on any processor), or "
             "name a device of another driver, as \"metal:0\": texloom.devices() lists them";
    case Code::OutOfDeviceMemory:
      return "delete arrays that are no longer used, or use smaller ones; memory_statistics of the "
             "device says what is held";
    case Code::KernelRefused:
      return "in your own C text (import_c), correct what the log reports; for example, pointers "
             "into global memory are __global in OpenCL C. Otherwise this is a bug in Texloom's "
             "code generation or the device's compiler: report it with the kernel's source "
             "(function.kernels) and this log";
    case Code::TooManyLaunches:
      return "each iteration of a loop outside of the threads is a launch: bind such loops, or "
             "parts of them, to blockIdx.x";
    default:
      return "see the driver's message; texloom.devices() shows the device's limits";
  }
}

}  // namespace

std::string to_string(const PyDevice& device) {
  return fmt::format("{}({}){}", device.driver, device.ordinal,
                     device.shared == nullptr ? "" : " with shared objects");
}

std::pair<std::string, std::string> parted_help(const std::string& message) {
  constexpr std::string_view kBefore = "; help: ";
  const size_t help = message.find(kBefore);
  if (help == std::string::npos) return {message, ""};
  return {message.substr(0, help), message.substr(help + kBefore.size())};
}

std::string in_lines(const Status& status) {
  const auto [message, help] = parted_help(status.message());
  return help.empty() ? message : fmt::format("{}\nhelp: {}", message, help);
}

void throw_if_error(const Status& status) {
  if (status.ok()) return;
  const Code code = code_of(status.code());
  const auto [message, help] = parted_help(status.message());
  fail(user_location(), code, help.empty() ? help_for(code) : help, "{}", message);
}

void throw_if_unfit(const Status& status) {
  if (status.code() != StatusCode::InvalidArgument) return throw_if_error(status);
  const auto [message, help] = parted_help(status.message());
  fail(user_location(), Code::BadArgument,
       help.empty() ? "pass objects that are alive and belong together, as integers" : help, "{}",
       message);
}

std::vector<std::string> driver_names() { return open_devices().drivers.names(); }

Result<std::vector<hal::DeviceInfo>> device_infos(const std::string& driver) {
  OpenDevices& state = open_devices();
  check_process(state);
  const std::lock_guard lock(state.mutex);
  TL_ASSIGN_OR_RETURN(const auto found, find_driver(state, driver));
  return found->devices();
}

namespace {

// Must be called with the mutex locked.
std::shared_ptr<hal::Device> opened(OpenDevices& state, const PyDevice& device,
                                    std::shared_ptr<hal::Profile> profile) {
  const auto driver = find_driver(state, device.driver);
  throw_if_error(driver.status());
  const size_t count = (*driver)->devices().size();
  if (device.ordinal >= count) {
    fail(user_location(), Code::NoDevice, fmt::format("use a number from 0 to {}", count - 1),
         "there is no device {}", to_string(device));
  }
  auto made = (*driver)->open(device.ordinal, {.profile = std::move(profile)});
  throw_if_error(made.status());
  return *made;
}

}  // namespace

const std::shared_ptr<hal::Device>& open_device(const PyDevice& device) {
  OpenDevices& state = open_devices();
  check_process(state);
  if (device.shared != nullptr) return device.shared;
  const std::lock_guard lock(state.mutex);
  const auto open = state.devices.find(device);
  if (open != state.devices.end()) return open->second;
  return state.devices.emplace(device, opened(state, device, state.profile)).first->second;
}

namespace {

// Closing a device waits for its work, and host functions in Python need the GIL for it.
std::shared_ptr<hal::Device> closed_without_lock(std::shared_ptr<hal::Device> opened) {
  hal::Device* const device = opened.get();
  return {device, [opened = std::move(opened)](hal::Device*) mutable {
            if (PyGILState_Check() == 0) return opened.reset();
            const ReleasedLock released;
            opened.reset();
          }};
}

}  // namespace

PyDevice device_over(const std::string& driver, const hal::NativeDevice& objects) {
  OpenDevices& state = open_devices();
  check_process(state);
  const std::lock_guard lock(state.mutex);
  std::erase_if(state.shared, [](const auto& each) { return each.device.expired(); });
  for (const OpenDevices::Shared& each : state.shared) {
    if (each.driver != driver || each.objects != objects) continue;
    if (auto device = each.device.lock()) return {driver, each.ordinal, std::move(device)};
  }
  const auto found = find_driver(state, driver);
  throw_if_error(found.status());
  auto made = (*found)->open_native(objects, {.profile = state.profile});
  throw_if_unfit(made.status());
  const std::vector<hal::DeviceInfo>& listed = (*found)->devices();
  const auto place = std::ranges::find(listed, (*made)->info().id, &hal::DeviceInfo::id);
  PyDevice device{driver, static_cast<size_t>(place - listed.begin()),
                  closed_without_lock(*std::move(made))};
  state.shared.push_back({driver, objects, device.ordinal, device.shared});
  return device;
}

void explain_waits_for(const std::shared_ptr<runtime::DeviceProgram>& program) {
  if (!program->first_runs()) return;
  OpenDevices& state = open_devices();
  const std::lock_guard lock(state.mutex);
  std::erase_if(state.compiling, [&](const auto& each) {
    const auto other = each.lock();
    return other == nullptr || other == program || !other->first_runs();
  });
  state.compiling.push_back(program);
}

void throw_interrupt(py::error_already_set error) {
  if (error.matches(PyExc_KeyboardInterrupt)) {
    open_devices().interrupted = true;
    WaitNotice(shows_notices())
        .say(
            "interrupted; the device completes what it has begun, and the process waits for that "
            "at its end: Ctrl-C then ends it at once");
  }
  throw error;
}

bool shows_notices() { return open_devices().shows_notices; }
void show_notices(bool enabled) { open_devices().shows_notices = enabled; }

void warn_of_unusable_cache() {
  // Warns only of a folder that the user has named, not of the default folder.
  if (std::getenv("TEXLOOM_CACHE_DIR") == nullptr) return;
  const Status failure = [] {
    OpenDevices& state = open_devices();
    const std::lock_guard lock(state.mutex);
    return state.cache == nullptr ? Status() : state.cache->take_failure();
  }();
  if (failure.ok()) return;
  warn({Severity::Warning,
        Code::CacheUnusable,
        user_location(),
        fmt::format("compiled kernels are not stored for later: {}", failure.message()),
        "set TEXLOOM_CACHE_DIR to a folder that can be written, or to nothing to store no kernels",
        {}});
}

namespace {

// The first program whose kernels the device is compiling; null if there is none.
std::shared_ptr<runtime::DeviceProgram> compiling_on(const hal::Device& device) {
  OpenDevices& state = open_devices();
  const std::lock_guard lock(state.mutex);
  for (const auto& each : state.compiling) {
    auto program = each.lock();
    if (program != nullptr && program->device().get() == &device && program->first_runs())
      return program;
  }
  return nullptr;
}

// Shows which kernel the device compiles, if it compiles one.
void show_compiling(const hal::Device& device, WaitNotice& notice) {
  const auto program = compiling_on(device);
  const auto now = program == nullptr ? std::nullopt : program->first_runs();
  if (!now) return;
  const runtime::LaunchPlan& plan = program->plan();
  const runtime::KernelSpec& kernel = plan.kernels[now->current];
  notice.show_compiling(KernelWork::CompileAndRun, *now, kernel.entry.name,
                        plan.modules[kernel.module].codes.front().code.size());
}

// Waits for the device's work, and calls `explain` every 20 ms. On a signal, passes its exception
// to `end`, which must throw it or end the process.
void wait_for(hal::Device& device, WaitNotice& notice, FunctionRef<void()> explain,
              FunctionRef<void(py::error_already_set)> end) {
  while (true) {
    const Status status = [&] {
      const ReleasedLock released;
      return device.queue()->wait_idle(hal::after(std::chrono::milliseconds(20)));
    }();
    if (status.code() != StatusCode::DeadlineExceeded) return throw_if_error(status);
    if (auto interrupt = take_interrupt()) {
      notice.remove_bar();
      end(*std::move(interrupt));
    }
    explain();
  }
}

std::vector<std::shared_ptr<hal::Device>> all_open_devices() {
  OpenDevices& state = open_devices();
  const std::lock_guard lock(state.mutex);
  std::vector<std::shared_ptr<hal::Device>> open;
  for (const auto& [number, device] : state.devices) open.push_back(device);
  for (const OpenDevices::Shared& each : state.shared) {
    if (auto device = each.device.lock()) open.push_back(std::move(device));
  }
  return open;
}

// Waits for a device at the end of the process, with a notice, since the process may seem to hang.
void wait_at_exit(hal::Device& device) {
  using namespace std::chrono_literals;
  WaitNotice notice(shows_notices());
  const auto silence = open_devices().interrupted ? 100ms : 2000ms;
  const auto explain = [&] {
    notice.show_waiting(
        silence, "waiting for the device to complete its work; Ctrl-C ends the process at once");
  };
  wait_for(device, notice, explain, [](const py::error_already_set& interrupt) {
    if (interrupt.matches(PyExc_KeyboardInterrupt)) end_by_interrupt();
    throw interrupt;
  });
}

// Waits for all devices. Returns the error of the last device that failed; null without errors.
std::exception_ptr failure_of_waits() {
  std::exception_ptr failure;
  for (const auto& device : all_open_devices()) {
    try {
      wait_at_exit(*device);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  return failure;
}

}  // namespace

void wait_for(hal::Device& device) {
  WaitNotice notice(shows_notices());
  wait_for(
      device, notice, [&] { show_compiling(device, notice); },
      [](py::error_already_set interrupt) { throw_interrupt(std::move(interrupt)); });
}

void wait_for_open_devices() {
  for (const auto& device : all_open_devices()) wait_for(*device);
}

bool profile_devices(std::shared_ptr<hal::Profile> profile) {
  OpenDevices& state = open_devices();
  const std::lock_guard lock(state.mutex);
  const auto is_open = [](const auto& each) { return !each.device.expired(); };
  if (!state.devices.empty() || std::ranges::any_of(state.shared, is_open)) return false;
  state.profile = std::move(profile);
  return true;
}

void close_devices() {
  if (is_forked(open_devices())) return;
  try {
    close_released_locks();
    const std::exception_ptr failure = failure_of_waits();
    close_python_calls();
    if (failure != nullptr) std::rethrow_exception(failure);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_KeyboardInterrupt)) throw;
    end_by_interrupt();
  }
}

}  // namespace texloom::python
