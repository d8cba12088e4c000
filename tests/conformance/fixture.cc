#include "tests/conformance/fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace texloom::hal::conformance {

namespace {

std::map<const TestedDevice*, OpenDevice>& open_devices() {
  static std::map<const TestedDevice*, OpenDevice> devices;
  return devices;
}

// Returns a key that is unique among the suite's executables.
std::string key_of(const std::vector<EntryPoint>& entries) {
  std::string key;
  for (const EntryPoint& entry : entries) {
    key += fmt::format("{} {}", entry.name, fmt::join(entry.workgroup_size, "x"));
    for (const KernelParam& param : entry.params) {
      key += "," + describe(param);
      if (const auto* buffer = std::get_if<BufferParam>(&param))
        key += std::to_string(buffer->min_bytes);
    }
    key += ";";
  }
  return key;
}

}  // namespace

Result<OpenDevice*> open_shared(const TestedDevice& tested) {
  OpenDevice& open = open_devices()[&tested];
  if (open.device == nullptr) {
    TL_ASSIGN_OR_RETURN(open.device, tested.driver->open(tested.ordinal));
  }
  return &open;
}

void close_shared() { open_devices().clear(); }

void DeviceFixture::set_up(const TestedDevice& tested) {
  tested_ = &tested;
  if (tested.missing.code() == StatusCode::Unavailable)
    GTEST_SKIP() << "no device: " << tested.missing.message();
  TL_ASSERT_OK(tested.missing);
  const Result<OpenDevice*> open = open_shared(tested);
  TL_ASSERT_OK(open.status());
  shared_ = *open;
  device_ = shared_->device;
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = std::string(test.test_suite_name()) + "." + test.name();
  if (tested_->exclusion_of(name) != nullptr) excluded_ = std::make_unique<ExcludedRun>();
}

void DeviceFixture::TearDown() {
  // Pending work of a test must fail that test, not the next one.
  if (device_ != nullptr) {
    TL_EXPECT_OK(queue().wait_idle());
  }
  if (excluded_ == nullptr) return;
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = std::string(test.test_suite_name()) + "." + test.name();
  ExcludedRun::end(std::move(excluded_), tested_->exclusion_of(name)->reason);
}

std::shared_ptr<Device> DeviceFixture::open_another(const DeviceOptions& options) const {
  Result<std::shared_ptr<Device>> opened = tested_->driver->open(tested_->ordinal, options);
  EXPECT_TRUE(opened.ok()) << opened.status().to_string();
  return opened.ok() ? *opened : nullptr;
}

void DeviceFixture::use(std::shared_ptr<Device> device) {
  device_ = std::move(device);
  shared_ = nullptr;
}

std::shared_ptr<Buffer> DeviceFixture::make_buffer(std::uint64_t bytes, BufferUsage usage) {
  auto buffer = device_->create_buffer({.bytes = bytes, .usage = usage});
  EXPECT_TRUE(buffer.ok()) << buffer.status().to_string();
  return buffer.ok() ? *buffer : nullptr;
}

std::shared_ptr<Semaphore> DeviceFixture::make_semaphore(std::uint64_t value) {
  auto semaphore = device_->create_semaphore({.value = value});
  EXPECT_TRUE(semaphore.ok()) << semaphore.status().to_string();
  return semaphore.ok() ? *semaphore : nullptr;
}

std::shared_ptr<Buffer> DeviceFixture::make_buffer(std::span<const std::byte> content) {
  auto buffer = make_buffer(content.size());
  TL_EXPECT_OK(write_buffer(*device_, buffer, 0, content));
  return buffer;
}

std::shared_ptr<Texture> DeviceFixture::make_texture(Extent2D extent, TexelFormat format,
                                                     TextureUsage usage) {
  auto texture = device_->create_texture({.extent = extent, .format = format, .usage = usage});
  EXPECT_TRUE(texture.ok()) << texture.status().to_string();
  return texture.ok() ? *texture : nullptr;
}

std::shared_ptr<Texture> DeviceFixture::make_texture(Extent2D extent, TexelFormat format,
                                                     std::span<const std::byte> content) {
  auto texture = make_texture(extent, format);
  TL_EXPECT_OK(write_texture(*device_, texture, {{}, extent}, content));
  return texture;
}

