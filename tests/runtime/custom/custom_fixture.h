// A fixture that runs plans of custom operators on an OpenCL device and on the host driver.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/custom/host_operator.h"
#include "runtime/custom/operator.h"
#include "runtime/custom/operator_registry.h"
#include "runtime/custom/prepared_calls.h"
#include "runtime/drivers/host/driver.h"
#include "runtime/plan/record.h"
#include "runtime/plan/tensor_transfer.h"
#include "tests/runtime/opencl_fixture.h"
#include "tests/runtime/plan/plan_fixture.h"

namespace texloom::runtime {

using hal::Access;
using hal::fails_with;

inline constexpr std::size_t kElements = 24;   // of every tensor in these tests
inline constexpr hal::Extent2D kTexels{3, 2};  // of a texture with kElements

using Prepare = std::function<Result<std::unique_ptr<PreparedCall>>(PrepareContext&)>;
using Encode = std::function<Status(const EncodeContext&)>;

class FunctionCall final : public PreparedCall {
 public:
  explicit FunctionCall(Encode encode) : encode_(std::move(encode)) {}
  Status encode(const EncodeContext& context) const override { return encode_(context); }

 private:
  Encode encode_;
};

inline Result<std::unique_ptr<PreparedCall>> call_of(Encode encode) {
  return std::unique_ptr<PreparedCall>(std::make_unique<FunctionCall>(std::move(encode)));
}

// An operator whose prepare() is a function of the test.
class FunctionOperator final : public CustomOperator {
 public:
  FunctionOperator(OperatorInfo info, Prepare prepare)
      : info_(std::move(info)), prepare_(std::move(prepare)) {}

  const OperatorInfo& info() const override { return info_; }
  Result<std::vector<TensorType>> shapes(std::span<const TensorType> inputs,
                                         const Attributes&) const override {
    return std::vector<TensorType>(inputs.begin(), inputs.end());
  }
  Result<std::unique_ptr<PreparedCall>> prepare(PrepareContext& context) const override {
    return prepare_(context);
  }

 private:
  OperatorInfo info_;
  Prepare prepare_;
};

inline std::shared_ptr<const CustomOperator> operator_of(OperatorInfo info, Encode encode) {
  return std::make_shared<FunctionOperator>(std::move(info),
                                            [=](PrepareContext&) { return call_of(encode); });
}

class HostFunction final : public HostOperator {
 public:
  using Run = std::function<Status(const HostArguments&)>;
  HostFunction(OperatorInfo info, Run run, bool takes_places = false)
      : info_(std::move(info)), run_(std::move(run)), takes_places_(takes_places) {
    info_.device = OperatorDevice::Host;
  }

  const OperatorInfo& info() const override { return info_; }
  Result<std::vector<TensorType>> shapes(std::span<const TensorType> inputs,
                                         const Attributes&) const override {
    return std::vector<TensorType>(inputs.begin(), inputs.end());
  }
  Status run(const HostArguments& arguments) const override { return run_(arguments); }
  bool takes_places() const override { return takes_places_; }

 private:
  OperatorInfo info_;
  Run run_;
  bool takes_places_;
};

inline std::span<float> floats(const HostTensor& tensor) {
  return {reinterpret_cast<float*>(tensor.data.data()), tensor.data.size() / sizeof(float)};
}

// Describes "test::NAME", which reads x and writes y.
inline OperatorInfo x_to_y(const std::string& name) {
  return {.name = "test::" + name,
          .arguments = {{.name = "x"}, {.name = "y", .access = Access::Write}}};
}

inline TensorSpec texture_of_elements(std::string name) {
  return texture_tensor(std::move(name), kTexels);
}
inline TensorSpec buffer_of_elements(std::string name) {
  return buffer_tensor(std::move(name), kElements * sizeof(float));
}

inline std::vector<float> numbers(float start, float step = 1) {
  std::vector<float> values(kElements);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = start + step * static_cast<float>(i);
  return values;
}

// The parameter is the name of a driver.
class CustomOperators : public hal::DeviceTest, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { open(GetParam()); }

