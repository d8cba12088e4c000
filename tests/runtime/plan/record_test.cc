// Tests recording plans into the caller's command buffers, and the limits of submissions.
#include "runtime/plan/record.h"

#include "runtime/plan/tensor_transfer.h"
#include "tests/runtime/executor/device_program_fixture.h"

namespace texloom::runtime {
namespace {

std::vector<hal::BindingRef> refs(const std::vector<hal::Binding>& bindings) {
  std::vector<hal::BindingRef> result;
  for (const hal::Binding& each : bindings)
    std::visit([&](const auto& memory) { result.emplace_back(memory); }, each);
  return result;
}

// Two plans in one command buffer, which is submitted twice: Z = X + 2 through Y.
TEST_F(DeviceProgramTest, PlansInACommandBufferOfTheCaller) {
  const LaunchPlan plan = add_one_plan();
  const auto made = create_kernels(*device_, plan);
  TL_ASSERT_OK(made.status());
  std::vector<hal::Binding> memory;
  for (const TensorSpec& spec :
       {plan.arguments[0], plan.arguments[1], plan.arguments[1], plan.temporaries[0]})
    memory.push_back(*allocate(*device_, spec));
  const std::vector<hal::BindingRef> xyz = refs({memory[0], memory[1], memory[2]});
  const std::vector<hal::BindingRef> temporaries = refs({memory[3]});
  TL_ASSERT_OK(write_tensor(*device_, plan.arguments[0], memory[0], hal::bytes_of(ramp(kCount))));
  const auto commands = device_->create_command_buffer({.reusable = true});
  for (const std::size_t first : {0U, 1U}) {
    TL_ASSERT_OK(record(plan,
                        {.kernels = made->kernels,
                         .arguments = std::span(xyz).subspan(first, 2),
                         .temporaries = temporaries},
                        *commands));
  }
  TL_ASSERT_OK(commands->finish());
  for (int i = 0; i < 2; ++i) TL_ASSERT_OK(device_->queue()->submit(commands));
  std::vector<float> z(kCount);
  TL_ASSERT_OK(
      read_tensor(*device_, plan.arguments[1], memory[2], std::as_writable_bytes(std::span(z))));
  EXPECT_EQ(z, ramp(kCount, 2));
}

// Counts the submissions of a run of ten launches with 4 bytes of arguments each.
TEST_F(DeviceProgramTest, LimitsOfSubmissions) {
  const LaunchPlan plan = TestPlan{.arguments = {buffer_tensor("x", 4)},
                                   .temporaries = {},
                                   .kernels = {count_kernel()},
                                   .steps = {loop(0, 10, {launch(0, {1, 1, 1}, {argument(0)})})}};
  const auto submissions = [&](const CommitPolicy& policy) {
    const auto buffer = make_buffer(hal::Bytes(4, std::byte{0}));
    int count = 0;
    EXPECT_TRUE(make_program(plan, policy)
                    ->run({{BufferBinding{buffer}}}, {}, {},
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

// Two kernels of one module; the arguments are slots of the submissions' tables.
TEST_F(DeviceProgramTest, AModuleOfSeveralKernelsOverSlots) {
  LaunchPlan plan = add_one_plan();
  plan.modules = {{.codes = opencl_c(std::string(kCopyIn) + kAddOne, {"-cl-std=CL1.2"})}};
  for (KernelSpec& kernel : plan.kernels) kernel.module = 0;
  const auto made = create_kernels(*device_, plan);
  TL_ASSERT_OK(made.status());
  EXPECT_EQ(made->executables.size(), 1U);
  const std::vector<hal::BindingRef> arguments = {hal::BindingSlot{0}, hal::BindingSlot{1}};
  const std::vector<hal::BindingRef> temporaries = {hal::BindingSlot{2}};
  const auto commands = device_->create_command_buffer({.reusable = true});
  TL_ASSERT_OK(
      record(plan, {.kernels = made->kernels, .arguments = arguments, .temporaries = temporaries},
             *commands));
  TL_ASSERT_OK(commands->finish());
  for (const float start : {0.0F, 5.0F}) {
    std::vector<hal::Binding> table;
    for (const TensorSpec& spec : {plan.arguments[0], plan.arguments[1], plan.temporaries[0]})
      table.push_back(*allocate(*device_, spec));
    TL_ASSERT_OK(
        write_tensor(*device_, plan.arguments[0], table[0], hal::bytes_of(ramp(kCount, start))));
    TL_ASSERT_OK(device_->queue()->submit({{}, {{commands, table}}, {}}));
    std::vector<float> y(kCount);
    TL_ASSERT_OK(
        read_tensor(*device_, plan.arguments[1], table[1], std::as_writable_bytes(std::span(y))));
    EXPECT_EQ(y, ramp(kCount, start + 1));
  }
}

// With the barriers of the plan, finish() finds none missing; without these barriers it fails.
TEST_F(DeviceProgramTest, BarriersThatThePlanNames) {
  LaunchPlan plan = add_one_plan();
  const auto made = create_kernels(*device_, plan);
  TL_ASSERT_OK(made.status());
  const auto finished = [&] {
    const std::vector<hal::BindingRef> arguments =
        refs({*allocate(*device_, plan.arguments[0]), *allocate(*device_, plan.arguments[1])});
    const std::vector<hal::BindingRef> temporaries =
        refs({*allocate(*device_, plan.temporaries[0])});
    const auto commands = device_->create_command_buffer({.barriers = hal::Barriers::Checked});
    TL_EXPECT_OK(
        record(plan, {.kernels = made->kernels, .arguments = arguments, .temporaries = temporaries},
               *commands));
    return commands->finish();
  };
  EXPECT_FALSE(finished().ok());
  plan.steps.insert(plan.steps.begin() + 2, BarrierStep{});
  TL_EXPECT_OK(finished());
}

}  // namespace
}  // namespace texloom::runtime
