// A fixture with the first OpenCL device. Skips only if there is no loader or no device; any other
// failure to open a device fails the test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/drivers/opencl/driver.h"
#include "runtime/hal/device.h"
#include "runtime/hal/transfer.h"
#include "tests/runtime/bytes.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal {

inline std::vector<KernelCode> opencl_c(std::string source, std::vector<std::string> options = {}) {
  return {{KernelFormat::OpenClC, std::move(source), std::move(options)}};
}

// Common operations of tests on any device.
class DeviceTest : public ::testing::Test {
 protected:
  std::shared_ptr<Buffer> make_buffer(std::uint64_t bytes, BufferUsage usage = BufferUsage::All) {
    auto buffer = device_->create_buffer({.bytes = bytes, .usage = usage});
    EXPECT_TRUE(buffer.ok()) << buffer.status().to_string();
    return buffer.ok() ? *buffer : nullptr;
  }
  std::shared_ptr<Buffer> make_buffer(std::span<const std::byte> content) {
    auto buffer = make_buffer(content.size());
    const Status status = write_buffer(*device_, buffer, 0, content);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return buffer;
  }
  std::shared_ptr<Texture> make_texture(Extent2D extent, TexelFormat format,
                                        TextureUsage usage = TextureUsage::All) {
    auto texture = device_->create_texture({.extent = extent, .format = format, .usage = usage});
    EXPECT_TRUE(texture.ok()) << texture.status().to_string();
    return texture.ok() ? *texture : nullptr;
  }
  // Fills the texture with one byte value; 0xff makes every float channel a NaN.
  std::shared_ptr<Texture> make_texture_full_of(std::byte value, Extent2D extent,
                                                TexelFormat format) {
    auto texture = make_texture(extent, format);
    const Bytes bytes(byte_size(extent, format), value);
    const Status status = write_texture(*device_, texture, {{}, extent}, bytes);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return texture;
  }

  Bytes content_of(const std::shared_ptr<Buffer>& buffer) {
    Bytes bytes(buffer->bytes());
    const Status status = read_buffer(*device_, buffer, 0, bytes);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return bytes;
  }
  Bytes content_of(const std::shared_ptr<Texture>& texture) {
    const Extent2D extent = texture->extent();
    Bytes bytes(byte_size(extent, texture->format()));
    const Status status = read_texture(*device_, texture, {{}, extent}, bytes);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return bytes;
  }
  template <typename T, typename Object>
  std::vector<T> values_of(const std::shared_ptr<Object>& object) {
    const Bytes bytes = content_of(object);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::copy(bytes.begin(), bytes.end(), writable_bytes_of(values).begin());
    return values;
  }

  std::shared_ptr<Executable> make_executable(std::string source, EntryPoint entry,
                                              std::vector<std::string> options = {}) {
    auto executable =
        device_->create_executable({.codes = opencl_c(std::move(source), std::move(options)),
                                    .entry_points = {std::move(entry)}});
    EXPECT_TRUE(executable.ok()) << executable.status().to_string();
    return executable.ok() ? *executable : nullptr;
  }

  // Finishes, submits and waits.
  Status run(const std::shared_ptr<CommandBuffer>& commands) {
    return run_and_wait(*device_, commands);
  }

  std::shared_ptr<Driver> driver_;
  std::shared_ptr<Device> device_;
};

class OpenClTest : public DeviceTest {
 protected:
  void SetUp() override {
    Result<std::shared_ptr<Driver>> driver = opencl::create_driver();
    if (driver.status().code() == StatusCode::Unavailable)
      GTEST_SKIP() << "no OpenCL device: " << driver.status().message();
    ASSERT_TRUE(driver.ok()) << driver.status().to_string();
    driver_ = *driver;
    Result<std::shared_ptr<Device>> device = driver_->open(0);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }
};

}  // namespace texloom::hal
