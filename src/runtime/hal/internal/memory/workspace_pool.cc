#include "runtime/hal/workspace_pool.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

#include "runtime/hal/device.h"
#include "runtime/hal/internal/checks/creation_check.h"
#include "runtime/hal/internal/memory/reuse.h"
#include "runtime/hal/queue.h"

namespace texloom::hal {
namespace {

using Clock = std::chrono::steady_clock;
// Objects to free when no mutex is held.
using Freed = std::vector<std::shared_ptr<const void>>;

ReuseExtent extent_of(const BufferDesc& desc) { return ReuseExtent::of(desc.bytes); }
ReuseExtent extent_of(const TextureDesc& desc) { return ReuseExtent::of(desc.extent); }

// Copies a description with a different extent. Texel counts fit in 32 bits, because the texel
// counts of requests do.
BufferDesc with_extent(BufferDesc desc, ReuseExtent extent) {
  desc.bytes = extent.x;
  return desc;
}
TextureDesc with_extent(TextureDesc desc, ReuseExtent extent) {
  desc.extent = {static_cast<std::uint32_t>(extent.x), static_cast<std::uint32_t>(extent.y)};
  return desc;
}

std::uint64_t bytes_of(const BufferDesc& desc) { return desc.bytes; }
std::uint64_t bytes_of(const TextureDesc& desc) { return byte_size(desc.extent, desc.format); }

std::uint64_t texels(std::uint64_t /*wasted*/, const BufferDesc& /*desc*/) { return 0; }
std::uint64_t texels(std::uint64_t wasted, const TextureDesc& /*desc*/) { return wasted; }

Result<std::shared_ptr<Buffer>> create(Device& device, const BufferDesc& desc) {
  return device.create_buffer(desc);
}
Result<std::shared_ptr<Texture>> create(Device& device, const TextureDesc& desc) {
  return device.create_texture(desc);
}

Status check_queue(const char* call, const Queue* queue, const DeviceInfo& device) {
  if (queue == nullptr) return invalid_argument("{}: the queue is null", call);
  if (&queue->device_info() == &device) return {};
  return invalid_argument("{}: the queue belongs to another device ({}, not {})", call,
                          queue->device_info().name, device.name);
}

// A handle that was never set equals a null queue.
bool same_queue(const std::weak_ptr<const Queue>& a, const std::shared_ptr<Queue>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

template <class Object>
struct Idle {
  std::shared_ptr<Object> object;
  std::weak_ptr<const Queue> queue;       // the object is free in its order; null if unknown
  std::optional<TimelinePoint> complete;  // signaled by its last use
  Clock::time_point since;

  // Whether work on `queue` may use it without waiting.
  bool is_free_for(const std::shared_ptr<Queue>& wanted) const {
    if (same_queue(queue, wanted)) return true;
    if (object.use_count() == 1) {
      // use_count() is a relaxed read. Making and destroying a copy synchronizes with the last
      // owner.
      std::shared_ptr<Object>(object).reset();
      return true;
    }
    if (!complete) return false;
    // A failed semaphore does not show whether the work that was to signal it is complete.
    const Result<std::uint64_t> reached = complete->semaphore->value();
    return reached.ok() && *reached >= complete->value;
  }

  bool may_be_waited_for() const { return complete && complete->semaphore->value().ok(); }
};

// Idle objects that differ only in their extents.
template <class Object, class Desc>
struct Shelf {
  Desc kind;                       // with a zero extent
  std::vector<Idle<Object>> idle;  // the most recently released one is last
};

template <class Object>
struct Choice {
  std::vector<Idle<Object>>* shelf = nullptr;
  std::size_t place = 0;
  ReuseCost cost;
};

// Finds the best object of a shelf, to be used as it is or to be grown, among those for which
// `accepts` returns true.
template <class Object, class Accepts>
std::optional<Choice<Object>> choose(std::vector<Idle<Object>>& idle, ReuseExtent wanted,
                                     const Accepts& accepts) {
  std::optional<Choice<Object>> best;
  for (std::size_t i = idle.size(); i-- > 0;) {
    const auto cost = reuse_cost(wanted, extent_of(idle[i].object->desc()));
    if (!cost || (best && *cost >= best->cost) || !accepts(idle[i], *cost)) continue;
    best = {&idle, i, *cost};
    if (*cost == ReuseCost{}) break;
  }
  return best;
}

template <class Object>
Idle<Object> take_out(const Choice<Object>& choice) {
  Idle<Object> taken = std::move((*choice.shelf)[choice.place]);
  choice.shelf->erase(choice.shelf->begin() + static_cast<std::ptrdiff_t>(choice.place));
  return taken;
}

}  // namespace

namespace internal {

// The state that leases share with their pool. The driver is never called with the mutex held: the
// pool's callers create objects, and free them after unlocking.
class PoolState : public std::enable_shared_from_this<PoolState> {
 public:
  PoolState(std::uint64_t max_bytes, std::chrono::nanoseconds max_idle)
      : max_bytes_(max_bytes), max_idle_(max_idle) {}

