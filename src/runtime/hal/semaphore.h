// Timeline semaphores: order the work of queues and of the host by values that only increase.
//
// Work that must follow other work waits until a semaphore reaches a value; the other work signals
// that value when it is complete. A wait may be submitted before anything that signals it. A
// semaphore that fails keeps its error forever: everything that waits for it, now or later, gets
// that error, so errors propagate along dependencies.
//
// The semantics are those of Vulkan's timeline semaphores (Vulkan 1.2, section 7.4), plus failure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/hal/device_info.h"
#include "support/status.h"

namespace texloom::hal {

// The time at which a wait gives up; without a value, a wait never gives up.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;
Deadline after(std::chrono::nanoseconds time);

struct SemaphoreDesc {
  std::uint64_t value = 0;  // the initial value
};

// The kinds of native objects that share a timeline between APIs or processes.
enum class ExternalSemaphoreKind : std::uint8_t {
  OpaqueFd,     // Vulkan's VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
  SharedEvent,  // Metal's MTLSharedEvent
};
// "an opaque file descriptor"
std::string_view to_string(ExternalSemaphoreKind kind);

struct ExternalSemaphore {
  ExternalSemaphoreKind kind = ExternalSemaphoreKind::OpaqueFd;
  int fd = -1;                        // OpaqueFd: owned by the holder; an import takes ownership
  std::shared_ptr<void> object = {};  // SharedEvent: the native object, retained
};

class Semaphore;

// A driver's part of a semaphore, with which queues of the device wait and signal without the host:
// a native timeline, or the events of commands. Calls may come from any thread.
class SemaphoreBackend {
 public:
  virtual ~SemaphoreBackend() = default;
  SemaphoreBackend(const SemaphoreBackend&) = delete;
  SemaphoreBackend& operator=(const SemaphoreBackend&) = delete;

  // Called once, before anything else. The backend of an imported timeline calls
  // Semaphore::signal() whenever the native timeline rises, as long as the semaphore lives.
  virtual void attach(const std::weak_ptr<Semaphore>& semaphore) { static_cast<void>(semaphore); }
  // Called when the host knows that the value is reached: the host or completed work of the device
  // has signaled it. Different threads may report values in any order.
  virtual void reached(std::uint64_t value) { static_cast<void>(value); }
  // Called when the semaphore has failed: no work of the device may wait for it any longer.
  virtual void failed() {}
  // Unimplemented unless the driver knows the kind.
  virtual Result<ExternalSemaphore> export_as(ExternalSemaphoreKind kind);

 protected:
  SemaphoreBackend() = default;
};

// A timeline semaphore, made by Device::create_semaphore. Queues of any device may wait for it and
// signal it; the devices wait and signal by themselves if the driver supports it, otherwise the
// host does it. Thread safe. A pending wait keeps the semaphore alive.
class Semaphore {
 public:
  // Called by devices, and for semaphores without a device. Both pointers may be null; then only
  // the host waits and signals.
  static std::shared_ptr<Semaphore> create(const SemaphoreDesc& desc = {},
                                           std::shared_ptr<const DeviceInfo> device_info = {},
                                           std::unique_ptr<SemaphoreBackend> backend = {});
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  // The value it has reached, or the error it failed with.
  Result<std::uint64_t> value() const;

  // Raises the semaphore to the value. InvalidArgument, without a change, unless the value exceeds
  // the current one; the semaphore's own error if it has failed.
  Status signal(std::uint64_t value);

  // Makes the semaphore fail; only the first error counts. InvalidArgument if the status is not an
  // error.
  Status fail(const Status& error);

  // Waits until the value is reached. DeadlineExceeded, or the semaphore's error.
  Status wait(std::uint64_t value, Deadline deadline = {});

  // Calls `callback` once: with success when the value is reached, with the error when the
  // semaphore fails. If either has already happened, the callback is called before this returns;
  // otherwise by the thread that signals the semaphore or makes it fail, in the order of values.
  // The callback may use this semaphore, but must not wait for it. Returns a number for cancel().
  using Callback = std::function<void(const Status&)>;
  std::uint64_t when_reached(std::uint64_t value, Callback callback);
  // Removes a callback. False if it has been called, or is being called.
  bool cancel(std::uint64_t number);

  // Exports the timeline as another API's object. Unimplemented unless the driver supports it.
  Result<ExternalSemaphore> export_as(ExternalSemaphoreKind kind) const;

  // The device that made the semaphore; null if only the host uses the semaphore.
  const DeviceInfo* device_info() const { return device_info_.get(); }
  // The driver's part of the semaphore; null if the driver has none.
  SemaphoreBackend* backend() const { return backend_.get(); }

  // For queues: records that a device has received work that will signal the value unless it fails.
  void schedule(std::uint64_t value);
  // For queues: like when_reached(), but calls `callback` once when a device has received work that
  // will signal the value. The callback is never called if the value is reached, or the semaphore
  // fails, before that.
  std::uint64_t when_scheduled(std::uint64_t value, Callback callback);

 private:
  // By value, then by number: in the order of calls.
  using Waiting = std::multimap<std::uint64_t, std::pair<std::uint64_t, Callback>>;

  Semaphore(const SemaphoreDesc& desc, std::shared_ptr<const DeviceInfo> device_info,
            std::unique_ptr<SemaphoreBackend> backend);
  static std::vector<Callback> take(Waiting& waiting, std::uint64_t value);

  std::shared_ptr<const DeviceInfo> device_info_;  // may be null
  std::unique_ptr<SemaphoreBackend> backend_;      // may be null

  // Guards all members below. Not held while callbacks or the backend run.
  mutable std::mutex mutex_;
  std::uint64_t value_;
  std::uint64_t scheduled_ = 0;
  Status error_;
  Waiting waiting_, waiting_for_schedule_;
  std::uint64_t next_number_ = 0;
};

// A semaphore and the value that it is to reach.
struct TimelinePoint {
  std::shared_ptr<Semaphore> semaphore;
  std::uint64_t value = 0;
};

// Waits for all points. Success if there are no points. Returns immediately with the first error if
// a semaphore fails. Other errors are DeadlineExceeded, and InvalidArgument if a semaphore is null.
Status wait_all(std::span<const TimelinePoint> points, Deadline deadline = {});
// Waits for any of the points. Returns the index of the first point that is reached, or the error
// of the first point that fails. InvalidArgument if there are no points.
Result<std::size_t> wait_any(std::span<const TimelinePoint> points, Deadline deadline = {});

}  // namespace texloom::hal
