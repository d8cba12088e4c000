// Lends a device's buffers and textures as workspace, and recycles them.
//
// Because a queue runs in order, an object whose last use has been submitted to a queue can be
// reused at once by a later submission to the same queue: nothing waits for the device, and a
// request that the pool can satisfy does not call the driver. reuse.h decides which object serves a
// request, among those of the same kind, format and usage. Contents are undefined, and an object
// may be larger than requested (unless the request says Fit::Exactly).
//
// Different queues are not ordered. An object released by one queue is reused by another, in the
// order of preference of CUDA's stream-ordered allocator (cudaMemPoolAttr):
//   1. when the earlier work is complete: its semaphore's point is reached, or no command buffer
//      names the object any longer;
//   2. if more memory would exceed the limit, or the driver has none: with a point for the
//      submission to wait for, if the request allows that (Dependencies) and the release named one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/hal/buffer.h"
#include "runtime/hal/semaphore.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal {

class Device;
class Queue;
class WorkspacePool;
namespace internal {
class PoolState;
}  // namespace internal

// An object (Buffer or Texture) on loan from a pool. If the lease outlives the pool, the object is
// freed instead of returned. Used by one thread at a time.
template <class Object>
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept = default;
  Lease& operator=(Lease&& other) noexcept;
  // Without a release() the pool cannot know whether all work has been submitted. The pool then
  // lends the object again only when nothing else refers to it: no caller, and no command buffer
  // that is recorded or running. So the object is lent later than after a release().
  ~Lease();

  explicit operator bool() const { return object_ != nullptr; }
  const std::shared_ptr<Object>& object() const { return object_; }

  // The point that the first submission with the object must wait for, if any.
  const std::optional<TimelinePoint>& wait() const { return wait_; }

  // Returns the object to the pool. Every use must have been submitted to the queue that the object
  // was acquired for (after wait(), if there is one), or otherwise precede everything submitted to
  // that queue from now on. A reusable command buffer that names the object must not be submitted
  // again. `complete`, if given, is reached when the last use is complete; other queues can wait
  // for it. Does nothing if the lease is empty.
  void release(std::optional<TimelinePoint> complete = {});

  // Releases the object in the order of any queue: submissions to `queue` after this call may use
  // it. The queue first waits for `waits`, then signals `signals`. A wait that fails counts as
  // reached. InvalidArgument if the lease is empty, or for a queue of another device; otherwise the
  // errors of Queue::submit. After an error the lease is unchanged.
  Status release(const std::shared_ptr<Queue>& queue, std::vector<TimelinePoint> waits,
                 std::vector<TimelinePoint> signals);

 private:
  friend class internal::PoolState;
  friend class WorkspacePool;

  void drop() noexcept;

  std::shared_ptr<internal::PoolState> state_;
  std::shared_ptr<Object> object_;
  std::weak_ptr<const Queue> queue_;
  std::optional<TimelinePoint> wait_;
  std::uint64_t wasted_texels_ = 0;
};

struct WorkspaceOptions {
  // The limit for all objects, lent and idle; by default three quarters of the device's memory.
  std::optional<std::uint64_t> max_bytes = {};
  // Objects that have been idle for longer are freed by releases, which check at intervals of a
  // quarter of this time, and by requests that must call the driver anyway.
  std::chrono::nanoseconds max_idle = std::chrono::seconds(10);
};

struct WorkspaceStatistics {
  std::uint64_t requests = 0;
  std::uint64_t exact_hits = 0;          // served by an object of exactly the requested size
  std::uint64_t reuses = 0;              // served by a larger one
  std::uint64_t growths = 0;             // driver_allocations that replaced a smaller object
  std::uint64_t waits = 0;               // hits and reuses that must wait for another queue
  std::uint64_t driver_allocations = 0;  // successful allocations
  std::uint64_t bytes_held = 0;          // of all objects, lent and idle, without padding
  std::uint64_t bytes_in_use = 0;        // of lent objects
  std::uint64_t max_bytes_held = 0;      // the peak of bytes_held
  std::uint64_t wasted_texels = 0;       // of lent textures, beyond the requested extents
};

// Whether a request may get an object that another queue's work still uses, with Lease::wait(). The
// caller must avoid cycles: that work must not wait for anything submitted after the request.
enum class Dependencies : std::uint8_t { None, Allowed };

// Whether a request may get an object that is larger than requested. With Exactly, the object has
// the requested extent, so that a read outside the extent is outside the image.
enum class Fit : std::uint8_t { AtLeast, Exactly };

// Thread safe. Each device has one pool for everything that runs on it: Device::workspace_pool().
class WorkspacePool {
 public:
  // The device must outlive the pool.
  explicit WorkspacePool(Device& device, const WorkspaceOptions& options = {});
  ~WorkspacePool();
  WorkspacePool(const WorkspacePool&) = delete;
  WorkspacePool& operator=(const WorkspacePool&) = delete;

  // Lends an object for work that is submitted to `queue`. InvalidArgument for a queue of another
  // device; OutOfMemory if, even with all idle objects freed, the limit would be exceeded or the
  // driver has no memory; otherwise the errors of Allocator::create_buffer and create_texture.
  Result<Lease<Buffer>> acquire(const std::shared_ptr<Queue>& queue, const BufferDesc& desc,
                                Dependencies dependencies = Dependencies::None);
  Result<Lease<Texture>> acquire(const std::shared_ptr<Queue>& queue, const TextureDesc& desc,
                                 Dependencies dependencies = Dependencies::None,
                                 Fit fit = Fit::AtLeast);

  // Allocates in the order of a queue: submissions to `queue` after this call may use the object,
  // and so may work that waits for `signals`. The queue waits for `waits` first.
  Result<Lease<Buffer>> allocate(const std::shared_ptr<Queue>& queue, const BufferDesc& desc,
                                 std::vector<TimelinePoint> waits,
                                 std::vector<TimelinePoint> signals);
  Result<Lease<Texture>> allocate(const std::shared_ptr<Queue>& queue, const TextureDesc& desc,
                                  std::vector<TimelinePoint> waits,
                                  std::vector<TimelinePoint> signals);

  // Frees objects that have been idle for at least this long, and returns their bytes. The driver
  // gets the memory back when the work that uses it is complete.
  std::uint64_t trim(std::chrono::nanoseconds idle_for = {});

  // Sets the limit. Frees idle objects, the longest idle first, until the limit holds or none is
  // left.
  void set_max_bytes(std::uint64_t bytes);

  WorkspaceStatistics statistics() const;

 private:
  template <class Object, class Desc>
  Result<Lease<Object>> allocate_in_order(const std::shared_ptr<Queue>& queue, const Desc& desc,
                                          std::vector<TimelinePoint> waits,
                                          std::vector<TimelinePoint> signals);

  Device& device_;
  std::shared_ptr<internal::PoolState> state_;
};

}  // namespace texloom::hal
