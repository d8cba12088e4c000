// Tests programs in C that share their own OpenCL objects with a device: a context, a queue and
// memory.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/c_api/texloom.h"
#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/api/native.h"
#include "runtime/package/package_writer.h"
#include "tests/runtime/executor/scale_package.h"

namespace texloom::runtime {
namespace {

constexpr std::size_t kArrayBytes = kCount * sizeof(float);

class CApiSharingTest : public hal::OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (IsSkipped()) return;
    api_ = *hal::opencl::load_api(hal::opencl::DriverOptions().loader_paths);
    const auto commands = device_->create_command_buffer();
    TL_ASSERT_OK(commands->native({}, [this](const hal::NativeCommands& native) {
      id_ = hal::opencl::native_handles(native)->device;
      return Status();
    }));
    TL_ASSERT_OK(run(commands));
    cl_int code = CL_SUCCESS;
    context_ = api_->clCreateContext(nullptr, 1, &id_, nullptr, nullptr, &code);
    expect(code);
    queue_ = api_->clCreateCommandQueue(context_, id_, 0, &code);
    expect(code);
    file_ = std::filesystem::temp_directory_path() /
            (std::string("texloom_c_api_sharing_") +
             testing::UnitTest::GetInstance()->current_test_info()->name() + ".tlp");
    expect_ok(texloom_device_open_opencl(context_, nullptr, queue_, &opened_));
  }
  void TearDown() override {
    texloom_device_free(opened_);
    texloom_graph_free(graph_);
    texloom_executor_free(executor_);
    if (queue_ != nullptr) expect(api_->clReleaseCommandQueue(queue_));
    if (context_ != nullptr) expect(api_->clReleaseContext(context_));
    std::filesystem::remove(file_);
  }
  void load(const Package& package) {
    TL_ASSERT_OK(write_package(package, file_));
    expect_ok(texloom_graph_load(opened_, file_.c_str(), &graph_));
    expect_ok(texloom_executor_create(graph_, &executor_));
  }

  static void expect(cl_int code) { EXPECT_EQ(code, CL_SUCCESS); }
  static void expect_ok(texloom_error* error) { expect_refused(error, ""); }
  // Expects an error whose message has these words, or none for "".
  static void expect_refused(texloom_error* error, const std::string& words) {
    const std::string message = texloom_error_message(error);
    if (words.empty()) {
      EXPECT_EQ(message, "");
    }
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_EQ(texloom_error_code(error), words.empty() ? TEXLOOM_OK : TEXLOOM_INVALID_ARGUMENT);
    texloom_error_free(error);
  }
  cl_mem make_memory(cl_mem_flags flags = CL_MEM_READ_WRITE) {
    cl_int code = CL_SUCCESS;
    const cl_mem made = api_->clCreateBuffer(context_, flags, kArrayBytes, nullptr, &code);
    expect(code);
    return made;
  }

  std::shared_ptr<const hal::opencl::Api> api_;
  cl_device_id id_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::filesystem::path file_;
  texloom_device* opened_ = nullptr;
  texloom_graph* graph_ = nullptr;
  texloom_executor* executor_ = nullptr;
};

// Only the order in the queue makes the values right: nothing waits on the host.
TEST_F(CApiSharingTest, AGraphUsesTheApplicationsMemoryInItsQueue) {
  load(scale_package());
  const cl_mem in = make_memory(), out = make_memory();
  texloom_buffer *wrapped_in = nullptr, *wrapped_out = nullptr;
  expect_ok(texloom_buffer_wrap(opened_, in, &wrapped_in));
  expect_ok(texloom_buffer_wrap(opened_, out, &wrapped_out));
  expect_ok(texloom_bind_input(executor_, 0, wrapped_in, 0));
  expect_ok(texloom_bind_output(executor_, 0, wrapped_out, 0));
  texloom_buffer_free(wrapped_in);  // the executor keeps both
  texloom_buffer_free(wrapped_out);
  std::vector<std::vector<float>> given, results(20, std::vector<float>(kCount));
  for (std::size_t i = 0; i < results.size(); ++i) given.push_back(ramp(kCount, float(i)));
  for (std::size_t i = 0; i < results.size(); ++i) {
    expect(api_->clEnqueueWriteBuffer(queue_, in, CL_FALSE, 0, kArrayBytes, given[i].data(), 0,
                                      nullptr, nullptr));
    expect_ok(texloom_submit(executor_));
    expect(api_->clEnqueueReadBuffer(queue_, out, CL_FALSE, 0, kArrayBytes, results[i].data(), 0,
                                     nullptr, nullptr));
  }
  expect(api_->clReleaseMemObject(in));
  expect(api_->clReleaseMemObject(out));
  expect(api_->clFinish(queue_));
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (float& value : given[i]) value *= 3;
    EXPECT_EQ(results[i], given[i]) << i;
  }
}

