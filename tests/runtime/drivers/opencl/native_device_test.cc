// Tests which contexts, queues and memory of an application the driver takes. The conformance suite
// tests what works with them (tests/conformance/devices/shared_objects_test.cc).
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/api/native.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/profile.h"
#include "tests/runtime/drivers/opencl/replaced_call_fixture.h"

namespace texloom::hal::opencl {
namespace {

constexpr std::size_t kBytes = 256;

class NativeDeviceTest : public ReplacedCallTest {
 protected:
  void SetUp() override {
    ReplacedCallTest::SetUp();
    if (driver_ == nullptr) return;
    const std::vector<std::string> paths = DriverOptions().loader_paths;
    const auto loaded = load_api(paths);
    TL_ASSERT_OK(loaded.status());
    api_ = *loaded;
    const auto commands = device_->create_command_buffer();
    TL_ASSERT_OK(commands->native({}, [this](const NativeCommands& native) {
      id_ = native_handles(native)->device;
      return Status();
    }));
    TL_ASSERT_OK(run(commands));
    context_ = make_context();
    device_ = nullptr;
  }

  ContextHandle make_context() {
    cl_int code = CL_SUCCESS;
    ContextHandle made(api_, api_->clCreateContext(nullptr, 1, &id_, nullptr, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  QueueHandle make_queue(const ContextHandle& context, cl_command_queue_properties properties = 0) {
    cl_int code = CL_SUCCESS;
    QueueHandle made(api_, api_->clCreateCommandQueue(context.get(), id_, properties, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  MemoryHandle make_memory(const ContextHandle& context, cl_mem_flags flags = CL_MEM_READ_WRITE) {
    cl_int code = CL_SUCCESS;
    MemoryHandle made(api_, api_->clCreateBuffer(context.get(), flags, kBytes, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }

  // A buffer of three steps and the sub-buffer of its last two.
  std::pair<MemoryHandle, MemoryHandle> make_whole_and_part(
      std::uint64_t step, cl_mem_flags flags = CL_MEM_READ_WRITE) {
    cl_int code = CL_SUCCESS;
    MemoryHandle whole(
        api_, api_->clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, 3 * step, nullptr, &code));
    const cl_buffer_region region = {step, 2 * step};
    MemoryHandle part(api_, api_->clCreateSubBuffer(whole.get(), flags,
                                                    CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return {std::move(whole), std::move(part)};
  }
  MemoryHandle make_image() {
    const cl_image_format format = image_format(TexelFormat::Rgba32Float);
    cl_image_desc desc = {};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = desc.image_height = 4;
    cl_int code = CL_SUCCESS;
    MemoryHandle made(api_, api_->clCreateImage(context_.get(), CL_MEM_READ_WRITE, &format, &desc,
                                                nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }

  Status open(const NativeDevice& objects, const DeviceOptions& options = {}) {
    auto opened = driver_->open_native(objects, options);
    if (opened.ok()) device_ = *opened;
    return opened.status();
  }
  // Expects that the objects are refused, with these words.
  void expect_refused(const NativeDevice& objects, const std::string& words,
                      const DeviceOptions& options = {}) {
    const Status status = open(objects, options);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_EQ(status.message().rfind("open_native: " + words, 0), 0U) << status.message();
  }
  Status wrapping(const MemoryHandle& memory) {
    return device_->allocator()->wrap_buffer(memory.get()).status();
  }
  // Dispatches out = in + 1.
  Status add_one(const std::shared_ptr<Buffer>& in, const std::shared_ptr<Buffer>& out) {
    constexpr const char* kSource =
        "__kernel void add_one(__global const int* in, __global int* out) {"
        "  out[get_global_id(0)] = in[get_global_id(0)] + 1; }";
    const auto made = make_executable(
        kSource,
        {.name = "add_one",
         .params = {BufferParam{.name = "in", .access = Access::Read, .min_bytes = 16},
                    BufferParam{.name = "out", .access = Access::Write, .min_bytes = 16}}});
    const auto commands = device_->create_command_buffer();
    const std::array<Binding, 2> bindings = {BufferBinding{in}, BufferBinding{out}};
    TL_RETURN_IF_ERROR(commands->dispatch(made, 0, {4, 1, 1}, bindings, {}));
    return run(commands);
  }

  std::shared_ptr<const Api> api_;
  cl_device_id id_ = nullptr;
  ContextHandle context_;
};

TEST_F(NativeDeviceTest, TakesAContextOrAQueueToo) {
  TL_EXPECT_OK(open({.context = context_.get()}));
  EXPECT_NE(device_->info().name, "");
  TL_EXPECT_OK(open({.context = context_.get(), .device = id_}));
  const QueueHandle queue = make_queue(context_);
  TL_EXPECT_OK(open({.context = context_.get(), .queue = queue.get()}));
  TL_EXPECT_OK(open({.context = context_.get(), .device = id_, .queue = queue.get()}));
}

TEST_F(NativeDeviceTest, RefusesWhatDoesNotFit) {
  const ContextHandle other = make_context();
  const QueueHandle queue = make_queue(context_), foreign = make_queue(other);
  expect_refused({}, "the context is null");
  expect_refused({.queue = queue.get()}, "the context is null");
  expect_refused({.context = context_.get(), .queue = foreign.get()},
                 "the queue belongs to another cl_context");
  expect_refused({.context = context_.get(), .device = &api_}, "the device is not one of the 1");
  expect_refused({.context = context_.get(), .device = &api_, .queue = queue.get()},
                 "the queue belongs to another cl_device_id");
  const QueueHandle unordered = make_queue(context_, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  expect_refused({.context = context_.get(), .queue = unordered.get()},
                 "the queue is out of order; help: ");
}

TEST_F(NativeDeviceTest, AProfileNeedsAQueueThatMeasures) {
  const DeviceOptions options{.profile = std::make_shared<Profile>()};
  const QueueHandle plain = make_queue(context_);
  expect_refused({.context = context_.get(), .queue = plain.get()},
                 "the queue does not measure commands, which the profile needs; help: ", options);
  const QueueHandle measuring = make_queue(context_, CL_QUEUE_PROFILING_ENABLE);
  TL_EXPECT_OK(open({.context = context_.get(), .queue = measuring.get()}, options));
}

TEST_F(NativeDeviceTest, ADeviceThatIsNotListedIsNotFound) {
  real = *api_;
  auto api = std::make_shared<Api>(real);
  api->clGetContextInfo = [](cl_context context, cl_context_info name, std::size_t bytes,
                             void* value, std::size_t* size) -> cl_int {
    const cl_int code = real.clGetContextInfo(context, name, bytes, value, size);
    if (value != nullptr) *static_cast<void**>(value) = &real;
    return code;
  };
  const auto driver = create_driver(std::shared_ptr<const Api>(api));
  TL_ASSERT_OK(driver.status());
  const auto opened = (*driver)->open_native({.context = context_.get()});
  EXPECT_EQ(opened.status().code(), StatusCode::NotFound);
}

TEST_F(NativeDeviceTest, MemoryOfAnotherContextIsRefused) {
  TL_ASSERT_OK(open({.context = context_.get()}));
  const ContextHandle other = make_context();
  const MemoryHandle own = make_memory(context_), foreign = make_memory(other);
  TL_EXPECT_OK(wrapping(own));
  const Status status = wrapping(foreign);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("a buffer belongs to another cl_context than device"),
            std::string::npos)
      << status.message();
}

// OpenCL leaves undefined what kernels do with memory that is made for the other use.
TEST_F(NativeDeviceTest, KernelsUseMemoryOnlyAsItIsMade) {
  TL_ASSERT_OK(open({.context = context_.get()}));
  const MemoryHandle in = make_memory(context_, CL_MEM_READ_ONLY);
  const MemoryHandle out = make_memory(context_, CL_MEM_WRITE_ONLY);
  const auto read_only = *device_->allocator()->wrap_buffer(in.get());
  const auto write_only = *device_->allocator()->wrap_buffer(out.get());
  TL_EXPECT_OK(add_one(read_only, write_only));
  EXPECT_NE(add_one(read_only, read_only).message().find("for kernels that only read it; help: "),
            std::string::npos);
  EXPECT_NE(add_one(write_only, write_only).message().find("for kernels that only write it"),
            std::string::npos);
}

// Parts of a sub-buffer are parts of the buffer from which it is cut.
TEST_F(NativeDeviceTest, ASubBufferAndItsPartsAreBound) {
  TL_ASSERT_OK(open({.context = context_.get()}));
  const std::uint64_t step = device_->info().limits.buffer_offset_alignment;
  const auto [whole, part] = make_whole_and_part(step);
  const auto wrapped_whole = *device_->allocator()->wrap_buffer(whole.get());
  const auto wrapped = *device_->allocator()->wrap_buffer(part.get());
  EXPECT_EQ(wrapped->bytes(), 2 * step);
  const std::vector<std::int32_t> values = {1, 2, 3, 4};
  TL_ASSERT_OK(write_buffer(*device_, wrapped_whole, 2 * step, bytes_of(values)));
  const auto second = *wrapped->subspan(step, step), out = make_buffer(16);
  TL_ASSERT_OK(add_one(second, out));
  EXPECT_EQ(values_of<std::int32_t>(out), (std::vector<std::int32_t>{2, 3, 4, 5}));
}

// The driver retains the whole, so the application may release both.
TEST_F(NativeDeviceTest, ASubBufferSharesTheMemoryOfItsWhole) {
  TL_ASSERT_OK(open({.context = context_.get()}));
  const std::uint64_t step = device_->info().limits.buffer_offset_alignment;
  auto [whole, part] = make_whole_and_part(step, CL_MEM_READ_ONLY);
  const auto wrapped_part = *device_->allocator()->wrap_buffer(part.get());
  const auto wrapped_whole = *device_->allocator()->wrap_buffer(whole.get());
  EXPECT_EQ(wrapped_part->shared_root(), wrapped_whole);
  EXPECT_EQ(wrapped_part->base_offset(), step);
  part = MemoryHandle();
  whole = MemoryHandle();
  const auto same = *wrapped_whole->subspan(step, step), other = *wrapped_whole->subspan(0, step);
  EXPECT_NE(add_one(wrapped_part, same).message().find("are the same memory"), std::string::npos);
  EXPECT_NE(add_one(other, wrapped_part).message().find("for kernels that only read it; help: "),
            std::string::npos);
  const std::vector<std::int32_t> values = {1, 2, 3, 4};
  TL_ASSERT_OK(write_buffer(*device_, wrapped_whole, step, bytes_of(values)));
  TL_ASSERT_OK(add_one(wrapped_part, other));
  EXPECT_EQ(values_of<std::int32_t>(*wrapped_whole->subspan(0, 16)),
            (std::vector<std::int32_t>{2, 3, 4, 5}));
}

TEST_F(NativeDeviceTest, TheHostUsesMemoryOnlyAsItIsMade) {
  TL_ASSERT_OK(open({.context = context_.get()}));
  const std::vector<std::int32_t> values = {1, 2, 3, 4};
  std::vector<std::int32_t> result(4);
  const auto expect_uses = [&](cl_mem_flags flags, bool is_read, bool is_written) {
    const MemoryHandle memory = make_memory(context_, CL_MEM_READ_WRITE | flags);
    const auto buffer = *device_->allocator()->wrap_buffer(memory.get());
    const Status written = write_buffer(*device_, buffer, 0, bytes_of(values));
    EXPECT_EQ(written.ok(), is_written) << flags << written.message();
    const Status read =
        read_buffer(*device_, *buffer->subspan(16, 16), 0, writable_bytes_of(result));
    EXPECT_EQ(read.ok(), is_read) << flags << read.message();
    if (!is_read) {
      EXPECT_NE(read.message().find("so that the host cannot read it; help: "), std::string::npos)
          << read.message();
    }
    TL_EXPECT_OK(add_one(buffer, *device_->create_buffer({.bytes = 16})));
  };
  expect_uses(0, true, true);
  expect_uses(CL_MEM_HOST_READ_ONLY, true, false);
  expect_uses(CL_MEM_HOST_WRITE_ONLY, false, true);
  expect_uses(CL_MEM_HOST_NO_ACCESS, false, false);
}

// Few implementations make images with several levels or samples, so the calls are replaced.
TEST_F(NativeDeviceTest, OnlyPlainImagesAreWrapped) {
  const MemoryHandle image = make_image();
  const auto expect_refused = [&](const std::string& words, auto replace) {
    real = *api_;
    auto api = std::make_shared<Api>(real);
    replace(*api);
    const auto driver = create_driver(std::shared_ptr<const Api>(api));
    TL_ASSERT_OK(driver.status());
    auto device = (*driver)->open_native({.context = context_.get()});
    TL_ASSERT_OK(device.status());
    const Status status = (*device)->allocator()->wrap_texture(image.get()).status();
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
  };
  expect_refused("the image has 3 levels and 1 samples for each texel", [](Api& api) {
    api.clGetImageInfo = [](cl_mem memory, cl_image_info name, std::size_t bytes, void* value,
                            std::size_t* size) -> cl_int {
      const cl_int code = real.clGetImageInfo(memory, name, bytes, value, size);
      if (name == CL_IMAGE_NUM_MIP_LEVELS) *static_cast<cl_uint*>(value) = 3;
      return code;
    };
  });
  expect_refused("the image has 1 levels and 4 samples for each texel", [](Api& api) {
    api.clGetImageInfo = [](cl_mem memory, cl_image_info name, std::size_t bytes, void* value,
                            std::size_t* size) -> cl_int {
      const cl_int code = real.clGetImageInfo(memory, name, bytes, value, size);
      if (name == CL_IMAGE_NUM_SAMPLES) *static_cast<cl_uint*>(value) = 4;
      return code;
    };
  });
  expect_refused("the image is a view of another object", [](Api& api) {
    api.clGetMemObjectInfo = [](cl_mem memory, cl_mem_info name, std::size_t bytes, void* value,
                                std::size_t* size) -> cl_int {
      const cl_int code = real.clGetMemObjectInfo(memory, name, bytes, value, size);
      if (name == CL_MEM_ASSOCIATED_MEMOBJECT) *static_cast<cl_mem*>(value) = memory;
      return code;
    };
  });
}

// Each call that takes a reference or asks for a property fails once.
TEST_F(NativeDeviceTest, FailedCallsAreErrors) {
  const QueueHandle queue = make_queue(context_);
  const MemoryHandle memory = make_memory(context_);
  const auto expect_error = [&](const std::string& call, auto replace) {
    auto api = std::make_shared<Api>(*api_);
    replace(*api);
    const auto driver = create_driver(std::shared_ptr<const Api>(api));
    TL_ASSERT_OK(driver.status());
    auto device = (*driver)->open_native({.context = context_.get(), .queue = queue.get()});
    Status status = device.status();
    if (device.ok()) status = (*device)->allocator()->wrap_buffer(memory.get()).status();
    EXPECT_FALSE(status.ok()) << call;
    EXPECT_NE(status.message().find(call), std::string::npos) << status.message();
  };
  expect_error("clGetContextInfo", [](Api& api) {
    api.clGetContextInfo = [](auto...) -> cl_int { return CL_OUT_OF_RESOURCES; };
  });
  expect_error("clRetainContext", [](Api& api) {
    api.clRetainContext = [](auto) -> cl_int { return CL_OUT_OF_RESOURCES; };
  });
  expect_error("clGetCommandQueueInfo", [](Api& api) {
    api.clGetCommandQueueInfo = [](auto...) -> cl_int { return CL_OUT_OF_RESOURCES; };
  });
  expect_error("clRetainCommandQueue", [](Api& api) {
    api.clRetainCommandQueue = [](auto) -> cl_int { return CL_OUT_OF_RESOURCES; };
  });
  expect_error("clGetMemObjectInfo", [](Api& api) {
    api.clGetMemObjectInfo = [](auto...) -> cl_int { return CL_OUT_OF_RESOURCES; };
  });
  expect_error("clRetainMemObject", [](Api& api) {
    api.clRetainMemObject = [](auto) -> cl_int { return CL_OUT_OF_RESOURCES; };
  });
}

}  // namespace
}  // namespace texloom::hal::opencl
