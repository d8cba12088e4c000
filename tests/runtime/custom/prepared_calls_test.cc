// Tests calls of portable and native operators, the arguments of prepare, and refused calls.
#include "runtime/custom/prepared_calls.h"

#include <stdexcept>

#include "tests/runtime/custom/custom_fixture.h"

namespace texloom::runtime {
namespace {

const auto kDrivers = testing::Values("opencl", "host");
std::string driver_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

class PreparedCallsTest : public CustomOperators {
 protected:
  void SetUp() override {
    CustomOperators::SetUp();
    if (IsSkipped()) return;
    plan_.arguments = {buffer_of_elements("X"), buffer_of_elements("Y")};
  }
  auto refused(const std::string& part) { return fails_with(StatusCode::InvalidArgument, part); }
};
INSTANTIATE_TEST_SUITE_P(Drivers, PreparedCallsTest, kDrivers, driver_name);

// Commands on the workspace run in order; each recording has a separate workspace.
TEST_P(PreparedCallsTest, AWorkspaceForEachRecording) {
  const auto seen = make_buffer(hal::Bytes(8, std::byte{0}));
  std::vector<std::shared_ptr<hal::Buffer>> workspaces;
  call(std::make_shared<FunctionOperator>(
           x_to_y("fill"),
           [&](PrepareContext& context) {
             context.workspace_bytes = 8;
             return call_of([&](const EncodeContext& encode) -> Status {
               EXPECT_EQ(encode.accesses.size(), 3U);
               const auto& [buffer, offset] = *encode.workspace;
               workspaces.push_back(buffer);
               const hal::Bytes pattern(1, std::byte{7});
               TL_RETURN_IF_ERROR(encode.commands.fill(buffer, offset, 8, pattern));
               return encode.commands.copy_buffer(buffer, offset, seen, 0, 8);
             });
           }),
       {0, 1});
  TL_EXPECT_OK(run_plan({numbers(0), numbers(1)}));
  EXPECT_EQ(content_of(seen), hal::Bytes(8, std::byte{7}));
  const auto first = recorded(), second = recorded();
  TL_EXPECT_OK(first.status());
  ASSERT_EQ(workspaces.size(), 3U);
  EXPECT_NE(workspaces[1], workspaces[2]);
}

TEST_P(PreparedCallsTest, WhatPrepareSees) {
  std::vector<std::string> seen;
  const auto op = std::make_shared<FunctionOperator>(
      OperatorInfo{.name = "test::see",
                   .arguments = {{.name = "x"}, {.name = "y", .access = Access::Write}},
                   .attributes = {{"l", AttributeType::Float, 0.25}},
                   .variants = {{hal::ElementType::Int32, hal::ElementType::Int32},
                                {hal::ElementType::Float32, hal::ElementType::Float32}}},
      [&](PrepareContext& context) {
        EXPECT_EQ(context.device, device_);
        EXPECT_EQ(context.tensors[1].name, "Y");
        EXPECT_EQ(context.variant, 1U);
        EXPECT_EQ(context.payload.size(), 2U);
        const auto words = [](const std::optional<CallNeighbor>& neighbor) {
          if (!neighbor) return std::string("none");
          return fmt::format("{} on {}", neighbor->name, to_string(neighbor->device));
        };
        seen.push_back(fmt::format("{}: after {}, before {}, l = {}", context.number,
                                   words(context.previous), words(context.next),
                                   *context.attributes.number("l")));
        return call_of([](const EncodeContext&) { return Status(); });
      });
  const auto host =
      std::make_shared<HostFunction>(x_to_y("host"), [](const HostArguments&) { return Status(); });
  const std::vector<std::byte> payload(2);
  call(op, {0, 1}, {{"l", 0.5}}, payload);
  call(host, {0, 1});
  call(op, {0, 1}, {}, payload);
  plan_.steps.push_back(plan_.steps[0]);  // a repeated call is prepared once
  TL_EXPECT_OK(prepare());
  EXPECT_EQ(seen,
            (std::vector<std::string>{"0: after none, before test::host on host, l = 0.5",
                                      "2: after test::host on host, before test::see on program, "
                                      "l = 0.25"}));
  TL_EXPECT_OK(recorded().status());
}

TEST_P(PreparedCallsTest, CallsThatDoNotFitTheirOperator) {
  const auto nothing = [](const EncodeContext&) { return Status(); };
  call(operator_of(x_to_y("a"), nothing), {0, 1});
  const LaunchPlan fitting = plan_;
  const auto changed = [&](const std::function<void(LaunchPlan&)>& change) {
    plan_ = fitting;
    change(plan_);
    return prepare();
  };
  TL_EXPECT_OK(changed([](LaunchPlan&) {}));
  EXPECT_THAT(changed([](LaunchPlan& plan) { plan.calls[0].op = "test::b"; }),
              fails_with(StatusCode::NotFound, "Registered: test::a"));
  EXPECT_THAT(changed([](LaunchPlan& plan) {
                std::get<CallStep>(plan.steps[0]).tensors.pop_back();
                plan.calls[0].accesses.pop_back();
              }),
              refused("operator \"test::a\": has 2 arguments, but the call has 1"));
  EXPECT_THAT(changed([](LaunchPlan& plan) { plan.calls[0].accesses[0] = Access::Write; }),
              refused("argument \"x\": it is declared as read, but the call says write"));
  EXPECT_THAT(
      changed([](LaunchPlan& plan) { std::get<CallStep>(plan.steps[0]).tensors[0].index = 1; }),
      refused("\"x\" and \"y\" are the same tensor, and one is written; help: declare one "
              "in-out argument"));
  EXPECT_THAT(changed([](LaunchPlan& plan) { plan.calls[0].attributes = {{"k", 1.0}}; }),
              refused("operator \"test::a\": has no attribute \"k\""));
  EXPECT_THAT(changed([](LaunchPlan& plan) { plan.symbols = {"n"}; }),
              refused("help: give them values first"));
}

TEST_P(PreparedCallsTest, StorageLayoutTypeAndDriver) {
  const auto nothing = [](const EncodeContext&) { return Status(); };
  const auto prepared = [&](const std::function<void(OperatorInfo&)>& change) {
    OperatorInfo info = x_to_y("a");
    change(info);
    registry_ = {};
    plan_.calls.clear();
    plan_.steps.clear();
    call(operator_of(info, nothing), {0, 1});
    return prepare();
  };
  plan_.arguments[0] = texture_of_elements("X");
  EXPECT_THAT(prepared([](auto& i) { i.arguments[0].storage = ArgumentStorage::Buffer; }),
              refused("argument \"x\": it is declared as a buffer, but \"X\" is a texture"));
  EXPECT_THAT(prepared([](auto& i) { i.arguments[1].storage = ArgumentStorage::Texture; }),
              refused("argument \"y\": it is declared as a texture, but \"Y\" is a buffer"));
  TL_EXPECT_OK(
      prepared([](auto& i) { i.arguments[0].layout = {.rows = {0}, .cols = {1}, .lanes = {2}}; }));
  EXPECT_THAT(
      prepared([](auto& i) { i.arguments[0].layout = {.rows = {}, .cols = {0, 1}, .lanes = {2}}; }),
      refused("the layout rows (), cols (0, 1), lanes (2), but \"X\" has rows (0), cols (1), "
              "lanes (2); help: "));
  EXPECT_THAT(prepared([](auto& i) {
                i.variants = {{hal::ElementType::Float16, hal::ElementType::Float16}};
              }),
              refused("no variant for (float32, float32); help: it has (float16, float16)"));
  EXPECT_THAT(prepared([](auto& i) { i.drivers = {"null"}; }),
              fails_with(StatusCode::Unimplemented, "works with devices of null"));
}

TEST_P(PreparedCallsTest, FailuresAndExceptionsNameTheOperator) {
  const auto failing = [&](const Encode& encode) {
    registry_ = {};
    plan_.calls.clear();
    plan_.steps.clear();
    call(operator_of(x_to_y("bad"), encode), {0, 1});
    return run_plan({numbers(0), numbers(0)});
  };
  EXPECT_THAT(
      failing([](const EncodeContext&) { return Status(StatusCode::NotFound, "no such thing"); }),
      fails_with(StatusCode::NotFound, "operator \"test::bad\": no such thing"));
  EXPECT_THAT(failing([](const EncodeContext&) -> Status { throw std::runtime_error("oops"); }),
              fails_with(StatusCode::Internal, "operator \"test::bad\": threw \"oops\""));
  EXPECT_THAT(failing([](const EncodeContext&) -> Status { throw 1; }),
              fails_with(StatusCode::Internal, "threw an object"));
  registry_ = {};
  plan_.calls.clear();
  plan_.steps.clear();
  call(std::make_shared<FunctionOperator>(
           x_to_y("null"),
           [](PrepareContext&) { return Result<std::unique_ptr<PreparedCall>>(nullptr); }),
       {0, 1});
  EXPECT_THAT(prepare(), refused("prepare returned null"));
}

TEST_P(PreparedCallsTest, WaitsAreRefused) {
  const auto queue = device_->queue();
  const auto semaphore = *device_->create_semaphore();
  call(operator_of(x_to_y("waits"),
                   [=](const EncodeContext&) { return semaphore->wait(1, hal::after({})); }),
       {0, 1});
  EXPECT_THAT(run_plan({numbers(0), numbers(0)}),
              refused("operator \"test::waits\": operator \"test::waits\" waits, which would stop "
                      "the queue"));
  TL_EXPECT_OK(queue->wait_idle());  // this thread may wait again
  call(operator_of(x_to_y("native_waits"),
                   [=](const EncodeContext& context) {
                     return context.native(
                         [=](const hal::NativeCommands&) { return queue->wait_idle(); });
                   }),
       {0, 1});
  plan_.steps.erase(plan_.steps.begin());
  EXPECT_THAT(run_plan({numbers(0), numbers(0)}), refused("a native command waits"));
}

TEST_P(PreparedCallsTest, AnotherDevice) {
  call(operator_of(x_to_y("a"), [](const EncodeContext&) { return Status(); }), {0, 1});
  TL_ASSERT_OK(prepare());
  const auto other = *driver_->open(0);
  const auto commands = other->create_command_buffer();
  const std::vector<hal::BindingRef> slots = {hal::BindingSlot{0}, hal::BindingSlot{1}};
  EXPECT_THAT(texloom::runtime::record(
                  plan_, {.kernels = {}, .arguments = slots, .calls = calls_.get()}, *commands),
              refused("operator \"test::a\": was prepared for another device"));
}

}  // namespace
}  // namespace texloom::runtime
