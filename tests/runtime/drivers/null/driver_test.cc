// Tests the driver that computes nothing: it refuses the same requests as every driver, and
// completes valid ones at once.
#include "runtime/drivers/null/driver.h"

#include <array>
#include <chrono>
#include <future>
#include <thread>

#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::null {
namespace {

class NullDriverTest : public ::testing::Test {
 protected:
  std::shared_ptr<Executable> make_executable() const {
    auto made = device_->create_executable(
        {.codes = opencl_c("anything"),
         .entry_points = {{.name = "f",
                           .params = {BufferParam{.name = "x", .min_bytes = 16},
                                      TextureParam{.name = "t", .min_extent = {2, 2}},
                                      ConstantParam{.name = "n"}}}}});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return *made;
  }

  std::shared_ptr<Device> device_ = *create_driver()->open(0);
};

TEST_F(NullDriverTest, HasOneDevice) {
  const auto driver = create_driver();
  EXPECT_EQ(driver->name(), "null");
  EXPECT_EQ(driver->devices().size(), 1U);
  EXPECT_THAT(driver->open(1).status(), fails_with(StatusCode::NotFound, "no null device 1"));
}

TEST_F(NullDriverTest, RunsWhatIsRight) {
  const auto buffer = *device_->create_buffer({.bytes = 64});
  const auto texture = *device_->create_texture({.extent = {4, 4}});
  const auto commands = device_->create_command_buffer({.reusable = true});
  const std::array<Binding, 2> bindings = {BufferBinding{buffer, 16}, TextureBinding{texture}};
  const std::array constants = {Constant(7)};
  TL_ASSERT_OK(commands->dispatch(make_executable(), 0, {1, 1, 1}, bindings, constants));
  TL_ASSERT_OK(commands->copy_buffer_to_texture(buffer, texture, {.extent = {2, 2}}));
  TL_ASSERT_OK(commands->finish());
  const auto done = Semaphore::create();
  TL_ASSERT_OK(device_->queue()->submit({{}, {commands, commands}, {{done, 1}}}));
  TL_ASSERT_OK(done->wait(1));
  TL_ASSERT_OK(device_->queue()->wait_idle());
}

// A callback blocks the first queue's completion thread, so the host does not know of the signal
// when the second queue starts.
TEST_F(NullDriverTest, LeavesWaitsToTheDevice) {
  const auto device = *create_driver(default_device(), {.native_waits = true})->open(0);
  const auto second = *device->create_queue();
  const auto held = *device->create_semaphore(), signaled = *device->create_semaphore();
  const auto done = *device->create_semaphore();
  const auto buffer = *device->create_buffer({.bytes = 16});
  const auto fill = [&] {
    const auto commands = device->create_command_buffer();
    TL_EXPECT_OK(commands->fill(buffer, 0, 16, Bytes(1)));
    TL_EXPECT_OK(commands->finish());
    return commands;
  };
  std::promise<void> go_on;
  held->when_reached(1, [&](const Status&) { go_on.get_future().wait(); });
  TL_ASSERT_OK(device->queue()->submit({{}, {fill()}, {{held, 1}}}));
  TL_ASSERT_OK(device->queue()->submit({{}, {fill()}, {{signaled, 1}}}));
  TL_ASSERT_OK(second->submit({{{signaled, 1}}, {fill()}, {{done, 1}}}));
  for (int i = 0; i < 10000 && statistics(*device).native_waits == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(statistics(*device).native_waits, 1U);
  EXPECT_EQ(*done->value(), 0U);
  go_on.set_value();
  TL_ASSERT_OK(done->wait(1));
  EXPECT_GE(statistics(*device).scopes, 6U);
}

TEST_F(NullDriverTest, CountsNativeCommandsAndCallsNone) {
  const auto buffer = *device_->create_buffer({.bytes = 64});
  const auto commands = device_->create_command_buffer();
  const std::array accesses = {NativeAccess{BufferBinding{buffer}, Access::Write}};
  const auto never = [](const NativeCommands&) {
    return make_error(StatusCode::Internal, "the function was called");
  };
  TL_ASSERT_OK(commands->native(accesses, never));
  TL_ASSERT_OK(commands->native(accesses, never));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(device_->queue()->submit(commands));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(statistics(*device_).native, 2U);
  EXPECT_EQ(statistics(*device_).barriers, 1U);
  EXPECT_EQ(statistics(*device_).barrier_resources, 1U);
}

TEST_F(NullDriverTest, CountsWhatIsResident) {
  const auto buffer = *device_->create_buffer({.bytes = 512});
  const auto part = *buffer->subspan(64, 64);
  const auto view = *device_->allocator()->create_view(buffer, {.texture = {.extent = {4, 2}}});
  const auto texture = *device_->create_texture({.extent = {4, 4}});
  const auto resident = [&] { return statistics(*device_).resident; };
  TL_ASSERT_OK(part->make_resident());
  TL_ASSERT_OK(view->make_resident());
  EXPECT_EQ(resident(), 1);
  TL_ASSERT_OK(texture->make_resident());
  TL_ASSERT_OK(make_executable()->make_resident());
  EXPECT_EQ(resident(), 3);
  buffer->evict();
  EXPECT_EQ(resident(), 3);
  part->evict();
  texture->evict();
  texture->evict();
  EXPECT_EQ(resident(), 1);
}

TEST_F(NullDriverTest, RefusesWhatIsWrong) {
  const DeviceLimits& limits = device_->info().limits;
  EXPECT_THAT(device_->create_buffer({.bytes = limits.max_allocation_bytes + 1}).status(),
              fails_with(StatusCode::OutOfMemory, "over the limit"));
  EXPECT_THAT(device_->create_texture({.extent = {limits.max_image_width + 1, 1}}).status(),
              fails_with(StatusCode::InvalidArgument, "over the limit"));
  const auto buffer = *device_->create_buffer({.bytes = 64});
  const auto texture = *device_->create_texture({.extent = {4, 1}});
  const auto commands = device_->create_command_buffer();
  const std::array constants = {Constant(7)};
  const std::array<Binding, 2> bindings = {BufferBinding{buffer}, TextureBinding{texture}};
  EXPECT_EQ(commands->dispatch(make_executable(), 0, {1, 1, 1}, bindings, constants).code(),
            StatusCode::InvalidArgument);
  EXPECT_TRUE(commands->segments().empty());
}

// A view and its buffer share memory: a kernel that writes the view may not use the buffer, and a
// kernel that writes the buffer may not use the view.
TEST_F(NullDriverTest, ViewsAndTheirBufferAreOneMemory) {
  const auto made = device_->create_executable(
      {.codes = opencl_c("anything"),
       .entry_points = {
           {.name = "f",
            .params = {BufferParam{.name = "x", .access = Access::Write, .min_bytes = 64},
                       TextureParam{.name = "t"}}}}});
  TL_ASSERT_OK(made.status());
  const auto buffer = *device_->create_buffer({.bytes = 512});
  const auto view =
      *device_->allocator()->create_view(buffer, {.texture = {.extent = {4, 2}}, .offset = 256});
  const auto commands = device_->create_command_buffer();
  const auto dispatch = [&](std::uint64_t offset) {
    const std::array<Binding, 2> bindings = {BufferBinding{buffer, offset}, TextureBinding{view}};
    return commands->dispatch(*made, 0, {1, 1, 1}, bindings, {});
  };
  EXPECT_THAT(dispatch(256), fails_with(StatusCode::InvalidArgument, "are the same memory"));
  EXPECT_THAT(dispatch(208), fails_with(StatusCode::InvalidArgument, "are the same memory"));
  TL_ASSERT_OK(dispatch(192));
  TL_ASSERT_OK(dispatch(384));
}

TEST_F(NullDriverTest, ADeviceWithoutImages) {
  DeviceInfo info = default_device();
  info.features.images = false;
  const auto device = *create_driver(info)->open(0);
  EXPECT_EQ(device->create_texture({.extent = {4, 4}}).status().code(), StatusCode::Unimplemented);
  EXPECT_FALSE(device->supports(TexelFormat::Rgba8Int, TextureUsage::Sampled));
}

TEST_F(NullDriverTest, ObjectsOfTwoDevicesDoNotMix) {
  const auto other = *create_driver()->open(0);
  const auto buffer = *other->create_buffer({.bytes = 64});
  const auto commands = device_->create_command_buffer();
  EXPECT_THAT(commands->update(buffer, 0, Bytes(4)),
              fails_with(StatusCode::InvalidArgument, "another device"));
  TL_ASSERT_OK(commands->finish());
  EXPECT_THAT(other->queue()->submit(commands),
              fails_with(StatusCode::InvalidArgument, "another device"));
}

TEST_F(NullDriverTest, ObjectsOutliveTheirDevice) {
  const auto queue = device_->queue();
  const auto buffer = *device_->create_buffer({.bytes = 64});
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->update(buffer, 0, Bytes(4)));
  TL_ASSERT_OK(commands->finish());
  device_.reset();
  TL_ASSERT_OK(queue->submit(commands));
  TL_ASSERT_OK(queue->wait_idle());
}

}  // namespace
}  // namespace texloom::hal::null
