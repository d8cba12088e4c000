#include <dispatch/dispatch.h>

#include <objc/blocks_runtime.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

// The common base of queues and data objects.
struct dispatch_object_s {
  virtual ~dispatch_object_s() = default;
  std::atomic<int> references{1};
};

namespace {

dispatch_block_t copied(dispatch_block_t block) {
  return reinterpret_cast<dispatch_block_t>(_Block_copy(reinterpret_cast<const void*>(block)));
}

void release_block(dispatch_block_t block) { _Block_release(reinterpret_cast<const void*>(block)); }

// The thread shares ownership of the state, since a queue's last block may release the queue.
struct Queue : dispatch_object_s {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<dispatch_block_t> blocks;
    bool ended = false;
  };

  Queue() {
    std::thread([state = state] { run(*state); }).detach();
  }
  ~Queue() override {
    const std::lock_guard lock(state->mutex);
    state->ended = true;
    state->changed.notify_all();
  }

  static void run(State& state) {
    std::unique_lock lock(state.mutex);
    for (;;) {
      state.changed.wait(lock, [&] { return state.ended || !state.blocks.empty(); });
      if (state.blocks.empty()) return;
      const dispatch_block_t block = state.blocks.front();
      state.blocks.pop_front();
      lock.unlock();
      block();
      release_block(block);
      lock.lock();
    }
  }

  std::shared_ptr<State> state = std::make_shared<State>();
};

struct Data : dispatch_object_s {
  ~Data() override {
    if (owned != nullptr) std::free(owned);
    if (destructor != nullptr) {
      destructor();
      release_block(destructor);
    }
  }
  const void* bytes = nullptr;
  size_t size = 0;
  void* owned = nullptr;
  dispatch_block_t destructor = nullptr;
};

}  // namespace

dispatch_queue_t dispatch_queue_create(const char*, dispatch_queue_attr_t) { return new Queue; }

void dispatch_async(dispatch_queue_t queue, dispatch_block_t block) {
  Queue::State& state = *static_cast<Queue*>(queue)->state;
  const std::lock_guard lock(state.mutex);
  state.blocks.push_back(copied(block));
  state.changed.notify_all();
}

void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block) {
  struct Gate {
    std::mutex mutex;
    std::condition_variable opened;
    bool open = false;
  } gate;
  Gate* const at = &gate;
  dispatch_async(queue, ^{
    block();
    const std::lock_guard lock(at->mutex);
    at->open = true;
    at->opened.notify_all();
  });
  std::unique_lock lock(gate.mutex);
  gate.opened.wait(lock, [&] { return gate.open; });
}

dispatch_data_t dispatch_data_create(const void* buffer, size_t size, dispatch_queue_t,
                                     dispatch_block_t destructor) {
  auto* data = new Data;
  data->size = size;
  if (destructor == DISPATCH_DATA_DESTRUCTOR_DEFAULT) {
    data->owned = std::malloc(size > 0 ? size : 1);
    if (size > 0) std::memcpy(data->owned, buffer, size);
    data->bytes = data->owned;
  } else {
    data->bytes = buffer;
    data->destructor = copied(destructor);
  }
  return data;
}

size_t dispatch_data_get_size(dispatch_data_t data) { return static_cast<Data*>(data)->size; }

dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void** buffer, size_t* size) {
  const auto* d = static_cast<Data*>(data);
  if (buffer != nullptr) *buffer = d->bytes;
  if (size != nullptr) *size = d->size;
  dispatch_retain(data);
  return data;
}

void dispatch_retain(dispatch_object_t object) { ++object->references; }

void dispatch_release(dispatch_object_t object) {
  if (--object->references == 0) delete object;
}