// "Y" = "X" + 1, where "X" is a texture.
Package texture_package() {
  Package package;
  package.name = "add one";
  package.tensors = {graph_tensor("in", TensorRole::Input, kCount),
                     graph_tensor("out", TensorRole::Output, kCount)};
  package.tensors[0].shape = {kExtent.height, kExtent.width, 4};
  package.nodes = {{.name = "add", .op = "add", .inputs = {0}, .outputs = {1}}};
  package.inputs = {0};
  package.outputs = {1};
  PackageVariant variant = variant_for("opencl");
  variant.plan =
      TestPlan{.arguments = {texture_tensor("X", kExtent), buffer_tensor("Y", kCount * 4)},
               .kernels = {add_one_kernel()},
               .steps = {launch(0, {1, 6, 1}, {argument(0), argument(1)})}};
  using Kind = TensorRef::Kind;
  variant.stores = {{TensorRef{Kind::Argument, 0}, 0, "texture"},
                    {TensorRef{Kind::Argument, 1}, 1, "global"}};
  variant.nodes = {0};
  package.variants = {std::move(variant)};
  return package;
}

TEST_F(CApiSharingTest, AnImageIsAnInput) {
  load(texture_package());
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = kExtent.width;
  desc.image_height = kExtent.height;
  cl_int code = CL_SUCCESS;
  std::vector<float> values = ramp(kCount, 5), result(kCount);
  const cl_mem image = api_->clCreateImage(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                           &format, &desc, values.data(), &code);
  expect(code);
  texloom_texture* texture = nullptr;
  expect_ok(texloom_texture_wrap(opened_, image, &texture));
  expect(api_->clReleaseMemObject(image));
  expect_ok(texloom_bind_input_texture(executor_, 0, texture, 1, 0));
  expect_refused(texloom_run(executor_), "at origin (1, 0)");
  expect_ok(texloom_bind_input_texture(executor_, 0, texture, 0, 0));
  expect_ok(texloom_run(executor_));
  expect_ok(texloom_get_output(executor_, 0, result.data(), kArrayBytes));
  EXPECT_EQ(result, ramp(kCount, 6));
  expect_ok(texloom_bind_output_texture(executor_, 0, texture, 0, 0));
  expect_refused(texloom_run(executor_), "got a texture; help: bind a buffer");
  texloom_texture_free(texture);
}

TEST_F(CApiSharingTest, WhatCannotBeSharedIsRefused) {
  texloom_device* device = nullptr;
  expect_refused(texloom_device_open_opencl(nullptr, nullptr, queue_, &device),
                 "open_native: the context is null");
  expect_refused(texloom_device_open_opencl(context_, nullptr, queue_, nullptr),
                 "an argument is null");
  EXPECT_EQ(device, nullptr);
  const cl_mem memory = make_memory(CL_MEM_HOST_NO_ACCESS);
  texloom_buffer* buffer = nullptr;
  texloom_texture* texture = nullptr;
  expect_refused(texloom_texture_wrap(opened_, memory, &texture),
                 "wrap: the object is a buffer, expected a 2-D image");
  expect_ok(texloom_buffer_wrap(opened_, memory, &buffer));
  float value = 0;
  expect_refused(texloom_buffer_read(buffer, 0, &value, sizeof value), "the host cannot read it");
  expect_refused(texloom_buffer_write(buffer, 0, &value, sizeof value), "the host cannot write it");
  expect_refused(texloom_buffer_wrap(opened_, nullptr, &buffer), "an argument is null");
  texloom_buffer_free(buffer);
  expect(api_->clReleaseMemObject(memory));
  EXPECT_EQ(texture, nullptr);
}

}  // namespace
}  // namespace texloom::runtime