  template <class Object, class Desc>
  Result<Lease<Object>> acquire(Device& device, const std::shared_ptr<Queue>& queue,
                                const Desc& desc, Dependencies dependencies, Fit fit) {
    const ReuseExtent wanted = extent_of(desc);
    Freed freed;
    std::unique_lock lock(mutex_);
    ++statistics_.requests;
    auto& idle = shelf_of(shelves<Object>(), desc);
    const auto larger = [&](const Idle<Object>& each) {
      return with_extent(desc, grown(wanted, extent_of(each.object->desc())));
    };
    const std::uint64_t most = std::min(device.info().limits.max_allocation_bytes, max_bytes_);
    const auto choice = choose(idle, wanted, [&](const Idle<Object>& each, const ReuseCost& cost) {
      if (fit == Fit::Exactly && cost != ReuseCost{}) return false;
      return cost.added == 0 ? each.is_free_for(queue) : bytes_of(larger(each)) <= most;
    });
    if (choice && choice->cost.added == 0) return lend(*choice, queue);
    TL_RETURN_IF_ERROR(check_creation(device.info(), desc));

    // No idle object serves as it is: the driver must grow one or create one.
    bool grows = choice.has_value();
    Desc made = grows ? larger(idle[choice->place]) : desc;
    if (grows) free(take_out(*choice), freed);
    free_idle(Clock::now() - max_idle_, freed);
    if (!has_room_for(bytes_of(made))) {
      if (auto busy = take_busy<Object>(desc, dependencies, fit)) {
        return lend_with_wait(*std::move(busy), wanted, queue);
      }
      free_until_room_for(bytes_of(made), freed);
    }
    TL_RETURN_IF_ERROR(reserve(bytes_of(made)));
    // Takes the busy object out of the pool before calling the driver: a driver that runs out of
    // memory makes the pool free its idle objects.
    auto busy = take_busy<Object>(desc, dependencies, fit);
    lock.unlock();
    freed.clear();

    auto created = create(device, made);
    if (created.status().code() == StatusCode::OutOfMemory) {
      lock.lock();
      unreserve(bytes_of(made));
      if (busy) return lend_with_wait(*std::move(busy), wanted, queue);
      free_idle(Clock::time_point::max(), freed);
      made = desc;
      grows = false;
      TL_RETURN_IF_ERROR(reserve(bytes_of(made)));
      lock.unlock();
      freed.clear();
      created = create(device, made);
    }
    lock.lock();
    if (busy) idle_again(*std::move(busy), freed);
    if (!created.ok()) {
      unreserve(bytes_of(made));
      return created.status();
    }
    ++statistics_.driver_allocations;
    if (grows) ++statistics_.growths;
    return lend<Object>({*std::move(created), {}, {}, {}}, queue,
                        extent_of(made).area() - wanted.area());
  }