std::shared_ptr<Texture> DeviceFixture::make_texture_full_of(std::byte value, Extent2D extent,
                                                             TexelFormat format) {
  const std::size_t texels = std::size_t{extent.width} * extent.height;
  return make_texture(extent, format, Bytes(texels * bytes_per_texel(format), value));
}

std::shared_ptr<Executable> DeviceFixture::executable(const std::vector<EntryPoint>& entries) {
  const std::string key = key_of(entries);
  if (shared_ != nullptr) {
    for (const auto& [made_for, executable] : shared_->executables)
      if (made_for == key) return executable;
  }
  auto made = device_->create_executable(tested().kernels(entries));
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  if (!made.ok()) return nullptr;
  if (shared_ != nullptr) shared_->executables.emplace_back(key, *made);
  return *made;
}

Status DeviceFixture::run(const std::shared_ptr<CommandBuffer>& commands) {
  return run_and_wait(device(), commands);
}

Bytes DeviceFixture::content_of(const std::shared_ptr<Buffer>& buffer) {
  Bytes bytes(buffer->bytes());
  TL_EXPECT_OK(read_buffer(*device_, buffer, 0, bytes));
  return bytes;
}

Bytes DeviceFixture::content_of(const std::shared_ptr<Texture>& texture) {
  const Extent2D extent = texture->extent();
  Bytes bytes(byte_size(extent, texture->format()));
  TL_EXPECT_OK(read_texture(*device_, texture, {{}, extent}, bytes));
  return bytes;
}

void DeviceFixture::expect_bytes(std::span<const std::byte> actual,
                                 std::span<const std::byte> expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  if (!computes()) return;
  const auto [a, e] = std::mismatch(actual.begin(), actual.end(), expected.begin());
  if (a == actual.end()) return;
  const auto wrong = std::inner_product(actual.begin(), actual.end(), expected.begin(),
                                        std::size_t{0}, std::plus<>(), std::not_equal_to<>());
  ADD_FAILURE() << what << ": " << wrong << " of " << actual.size()
                << " bytes are wrong, the first at " << a - actual.begin() << ": "
                << static_cast<int>(*a) << " instead of " << static_cast<int>(*e);
}

Status DispatchFixture::dispatch(CommandBuffer& commands,
                                 const std::shared_ptr<Executable>& executable,
                                 std::array<std::uint32_t, 3> groups,
                                 const std::vector<Binding>& bindings,
                                 const std::vector<Constant>& constants,
                                 std::uint32_t entry_point) {
  if (parameter<0>() == BindingStyle::Direct)
    return commands.dispatch(executable, entry_point, groups, bindings, constants);
  std::vector<Binding>& table = tables_[&commands];
  std::vector<BindingRef> slots;
  for (const Binding& binding : bindings) {
    slots.emplace_back(BindingSlot{.index = static_cast<std::uint32_t>(table.size())});
    table.push_back(binding);
  }
  return commands.dispatch_with_table(executable, entry_point, groups, slots, constants);
}

SubmittedCommands DispatchFixture::with_table(const std::shared_ptr<CommandBuffer>& commands) {
  return {commands, tables_[commands.get()]};
}

Status DispatchFixture::start(const std::shared_ptr<CommandBuffer>& commands) {
  TL_RETURN_IF_ERROR(commands->finish());
  return queue().submit({.commands = {with_table(commands)}});
}

Status DispatchFixture::run(const std::shared_ptr<CommandBuffer>& commands) {
  TL_RETURN_IF_ERROR(start(commands));
  return queue().wait_idle();
}

Status DispatchFixture::attempt(const std::shared_ptr<Executable>& executable,
                                std::array<std::uint32_t, 3> groups,
                                const std::vector<Binding>& bindings,
                                const std::vector<Constant>& constants, std::uint32_t entry_point) {
  const auto commands = begin();
  TL_RETURN_IF_ERROR(dispatch(*commands, executable, groups, bindings, constants, entry_point));
  return run(commands);
}

std::vector<const TestedDevice*> every_device() {
  std::vector<const TestedDevice*> devices;
  for (const TestedDevice& device : tested_devices()) devices.push_back(&device);
  return devices;
}

}  // namespace texloom::hal::conformance
