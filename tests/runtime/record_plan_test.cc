// Tests recording plans into command buffers of the caller, and the limits of submissions.
#include "runtime/record_plan.h"

#include "runtime/tensor_transfer.h"
#include "tests/runtime/plan_executor_fixture.h"

namespace texloom::runtime {
namespace {

// Two plans in one command buffer, which is submitted twice: Z = X + 2 through Y.
TEST_F(PlanExecutorTest, PlansInACommandBufferOfTheCaller) {
  const LaunchPlan plan = add_one_plan();
  std::vector<std::shared_ptr<hal::Executable>> executables;
  for (const KernelSpec& kernel : plan.kernels) {
    auto made = device_->create_executable({.codes = kernel.codes, .entry_points = {kernel.entry}});
    TL_ASSERT_OK(made.status());
    executables.push_back(*made);
  }
  std::vector<hal::Binding> xyz;
  for (const TensorSpec& spec : {plan.arguments[0], plan.arguments[1], plan.arguments[1]})
    xyz.push_back(*allocate(*device_, spec));
  const std::vector<hal::Binding> temporaries = {*allocate(*device_, plan.temporaries[0])};
  TL_ASSERT_OK(write_tensor(*device_, plan.arguments[0], xyz[0], hal::bytes_of(ramp(kCount))));
  const auto commands = device_->create_command_buffer({.reusable = true});
  for (const std::size_t first : {0U, 1U}) {
    TL_ASSERT_OK(record(plan,
                        {.executables = executables,
                         .arguments = std::span(xyz).subspan(first, 2),
                         .temporaries = temporaries},
                        *commands));
  }
  TL_ASSERT_OK(commands->finish());
  for (int i = 0; i < 2; ++i) TL_ASSERT_OK(device_->queue()->submit(commands));
  std::vector<float> z(kCount);
  TL_ASSERT_OK(
      read_tensor(*device_, plan.arguments[1], xyz[2], std::as_writable_bytes(std::span(z))));
  EXPECT_EQ(z, ramp(kCount, 2));
}

// Counts the submissions of a run of ten launches with 4 bytes of arguments each.
TEST_F(PlanExecutorTest, LimitsOfSubmissions) {
  const LaunchPlan plan{.arguments = {buffer_tensor("x", 4)},
                        .temporaries = {},
                        .kernels = {count_kernel()},
                        .steps = {loop(0, 10, {launch(0, {1, 1, 1}, {argument(0)})})}};
  const auto submissions = [&](const CommitPolicy& policy) {
    const auto buffer = make_buffer(hal::Bytes(4, std::byte{0}));
    int count = 0;
    EXPECT_TRUE(make_executor(plan, policy)
                    ->run({{BufferBinding{buffer}}}, {}, 1,
                          [&] {
                            ++count;
                            return false;
                          })
                    .ok());
    EXPECT_TRUE(device_->queue()->wait_idle().ok());
    EXPECT_EQ(values_of<std::int32_t>(buffer).front(), 10);
    return count;
  };
  const auto limits = [](std::uint32_t launches, std::uint64_t bytes, std::uint32_t first) {
    return CommitPolicy{.launches = launches,
                        .bytes = bytes,
                        .first_launches = first,
                        .submissions_ahead = 0,
                        .backlog = 0};
  };
  EXPECT_EQ(submissions(CommitPolicy::off()), 1);
  EXPECT_EQ(submissions(limits(0, 0, 0)), 1);
  EXPECT_EQ(submissions(limits(10, 0, 0)), 1);
  EXPECT_EQ(submissions(limits(9, 0, 0)), 2);
  EXPECT_EQ(submissions(limits(1, 0, 0)), 10);
  EXPECT_EQ(submissions(limits(9, 0, 2)), 2);   // 2 + 8
  EXPECT_EQ(submissions(limits(4, 0, 1)), 4);   // 1 + 4 + 4 + 1
  EXPECT_EQ(submissions(limits(0, 12, 0)), 4);  // 3 + 3 + 3 + 1
}

}  // namespace
}  // namespace texloom::runtime
