// Objects that the threads of a sequence share, as the interface permits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fuzz/hal/world.h"

namespace texloom::hal::fuzz {

class SharedObjects {
 public:
  explicit SharedObjects(Device& device);
  ~SharedObjects();
  SharedObjects(const SharedObjects&) = delete;
  SharedObjects& operator=(const SharedObjects&) = delete;

  // Makes at most one call, as `world` draws it. Throws a Failure.
  void draw_call(World& world);
  // Called after all threads are done; returns what is wrong, or an empty string.
  std::string fault();

 private:
  std::shared_ptr<Queue> queue();
  std::shared_ptr<Executable> executable();
  void submit(World& world);
  void submit_once(World& world);
  void signal(World& world);
  void call_back(World& world);
  void map_own_range(World& world);
  void build(World& world);
  void replace_queue(World& world);
  void make_parts(World& world);
  void look(World& world);

  struct OneShot {
    std::shared_ptr<CommandBuffer> commands;
    std::atomic<int> accepted = 0;
    std::atomic<int> runs = 0;
  };

  std::shared_ptr<Buffer> source_, target_, mapped_;
  // A reusable command buffer that increments a count, so that the order of queues does not matter.
  std::shared_ptr<CommandBuffer> counting_;
  std::shared_ptr<Semaphore> semaphore_ = Semaphore::create();
  std::atomic<std::uint64_t> next_value_ = 1;
  std::atomic<std::uint64_t> callbacks_ = 0, called_ = 0;
  std::atomic<std::uint64_t> submissions_ = 0, counted_ = 0;
  std::atomic<unsigned> next_range_ = 0;
  std::vector<std::unique_ptr<OneShot>> one_shots_;
  std::mutex mutex_;  // guards the members below
  std::shared_ptr<Queue> queue_;
  std::shared_ptr<Executable> executable_;
};

}  // namespace texloom::hal::fuzz
