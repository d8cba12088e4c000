#include "tests/fuzz/hal/shared_objects.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tests/fuzz/hal/kernels.h"

namespace texloom::hal::fuzz {
namespace {

constexpr std::uint64_t kBytes = 64;
constexpr std::size_t kOneShots = 20;
constexpr std::uint64_t kRanges = 1024;

}  // namespace

SharedObjects::SharedObjects(Device& device)
    : source_(*device.create_buffer({.bytes = kBytes})),
      target_(*device.create_buffer({.bytes = kBytes})),
      mapped_(*device.create_buffer({.bytes = kRanges * 16, .memory = MemoryKind::Shared})),
      counting_(device.create_command_buffer({.reusable = true})),
      queue_(*device.create_queue()) {
  static_cast<void>(counting_->host_call([this] {
    ++counted_;
    return Status();
  }));
  static_cast<void>(counting_->finish());
  for (std::size_t i = 0; i < kOneShots; ++i) {
    one_shots_.push_back(std::make_unique<OneShot>());
    OneShot& one = *one_shots_.back();
    one.commands = device.create_command_buffer();
    static_cast<void>(one.commands->host_call([&one] {
      ++one.runs;
      return Status();
    }));
    static_cast<void>(one.commands->finish());
  }
}

SharedObjects::~SharedObjects() = default;

std::shared_ptr<Queue> SharedObjects::queue() {
  const std::scoped_lock lock(mutex_);
  return queue_;
}

std::shared_ptr<Executable> SharedObjects::executable() {
  const std::scoped_lock lock(mutex_);
  return executable_;
}

void SharedObjects::submit(World& world) {
  const std::shared_ptr<Queue> queue = this->queue();
  const auto done = Semaphore::create();
  world.call("shared: submit and wait");
  ++submissions_;
  world.expect(queue->submit({.waits = {}, .commands = {counting_}, .signals = {{done, 1}}}), true);
  if (world.random.chance(50)) {
    world.expect(queue->wait_idle(after(kPatience)), true);
    const auto value = done->value();
    world.check(value.ok() && *value == 1, "shared: complete work has not signalled");
  } else {
    world.expect(done->wait(1, after(kPatience)), true);
  }
}

void SharedObjects::submit_once(World& world) {
  OneShot& one = *world.random.pick(one_shots_);
  world.call("shared: submit what can be submitted once");
  const Status status = queue()->submit(one.commands);
  if (status.ok()) ++one.accepted;
  world.expect(status, status.ok());
}

// Another thread may signal a larger value first: then this signal is refused.
void SharedObjects::signal(World& world) {
  const std::uint64_t value = next_value_++;
  world.call("shared: signal({})", value);
  const Status status = semaphore_->signal(value);
  world.expect(status, status.ok());
  world.expect(semaphore_->wait(value, after(kPatience)), true);
}

void SharedObjects::call_back(World& world) {
  const std::uint64_t value = next_value_ + world.random.below(3);
  world.call("shared: when_reached({})", value);
  ++callbacks_;
  const std::uint64_t number =
      semaphore_->when_reached(value, [this](const Status&) { ++called_; });
  if (world.random.chance(50) && semaphore_->cancel(number)) --callbacks_;
}

void SharedObjects::map_own_range(World& world) {
  const std::uint64_t range = next_range_++ % kRanges;
  world.call("shared: map({}, 16, read-write)", range * 16);
  auto mapping = mapped_->map(range * 16, 16, Access::ReadWrite);
  world.expect(mapping.status(), true);
  std::fill(mapping->bytes().begin(), mapping->bytes().end(), std::byte{1});
  world.expect(mapping->flush(0, 16), true);
  world.expect(mapping->release(), true);
}

// Several threads build one executable at the same time.
void SharedObjects::build(World& world) {
  std::shared_ptr<Executable> executable = this->executable();
  if (executable == nullptr || world.random.chance(20)) {
    auto made = world.device.create_executable(
        {.codes = {{.format = KernelFormat::HostFunctions, .code = "fuzz"}},
         .entry_points = {kernels()[0].entry},
         .build = BuildTime::FirstUse});
    world.expect(made.status(), true);
    executable = *made;
    const std::scoped_lock lock(mutex_);
    executable_ = executable;
  }
  world.call("shared: prepare() and dispatch");
  if (world.random.chance(50)) world.expect(executable->prepare(), true);
  const auto commands = world.device.create_command_buffer();
  world.expect(commands->dispatch(executable, 0, {3, 1, 1}, {}, {}), true);
  world.expect(commands->finish(), true);
  world.expect(queue()->submit(commands), true);
}

void SharedObjects::replace_queue(World& world) {
  world.call("shared: replace the queue");
  auto made = world.device.create_queue();
  world.expect(made.status(), true);
  std::shared_ptr<Queue> old = *std::move(made);
  const std::scoped_lock lock(mutex_);
  std::swap(queue_, old);
}

void SharedObjects::make_parts(World& world) {
  world.call("shared: a part of a buffer, and a view");
  const auto part = source_->subspan(world.random.below(kBytes - 1), 1);
  world.expect(part.status(), true);
  const auto view = world.device.allocator()->create_view(
      source_, {.texture = {.extent = {4, 1}, .format = TexelFormat::Rgba8UInt}});
  world.expect(view.status(), true);
  const auto commands = world.device.create_command_buffer();
  world.expect(commands->copy_buffer(*part, 0, target_, 0, 0), true);
  world.expect(commands->copy_buffer(source_, 0, mapped_, 0, 0), true);
}

void SharedObjects::look(World& world) {
  world.call("shared: statistics, profile");
  static_cast<void>(world.device.allocator()->statistics());
  static_cast<void>(world.device.workspace_pool().statistics());
  static_cast<void>(queue()->is_idle());
  static_cast<void>(semaphore_->value());
  if (const auto profile = world.device.options().profile) {
    static_cast<void>(chrome_trace(*profile));
    if (world.random.chance(10)) profile->clear();
  }
}

void SharedObjects::draw_call(World& world) {
  using Call = void (SharedObjects::*)(World&);
  constexpr std::array<Call, 12> kCalls = {
      &SharedObjects::submit,        &SharedObjects::submit,        &SharedObjects::submit_once,
      &SharedObjects::submit_once,   &SharedObjects::signal,        &SharedObjects::signal,
      &SharedObjects::call_back,     &SharedObjects::map_own_range, &SharedObjects::build,
      &SharedObjects::replace_queue, &SharedObjects::make_parts,    &SharedObjects::look};
  if (world.random.chance(35)) (this->*world.random.pick(kCalls))(world);
}

std::string SharedObjects::fault() {
  if (!queue_->wait_idle(after(kPatience)).ok()) return "shared: the queue is not idle";
  queue_.reset();
  semaphore_.reset();
  if (called_ != callbacks_)
    return fmt::format("shared: {} callbacks of {} were called", called_.load(), callbacks_.load());
  if (counted_ != submissions_)
    return fmt::format("shared: {} submissions ran of {}", counted_.load(), submissions_.load());
  for (const auto& one : one_shots_) {
    if (one->accepted > 1)
      return fmt::format("shared: {} submissions of what can be submitted once",
                         one->accepted.load());
    if (one->runs != one->accepted)
      return fmt::format("shared: a host call ran {} times, and was submitted {} times",
                         one->runs.load(), one->accepted.load());
  }
  return {};
}

}  // namespace texloom::hal::fuzz
