// Tests executables built at first use: which thread builds, that it builds once, and failures.
#include <thread>

#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

constexpr std::size_t kThreads = 6;

// Calls `each` with the thread's number on several threads at once.
template <typename Each>
void at_once(const Each& each) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back([&each, i] { each(i); });
  for (std::thread& thread : threads) thread.join();
}

class FirstUse : public DispatchFixture {
 protected:
  std::shared_ptr<Executable> make(ExecutableDesc desc) {
    desc.build = BuildTime::FirstUse;
    const auto made = device().create_executable(desc);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() ? *made : nullptr;
  }
  std::shared_ptr<Executable> make_advance() {
    return make(tested().kernels({kernels::advance()}));
  }

  // Computes x = 3 x + 1 for one number.
  std::shared_ptr<CommandBuffer> advance(const std::shared_ptr<Executable>& executable,
                                         const std::shared_ptr<Buffer>& x) {
    auto commands = begin();
    TL_EXPECT_OK(dispatch(*commands, executable, {1, 1, 1}, {BufferBinding{x}}, {Constant(1)}));
    TL_EXPECT_OK(commands->finish());
    return commands;
  }
  std::shared_ptr<Buffer> number(std::uint32_t value) {
    return make_buffer(bytes_of(std::vector<std::uint32_t>{value}));
  }
  void expect_number(const std::shared_ptr<Buffer>& x, std::uint32_t value) {
    expect_values(x, std::vector<std::uint32_t>{value});
  }
};
TL_ON_EVERY_DEVICE_WITH_EVERY_BINDING(FirstUse);

TEST_P(FirstUse, IsASubmission) {
  const auto x = number(5);
  const auto commands = advance(make_advance(), x);
  TL_ASSERT_OK(queue().submit({.commands = {with_table(commands)}}));
  TL_ASSERT_OK(queue().wait_idle());
  expect_number(x, 16);
}

TEST_P(FirstUse, IsACallOfPrepare) {
  const auto executable = make_advance();
  for (int i = 0; i < 3; ++i) TL_ASSERT_OK(executable->prepare());
  const auto x = number(5);
  TL_ASSERT_OK(queue().submit({.commands = {with_table(advance(executable, x))}}));
  TL_ASSERT_OK(queue().wait_idle());
  expect_number(x, 16);
}

TEST_P(FirstUse, IsAfterWhatIsPreparedAtOnce) {
  const auto made = device().create_executable(tested().kernels({kernels::advance()}));
  TL_ASSERT_OK(made.status());
  TL_EXPECT_OK((*made)->prepare());
}

TEST_P(FirstUse, MayNeverCome) {
  const auto x = number(5);
  make_advance();
  advance(make_advance(), x);
  expect_number(x, 5);
}

// An executable is built even if only the submission still holds it.
TEST_P(FirstUse, MayComeWhenTheHandleIsReleased) {
  const auto x = number(5);
  const auto go = make_semaphore();
  {
    const auto commands = advance(make_advance(), x);
    TL_ASSERT_OK(queue().submit({.waits = {{go, 1}}, .commands = {with_table(commands)}}));
  }
  TL_ASSERT_OK(go->signal(1));
  TL_ASSERT_OK(queue().wait_idle());
  expect_number(x, 16);
}

TEST_P(FirstUse, OfSeveralExecutablesByOneSubmission) {
  const auto x = number(5);
  const auto a = make_advance(), b = make_advance();
  const auto commands = begin();
  for (const auto& executable : {a, b, a})
    TL_ASSERT_OK(dispatch(*commands, executable, {1, 1, 1}, {BufferBinding{x}}, {Constant(1)}));
  TL_ASSERT_OK(run(commands));
  expect_number(x, 148);
}

TEST_P(FirstUse, ByPrepareOnSeveralThreads) {
  const auto executable = make_advance();
  std::array<Status, kThreads> told;
  at_once([&](std::size_t i) { told[i] = executable->prepare(); });
  for (const Status& status : told) TL_EXPECT_OK(status);
}

