// Tests running out of memory: the error, its message, and that the device remains usable.
#include <atomic>
#include <functional>
#include <thread>

#include "support/byte_text.h"
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

bool same(const MemoryStatistics& a, const MemoryStatistics& b) {
  return a.kinds == b.kinds && a.imported == b.imported;
}

// Creates objects on a separate device, each of at most an eighth of the device's memory.
class Exhaustion : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    if (!tested().exhaustible) GTEST_SKIP() << "no test may take all of the memory";
    use(open_another());
    bytes_ = std::min(limits().max_allocation_bytes, limits().global_memory_bytes / 8);
  }
  std::uint64_t most() const { return limits().global_memory_bytes / bytes_; }
  MemoryStatistics statistics() { return device().allocator()->statistics(); }

  Status add_buffer(MemoryKind kind = MemoryKind::Device) {
    TL_ASSIGN_OR_RETURN(auto buffer, device().create_buffer({.bytes = bytes_, .memory = kind}));
    objects_.push_back(std::move(buffer));
    return {};
  }
  // Adds a texture of as many full rows as fit in `bytes_`.
  Status add_texture() {
    const std::uint64_t row = std::uint64_t{16} * limits().max_image_width;
    const std::uint64_t rows = std::min<std::uint64_t>(bytes_ / row, limits().max_image_height);
    TL_ASSIGN_OR_RETURN(auto texture,
                        device().create_texture({.extent = {limits().max_image_width,
                                                            static_cast<std::uint32_t>(rows)}}));
    objects_.push_back(std::move(texture));
    return {};
  }
  // Adds objects until memory runs out, and returns the error of the last object.
  Status exhaust(const std::function<Status()>& add, std::uint64_t at_most = 1000) {
    while (objects_.size() <= at_most) TL_RETURN_IF_ERROR(add());
    return {};
  }
  Status exhaust() {
    return exhaust([this] { return add_buffer(); });
  }
  static auto is_out_of_memory() { return fails_with(StatusCode::OutOfMemory, ""); }
  void expect_usable() {
    const Bytes content = random_bytes(64, 1);
    expect_content(make_buffer(content), content);
  }

  std::uint64_t bytes_ = 0;
  std::vector<std::shared_ptr<void>> objects_;
};
TL_ON_EVERY_DEVICE(Exhaustion);

TEST_P(Exhaustion, ByBuffersOfEachKind) {
  for (const MemoryKind kind : kAllMemoryKinds) {
    if (!info().memory(kind).available) continue;
    EXPECT_THAT(exhaust([&] { return add_buffer(kind); }), is_out_of_memory()) << to_string(kind);
    EXPECT_GE(objects_.size(), most() / 2) << to_string(kind);
    EXPECT_LE(objects_.size(), most()) << to_string(kind);
    objects_.clear();
  }
}

TEST_P(Exhaustion, ByTextures) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  EXPECT_THAT(exhaust([this] { return add_texture(); }), is_out_of_memory());
  objects_.pop_back();
  TL_EXPECT_OK(add_texture());
}

// Buffers and textures share one budget.
TEST_P(Exhaustion, ByBuffersLeavesNoTexture) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  EXPECT_THAT(exhaust(), is_out_of_memory());
  EXPECT_THAT(exhaust([this] { return add_texture(); }), is_out_of_memory());
}

TEST_P(Exhaustion, SaysHowMuchWasAskedFor) {
  EXPECT_THAT(exhaust(), fails_with(StatusCode::OutOfMemory, byte_text(bytes_)));
}

TEST_P(Exhaustion, ChangesNoStatistics) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  const MemoryStatistics before = statistics();
  EXPECT_EQ(before.of(MemoryKind::Device).bytes, objects_.size() * bytes_);
  EXPECT_EQ(before.of(MemoryKind::Device).objects, objects_.size());
  EXPECT_THAT(add_buffer(), is_out_of_memory());
  EXPECT_TRUE(same(statistics(), before));
}

TEST_P(Exhaustion, IsToldEachTime) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  const std::string first = add_buffer().message();
  for (int i = 0; i < 10; ++i)
    EXPECT_THAT(add_buffer(), fails_with(StatusCode::OutOfMemory, first));
}

