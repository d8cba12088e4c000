// A sequence of random calls: its objects, and a model of the state of each.
//
// The model is sequential: it runs a submission as soon as all points that the submission waits for
// are reached, while the device works asynchronously. So a sequence gives two queues work on the
// same memory only if a semaphore orders the work. It inspects memory and queue-signaled semaphores
// only after settle().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/drivers/null/driver.h"
#include "runtime/hal/device.h"
#include "tests/fuzz/hal/log.h"
#include "tests/fuzz/hal/model.h"
#include "tests/fuzz/hal/random.h"

namespace texloom::hal::fuzz {

// Time limit for events that must happen, even under sanitizers on a busy machine.
inline constexpr std::chrono::seconds kPatience(30);
// How long to wait for events that must not happen.
inline constexpr std::chrono::microseconds kImpatience(200);

// The devices that sequences run on.
struct Devices {
  bool computes = true;  // false for the driver `null`
  // Whether the driver `null` leaves waits to the device: work may then start before a wait fails.
  bool native_waits = false;
  bool shared = false;  // whether several threads use the device; then counts are not checked
  std::shared_ptr<Device> device = {};
  std::shared_ptr<Device> other = {};
};

struct Readback {
  std::string name = {};
  std::shared_ptr<Memory> expected = {};
  std::shared_ptr<Bytes> actual = {};
};

struct HostCallModel {
  std::string name = {};
  std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<int> expected = std::make_shared<int>(0);
};

template <class Object>
struct LeaseModel {
  std::string name = {};
  Lease<Object> lease = {};
  QueueModel* queue = nullptr;
  std::shared_ptr<Memory> memory = {};
};

struct PoolModel {
  std::uint64_t requests = 0, served = 0;
  bool is_bounded = false;
  std::list<LeaseModel<Buffer>> buffers = {};
  std::list<LeaseModel<Texture>> textures = {};
};

class World {
 public:
  World(Devices devices, std::uint64_t seed, Log& log);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Makes `calls` random calls, then settles, compares and releases everything. Calls
  // `other_calls`, if given, before each call. Throws a Failure.
  void run(unsigned calls, const std::function<void()>& other_calls = {});

  // Logs a call before it is made.
  template <typename... Args>
  void call(fmt::format_string<Args...> format, Args&&... args) {
    log.add(fmt::format(format, std::forward<Args>(args)...));
  }
  // Compares the result of the call with its validity. Misuse must give InvalidArgument or
  // Unimplemented, unless `code` says otherwise.
  void expect(const Status& status, bool valid, StatusCode code = StatusCode::InvalidArgument);
  void check(bool holds, const std::string& what);

  std::string name(const char* kind) { return fmt::format("{}{}", kind, next_name_++); }
  QueueModel* find_queue(std::uint64_t number);

  // Runs all submissions of the model that can run.
  void advance();
  // Signals or fails everything that submissions wait for, and waits for all queues.
  void settle();
  // Settles if work that uses the memory may be running.
  void settle_for(const Memory& memory);
  // Makes a released queue run the submissions that can run, and fail all other submissions.
  void stop(QueueModel& queue);
  void release_leases(const QueueModel& queue);
  // Compares every object with the model, once settled.
  void compare();

  Devices devices;
  Device& device;
  const DeviceInfo& info;
  Log& log;
  Random random;

  std::vector<BufferModel> buffers = {};
  std::vector<TextureModel> textures = {};
  std::vector<ExecutableModel> executables = {};
  std::vector<std::shared_ptr<CommandsModel>> commands = {};
  std::vector<std::shared_ptr<SemaphoreModel>> semaphores = {};
  std::vector<std::unique_ptr<QueueModel>> queues = {};
  std::list<MappingModel> mappings = {};
  std::vector<ImportModel> imports = {};
  std::vector<Readback> readbacks = {};
  std::vector<HostCallModel> host_calls = {};
  std::vector<std::shared_ptr<Bytes>> borrowed = {};  // memory that updates borrow; kept to the end
  PoolModel pool;
  // Memory that was allocated, with its kind and bytes; no kind if imported.
  std::vector<
      std::pair<std::weak_ptr<const void>, std::pair<std::optional<MemoryKind>, std::uint64_t>>>
      made;
  std::uint64_t next_identity = 1;
  null::Statistics null_expected;

 private:
  void run_front(QueueModel& queue, bool starts = true);
  bool run_commands(const SubmissionModel& submission);
  void count(const CommandModel& command);
  bool open_gates();
  void compare_memory();
  void compare_counts();
  void release_everything();
  void check_all_released();

  std::uint64_t next_name_ = 1;
  null::Statistics null_before_;
};

// Draws one call and makes it.
void draw_call(World& world);

}  // namespace texloom::hal::fuzz
