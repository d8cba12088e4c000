// Workspace of a device: buffers and textures that are lent for a time and recycled.
//
// A queue runs in order. So an object whose last use has been submitted to a queue serves a later
// submission to the same queue at once: nothing waits for the device, and a request that is served
// by an object of the pool takes no call of the driver. Which object serves a request is the rule
// of reuse.h, among those of the same kind, format and usage. Contents are undefined, and an object
// may be larger than what was asked for.
//
// Queues are not ordered with each other. An object released by one queue serves another (in the
// order of CUDA's stream-ordered allocator, cudaMemPoolAttr)
//   1. when that work is complete: its semaphore's point is reached, or no command buffer names the
//      object any more;
//   2. where more memory would go over the bound, or the driver has none: with a point for the
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

// An object (Buffer or Texture) of a pool, in use. It may outlive the pool: the object is then
// freed instead of going back. For one thread at a time.
template <class Object>
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept = default;
  Lease& operator=(Lease&& other) noexcept;
  // Without a release the pool cannot know whether all work has been submitted. So it lends the
  // object again only when nobody else holds it: no caller, and no command buffer, recorded or
  // under way. That is always right, and later than a release.
  ~Lease();

  explicit operator bool() const { return object_ != nullptr; }
  const std::shared_ptr<Object>& object() const { return object_; }

  // The point that the first submission with the object must wait for, if any.
  const std::optional<TimelinePoint>& wait() const { return wait_; }

  // Says that every use has been submitted to the queue that the object was acquired for, after
  // wait() if there is one, or precedes there whatever is submitted from now on. A reusable command
  // buffer that names the object must not be submitted any more. `complete`, if given, is reached
  // when the last use is complete: with it other queues can wait for the object. Does nothing when
  // it is empty.
  void release(std::optional<TimelinePoint> complete = {});

  // Queue-ordered release, to any queue: the object is free for what is submitted to `queue` after
  // this call; the queue waits for `waits` first, and signals. A wait that fails counts as reached.
  // An error is the queue's, and leaves the lease as it was; InvalidArgument when empty, or for a
  // queue of another device.
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
  // The bound of all objects, lent and idle; by default three quarters of the device's memory.
  std::optional<std::uint64_t> max_bytes = {};
  // Objects that have been idle for longer are freed by releases, which check four times in this
  // time, and by requests that must call the driver anyway.
  std::chrono::nanoseconds max_idle = std::chrono::seconds(10);
};

struct WorkspaceStatistics {
  std::uint64_t requests = 0;
  std::uint64_t exact_hits = 0;          // served by an object of exactly what was asked for
  std::uint64_t reuses = 0;              // served by a larger one
  std::uint64_t growths = 0;             // driver_allocations that replaced a smaller object
  std::uint64_t waits = 0;               // hits and reuses that have to wait for another queue
  std::uint64_t driver_allocations = 0;  // that succeeded
  std::uint64_t bytes_held = 0;          // of all objects, lent and idle, without padding
  std::uint64_t bytes_in_use = 0;        // of those lent
  std::uint64_t max_bytes_held = 0;      // the most there was
  std::uint64_t wasted_texels = 0;       // of textures lent: what they have beyond the requests
};

// Whether a request takes an object that another queue's work still uses, with Lease::wait().
// Beware of a cycle, in which that work waits for something submitted after the request.
enum class Dependencies : std::uint8_t { None, Allowed };

// Thread safe. The device makes one, Device::workspace_pool(), for all that runs there.
class WorkspacePool {
 public:
  // The device outlives the pool.
  explicit WorkspacePool(Device& device, const WorkspaceOptions& options = {});
  ~WorkspacePool();
  WorkspacePool(const WorkspacePool&) = delete;
  WorkspacePool& operator=(const WorkspacePool&) = delete;

  // An object for work that is submitted to `queue`. InvalidArgument for a queue of another device;
  // OutOfMemory when it would go over the bound or the driver has no more, though nothing is idle
  // any longer; else the errors of Device::create_buffer and create_texture.
  Result<Lease<Buffer>> acquire(const std::shared_ptr<Queue>& queue, const BufferDesc& desc,
                                Dependencies dependencies = Dependencies::None);
  Result<Lease<Texture>> acquire(const std::shared_ptr<Queue>& queue, const TextureDesc& desc,
                                 Dependencies dependencies = Dependencies::None);

  // Queue-ordered allocation: the object may be used by what is submitted to `queue` after this
  // call, and by whatever waits for `signals`; the queue waits for `waits` first.
  Result<Lease<Buffer>> allocate(const std::shared_ptr<Queue>& queue, const BufferDesc& desc,
                                 std::vector<TimelinePoint> waits,
                                 std::vector<TimelinePoint> signals);
  Result<Lease<Texture>> allocate(const std::shared_ptr<Queue>& queue, const TextureDesc& desc,
                                  std::vector<TimelinePoint> waits,
                                  std::vector<TimelinePoint> signals);

  // Frees what has been idle for at least this long, and returns its bytes. The driver has them
  // back when the work that uses them is complete.
  std::uint64_t trim(std::chrono::nanoseconds idle_for = {});

  // Frees what is idle, the longest idle first, until the bound holds or all that is left is lent.
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
