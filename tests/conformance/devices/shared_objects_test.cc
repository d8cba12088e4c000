// Tests devices over the context, the queue and the memory of an application.
#include "tests/conformance/application.h"
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

constexpr std::size_t kItems = 64;
constexpr std::uint64_t kBytes = kItems * sizeof(std::int32_t);
constexpr Extent2D kExtent = {16, 4};

class SharedObjects : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    if (tested().make_application == nullptr) {
      EXPECT_EQ(driver().open_native({}).status().code(), StatusCode::Unimplemented);
      int object = 0;
      Allocator& allocator = *device().allocator();
      EXPECT_EQ(allocator.wrap_buffer(&object).status().code(), StatusCode::Unimplemented);
      EXPECT_EQ(allocator.wrap_texture(&object).status().code(), StatusCode::Unimplemented);
      GTEST_SKIP() << "the driver has no objects of an API";
    }
    app_ = tested().make_application(device());
    open(app_->objects());
  }
  Driver& driver() { return *std::get<0>(GetParam())->driver; }
  void open(const NativeDevice& objects) {
    const auto opened = driver().open_native(objects);
    TL_ASSERT_OK(opened.status());
    use(*opened);
    add_one_.reset();
  }
  std::shared_ptr<Buffer> wrap(void* memory) {
    auto buffer = device().allocator()->wrap_buffer(memory);
    EXPECT_TRUE(buffer.ok()) << buffer.status().to_string();
    return buffer.ok() ? *buffer : nullptr;
  }
  // Submits out = in + 1, without waiting.
  Status add_one(const std::shared_ptr<Buffer>& in, const std::shared_ptr<Buffer>& out) {
    if (add_one_ == nullptr) add_one_ = executable(kernels::add_one());
    const auto commands = begin();
    const std::array<Binding, 2> bindings = {BufferBinding{in}, BufferBinding{out}};
    TL_RETURN_IF_ERROR(commands->dispatch(add_one_, 0, {kItems, 1, 1}, bindings, {}));
    TL_RETURN_IF_ERROR(commands->finish());
    return queue().submit(commands);
  }

  std::unique_ptr<Application> app_;
  std::shared_ptr<Executable> add_one_;  // of the device; built at first use
};
TL_ON_EVERY_DEVICE(SharedObjects);

// No command waits on the host: only the order in the shared queue makes the values right.
TEST_P(SharedObjects, CommandsOfBothAreInOneOrder) {
  constexpr int kRounds = 50;
  void* const in = app_->make_buffer(kBytes);
  void* const out = app_->make_buffer(kBytes);
  const auto wrapped_in = wrap(in), wrapped_out = wrap(out);
  std::vector<std::vector<std::int32_t>> given, results;
  for (int round = 0; round < kRounds; ++round) {
    given.push_back(counting(kItems, 1000 * round));
    results.emplace_back(kItems, -1);
  }
  for (std::size_t round = 0; round < kRounds; ++round) {
    app_->write(in, bytes_of(given[round]));
    TL_ASSERT_OK(add_one(wrapped_in, wrapped_out));
    app_->read(out, writable_bytes_of(results[round]));
  }
  app_->finish();
  for (std::size_t round = 0; round < kRounds; ++round)
    EXPECT_EQ(results[round], counting(kItems, static_cast<int>(1000 * round) + 1)) << round;
  TL_EXPECT_OK(queue().wait_idle());
}

TEST_P(SharedObjects, AHostCallIsInTheOrderToo) {
  void* const memory = app_->make_buffer(kBytes);
  const auto wrapped = wrap(memory);
  const auto next = make_buffer(kBytes);
  std::vector<std::int32_t> given = counting(kItems), result(kItems);
  app_->write(memory, bytes_of(given));
  bool was_called = false;
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer(wrapped, 0, next, 0, kBytes));
  TL_ASSERT_OK(commands->host_call([&] {
    was_called = true;
    return Status();
  }));
  TL_ASSERT_OK(commands->fill(wrapped, 0, kBytes, std::array{std::byte{7}}));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(queue().submit(commands));
  EXPECT_TRUE(was_called);
  app_->read(memory, writable_bytes_of(result));
  app_->finish();
  EXPECT_EQ(result, std::vector<std::int32_t>(kItems, 0x07070707));
  expect_values(next, given);
}

// A submission that waits for a semaphore does not block the caller.
TEST_P(SharedObjects, AWaitDelaysOnlyTheDevicesCommands) {
  void* const memory = app_->make_buffer(kBytes);
  const auto wrapped = wrap(memory), next = make_buffer(kBytes);
  const std::vector<std::int32_t> given = counting(kItems);
  app_->write(memory, bytes_of(given));
  const auto ready = make_semaphore();
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer(wrapped, 0, next, 0, kBytes));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(queue().submit({.waits = {{ready, 1}}, .commands = {commands}}));
  const std::vector<std::int32_t> later = counting(kItems, 500);
  app_->write(memory, bytes_of(later));
  app_->finish();
  TL_ASSERT_OK(ready->signal(1));
  TL_ASSERT_OK(queue().wait_idle());
  expect_values(next, later);
}

TEST_P(SharedObjects, WithoutAQueueTheDeviceHasItsOwn) {
  NativeDevice objects = app_->objects();
  objects.queue = nullptr;
  open(objects);
  void* const in = app_->make_buffer(kBytes);
  void* const out = app_->make_buffer(kBytes);
  const std::vector<std::int32_t> given = counting(kItems);
  app_->write(in, bytes_of(given));
  app_->finish();
  TL_ASSERT_OK(add_one(wrap(in), wrap(out)));
  TL_ASSERT_OK(queue().wait_idle());
  std::vector<std::int32_t> result(kItems);
  app_->read(out, writable_bytes_of(result));
  app_->finish();
  EXPECT_EQ(result, counting(kItems, 1));
}

