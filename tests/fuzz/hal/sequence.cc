#include "tests/fuzz/hal/sequence.h"

#include <thread>
#include <utility>

#include "runtime/drivers/host/driver.h"
#include "tests/fuzz/hal/kernels.h"
#include "tests/fuzz/hal/shared_objects.h"
#include "tests/fuzz/hal/world.h"

namespace texloom::hal::fuzz {
namespace {

// Half of the devices fill mappings for writing with a pattern; some devices profile.
DeviceOptions options_of(std::uint64_t seed) {
  DeviceOptions options{.debug = seed % 2 == 0};
  if (seed % 3 == 0) options.profile = std::make_shared<Profile>(500);
  return options;
}

// Leaks the objects on failure.
std::string run_world(const Devices& devices, std::uint64_t seed, unsigned calls, Log& log,
                      SharedObjects* shared) {
  std::unique_ptr<World> world;
  try {
    world = std::make_unique<World>(devices, seed, log);
    if (shared == nullptr) {
      world->run(calls);
    } else {
      world->run(calls, [&] { shared->draw_call(*world); });
    }
    return {};
  } catch (const Failure& failure) {
    static_cast<void>(world.release());
    return failure.what();
  }
}

std::string run_threads(const Devices& devices, const SequenceOptions& options, std::uint64_t seed,
                        const std::vector<std::shared_ptr<Log>>& logs) {
  SharedObjects shared(*devices.device);
  std::vector<std::string> failures(options.threads);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < options.threads; ++i) {
    threads.emplace_back([&, i] {
      failures[i] =
          run_world(devices, seed * options.threads + i, options.calls, *logs[i], &shared);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (unsigned i = 0; i < options.threads; ++i)
    if (!failures[i].empty()) return fmt::format("thread {}: {}", i, failures[i]);
  return shared.fault();
}

}  // namespace

void Progress::begin(std::uint64_t seed, std::vector<std::shared_ptr<Log>> logs) {
  const std::scoped_lock lock(mutex_);
  seed_ = seed;
  logs_ = std::move(logs);
  is_running_ = true;
  begin_ = std::chrono::steady_clock::now();
}

void Progress::end() {
  const std::scoped_lock lock(mutex_);
  is_running_ = false;
  for (const auto& log : logs_) calls_ += log->calls();
}

std::uint64_t Progress::seed() const {
  const std::scoped_lock lock(mutex_);
  return seed_;
}

std::string Progress::describe() const {
  const std::scoped_lock lock(mutex_);
  std::string text = fmt::format("seed {}; the last calls:\n", seed_);
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    if (logs_.size() > 1) text += fmt::format("  thread {}:\n", i);
    text += logs_[i]->text();
  }
  return text;
}

std::chrono::steady_clock::duration Progress::running() const {
  const std::scoped_lock lock(mutex_);
  if (!is_running_) return {};
  return std::chrono::steady_clock::now() - begin_;
}

std::uint64_t Progress::calls() const {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

std::shared_ptr<Driver> make_driver(DriverKind kind) {
  if (kind == DriverKind::Null) return null::create_driver();
  return host::create_driver({.threads = 2, .libraries = {kernel_library()}});
}

std::string run_sequence(Driver& driver, const SequenceOptions& options, std::uint64_t seed,
                         Progress& progress) {
  std::vector<std::shared_ptr<Log>> logs;
  for (unsigned i = 0; i < options.threads; ++i)
    logs.push_back(std::make_shared<Log>(options.echo));
  progress.begin(seed, logs);
  const bool native_waits = options.driver == DriverKind::Null && seed % 2 == 1;
  const auto waiting =
      native_waits ? null::create_driver(null::default_device(), {.native_waits = true}) : nullptr;
  Driver& used = native_waits ? *waiting : driver;
  auto device = used.open(0, options_of(seed));
  auto other = used.open(0);
  if (!device.ok()) return device.status().to_string();
  if (!other.ok()) return other.status().to_string();
  Devices devices{.computes = options.driver == DriverKind::Host,
                  .native_waits = native_waits,
                  .shared = options.threads > 1,
                  .device = *std::move(device),
                  .other = *std::move(other)};
  std::string failure;
  if (options.threads > 1) {
    failure = run_threads(devices, options, seed, logs);
  } else {
    failure = run_world(std::move(devices), seed, options.calls, *logs[0], nullptr);
  }
  if (failure.empty()) progress.end();
  return failure;
}

}  // namespace texloom::hal::fuzz