TEST_P(FirstUse, BySubmissionsToSeveralQueues) {
  const auto executable = make_advance();
  std::array<std::shared_ptr<Buffer>, kThreads> numbers;
  std::array<std::shared_ptr<Queue>, kThreads> queues;
  std::vector<SubmittedCommands> commands;
  for (std::size_t i = 0; i < kThreads; ++i) {
    const auto queue = device().create_queue();
    TL_ASSERT_OK(queue.status());
    queues[i] = *queue;
    numbers[i] = number(static_cast<std::uint32_t>(i));
    commands.push_back(with_table(advance(executable, numbers[i])));
  }
  at_once([&](std::size_t i) {
    TL_EXPECT_OK(queues[i]->submit({.commands = {commands[i]}}));
    TL_EXPECT_OK(i % 2 == 0 ? queues[i]->wait_idle() : executable->prepare());
  });
  for (std::size_t i = 0; i < kThreads; ++i) {
    TL_EXPECT_OK(queues[i]->wait_idle());
    expect_number(numbers[i], static_cast<std::uint32_t>(3 * i + 1));
  }
}

// Errors that need no compiler are reported at creation.
TEST_P(FirstUse, IsNotWaitedForByChecksOfTables) {
  EntryPoint entry = kernels::nothing();
  entry.workgroup_size = {1, 0, 1};
  ExecutableDesc desc = tested().kernels({entry});
  desc.build = BuildTime::FirstUse;
  EXPECT_THAT(device().create_executable(desc).status(),
              fails_with(StatusCode::InvalidArgument, "axis 1 is zero"));
}

TEST_P(FirstUse, IsNotWaitedForByChecksOfBindings) {
  EXPECT_THAT(attempt(make_advance(), {1, 1, 1}, {}, {Constant(1)}),
              fails_with(StatusCode::InvalidArgument, "takes 1 buffers and textures, got 0"));
}

// --- Builds that fail

class FailedFirstUse : public FirstUse {
 protected:
  void SetUp() override {
    FirstUse::SetUp();
    if (IsSkipped()) return;
    if (!computes()) GTEST_SKIP() << "the driver takes any code";
    failing_ =
        tested().broken == nullptr ? make(tested().kernels({kMissing})) : make(tested().broken());
    code_ = tested().broken == nullptr ? StatusCode::NotFound : StatusCode::BuildFailed;
    words_ = tested().broken == nullptr ? "add_two" : tested().broken_says;
  }
  // Matches the compiler's log, or the name of the missing function.
  auto is_failure() const { return fails_with(code_, words_); }

  std::shared_ptr<CommandBuffer> record(bool reusable = false) {
    auto commands = reusable ? begin_reusable() : begin();
    TL_EXPECT_OK(dispatch(*commands, failing_, {1, 1, 1}, {}));
    TL_EXPECT_OK(commands->finish());
    return commands;
  }
  Status submit_and_wait(const std::shared_ptr<CommandBuffer>& commands) {
    TL_RETURN_IF_ERROR(queue().submit({.commands = {with_table(commands)}}));
    return queue().wait_idle();
  }

  static inline const EntryPoint kMissing{.name = "add_two", .params = {}};
  std::shared_ptr<Executable> failing_;
  StatusCode code_ = StatusCode::Ok;
  std::string words_;
};
TL_ON_EVERY_DEVICE_WITH_EVERY_BINDING(FailedFirstUse);

TEST_P(FailedFirstUse, IsToldByPrepareEachTime) {
  const Status first = failing_->prepare();
  EXPECT_THAT(first, is_failure());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(failing_->prepare().message(), first.message());
}

TEST_P(FailedFirstUse, IsToldByTheSubmission) {
  EXPECT_THAT(submit_and_wait(record()), is_failure());
}

// The submission is accepted: only the device's compiler finds the error.
TEST_P(FailedFirstUse, IsNotToldBySubmit) {
  TL_EXPECT_OK(queue().submit({.commands = {with_table(record())}}));
  EXPECT_THAT(queue().wait_idle(), is_failure());
  TL_EXPECT_OK(queue().wait_idle());
}

TEST_P(FailedFirstUse, IsToldByTheSemaphoresOfTheSubmission) {
  const auto a = make_semaphore(), b = make_semaphore();
  TL_ASSERT_OK(queue().submit({.commands = {with_table(record())}, .signals = {{a, 1}, {b, 2}}}));
  EXPECT_THAT(a->wait(1), is_failure());
  EXPECT_THAT(b->wait(2), is_failure());
  EXPECT_THAT(queue().wait_idle(), is_failure());
}

