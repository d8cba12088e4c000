// Tests fills, copies and updates at every alignment, with sentinels around the range: with
// OpenCL's commands, and with the driver's kernels, for devices that need multiples of four bytes.
#include <array>
#include <string>

#include "runtime/drivers/opencl/api/api.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::opencl {
namespace {

struct Case {
  std::uint64_t alignment;  // 1: through the OpenCL API; 4: through the driver's kernels
  bool is_gpu;              // kernels on a GPU write 16 bytes at once
};

class TransferTest : public OpenClTest, public ::testing::WithParamInterface<Case> {
 protected:
  static inline Api real = {};

  void SetUp() override {
    OpenClTest::SetUp();
    if (driver_ == nullptr) return;
    DriverOptions options;
    options.transfer_alignment = GetParam().alignment;
    const auto loaded = load_api(options.loader_paths);
    ASSERT_TRUE(loaded.ok());
    real = **loaded;
    const auto api = std::make_shared<Api>(real);
    if (GetParam().is_gpu) api->clGetDeviceInfo = say_gpu;
    device_ = *(*create_driver(std::shared_ptr<const Api>(api), options))->open(0);
    EXPECT_EQ(device_->info().limits.transfer_alignment, GetParam().alignment);
    EXPECT_TRUE(!GetParam().is_gpu || device_->info().type == DeviceType::Gpu);
  }

  static cl_int CL_API_CALL say_gpu(cl_device_id device, cl_device_info name, std::size_t bytes,
                                    void* value, std::size_t* size) {
    const cl_int code = real.clGetDeviceInfo(device, name, bytes, value, size);
    if (name == CL_DEVICE_TYPE && value != nullptr)
      *static_cast<cl_device_type*>(value) = CL_DEVICE_TYPE_GPU;
    return code;
  }

  // Lengths around words, vectors (64 bytes), and groups (16384 bytes).
  static constexpr std::array<std::uint64_t, 18> kLengths = {
      1, 2, 3, 4, 5, 7, 8, 15, 63, 64, 65, 67, 129, 4099, 9001, 16383, 16384, 16451};
  static constexpr std::uint64_t kRoom = 16480;
  // Offsets within words, and within units of 16 bytes.
  static constexpr std::array<std::uint64_t, 7> kPlaces = {4, 5, 6, 7, 11, 18, 29};
};

INSTANTIATE_TEST_SUITE_P(Alignments, TransferTest,
                         ::testing::Values(Case{1, false}, Case{4, false}, Case{4, true}),
                         [](const auto& each) {
                           return std::to_string(each.param.alignment) +
                                  (each.param.is_gpu ? "_gpu" : "");
                         });

TEST_P(TransferTest, Fills) {
  const std::array<std::byte, 4> pattern = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  const Bytes sentinels = random_bytes(kRoom, 1);
  for (const std::size_t width : {1, 2, 4}) {
    const auto commands = device_->create_command_buffer();
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<Bytes> expected;
    for (const std::uint64_t length : kLengths) {
      for (const std::uint64_t offset : kPlaces) {
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

// The range ends at the end of the source, whose size need not be a multiple of a word.
TEST_P(TransferTest, Copies) {
  const Bytes sentinels = random_bytes(kRoom, 1);
  for (const std::uint64_t length : kLengths) {
    const auto commands = device_->create_command_buffer();
    std::vector<std::shared_ptr<Buffer>> targets;
    std::vector<Bytes> expected;
    for (const std::uint64_t from : {0, 1, 2, 3, 6, 9, 13}) {
      const Bytes data = random_bytes(from + length, 2);
      const auto source = make_buffer(data);
      for (const std::uint64_t to : kPlaces) {
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

// The range ends at the end of the target; source and target are one buffer.
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
      for (const std::uint64_t offset : kPlaces) {
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

}  // namespace
}  // namespace texloom::hal::opencl
