// Tests kernels whose blocks take tickets (LastBlock), run by executors at the same time.
#include <array>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "compile/compile.h"
#include "compile/launch_plan.h"
#include "lower/te_text.h"
#include "runtime/executor/executor.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::compile {
namespace {

// Sixteen blocks sum up parts of a column; the last of them adds up their sums, in order.
constexpr std::string_view kColumns =
    R"(program columns stage=te target="opencl -device=nvidia -conditional_barriers=0"
  reducer sum(lhs, rhs): float32 = lhs + rhs, identity=0.0
  param A
  param B

placeholder A: float32[256, 32]

compute P(p < 16, i < 32): float32 = reduce(sum, [k < 16], A[p * 16 + k, i] * A[k, i])
  scope global
  compute_at B, i
  bind p blockIdx.y

compute B(i < 32): float32 = reduce(sum, [p < 16], P[p, i])
  output
  bind i blockIdx.x
)";
constexpr int kRuns = 200;
constexpr std::size_t kExecutors = 2;

class Tickets : public hal::OpenClTest {
 protected:
  std::shared_ptr<runtime::DeviceProgram> program() {
    const SourceProgram source{
        std::make_shared<const lower::Lowering>(lower::parse_lowering(kColumns, "columns.tl"))};
    const CompiledModule module = compile(source);
    EXPECT_EQ(module.kernels.size(), 1U);
    auto made = runtime::DeviceProgram::create(device_, make_launch_plan(module));
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() ? *made : nullptr;
  }

  // An executor with a queue of its own.
  std::unique_ptr<runtime::Executor> executor(std::shared_ptr<runtime::DeviceProgram> program) {
    const auto queue = device_->create_queue();
    EXPECT_TRUE(queue.ok()) << queue.status().to_string();
    if (!queue.ok()) return nullptr;
    auto made = runtime::Executor::create(std::move(program),
                                          {.inputs = {{"A", 0U}}, .outputs = {{"B", 1U}}}, *queue);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() ? std::move(*made) : nullptr;
  }
};

// Values whose sums round, and differ for each executor.
std::vector<float> table(std::size_t number) {
  std::vector<float> values(256 * 32);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((i * 7919 + number * 31) % 1009) / 97 - 5;
  }
  return values;
}

Status run_once(runtime::Executor& executor, std::span<float> result) {
  TL_RETURN_IF_ERROR(executor.run());
  return executor.get_output(0, std::as_writable_bytes(result));
}

// Executors on queues of their own have counters of their own: each run of each gives the bits of
// its first one, which ran alone.
TEST_F(Tickets, ExecutorsOnTwoQueuesRunAtOnce) {
  const auto shared = program();
  ASSERT_NE(shared, nullptr);
  std::array<std::unique_ptr<runtime::Executor>, kExecutors> executors;
  std::array<std::vector<float>, kExecutors> inputs, alone;
  for (std::size_t i = 0; i < kExecutors; ++i) {
    executors[i] = executor(shared);
    ASSERT_NE(executors[i], nullptr);
    inputs[i] = table(i);
    alone[i].resize(32);
    TL_ASSERT_OK(executors[i]->set_input(0, std::as_bytes(std::span(inputs[i]))));
    TL_ASSERT_OK(run_once(*executors[i], alone[i]));
    double first = 0;
    for (std::size_t row = 0; row < 256; ++row) {
      first += static_cast<double>(inputs[i][row * 32]) * inputs[i][row % 16 * 32];
    }
    EXPECT_NEAR(alone[i][0], first, 1e-2);
  }
  EXPECT_NE(alone[0], alone[1]);
  std::array<int, kExecutors> equal{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kExecutors; ++i) {
    threads.emplace_back([&, i] {
      std::vector<float> result(32);
      for (int run = 0; run < kRuns; ++run) {
        const Status status = run_once(*executors[i], result);
        EXPECT_TRUE(status.ok()) << status.to_string();
        equal[i] += result == alone[i];
      }
    });
  }
  for (std::thread& each : threads) each.join();
  for (const int count : equal) EXPECT_EQ(count, kRuns);
}

}  // namespace
}  // namespace texloom::compile
