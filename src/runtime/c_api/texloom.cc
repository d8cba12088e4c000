#include "runtime/c_api/texloom.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/driver.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/load_graph.h"
#include "runtime/hal/driver_registry.h"
#include "runtime/hal/transfer.h"
#include "runtime/package/package_file.h"

namespace hal = texloom::hal;
namespace runtime = texloom::runtime;
using texloom::Result;
using texloom::Status;
using texloom::StatusCode;

struct texloom_error {
  Status status;
};
struct texloom_device {
  std::shared_ptr<hal::Device> device;
};
struct texloom_graph {
  runtime::LoadedGraph loaded;
};
struct texloom_executor {
  std::unique_ptr<runtime::Executor> executor;
};
struct texloom_buffer {
  std::shared_ptr<hal::Device> device;
  std::shared_ptr<hal::Buffer> buffer;
};

namespace {

static_assert(static_cast<int>(StatusCode::InvalidArgument) == TEXLOOM_INVALID_ARGUMENT);
static_assert(static_cast<int>(StatusCode::NotFound) == TEXLOOM_NOT_FOUND);
static_assert(static_cast<int>(StatusCode::Unavailable) == TEXLOOM_UNAVAILABLE);
static_assert(static_cast<int>(StatusCode::LimitExceeded) == TEXLOOM_LIMIT_EXCEEDED);
static_assert(static_cast<int>(StatusCode::OutOfMemory) == TEXLOOM_OUT_OF_MEMORY);
static_assert(static_cast<int>(StatusCode::BuildFailed) == TEXLOOM_BUILD_FAILED);
static_assert(static_cast<int>(StatusCode::DeadlineExceeded) == TEXLOOM_DEADLINE_EXCEEDED);
static_assert(static_cast<int>(StatusCode::Cancelled) == TEXLOOM_CANCELLED);
static_assert(static_cast<int>(StatusCode::DeviceError) == TEXLOOM_DEVICE_ERROR);
static_assert(static_cast<int>(StatusCode::Unimplemented) == TEXLOOM_UNIMPLEMENTED);
static_assert(static_cast<int>(StatusCode::Internal) == TEXLOOM_INTERNAL);

texloom_error* error_of(Status status) {
  return status.ok() ? nullptr : new texloom_error{std::move(status)};
}

texloom_error* null_argument(const char* function) {
  return error_of(texloom::invalid_argument("{}: an argument is null", function));
}

std::span<const std::byte> bytes_of(const void* data, size_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}
std::span<std::byte> bytes_of(void* data, size_t bytes) {
  return {static_cast<std::byte*>(data), bytes};
}

const char* name_in(const std::vector<runtime::GraphPort>& ports, uint32_t port) {
  return port < ports.size() ? ports[port].name.c_str() : nullptr;
}

texloom_error* find(const Result<std::uint32_t>& found, uint32_t* number) {
  if (found.ok()) *number = *found;
  return error_of(found.status());
}

}  // namespace

// A function's null pointers are refused, except those of empty arrays.
#define TEXLOOM_REQUIRE(condition) \
  if (!(condition)) return null_argument(__func__)

texloom_code texloom_error_code(const texloom_error* error) {
  return error == nullptr ? TEXLOOM_OK : static_cast<texloom_code>(error->status.code());
}
const char* texloom_error_message(const texloom_error* error) {
  return error == nullptr ? "" : error->status.message().c_str();
}
void texloom_error_free(texloom_error* error) { delete error; }

texloom_error* texloom_device_open(const char* path, texloom_device** device) {
  TEXLOOM_REQUIRE(path && device);
  hal::DriverRegistry drivers;
  Status status = drivers.add("opencl", [] { return hal::opencl::create_driver(); });
  if (!status.ok()) return error_of(std::move(status));
  auto opened = drivers.open(path);
  if (opened.ok()) *device = new texloom_device{*std::move(opened)};
  return error_of(opened.status());
}
const char* texloom_device_name(const texloom_device* device) {
  return device == nullptr ? "" : device->device->info().name.c_str();
}
void texloom_device_free(texloom_device* device) { delete device; }

texloom_error* texloom_graph_load(texloom_device* device, const char* file, texloom_graph** graph) {
  TEXLOOM_REQUIRE(device && file && graph);
  auto package = runtime::PackageFile::open(std::filesystem::path(file));
  if (!package.ok()) return error_of(package.status());
  auto loaded = runtime::load_graph(device->device, *std::move(package));
  if (loaded.ok()) *graph = new texloom_graph{*std::move(loaded)};
  return error_of(loaded.status());
}
void texloom_graph_free(texloom_graph* graph) { delete graph; }

size_t texloom_graph_input_count(const texloom_graph* graph) {
  return graph == nullptr ? 0 : graph->loaded.interface.inputs.size();
}
size_t texloom_graph_output_count(const texloom_graph* graph) {
  return graph == nullptr ? 0 : graph->loaded.interface.outputs.size();
}
const char* texloom_graph_input_name(const texloom_graph* graph, uint32_t input) {
  return graph == nullptr ? nullptr : name_in(graph->loaded.interface.inputs, input);
}
const char* texloom_graph_output_name(const texloom_graph* graph, uint32_t output) {
  return graph == nullptr ? nullptr : name_in(graph->loaded.interface.outputs, output);
}