  // Takes an object back from a lease; `queue` is empty if it is not known in which queue's order
  // the object is free.
  template <class Object>
  void take_back(std::shared_ptr<Object> object, std::weak_ptr<const Queue> queue,
                 std::optional<TimelinePoint> complete, std::uint64_t wasted_texels) {
    Freed freed;
    const std::scoped_lock lock(mutex_);
    statistics_.bytes_in_use -= bytes_of(object->desc());
    statistics_.wasted_texels -= wasted_texels;
    const Clock::time_point now = Clock::now();
    idle_again(Idle<Object>{std::move(object), std::move(queue), std::move(complete), now}, freed);
    if (now >= next_look_) {
      free_idle(now - max_idle_, freed);
      next_look_ = now + max_idle_ / 4;  // rarely, because this visits all objects
    }
  }

  std::uint64_t trim(std::chrono::nanoseconds idle_for) {
    Freed freed;
    const std::scoped_lock lock(mutex_);
    const std::uint64_t before = statistics_.bytes_held;
    free_idle(Clock::now() - std::max(idle_for, std::chrono::nanoseconds(0)), freed);
    return before - statistics_.bytes_held;
  }

  void set_max_bytes(std::uint64_t bytes) {
    Freed freed;
    const std::scoped_lock lock(mutex_);
    max_bytes_ = bytes;
    free_until_room_for(0, freed);
  }

  void close() {
    Freed freed;
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    free_idle(Clock::time_point::max(), freed);
  }

  WorkspaceStatistics statistics() const {
    const std::scoped_lock lock(mutex_);
    return statistics_;
  }

 private:
  template <class Object, class Desc>
  using Shelves = std::vector<Shelf<Object, Desc>>;

  // The functions below are called with the mutex held.

  template <class Object>
  auto& shelves() {
    if constexpr (std::is_same_v<Object, Buffer>) {
      return buffers_;
    } else {
      return textures_;
    }
  }

  template <class Object, class Desc>
  std::vector<Idle<Object>>& shelf_of(Shelves<Object, Desc>& shelves, const Desc& desc) {
    const Desc kind = with_extent(desc, {0, 0});
    for (Shelf<Object, Desc>& shelf : shelves) {
      if (shelf.kind == kind) return shelf.idle;
    }
    shelves.push_back({kind, {}});
    return shelves.back().idle;
  }

  template <class Object>
  void idle_again(Idle<Object> object, Freed& freed) {
    auto& idle = shelf_of(shelves<Object>(), object.object->desc());
    idle.push_back(std::move(object));
    if (closed_) {
      free_idle(Clock::time_point::max(), freed);
    } else if (statistics_.bytes_held > max_bytes_) {
      free_until_room_for(0, freed);
    }
  }

  // Takes an idle object of the pool.
  template <class Object>
  Lease<Object> lend(const Choice<Object>& choice, const std::shared_ptr<Queue>& queue) {
    ++(choice.cost == ReuseCost{} ? statistics_.exact_hits : statistics_.reuses);
    return lend(take_out(choice), queue, choice.cost.wasted);
  }

  template <class Object>
  Lease<Object> lend(Idle<Object> taken, const std::shared_ptr<Queue>& queue,
                     std::uint64_t wasted) {
    Lease<Object> lease;
    lease.state_ = shared_from_this();
    lease.queue_ = queue;
    lease.wasted_texels_ = texels(wasted, taken.object->desc());
    lease.object_ = std::move(taken.object);
    statistics_.bytes_in_use += bytes_of(lease.object_->desc());
    statistics_.wasted_texels += lease.wasted_texels_;
    return lease;
  }

  // Takes the best of the objects that other queues still use, without growing it.
  template <class Object, class Desc>
  std::optional<Idle<Object>> take_busy(const Desc& desc, Dependencies dependencies, Fit fit) {
    if (dependencies == Dependencies::None) return std::nullopt;
    const auto choice = choose(shelf_of(shelves<Object>(), desc), extent_of(desc),
                               [&](const Idle<Object>& each, const ReuseCost& cost) {
                                 if (fit == Fit::Exactly && cost != ReuseCost{}) return false;
                                 return cost.added == 0 && each.may_be_waited_for();
                               });
    if (!choice) return std::nullopt;
    return take_out(*choice);
  }

