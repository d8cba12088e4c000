// Timeline semaphores: values that only increase, and that order work of queues and of the host.
//
// Work that must follow other work waits until a semaphore has reached a value; the other work
// signals that value when it is complete. A wait may be submitted before anything that signals it.
// A semaphore that fails keeps its error forever: everything that waits for it, now or later, gets
// that error instead, so errors spread along dependencies.
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

// When a wait gives up; never without a value.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;
Deadline after(std::chrono::nanoseconds time);

struct SemaphoreDesc {
  std::uint64_t value = 0;  // at first
};

// A native object that carries a timeline from one API or process to another.
enum class ExternalSemaphoreKind : std::uint8_t {
  OpaqueFd,     // Vulkan's VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
  SharedEvent,  // Metal's MTLSharedEvent
};
// "an opaque file descriptor"
std::string_view to_string(ExternalSemaphoreKind kind);

struct ExternalSemaphore {
  ExternalSemaphoreKind kind = ExternalSemaphoreKind::OpaqueFd;
  int fd = -1;                        // OpaqueFd: owned by whoever holds this; an import takes it
  std::shared_ptr<void> object = {};  // SharedEvent: the native object, retained
};

class Semaphore;

// What a driver keeps for a semaphore of its device, so that its queues can wait and signal without
// the host: a native timeline, or the events of commands. Calls come from any thread.
class SemaphoreBackend {
 public:
  virtual ~SemaphoreBackend() = default;
  SemaphoreBackend(const SemaphoreBackend&) = delete;
  SemaphoreBackend& operator=(const SemaphoreBackend&) = delete;

  // Called once, before anything else. An imported timeline calls Semaphore::signal() as the native
  // one rises, for as long as the semaphore lives.
  virtual void attach(const std::weak_ptr<Semaphore>& semaphore) { static_cast<void>(semaphore); }
  // The host knows that the value is reached: signaled by the host, or by work of the device that
  // is complete. Two threads may report two values in either order.
  virtual void reached(std::uint64_t value) { static_cast<void>(value); }
  // The semaphore has failed: no work of the device may wait for it any longer.
  virtual void failed() {}
  // Unimplemented unless the driver knows the kind.
  virtual Result<ExternalSemaphore> export_as(ExternalSemaphoreKind kind);

 protected:
  SemaphoreBackend() = default;
};

// Made by Device::create_semaphore. Queues of any device may wait for it and signal it: the devices
// do so themselves where the driver can, else the host does. Thread safe. Whoever waits keeps it.
class Semaphore {
 public:
  // For devices, and for what has none. Both pointers may be null: then it is the host's alone.
  static std::shared_ptr<Semaphore> create(const SemaphoreDesc& desc = {},
                                           std::shared_ptr<const DeviceInfo> device_info = {},
                                           std::unique_ptr<SemaphoreBackend> backend = {});
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  // The value it has reached, or the error it failed with.
  Result<std::uint64_t> value() const;

  // Raises it. InvalidArgument unless the value exceeds the present one, which then stays; the
  // semaphore's own error if it has failed.
  Status signal(std::uint64_t value);

  // The first error counts. InvalidArgument for a status that is not an error.
  Status fail(const Status& error);

  // Waits until the value is reached. DeadlineExceeded, or the semaphore's error.
  Status wait(std::uint64_t value, Deadline deadline = {});

  // Calls `callback` once: with success when the value is reached, with the error when the
  // semaphore fails. If either has happened, it is called before this returns, else by the thread
  // that signals or fails, in the order of values. It may use this semaphore, but must not wait.
  // The number is for cancel().
  using Callback = std::function<void(const Status&)>;
  std::uint64_t when_reached(std::uint64_t value, Callback callback);
  // Forgets a callback. False if it was called, or is being called.
  bool cancel(std::uint64_t number);

  // The timeline as another API's object. Unimplemented unless the driver can.
  Result<ExternalSemaphore> export_as(ExternalSemaphoreKind kind) const;

  // The device that made it; null if it is the host's alone.
  const DeviceInfo* device_info() const { return device_info_.get(); }
  // For the driver of that device; null if the driver keeps nothing.
  SemaphoreBackend* backend() const { return backend_.get(); }

  // For queues: says that a device has been given work that will signal the value, unless it fails.
  void schedule(std::uint64_t value);
  // For queues: calls `callback` once when such work has been given to a device, like
  // when_reached(); never if the value is reached, or the semaphore fails, before.
  std::uint64_t when_scheduled(std::uint64_t value, Callback callback);

 private:
  // By value, then by number: in the order of calls.
  using Waiting = std::multimap<std::uint64_t, std::pair<std::uint64_t, Callback>>;

  Semaphore(const SemaphoreDesc& desc, std::shared_ptr<const DeviceInfo> device_info,
            std::unique_ptr<SemaphoreBackend> backend);
  static std::vector<Callback> take(Waiting& waiting, std::uint64_t value);

  std::shared_ptr<const DeviceInfo> device_info_;  // may be null
  std::unique_ptr<SemaphoreBackend> backend_;      // may be null

  mutable std::mutex mutex_;  // guards all below; callbacks and the backend are called without it
  std::uint64_t value_;
  std::uint64_t scheduled_ = 0;
  Status error_;
  Waiting waiting_, waiting_for_schedule_;
  std::uint64_t next_number_ = 0;
};

// A value that a semaphore is to reach.
struct TimelinePoint {
  std::shared_ptr<Semaphore> semaphore;
  std::uint64_t value = 0;
};

// Waits for all of them; returns at once with the first error of those that fail. InvalidArgument
// if a semaphore is null; DeadlineExceeded. Success if there are none.
Status wait_all(std::span<const TimelinePoint> points, Deadline deadline = {});
// Waits for one of them and returns its index in `points`, the first that is reached; or the error
// of the first that has failed. InvalidArgument if there are none.
Result<std::size_t> wait_any(std::span<const TimelinePoint> points, Deadline deadline = {});

}  // namespace texloom::hal
