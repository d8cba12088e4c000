#include "runtime/drivers/metal/commands/semaphore.h"

#include <limits>
#include <utility>

#include "runtime/drivers/metal/api/error.h"

namespace texloom::hal::metal {

// Waits for each next value of an event while the semaphore lives. The event owns the notification
// block until the event reaches the value; the block owns neither the event nor the Follower.
struct MetalSemaphore::Follower : std::enable_shared_from_this<MetalSemaphore::Follower> {
  Follower(Handle<MetalSharedEvent> followed, std::weak_ptr<Semaphore> raised)
      : event(std::move(followed)), semaphore(std::move(raised)) {
    listener = adopt<MetalListener>([[MTLSharedEventListener alloc] init]);
  }

  void follow() {
    const std::shared_ptr<Semaphore> raised = semaphore.lock();
    if (raised == nullptr) return;
    const std::uint64_t now = objc(event).signaledValue;
    // The error is ignored: the semaphore may have this value already, or may have failed.
    if (now > 0) static_cast<void>(raised->signal(now));
    if (now == std::numeric_limits<std::uint64_t>::max()) return;  // there is no next value
    const std::weak_ptr<Follower> follower = weak_from_this();
    const Handle<MetalListener> kept = listener;
    [objc(event) notifyListener:objc(kept)
                        atValue:now + 1
                          block:^(id<MTLSharedEvent>, std::uint64_t) {
                            static_cast<void>(kept);
                            if (const auto self = follower.lock()) self->follow();
                          }];
  }

  Handle<MetalSharedEvent> event;
  std::weak_ptr<Semaphore> semaphore;
  Handle<MetalListener> listener;
};

MetalSemaphore::~MetalSemaphore() = default;

Result<std::unique_ptr<SemaphoreBackend>> MetalSemaphore::create(const Context& context,
                                                                 std::uint64_t value) {
  @autoreleasepool {
    Handle<MetalSharedEvent> event =
        adopt<MetalSharedEvent>([objc(context.device()) newSharedEvent]);
    if (!event) return to_error(nil, "newSharedEvent");
    objc(event).signaledValue = value;
    return std::unique_ptr<SemaphoreBackend>(new MetalSemaphore(std::move(event), value));
  }
}

Result<std::unique_ptr<SemaphoreBackend>> MetalSemaphore::import(const Context& context,
                                                                 ExternalSemaphore external) {
  if (external.kind != ExternalSemaphoreKind::SharedEvent)
    return make_error(StatusCode::Unimplemented, "import_semaphore: {} cannot import {}",
                      context.info()->name, to_string(external.kind));
  if (external.object == nullptr) return invalid_argument("import_semaphore: the event is null");
  @autoreleasepool {
    auto event = share<MetalSharedEvent>((id)external.object.get());
    const std::uint64_t value = objc(event).signaledValue;
    auto made = std::unique_ptr<MetalSemaphore>(new MetalSemaphore(std::move(event), value));
    made->is_imported_ = true;
    return std::unique_ptr<SemaphoreBackend>(std::move(made));
  }
}

MetalSharedEvent* MetalSemaphore::begin_signal(std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  if (has_failed_ || value <= signaled_) return nullptr;
  signaled_ = value;
  return event_.get();
}

MetalSharedEvent* MetalSemaphore::event_for(std::uint64_t value) const {
  const std::scoped_lock lock(mutex_);
  return has_failed_ || value > signaled_ ? nullptr : event_.get();
}

void MetalSemaphore::raise(std::uint64_t value) {
  if (objc(event_).signaledValue < value) objc(event_).signaledValue = value;
}

void MetalSemaphore::release(std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  raise(value);
}

void MetalSemaphore::attach(const std::weak_ptr<Semaphore>& semaphore) {
  if (!is_imported_) return;
  @autoreleasepool {
    follower_ = std::make_shared<Follower>(event_, semaphore);
    follower_->follow();
  }
}

// Ignores values up to `signaled_`, which the device signals.
void MetalSemaphore::reached(std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  if (value <= signaled_) return;
  signaled_ = value;
  @autoreleasepool {
    raise(value);
  }
}

void MetalSemaphore::failed() {
  const std::scoped_lock lock(mutex_);
  has_failed_ = true;
}

Result<ExternalSemaphore> MetalSemaphore::export_as(ExternalSemaphoreKind kind) {
  if (kind != ExternalSemaphoreKind::SharedEvent) return SemaphoreBackend::export_as(kind);
  retain_object(event_.get());
  return ExternalSemaphore{.kind = kind,
                           .object = std::shared_ptr<void>(event_.get(), release_object)};
}

}  // namespace texloom::hal::metal