TEST_P(FailedFirstUse, IsToldByEachSubmission) {
  const auto commands = record(true);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(submit_and_wait(commands), is_failure());
  EXPECT_THAT(submit_and_wait(record()), is_failure());
}

TEST_P(FailedFirstUse, IsToldByASubmissionAfterPrepare) {
  EXPECT_THAT(failing_->prepare(), is_failure());
  EXPECT_THAT(submit_and_wait(record()), is_failure());
}

TEST_P(FailedFirstUse, SpreadsToWhatWaits) {
  const auto first = make_semaphore(), second = make_semaphore();
  const auto x = number(5);
  const auto after = advance(make_advance(), x);
  TL_ASSERT_OK(queue().submit({.commands = {with_table(record())}, .signals = {{first, 1}}}));
  TL_ASSERT_OK(queue().submit(
      {.waits = {{first, 1}}, .commands = {with_table(after)}, .signals = {{second, 1}}}));
  EXPECT_THAT(second->wait(1), is_failure());
  EXPECT_THAT(queue().wait_idle(), is_failure());
}

// An error belongs to its submission: the next one runs.
TEST_P(FailedFirstUse, LeavesTheQueueUsable) {
  const auto x = number(5);
  const auto executable = make_advance();
  const auto done = make_semaphore();
  TL_ASSERT_OK(queue().submit({.commands = {with_table(record())}}));
  TL_ASSERT_OK(
      queue().submit({.commands = {with_table(advance(executable, x))}, .signals = {{done, 1}}}));
  TL_EXPECT_OK(done->wait(1));
  EXPECT_THAT(queue().wait_idle(), is_failure());
  expect_number(x, 16);
}

TEST_P(FailedFirstUse, LeavesOtherExecutablesUsable) {
  const auto before = make_advance();
  EXPECT_THAT(failing_->prepare(), is_failure());
  const auto x = number(5);
  EXPECT_THAT(submit_and_wait(record()), is_failure());
  TL_EXPECT_OK(submit_and_wait(advance(before, x)));
  TL_EXPECT_OK(submit_and_wait(advance(make_advance(), x)));
  expect_number(x, 49);
}

TEST_P(FailedFirstUse, ByPrepareOnSeveralThreads) {
  std::array<Status, kThreads> told;
  at_once([&](std::size_t i) { told[i] = failing_->prepare(); });
  for (const Status& status : told) {
    EXPECT_THAT(status, is_failure());
    EXPECT_EQ(status.message(), told[0].message());
  }
}

TEST_P(FailedFirstUse, BySubmissionsToSeveralQueues) {
  std::array<std::shared_ptr<Queue>, kThreads> queues;
  std::array<Status, kThreads> told;
  for (auto& queue : queues) {
    const auto made = device().create_queue();
    TL_ASSERT_OK(made.status());
    queue = *made;
  }
  std::vector<SubmittedCommands> commands;
  for (std::size_t i = 0; i < kThreads; ++i) commands.push_back(with_table(record()));
  at_once([&](std::size_t i) {
    TL_EXPECT_OK(queues[i]->submit({.commands = {commands[i]}}));
    told[i] = queues[i]->wait_idle();
  });
  for (const Status& status : told) EXPECT_THAT(status, is_failure());
}

// Every caller gets the outcome of the one build, with the message that creation would give.
TEST_P(FailedFirstUse, SaysWhatCreationSays) {
  const ExecutableDesc desc =
      tested().broken == nullptr ? tested().kernels({kMissing}) : tested().broken();
  const Status at_creation = device().create_executable(desc).status();
  EXPECT_THAT(at_creation, is_failure());
  EXPECT_EQ(failing_->prepare().code(), at_creation.code());
}

TEST_P(FailedFirstUse, OfAKernelThatTheCodeLacksIsNotFound) {
  const auto lacking = make(tested().kernels({kernels::nothing(), kMissing}));
  EXPECT_THAT(lacking->prepare(), fails_with(StatusCode::NotFound, "add_two"));
  const auto commands = begin();
  TL_ASSERT_OK(dispatch(*commands, lacking, {1, 1, 1}, {}));
  EXPECT_THAT(run(commands), fails_with(StatusCode::NotFound, "add_two"));
}

}  // namespace
}  // namespace texloom::hal::conformance