  template <class Object>
  Lease<Object> lend_with_wait(Idle<Object> busy, ReuseExtent wanted,
                               const std::shared_ptr<Queue>& queue) {
    std::optional<TimelinePoint> wait = std::move(busy.complete);
    const ReuseExtent there = extent_of(busy.object->desc());
    ++(there == wanted ? statistics_.exact_hits : statistics_.reuses);
    ++statistics_.waits;
    Lease<Object> lease = lend(std::move(busy), queue, there.area() - wanted.area());
    lease.wait_ = std::move(wait);
    return lease;
  }

  bool has_room_for(std::uint64_t bytes) const {
    return bytes <= max_bytes_ && statistics_.bytes_held <= max_bytes_ - bytes;
  }

  // Reserves bytes within the limit for an object that the driver will create.
  Status reserve(std::uint64_t bytes) {
    if (!has_room_for(bytes)) {
      return make_error(StatusCode::OutOfMemory,
                        "the workspace pool holds {} bytes of at most {}, and is asked for {} more",
                        statistics_.bytes_held, max_bytes_, bytes);
    }
    statistics_.bytes_held += bytes;
    statistics_.max_bytes_held = std::max(statistics_.max_bytes_held, statistics_.bytes_held);
    return {};
  }
  void unreserve(std::uint64_t bytes) { statistics_.bytes_held -= bytes; }

  template <class Object>
  void free(Idle<Object> object, Freed& freed) {
    unreserve(bytes_of(object.object->desc()));
    freed.push_back(std::move(object.object));
  }

  // Frees every object that has been idle since `since` or longer.
  void free_idle(Clock::time_point since, Freed& freed) {
    const auto free_of = [&](auto& shelves) {
      for (auto& shelf : shelves) {
        for (auto& object : shelf.idle) {
          if (object.since <= since) free(std::move(object), freed);
        }
        std::erase_if(shelf.idle, [](const auto& object) { return object.object == nullptr; });
      }
    };
    free_of(buffers_);
    free_of(textures_);
  }

  // Frees idle objects, the longest idle first, until there is room or none is left.
  void free_until_room_for(std::uint64_t bytes, Freed& freed) {
    if (bytes > max_bytes_) return;  // freeing would not help
    while (!has_room_for(bytes)) {
      Clock::time_point oldest = Clock::time_point::max();
      const auto look = [&](const auto& shelves) {
        for (const auto& shelf : shelves) {
          for (const auto& object : shelf.idle) oldest = std::min(oldest, object.since);
        }
      };
      look(buffers_);
      look(textures_);
      if (oldest == Clock::time_point::max()) return;
      free_idle(oldest, freed);
    }
  }