texloom_error* texloom_executor_create(texloom_graph* graph, texloom_executor** executor) {
  TEXLOOM_REQUIRE(graph && executor);
  auto made = runtime::Executor::create(graph->loaded.program, graph->loaded.interface);
  if (made.ok()) *executor = new texloom_executor{*std::move(made)};
  return error_of(made.status());
}
void texloom_executor_free(texloom_executor* executor) { delete executor; }

texloom_error* texloom_find_input(const texloom_executor* executor, const char* name,
                                  uint32_t* input) {
  TEXLOOM_REQUIRE(executor && name && input);
  return find(executor->executor->find_input(name), input);
}
texloom_error* texloom_find_output(const texloom_executor* executor, const char* name,
                                   uint32_t* output) {
  TEXLOOM_REQUIRE(executor && name && output);
  return find(executor->executor->find_output(name), output);
}

texloom_error* texloom_set_shape(texloom_executor* executor, uint32_t input, const int64_t* extents,
                                 size_t axes) {
  TEXLOOM_REQUIRE(executor && (extents || axes == 0));
  const std::vector<std::int64_t> shape(extents, extents + axes);
  return error_of(executor->executor->set_shape(input, shape));
}
texloom_error* texloom_set_input(texloom_executor* executor, uint32_t input, const void* array,
                                 size_t bytes) {
  TEXLOOM_REQUIRE(executor && (array || bytes == 0));
  return error_of(executor->executor->set_input(input, bytes_of(array, bytes)));
}
texloom_error* texloom_bind_input(texloom_executor* executor, uint32_t input,
                                  texloom_buffer* buffer, uint64_t offset) {
  TEXLOOM_REQUIRE(executor && buffer);
  return error_of(
      executor->executor->bind_input(input, hal::BufferBinding{buffer->buffer, offset}));
}
texloom_error* texloom_bind_output(texloom_executor* executor, uint32_t output,
                                   texloom_buffer* buffer, uint64_t offset) {
  TEXLOOM_REQUIRE(executor && buffer);
  return error_of(
      executor->executor->bind_output(output, hal::BufferBinding{buffer->buffer, offset}));
}

texloom_error* texloom_run(texloom_executor* executor) {
  TEXLOOM_REQUIRE(executor);
  return error_of(executor->executor->run());
}
texloom_error* texloom_submit(texloom_executor* executor) {
  TEXLOOM_REQUIRE(executor);
  return error_of(executor->executor->submit());
}

texloom_error* texloom_output_shape(const texloom_executor* executor, uint32_t output,
                                    int64_t* extents, size_t room, size_t* axes) {
  TEXLOOM_REQUIRE(executor && axes && (extents || room == 0));
  const Result<runtime::Shape> shape = executor->executor->output_shape(output);
  if (!shape.ok()) return error_of(shape.status());
  *axes = shape->size();
  if (room >= shape->size()) std::copy(shape->begin(), shape->end(), extents);
  return nullptr;
}
texloom_error* texloom_output_bytes(const texloom_executor* executor, uint32_t output,
                                    size_t* bytes) {
  TEXLOOM_REQUIRE(executor && bytes);
  const Result<std::uint64_t> found = executor->executor->output_bytes(output);
  if (found.ok()) *bytes = static_cast<size_t>(*found);
  return error_of(found.status());
}
texloom_error* texloom_get_output(texloom_executor* executor, uint32_t output, void* array,
                                  size_t bytes) {
  TEXLOOM_REQUIRE(executor && (array || bytes == 0));
  return error_of(executor->executor->get_output(output, bytes_of(array, bytes)));
}

texloom_error* texloom_buffer_create(texloom_device* device, uint64_t bytes,
                                     texloom_buffer** buffer) {
  TEXLOOM_REQUIRE(device && buffer);
  auto made = device->device->create_buffer({.bytes = bytes});
  if (made.ok()) *buffer = new texloom_buffer{device->device, *std::move(made)};
  return error_of(made.status());
}
texloom_error* texloom_buffer_write(texloom_buffer* buffer, uint64_t offset, const void* data,
                                    size_t bytes) {
  TEXLOOM_REQUIRE(buffer && (data || bytes == 0));
  return error_of(
      hal::write_buffer(*buffer->device, buffer->buffer, offset, bytes_of(data, bytes)));
}
texloom_error* texloom_buffer_read(texloom_buffer* buffer, uint64_t offset, void* data,
                                   size_t bytes) {
  TEXLOOM_REQUIRE(buffer && (data || bytes == 0));
  return error_of(hal::read_buffer(*buffer->device, buffer->buffer, offset, bytes_of(data, bytes)));
}
void texloom_buffer_free(texloom_buffer* buffer) { delete buffer; }