TEST_P(Exhaustion, EndsWhenAnObjectIsReleased) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  for (int i = 0; i < 5; ++i) {
    objects_.erase(objects_.begin());
    TL_EXPECT_OK(add_buffer());
    EXPECT_THAT(add_buffer(), is_out_of_memory());
  }
}

TEST_P(Exhaustion, TakesAsManyObjectsEachTime) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  const std::size_t count = objects_.size();
  for (int i = 0; i < 3; ++i) {
    objects_.clear();
    EXPECT_EQ(statistics().of(MemoryKind::Device).bytes, 0U);
    EXPECT_THAT(exhaust(), is_out_of_memory());
    EXPECT_EQ(objects_.size(), count);
  }
}

TEST_P(Exhaustion, LeavesTheDeviceUsable) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  objects_.pop_back();
  expect_usable();
  const auto executable = this->executable(kernels::advance());
  const auto x = make_buffer(bytes_of(std::vector<std::uint32_t>(4, 5)));
  const auto commands = begin();
  TL_ASSERT_OK(commands->dispatch(executable, 0, {4, 1, 1}, {{BufferBinding{x}}}, {{Constant(1)}}));
  TL_ASSERT_OK(run(commands));
  expect_values(x, std::vector<std::uint32_t>(4, 16));
}

// Existing objects keep their contents.
TEST_P(Exhaustion, LeavesOtherObjectsAsTheyAre) {
  const Bytes content = random_bytes(1000, 1);
  const auto buffer = make_buffer(content);
  EXPECT_THAT(exhaust(), is_out_of_memory());
  expect_content(buffer, content);
}

// A view uses its buffer's memory, and a part of a buffer uses the whole buffer's.
TEST_P(Exhaustion, LeavesViewsAndParts) {
  const auto buffer = make_buffer(std::uint64_t{1} << 16);
  EXPECT_THAT(exhaust(), is_out_of_memory());
  const MemoryStatistics before = statistics();
  TL_EXPECT_OK(buffer->subspan(0, 4096).status());
  if (info().features.texture_views) {
    TL_EXPECT_OK(
        device().allocator()->create_view(buffer, {.texture = {.extent = {4, 4}}}).status());
  }
  EXPECT_TRUE(same(statistics(), before));
}

TEST_P(Exhaustion, OfOneDeviceIsNotThatOfAnother) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  TL_EXPECT_OK(open_another()->create_buffer({.bytes = bytes_}).status());
}

// Threads together never get more memory than the device has.
TEST_P(Exhaustion, ByThreadsAtOnce) {
  constexpr std::size_t kThreads = 4;
  for (int round = 0; round < 20; ++round) {
    std::array<std::vector<std::shared_ptr<Buffer>>, kThreads> made;
    std::array<Status, kThreads> errors;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        while (errors[i].ok() && made[i].size() <= most()) {
          auto buffer = device().create_buffer({.bytes = bytes_});
          errors[i] = buffer.status();
          if (buffer.ok()) made[i].push_back(*std::move(buffer));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::size_t count = 0;
    for (std::size_t i = 0; i < kThreads; ++i) {
      EXPECT_THAT(errors[i], is_out_of_memory());
      count += made[i].size();
    }
    EXPECT_GE(count, most() / 2);
    EXPECT_LE(count, most());
    EXPECT_EQ(statistics().of(MemoryKind::Device).objects, count);
  }
}

// --- Holders of unused memory are asked to release it

class Pressure : public Exhaustion {
 protected:
  // Releases its object when asked.
  class Holder final : public PressureListener {
   public:
    explicit Holder(std::shared_ptr<void> held = nullptr) : held_(std::move(held)) {}
    bool release_unused() override {
      ++asked_;
      return std::exchange(held_, nullptr) != nullptr;
    }
    int asked() const { return asked_; }

   private:
    std::shared_ptr<void> held_;
    std::atomic<int> asked_ = 0;
  };

  // Acquires a buffer from the workspace pool.
  Result<Lease<Buffer>> acquire() {
    auto lease = device().workspace_pool().acquire(device().queue(), BufferDesc{.bytes = bytes_});
    TL_EXPECT_OK(lease.status());
    return lease;
  }
  // Makes a holder of the last object that was added.
  std::shared_ptr<Holder> make_holder() {
    auto holder = std::make_shared<Holder>(std::exchange(objects_.back(), nullptr));
    objects_.pop_back();
    device().allocator()->add_listener(holder);
    return holder;
  }
};
TL_ON_EVERY_DEVICE(Pressure);

TEST_P(Pressure, IsNotTheListenersMatterWhileThereIsMemory) {
  TL_ASSERT_OK(add_buffer());
  const auto holder = make_holder();
  TL_EXPECT_OK(add_buffer());
  EXPECT_EQ(holder->asked(), 0);
}

TEST_P(Pressure, IsNotTheListenersMatterWhereARequestIsWrong) {
  const auto holder = std::make_shared<Holder>();
  device().allocator()->add_listener(holder);
  EXPECT_FALSE(device().create_buffer({.bytes = limits().max_allocation_bytes + 1}).ok());
  EXPECT_EQ(holder->asked(), 0);
}

TEST_P(Pressure, ListenersGiveBackWhatTheyHold) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  const auto holder = make_holder();
  TL_EXPECT_OK(add_buffer());
  EXPECT_EQ(holder->asked(), 1);
  EXPECT_THAT(add_buffer(), is_out_of_memory());
  EXPECT_EQ(holder->asked(), 2);
}

