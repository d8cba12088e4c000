// Fills, copies and updates at every class of alignment, with sentinels around: through the API,
// and through the driver's own kernels, which devices need that want multiples of four.
#include <chrono>
#include <utility>

#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::opencl {
namespace {

// 1 is what OpenCL takes, 4 what the kernels are for.
class TransferTest : public OpenClTest, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (driver_ == nullptr) return;
    DriverOptions options;
    options.transfer_alignment = GetParam();
    device_ = *(*create_driver(options))->open(0);
    EXPECT_EQ(device_->info().limits.transfer_alignment, GetParam());
  }

  // Lengths around words, work items (64 bytes) and groups (4096 bytes).
  static constexpr std::array<std::uint64_t, 16> kLengths = {
      1, 2, 3, 4, 5, 7, 8, 15, 63, 64, 65, 67, 4095, 4096, 4099, 9001};
  static constexpr std::uint64_t kRoom = 9016;
};

INSTANTIATE_TEST_SUITE_P(Alignments, TransferTest, ::testing::Values(1, 4),
                         [](const auto& each) { return std::to_string(each.param); });

TEST_P(TransferTest, Fills) {
  const std::array<std::byte, 4> pattern = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  const Bytes sentinels = random_bytes(kRoom, 1);
  for (const std::size_t width : {1, 2, 4}) {
    const auto commands = device_->create_command_buffer();
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<Bytes> expected;
    for (const std::uint64_t length : kLengths) {
      for (std::uint64_t offset = 4; offset < 8; ++offset) {
        buffers.push_back(make_buffer(sentinels));
        expected.push_back(sentinels);
        for (std::uint64_t i = 0; i < length; ++i) expected.back()[offset + i] = pattern[i % width];
        TL_ASSERT_OK(commands->fill(buffers.back(), offset, length,
                                    std::span<const std::byte>(pattern).first(width)));
      }
    }
    TL_ASSERT_OK(run(commands));
    for (std::size_t i = 0; i < buffers.size(); ++i)
      EXPECT_EQ(content_of(buffers[i]), expected[i]) << "width " << width << ", case " << i;
  }
}

// The source's range ends with the source, whose size need not be a multiple of a word.
TEST_P(TransferTest, Copies) {
  const Bytes sentinels = random_bytes(kRoom, 1);
  for (const std::uint64_t length : kLengths) {
    const auto commands = device_->create_command_buffer();
    std::vector<std::shared_ptr<Buffer>> targets;
    std::vector<Bytes> expected;
    for (std::uint64_t from = 0; from < 4; ++from) {
      const Bytes data = random_bytes(from + length, 2);
      const auto source = make_buffer(data);
      for (std::uint64_t to = 4; to < 8; ++to) {
        targets.push_back(make_buffer(sentinels));
        expected.push_back(sentinels);
        std::copy(data.begin() + static_cast<std::ptrdiff_t>(from), data.end(),
                  expected.back().begin() + static_cast<std::ptrdiff_t>(to));
        TL_ASSERT_OK(commands->copy_buffer(source, from, targets.back(), to, length));
      }
    }
    TL_ASSERT_OK(run(commands));
    for (std::size_t i = 0; i < targets.size(); ++i)
      EXPECT_EQ(content_of(targets[i]), expected[i]) << "length " << length << ", case " << i;
  }
}

// The target's range ends with the target; source and target are one buffer.
TEST_P(TransferTest, CopiesWithinOneBuffer) {
  for (std::uint64_t from = 0; from < 4; ++from) {
    Bytes data = random_bytes(1003, 3);
    const auto buffer = make_buffer(data);
    const auto commands = device_->create_command_buffer();
    TL_ASSERT_OK(commands->copy_buffer(buffer, from, buffer, 502, 501 - from));
    TL_ASSERT_OK(commands->copy_buffer(buffer, 502, buffer, 1001, 2));
    TL_ASSERT_OK(run(commands));
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(from), 501 - from, data.begin() + 502);
    std::copy_n(data.begin() + 502, 2, data.begin() + 1001);
    EXPECT_EQ(content_of(buffer), data) << from;
  }
}

TEST_P(TransferTest, Updates) {
  const Bytes sentinels = random_bytes(kRoom, 1);
  for (const HostMemory memory : {HostMemory::Copied, HostMemory::Borrowed}) {
    const Bytes data = random_bytes(kRoom, 4);
    const auto commands = device_->create_command_buffer();
    std::vector<std::shared_ptr<Buffer>> targets;
    std::vector<Bytes> expected;
    for (const std::uint64_t length : kLengths) {
      for (std::uint64_t offset = 4; offset < 8; ++offset) {
        targets.push_back(make_buffer(sentinels));
        expected.push_back(sentinels);
        std::copy_n(data.begin(), length,
                    expected.back().begin() + static_cast<std::ptrdiff_t>(offset));
        TL_ASSERT_OK(commands->update(targets.back(), offset,
                                      std::span<const std::byte>(data).first(length), memory));
      }
    }
    TL_ASSERT_OK(run(commands));
    for (std::size_t i = 0; i < targets.size(); ++i)
      EXPECT_EQ(content_of(targets[i]), expected[i]) << i;
  }
}

// The kernels move words: at least half of the aligned copy's bandwidth on an idle machine, while
// one byte per work item would be less than a tenth. The bound is one that holds on a busy one.
TEST_P(TransferTest, UnalignedCopiesAreNotMuchSlower) {
  constexpr std::uint64_t kBytes = 1 << 20;
  const auto source = make_buffer(kBytes + 8), target = make_buffer(kBytes + 8);
  const auto least_seconds = [&](std::uint64_t from, std::uint64_t to) {
    double least = 1e9;
    for (int i = 0; i < 15; ++i) {
      const auto commands = device_->create_command_buffer();
      for (int k = 0; k < 8; ++k)
        EXPECT_TRUE(commands->copy_buffer(source, from, target, to, kBytes).ok());
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_TRUE(run(commands).ok());
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
      least = std::min(least, time.count());
    }
    return least;
  };
  const double aligned = least_seconds(0, 0);
  for (const auto& [from, to] : {std::pair{1, 0}, {0, 1}, {3, 2}, {1, 1}})
    EXPECT_GT(aligned / least_seconds(from, to), 0.2) << "from " << from << " to " << to;
}

}  // namespace
}  // namespace texloom::hal::opencl