  mutable std::mutex mutex_;  // guards all below
  std::uint64_t max_bytes_;
  std::chrono::nanoseconds max_idle_;
  Clock::time_point next_look_ = Clock::time_point::min();  // to free long-idle objects
  Shelves<Buffer, BufferDesc> buffers_;
  Shelves<Texture, TextureDesc> textures_;
  WorkspaceStatistics statistics_;
  bool closed_ = false;
};

}  // namespace internal

template <class Object>
void Lease<Object>::drop() noexcept {
  if (object_ != nullptr) state_->take_back(std::move(object_), {}, {}, wasted_texels_);
}

template <class Object>
Lease<Object>::~Lease() {
  drop();
}

template <class Object>
Lease<Object>& Lease<Object>::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  drop();
  state_ = std::move(other.state_);
  object_ = std::move(other.object_);
  queue_ = std::move(other.queue_);
  wait_ = std::move(other.wait_);
  wasted_texels_ = other.wasted_texels_;
  return *this;
}

template <class Object>
void Lease<Object>::release(std::optional<TimelinePoint> complete) {
  if (object_ == nullptr) return;
  if (complete && complete->semaphore == nullptr) complete.reset();
  state_->take_back(std::move(object_), std::move(queue_), std::move(complete), wasted_texels_);
}

template <class Object>
Status Lease<Object>::release(const std::shared_ptr<Queue>& queue, std::vector<TimelinePoint> waits,
                              std::vector<TimelinePoint> signals) {
  if (object_ == nullptr) return invalid_argument("release: the lease is empty");
  TL_RETURN_IF_ERROR(check_queue("release", queue.get(), object_->device_info()));
  std::optional<TimelinePoint> complete;
  if (!signals.empty()) complete = signals.front();
  TL_RETURN_IF_ERROR(
      queue->submit({.waits = std::move(waits), .commands = {}, .signals = std::move(signals)}));
  queue_ = queue;
  release(std::move(complete));
  return {};
}

template class Lease<Buffer>;
template class Lease<Texture>;

WorkspacePool::WorkspacePool(Device& device, const WorkspaceOptions& options) : device_(device) {
  std::uint64_t max_bytes = device.info().limits.global_memory_bytes / 4 * 3;
  if (max_bytes == 0) max_bytes = std::numeric_limits<std::uint64_t>::max();  // not known
  state_ = std::make_shared<internal::PoolState>(options.max_bytes.value_or(max_bytes),
                                                 options.max_idle);
}

WorkspacePool::~WorkspacePool() { state_->close(); }

Result<Lease<Buffer>> WorkspacePool::acquire(const std::shared_ptr<Queue>& queue,
                                             const BufferDesc& desc, Dependencies dependencies) {
  TL_RETURN_IF_ERROR(check_queue("workspace", queue.get(), device_.info()));
  return state_->acquire<Buffer>(device_, queue, desc, dependencies, Fit::AtLeast);
}

Result<Lease<Texture>> WorkspacePool::acquire(const std::shared_ptr<Queue>& queue,
                                              const TextureDesc& desc, Dependencies dependencies,
                                              Fit fit) {
  TL_RETURN_IF_ERROR(check_queue("workspace", queue.get(), device_.info()));
  return state_->acquire<Texture>(device_, queue, desc, dependencies, fit);
}

template <class Object, class Desc>
Result<Lease<Object>> WorkspacePool::allocate_in_order(const std::shared_ptr<Queue>& queue,
                                                       const Desc& desc,
                                                       std::vector<TimelinePoint> waits,
                                                       std::vector<TimelinePoint> signals) {
  TL_ASSIGN_OR_RETURN(Lease<Object> lease, acquire(queue, desc, Dependencies::Allowed));
  if (lease.wait_) waits.push_back(*std::exchange(lease.wait_, std::nullopt));
  TL_RETURN_IF_ERROR(
      queue->submit({.waits = std::move(waits), .commands = {}, .signals = std::move(signals)}));
  return lease;
}

Result<Lease<Buffer>> WorkspacePool::allocate(const std::shared_ptr<Queue>& queue,
                                              const BufferDesc& desc,
                                              std::vector<TimelinePoint> waits,
                                              std::vector<TimelinePoint> signals) {
  return allocate_in_order<Buffer>(queue, desc, std::move(waits), std::move(signals));
}

Result<Lease<Texture>> WorkspacePool::allocate(const std::shared_ptr<Queue>& queue,
                                               const TextureDesc& desc,
                                               std::vector<TimelinePoint> waits,
                                               std::vector<TimelinePoint> signals) {
  return allocate_in_order<Texture>(queue, desc, std::move(waits), std::move(signals));
}

std::uint64_t WorkspacePool::trim(std::chrono::nanoseconds idle_for) {
  return state_->trim(idle_for);
}

void WorkspacePool::set_max_bytes(std::uint64_t bytes) { state_->set_max_bytes(bytes); }

WorkspaceStatistics WorkspacePool::statistics() const { return state_->statistics(); }

}  // namespace texloom::hal