  void open(const std::string& name) {
    auto driver = name == "host" ? hal::host::create_driver() : hal::opencl::create_driver();
    if (driver.status().code() == StatusCode::Unavailable)
      GTEST_SKIP() << "no OpenCL device: " << driver.status().message();
    ASSERT_TRUE(driver.ok()) << driver.status().to_string();
    driver_ = *driver;
    device_ = *driver_->open(0);
  }

  // Registers the operator, and adds a call with the plan's arguments of these numbers.
  void call(const std::shared_ptr<const CustomOperator>& op, std::vector<std::uint32_t> arguments,
            std::vector<Attribute> attributes = {}, std::vector<std::byte> payload = {}) {
    const OperatorInfo& info = op->info();
    if (!registry_.find(info.name, info.version).ok()) {
      TL_EXPECT_OK(registry_.add(op));
    }
    OperatorCall made{.op = info.name,
                      .version = info.version,
                      .attributes = std::move(attributes),
                      .payload = std::move(payload)};
    for (const OperatorArgument& each : info.arguments) made.accesses.push_back(each.access);
    CallStep step{.call = static_cast<std::uint32_t>(plan_.calls.size()), .tensors = {}};
    for (const std::uint32_t i : arguments) step.tensors.push_back({TensorRef::Kind::Argument, i});
    plan_.calls.push_back(std::move(made));
    plan_.steps.emplace_back(std::move(step));
  }

  Status prepare(const PrepareOptions& options = {}) {
    TL_ASSIGN_OR_RETURN(calls_, prepare_calls(registry_, plan_, device_, options));
    return {};
  }

  // Records the plan; argument i is slot i of the table.
  Result<std::shared_ptr<hal::CommandBuffer>> recorded() {
    std::vector<hal::BindingRef> slots;
    for (std::uint32_t i = 0; i < plan_.arguments.size(); ++i)
      slots.emplace_back(hal::BindingSlot{i});
    const auto commands = device_->create_command_buffer({.reusable = true});
    TL_RETURN_IF_ERROR(texloom::runtime::record(
        plan_, {.kernels = {}, .arguments = slots, .calls = calls_.get()}, *commands));
    TL_RETURN_IF_ERROR(commands->finish());
    return commands;
  }

  // Allocates the arguments and fills them with these values.
  std::vector<hal::Binding> table_of(const std::vector<std::vector<float>>& values) {
    std::vector<hal::Binding> table;
    for (std::size_t i = 0; i < plan_.arguments.size(); ++i) {
      table.push_back(*allocate(*device_, plan_.arguments[i]));
      TL_EXPECT_OK(
          write_tensor(*device_, plan_.arguments[i], table.back(), hal::bytes_of(values[i])));
    }
    return table;
  }
  std::vector<float> values_at(const std::vector<hal::Binding>& table, std::size_t i) {
    std::vector<float> values(kElements);
    TL_EXPECT_OK(read_tensor(*device_, plan_.arguments[i], table[i],
                             std::as_writable_bytes(std::span(values))));
    return values;
  }

  // Prepares and runs the plan once. Keeps the arguments in `table_`.
  Status run_plan(const std::vector<std::vector<float>>& values,
                  const PrepareOptions& options = {}) {
    TL_RETURN_IF_ERROR(prepare(options));
    TL_ASSIGN_OR_RETURN(const auto commands, recorded());
    table_ = table_of(values);
    return device_->queue()->run({{}, {{commands, table_}}, {}});
  }
  std::vector<float> result(std::size_t i) { return values_at(table_, i); }

  LaunchPlan plan_;
  OperatorRegistry registry_;
  std::unique_ptr<PreparedCalls> calls_;
  std::vector<hal::Binding> table_;
};

}  // namespace texloom::runtime