TEST_P(Pressure, ListenersAreAskedInTurnUntilItIsEnough) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  const auto empty = std::make_shared<Holder>();
  device().allocator()->add_listener(empty);
  const auto first = make_holder(), second = make_holder();
  TL_EXPECT_OK(add_buffer());
  EXPECT_EQ(empty->asked(), 1);
  EXPECT_EQ(first->asked(), 1);
  EXPECT_EQ(second->asked(), 0);
  TL_EXPECT_OK(add_buffer());
  EXPECT_EQ(second->asked(), 1);
}

TEST_P(Pressure, ReleasedListenersAreNotAsked) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  device().allocator()->add_listener(std::make_shared<Holder>());
  EXPECT_THAT(add_buffer(), is_out_of_memory());
}

TEST_P(Pressure, TheWorkspacePoolGivesBackWhatIsIdle) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  const std::size_t count = objects_.size();
  objects_.clear();
  acquire()->release();
  EXPECT_THAT(exhaust(), is_out_of_memory());
  EXPECT_EQ(objects_.size(), count);
}

TEST_P(Pressure, TheWorkspacePoolKeepsWhatIsLent) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  const std::size_t count = objects_.size();
  objects_.clear();
  const auto lease = acquire();
  EXPECT_THAT(exhaust(), is_out_of_memory());
  EXPECT_EQ(objects_.size(), count - 1);
}

// An allocation waits for submitted work that still uses memory released by the caller.
TEST_P(Pressure, WorkUnderWayIsWaitedFor) {
  EXPECT_THAT(exhaust(), is_out_of_memory());
  const auto go = make_semaphore();
  {
    const auto buffer = std::static_pointer_cast<Buffer>(std::exchange(objects_.back(), nullptr));
    objects_.pop_back();
    const auto commands = begin();
    TL_ASSERT_OK(commands->fill(buffer, 0, 4, Bytes(4)));
    TL_ASSERT_OK(commands->finish());
    TL_ASSERT_OK(queue().submit({.waits = {{go, 1}}, .commands = {commands}, .signals = {}}));
  }
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    TL_EXPECT_OK(go->signal(1));
  });
  TL_EXPECT_OK(device().create_buffer({.bytes = bytes_}).status());
  later.join();
}

// --- Single allocations of the largest allowed size

class LargeBuffers : public On<> {};
TL_ON_EVERY_DEVICE(LargeBuffers);

TEST_P(LargeBuffers, UpToTheLimitAreMadeUnlessMemoryIsShort) {
  use(open_another());
  const MemoryStatistics before = device().allocator()->statistics();
  const Status status = device().create_buffer({.bytes = limits().max_allocation_bytes}).status();
  if (!status.ok()) {
    EXPECT_EQ(status.code(), StatusCode::OutOfMemory) << status.to_string();
    EXPECT_TRUE(same(device().allocator()->statistics(), before));
  }
  const Bytes content = random_bytes(64, 1);
  expect_content(make_buffer(content), content);
}

}  // namespace
}  // namespace texloom::hal::conformance