TEST_P(SharedObjects, ABufferIsTheApplicationsMemory) {
  void* const memory = app_->make_buffer(kBytes);
  const std::uint64_t before = device().allocator()->statistics().imported.bytes;
  const auto buffer = wrap(memory);
  EXPECT_EQ(buffer->bytes(), kBytes);
  EXPECT_EQ(device().allocator()->statistics().imported.bytes, before + kBytes);
  EXPECT_EQ(wrap(memory), buffer);  // so checks see that both share memory
  EXPECT_EQ(buffer->map(Access::Read).status().code(), StatusCode::InvalidArgument);
  const std::vector<std::int32_t> values = counting(kItems);
  TL_ASSERT_OK(write_buffer(device(), buffer, 0, bytes_of(values)));
  std::vector<std::int32_t> result(kItems);
  app_->read(memory, writable_bytes_of(result));
  app_->finish();
  EXPECT_EQ(result, values);
}

// Parts begin at the alignment of bound buffers.
TEST_P(SharedObjects, APartOfABufferIsBound) {
  const std::uint64_t offset = std::max<std::uint64_t>(limits().buffer_offset_alignment, 16);
  const auto memory = wrap(app_->make_buffer(offset + kBytes));
  const std::vector<std::int32_t> values = counting(kItems);
  TL_ASSERT_OK(write_buffer(device(), memory, offset, bytes_of(values)));
  const auto out = make_buffer(kBytes);
  const auto part = memory->subspan(offset, kBytes);
  TL_ASSERT_OK(part.status());
  TL_ASSERT_OK(add_one(*part, out));
  expect_values(out, counting(kItems, 1));
}

TEST_P(SharedObjects, AnImageIsTheApplicationsMemory) {
  constexpr TexelFormat kFormat = TexelFormat::Rgba32Float;
  const std::uint64_t bytes = byte_size(kExtent, kFormat);
  void* const image = app_->make_image(kExtent, kFormat);
  void* const copy = app_->make_image(kExtent, kFormat);
  void* const buffer = app_->make_buffer(bytes);
  std::vector<float> values(bytes / sizeof(float)), result(values.size());
  std::iota(values.begin(), values.end(), 0.5F);
  const auto in = device().allocator()->wrap_texture(image);
  const auto out = device().allocator()->wrap_texture(copy);
  TL_ASSERT_OK(in.status());
  TL_ASSERT_OK(out.status());
  EXPECT_EQ((*in)->extent(), kExtent);
  EXPECT_EQ((*in)->format(), kFormat);
  EXPECT_EQ(*device().allocator()->wrap_texture(image), *in);

  app_->write(buffer, bytes_of(values));
  app_->copy_to_image(buffer, image, kExtent, kFormat);
  const auto commands = begin();
  const std::array<Binding, 2> bindings = {TextureBinding{*in}, TextureBinding{*out}};
  TL_ASSERT_OK(commands->dispatch(executable(kernels::copy_texels(kFormat)), 0,
                                  {kExtent.width, kExtent.height, 1}, bindings, {}));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(queue().submit(commands));
  app_->copy_from_image(copy, buffer, kExtent, kFormat);
  app_->read(buffer, writable_bytes_of(result));
  app_->finish();
  EXPECT_EQ(result, values);
  expect_content(*in, bytes_of(values));
}

TEST_P(SharedObjects, TheDeviceKeepsWhatItUses) {
  void* const memory = app_->make_buffer(kBytes);
  const std::size_t references = app_->references(memory);
  auto buffer = wrap(memory);
  EXPECT_GT(app_->references(memory), references);
  TL_ASSERT_OK(write_buffer(device(), buffer, 0, bytes_of(counting(kItems))));
  buffer.reset();
  TL_ASSERT_OK(queue().wait_idle());
  EXPECT_EQ(app_->references(memory), references);  // the application's own are left

  // The application ends before the device does.
  buffer = wrap(memory);
  const auto out = make_buffer(kBytes);
  app_.reset();
  TL_ASSERT_OK(add_one(buffer, out));
  expect_values(out, counting(kItems, 1));
}

TEST_P(SharedObjects, ForeignObjectsAreRefused) {
  Allocator& allocator = *device().allocator();
  void* const buffer = app_->make_buffer(kBytes);
  void* const image = app_->make_image(kExtent, TexelFormat::Rgba32Float);
  const auto expect_refused = [](const Status& status, const char* words) {
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
  };
  expect_refused(allocator.wrap_buffer(nullptr).status(), "is null");
  expect_refused(allocator.wrap_texture(nullptr).status(), "is null");
  expect_refused(allocator.wrap_buffer(image).status(), "the object is ");
  expect_refused(allocator.wrap_texture(buffer).status(), "the object is ");
  expect_refused(allocator.wrap_texture(app_->make_image_of_other_order(kExtent)).status(),
                 "rgba32float");
  expect_refused(driver().open_native({}).status(), "is null");
}

TEST_P(SharedObjects, ABufferThatIsTooSmallIsRefused) {
  EntryPoint entry = kernels::add_one();
  std::get<BufferParam>(entry.params[0]).min_bytes = kBytes;
  const auto small = wrap(app_->make_buffer(kBytes / 2)), out = make_buffer(kBytes);
  const std::array<Binding, 2> bindings = {BufferBinding{small}, BufferBinding{out}};
  const Status status = begin()->dispatch(executable(entry), 0, {kItems, 1, 1}, bindings, {});
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("has 128 bytes, wanted 256"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace texloom::hal::conformance
