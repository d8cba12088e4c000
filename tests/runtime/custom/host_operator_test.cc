#include "runtime/custom/host_operator.h"

#include <algorithm>
#include <stdexcept>

#include "tests/runtime/custom/custom_fixture.h"

namespace texloom::runtime {
namespace {

class HostOperators : public CustomOperators {};
INSTANTIATE_TEST_SUITE_P(Drivers, HostOperators, testing::Values("opencl", "host"),
                         [](const auto& driver) { return driver.param; });

std::shared_ptr<const CustomOperator> add(const std::string& name, float what) {
  return std::make_shared<HostFunction>(x_to_y(name), [=](const HostArguments& arguments) {
    const auto x = floats(arguments.tensors[0]), y = floats(arguments.tensors[1]);
    EXPECT_EQ(x.size(), kElements);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] + what;
    return Status();
  });
}

// Each operator sees what the operator before it wrote, in textures and in buffers.
TEST_P(HostOperators, FollowOneAnotherInTheQueue) {
  plan_.arguments = {texture_of_elements("X"), buffer_of_elements("T"), texture_of_elements("Y")};
  call(add("one", 1), {0, 1});
  call(add("two", 2), {1, 2});
  TL_EXPECT_OK(run_plan({numbers(0), numbers(0), numbers(0)}));
  EXPECT_EQ(result(2), numbers(3));
}

// The operator sees a transposed tensor in row-major order, unless it asks for the stored order.
TEST_P(HostOperators, SeeElementsInRowMajorOrder) {
  TensorSpec transposed = buffer_of_elements("X");
  transposed.shape = {4, 6};
  transposed.layout = {.shape = {4, 6}, .rows = {}, .cols = {{1, 1, 6}, {0, 1, 4}}, .lanes = {}};
  plan_.arguments = {transposed, buffer_of_elements("Y")};
  std::vector<float> seen;
  OperatorInfo info = x_to_y("see");
  const auto see = [&](const HostArguments& arguments) {
    const auto x = floats(arguments.tensors[0]);
    seen.assign(x.begin(), x.end());
    return Status();
  };
  call(std::make_shared<HostFunction>(info, see), {0, 1});
  TL_EXPECT_OK(run_plan({numbers(0), numbers(7)}));
  EXPECT_EQ(seen, numbers(0));
  EXPECT_EQ(result(1), std::vector<float>(kElements, 0.0F));  // written, without having been read
  info.name = "test::places";
  plan_.steps.clear();
  call(std::make_shared<HostFunction>(info, see, true), {0, 1});
  TL_EXPECT_OK(run_plan({numbers(0), numbers(7)}));
  EXPECT_EQ(seen[1], 6.0F);  // stored order: the next element along axis 0
}

// On a device of the host, the operator reads the memory of the tensor; elsewhere a copy.
TEST_P(HostOperators, ReadArraysOfTheHostInPlace) {
  plan_.arguments = {buffer_of_elements("X"), buffer_of_elements("Y")};
  std::vector<const std::byte*> seen;
  call(std::make_shared<HostFunction>(x_to_y("see"),
                                      [&](const HostArguments& arguments) {
                                        seen.push_back(arguments.tensors[0].data.data());
                                        return Status();
                                      }),
       {0, 1});
  TL_ASSERT_OK(prepare());
  const std::vector<hal::Binding> table = table_of({numbers(1), numbers(0)});
  TL_ASSERT_OK(device_->queue()->submit({{}, {{*recorded(), table}}, {}}));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  ASSERT_EQ(seen.size(), 1U);
  if (GetParam() != "host") return;
  const auto& place = std::get<hal::BufferBinding>(table[0]);
  const auto own = place.buffer->map(hal::Access::Read);
  TL_ASSERT_OK(own.status());
  EXPECT_EQ(seen[0], own->bytes().data() + place.offset);
}

TEST_P(HostOperators, InOutArguments) {
  plan_.arguments = {texture_of_elements("X")};
  call(std::make_shared<HostFunction>(
           OperatorInfo{.name = "test::double",
                        .arguments = {{.name = "x", .access = Access::ReadWrite}}},
           [](const HostArguments& arguments) {
             for (float& each : floats(arguments.tensors[0])) each *= 2;
             return Status();
           }),
       {0});
  plan_.steps.push_back(plan_.steps.front());
  TL_EXPECT_OK(run_plan({numbers(1)}));
  EXPECT_EQ(result(0), numbers(4, 4));
}

// Two threads run one prepared plan with their own tables on their own queues.
TEST_P(HostOperators, TwoExecutors) {
  plan_.arguments = {buffer_of_elements("X"), texture_of_elements("Y")};
  call(add("one", 1), {0, 1});
  TL_ASSERT_OK(prepare());
  std::vector<std::shared_ptr<hal::Queue>> queues = {device_->queue(), *device_->create_queue()};
  const auto commands = *recorded();
  constexpr int kRuns = 20;
  std::vector<std::vector<hal::Binding>> tables;
  for (int i = 0; i < 2 * kRuns; ++i)
    tables.push_back(table_of({numbers(static_cast<float>(i)), numbers(0)}));
  for (int i = 0; i < 2 * kRuns; ++i)
    TL_EXPECT_OK(queues[static_cast<std::size_t>(i % 2)]->submit(
        {{}, {{commands, tables[static_cast<std::size_t>(i)]}}, {}}));
  for (const auto& queue : queues) TL_EXPECT_OK(queue->wait_idle());
  for (int i = 0; i < 2 * kRuns; ++i)
    EXPECT_EQ(values_at(tables[static_cast<std::size_t>(i)], 1),
              numbers(static_cast<float>(i + 1)));
}

TEST_P(HostOperators, FailThrowAndWait) {
  plan_.arguments = {buffer_of_elements("X"), buffer_of_elements("Y")};
  const auto run = [&](const HostFunction::Run& function) {
    registry_ = {};
    plan_.calls.clear();
    plan_.steps.clear();
    call(std::make_shared<HostFunction>(x_to_y("bad"), function), {0, 1});
    return run_plan({numbers(0), numbers(5)});
  };
  EXPECT_THAT(run([](const HostArguments&) { return Status(StatusCode::NotFound, "nothing"); }),
              fails_with(StatusCode::NotFound, "operator \"test::bad\": nothing"));
  EXPECT_EQ(result(1), numbers(5));  // nothing was written
  EXPECT_THAT(run([](const HostArguments&) -> Status { throw std::runtime_error("oops"); }),
              fails_with(StatusCode::Internal, "operator \"test::bad\": threw \"oops\""));
  EXPECT_THAT(run([&](const HostArguments&) { return device_->queue()->wait_idle(); }),
              fails_with(StatusCode::InvalidArgument, "operator \"test::bad\" waits"));
  TL_EXPECT_OK(device_->queue()->wait_idle());
}

// An operator may forward its calls to a host operator that it owns.
TEST_P(HostOperators, MayBeHeldByAnother) {
  plan_.arguments = {buffer_of_elements("X"), buffer_of_elements("Y")};
  OperatorInfo info = x_to_y("outer");
  info.device = OperatorDevice::Host;
  const auto inner =
      std::make_shared<HostFunction>(x_to_y("inner"), [](const HostArguments& arguments) {
        std::ranges::copy(floats(arguments.tensors[0]), floats(arguments.tensors[1]).begin());
        return Status();
      });
  call(std::make_shared<FunctionOperator>(
           info, [=](PrepareContext& context) { return inner->prepare(context); }),
       {0, 1});
  TL_EXPECT_OK(run_plan({numbers(3), numbers(5)}));
  EXPECT_EQ(result(1), numbers(3));
}

// Submission checks that the table has each slot, with memory of the device.
TEST_P(HostOperators, SlotsThatTheTableLacks) {
  plan_.arguments = {buffer_of_elements("X"), buffer_of_elements("Y")};
  call(add("one", 1), {0, 1});
  TL_ASSERT_OK(prepare());
  const auto commands = *recorded();
  EXPECT_THAT(device_->queue()->submit({{}, {{commands, {}}}, {}}),
              fails_with(StatusCode::InvalidArgument,
                         "host_call: slot 0 is out of range: the table has 0"));
  const auto other = *driver_->open(0);
  std::vector<hal::Binding> table = table_of({numbers(0), numbers(0)});
  table[1] = *allocate(*other, plan_.arguments[1]);
  EXPECT_THAT(device_->queue()->submit({{}, {{commands, table}}, {}}),
              fails_with(StatusCode::InvalidArgument, "belongs to another device"));
}

}  // namespace
}  // namespace texloom::runtime
