// A timeline that the queues of a device wait for and signal without the host: MTLSharedEvent.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/semaphore.h"
#include "support/status.h"

namespace texloom::hal::metal {

// The event follows the semaphore. While the device has yet to signal a greater value, a value that
// the host signals may reach the event late. The event goes backwards only if the host signals a
// value beyond one that the device has yet to signal.
class MetalSemaphore final : public SemaphoreBackend {
 public:
  static Result<std::unique_ptr<SemaphoreBackend>> create(const Context& context,
                                                          std::uint64_t value);
  // Follows an imported event. InvalidArgument if the event is null.
  static Result<std::unique_ptr<SemaphoreBackend>> import(const Context& context,
                                                          ExternalSemaphore external);
  ~MetalSemaphore() override;

  // Called right before a command buffer is committed that signals the value. Returns the event to
  // signal; null if the event will reach the value without this signal.
  MetalSharedEvent* begin_signal(std::uint64_t value);
  // The event, if work of the device that signals the value has been committed; null otherwise.
  MetalSharedEvent* event_for(std::uint64_t value) const;
  // Called when the command buffer that signals the value has ended. Sets the event to the value if
  // it is still lower: the command buffer may have failed, or the release of an earlier value may
  // have overwritten the device's signal.
  void release(std::uint64_t value);

  void attach(const std::weak_ptr<Semaphore>& semaphore) override;
  void reached(std::uint64_t value) override;
  void failed() override;
  Result<ExternalSemaphore> export_as(ExternalSemaphoreKind kind) override;

 private:
  struct Follower;

  MetalSemaphore(Handle<MetalSharedEvent> event, std::uint64_t value)
      : event_(std::move(event)), signaled_(value) {}
  void raise(std::uint64_t value);

  Handle<MetalSharedEvent> event_;
  mutable std::mutex mutex_;
  std::uint64_t signaled_;  // the greatest value that the event has or will have
  bool has_failed_ = false;
  std::shared_ptr<Follower> follower_;  // of an imported event
  bool is_imported_ = false;
};

// A semaphore of this driver's device.
inline MetalSemaphore& as_metal(const Semaphore& semaphore) {
  return static_cast<MetalSemaphore&>(*semaphore.backend());
}

}  // namespace texloom::hal::metal
