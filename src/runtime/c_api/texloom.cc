#include "runtime/c_api/texloom.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/drivers/all/drivers.h"
#include "runtime/drivers/host/driver.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/load_graph.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/driver_registry.h"
#include "runtime/hal/transfer.h"
#include "runtime/package/package_file.h"
#include "runtime/parts/host_part.h"
#include "runtime/plan/host_parts.h"

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
struct texloom_texture {
  std::shared_ptr<hal::Texture> texture;
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

// Errors made in advance and never freed, because no memory may be left when they are returned.
texloom_error out_of_memory{
    Status(StatusCode::OutOfMemory, "the host has no memory left for this")};
texloom_error unexpected{Status(StatusCode::Internal, "the runtime threw an exception")};

// Calls a function that may throw, and returns its error: no exception may reach a caller in C.
template <class Body>
texloom_error* guarded(const Body& body) noexcept {
  const auto error_of_body = [&]() -> texloom_error* {
    Status status = body();
    return status.ok() ? nullptr : new texloom_error{std::move(status)};
  };
#ifdef __cpp_exceptions
  try {
    return error_of_body();
  } catch (const std::bad_alloc&) {
    return &out_of_memory;
  } catch (...) {
    return &unexpected;
  }
#else
  return error_of_body();
#endif
}

texloom_error* null_argument(const char* function) {
  return guarded([&] { return texloom::invalid_argument("{}: an argument is null", function); });
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

// Stores the value of a result in `place`; leaves `place` alone if the result is an error.
template <class T, class Place>
Status give(const Result<T>& found, Place* place) {
  if (found.ok()) *place = static_cast<Place>(*found);
  return found.status();
}

// Converts a number to a scalar of an integer type.
template <class T>
Result<hal::Constant> integer(const std::string& name, std::int64_t value) {
  if (std::in_range<T>(value)) return hal::Constant(static_cast<T>(value));
  return texloom::invalid_argument("scalar \"{}\" must be from {} to {}, got {}", name,
                                   std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                                   value);
}

Result<hal::Constant> scalar_of(const runtime::ScalarSpec& scalar, std::int64_t value) {
  switch (scalar.element) {
    case hal::ElementType::Int32:
      return integer<std::int32_t>(scalar.name, value);
    case hal::ElementType::UInt32:
      return integer<std::uint32_t>(scalar.name, value);
    case hal::ElementType::Int64:
      return integer<std::int64_t>(scalar.name, value);
    case hal::ElementType::UInt64:
      return integer<std::uint64_t>(scalar.name, value);
    default:
      return texloom::invalid_argument("scalar \"{}\" is {}; help: use texloom_set_scalar_f64()",
                                       scalar.name, hal::to_string(scalar.element));
  }
}

Result<hal::Constant> scalar_of(const runtime::ScalarSpec& scalar, double value) {
  if (scalar.element == hal::ElementType::Float64) return hal::Constant(value);
  if (scalar.element != hal::ElementType::Float32)
    return texloom::invalid_argument("scalar \"{}\" is {}; help: use texloom_set_scalar_i64()",
                                     scalar.name, hal::to_string(scalar.element));
  if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max())
    return texloom::invalid_argument("scalar \"{}\" is float32, which cannot hold {}", scalar.name,
                                     value);
  return hal::Constant(static_cast<float>(value));
}

template <class Number>
Status set_scalar(runtime::Executor& executor, uint32_t scalar, Number value) {
  const std::vector<runtime::ScalarSpec>& scalars = executor.program()->plan().scalars;
  if (scalar >= scalars.size())
    return texloom::invalid_argument("scalar {} is out of range: there are {}", scalar,
                                     scalars.size());
  TL_ASSIGN_OR_RETURN(const hal::Constant constant, scalar_of(scalars[scalar], value));
  return executor.set_scalar(scalar, constant);
}

Status open_over(std::string_view driver, const hal::NativeDevice& objects,
                 texloom_device** device) {
  hal::DriverRegistry drivers;
  TL_RETURN_IF_ERROR(hal::add_drivers(drivers));
  TL_ASSIGN_OR_RETURN(const auto found, drivers.find(driver));
  TL_ASSIGN_OR_RETURN(auto opened, found->open_native(objects));
  *device = new texloom_device{std::move(opened)};
  return {};
}

Result<std::shared_ptr<hal::Device>> open(const char* path) {
  hal::DriverRegistry drivers;
  TL_RETURN_IF_ERROR(hal::add_drivers(drivers));
  return drivers.open(path);
}

Status load(const texloom_device& device, const char* file, const runtime::KernelPolicy& policy,
            texloom_graph** graph) {
  TL_ASSIGN_OR_RETURN(auto package,
                      runtime::PackageFile::open(std::filesystem::path(file), {.kernels = policy}));
  runtime::GraphOptions options;
  if (std::ranges::any_of(package->package().variants, runtime::has_host_parts,
                          &runtime::PackageVariant::plan))
    options.prepare_calls = runtime::prepare_with_host_parts({}, [] { return open("host"); });
  TL_ASSIGN_OR_RETURN(auto loaded, runtime::load_graph(device.device, std::move(package), options));
  *graph = new texloom_graph{std::move(loaded)};
  return {};
}

constexpr size_t kMostAxes = 32;

}  // namespace

// Refuses a function's null arguments. Pointers to empty arrays may be null.
#define TEXLOOM_REQUIRE(condition) \
  if (!(condition)) return null_argument(__func__)

texloom_code texloom_error_code(const texloom_error* error) {
  return error == nullptr ? TEXLOOM_OK : static_cast<texloom_code>(error->status.code());
}
const char* texloom_error_message(const texloom_error* error) {
  return error == nullptr ? "" : error->status.message().c_str();
}
void texloom_error_free(texloom_error* error) {
  if (error != &out_of_memory && error != &unexpected) delete error;
}

texloom_error* texloom_device_open(const char* path, texloom_device** device) {
  TEXLOOM_REQUIRE(path && device);
  return guarded([&]() -> Status {
    TL_ASSIGN_OR_RETURN(auto opened, open(path));
    *device = new texloom_device{std::move(opened)};
    return {};
  });
}
texloom_error* texloom_device_open_opencl(void* context, void* device_id, void* queue,
                                          texloom_device** device) {
  TEXLOOM_REQUIRE(device);
  return guarded([&] {
    return open_over("opencl", {.context = context, .device = device_id, .queue = queue}, device);
  });
}
texloom_error* texloom_device_open_metal(void* metal_device, void* queue, texloom_device** device) {
  TEXLOOM_REQUIRE(device);
  return guarded(
      [&] { return open_over("metal", {.device = metal_device, .queue = queue}, device); });
}
texloom_error* texloom_device_open_linked(const texloom_linked_kernels* const* libraries,
                                          size_t count, texloom_device** device) {
  TEXLOOM_REQUIRE(device && (libraries || count == 0));
  return guarded([&]() -> Status {
    const auto driver = hal::host::create_driver({.linked = {libraries, libraries + count}});
    TL_ASSIGN_OR_RETURN(auto opened, driver->open(0));
    *device = new texloom_device{std::move(opened)};
    return {};
  });
}
const char* texloom_device_name(const texloom_device* device) {
  return device == nullptr ? "" : device->device->info().name.c_str();
}
void texloom_device_free(texloom_device* device) { delete device; }

texloom_error* texloom_graph_load(texloom_device* device, const char* file, texloom_graph** graph) {
  TEXLOOM_REQUIRE(device && file && graph);
  return guarded([&] { return load(*device, file, {}, graph); });
}
texloom_error* texloom_graph_load_native(texloom_device* device, const char* file,
                                         texloom_graph** graph) {
  TEXLOOM_REQUIRE(device && file && graph);
  return guarded([&] { return load(*device, file, {.takes_native = true}, graph); });
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
  return guarded([&]() -> Status {
    TL_ASSIGN_OR_RETURN(auto made,
                        runtime::Executor::create(graph->loaded.program, graph->loaded.interface));
    *executor = new texloom_executor{std::move(made)};
    return {};
  });
}
void texloom_executor_free(texloom_executor* executor) { delete executor; }

texloom_error* texloom_find_input(const texloom_executor* executor, const char* name,
                                  uint32_t* input) {
  TEXLOOM_REQUIRE(executor && name && input);
  return guarded([&] { return give(executor->executor->find_input(name), input); });
}
texloom_error* texloom_find_output(const texloom_executor* executor, const char* name,
                                   uint32_t* output) {
  TEXLOOM_REQUIRE(executor && name && output);
  return guarded([&] { return give(executor->executor->find_output(name), output); });
}
texloom_error* texloom_find_scalar(const texloom_executor* executor, const char* name,
                                   uint32_t* scalar) {
  TEXLOOM_REQUIRE(executor && name && scalar);
  return guarded([&] { return give(executor->executor->find_scalar(name), scalar); });
}

texloom_error* texloom_set_scalar_i64(texloom_executor* executor, uint32_t scalar, int64_t value) {
  TEXLOOM_REQUIRE(executor);
  return guarded([&] { return set_scalar(*executor->executor, scalar, value); });
}
texloom_error* texloom_set_scalar_f64(texloom_executor* executor, uint32_t scalar, double value) {
  TEXLOOM_REQUIRE(executor);
  return guarded([&] { return set_scalar(*executor->executor, scalar, value); });
}

texloom_error* texloom_set_shape(texloom_executor* executor, uint32_t input, const int64_t* extents,
                                 size_t axes) {
  TEXLOOM_REQUIRE(executor && (extents || axes == 0));
  return guarded([&]() -> Status {
    if (axes > kMostAxes)
      return texloom::invalid_argument("a shape of {} axes; at most {} are allowed", axes,
                                       kMostAxes);
    return executor->executor->set_shape(input, {extents, axes});
  });
}
texloom_error* texloom_set_input(texloom_executor* executor, uint32_t input, const void* array,
                                 size_t bytes) {
  TEXLOOM_REQUIRE(executor && (array || bytes == 0));
  return guarded([&] { return executor->executor->set_input(input, bytes_of(array, bytes)); });
}
texloom_error* texloom_bind_input(texloom_executor* executor, uint32_t input,
                                  texloom_buffer* buffer, uint64_t offset) {
  TEXLOOM_REQUIRE(executor && buffer);
  return guarded([&] {
    return executor->executor->bind_input(input, hal::BufferBinding{buffer->buffer, offset});
  });
}
texloom_error* texloom_bind_output(texloom_executor* executor, uint32_t output,
                                   texloom_buffer* buffer, uint64_t offset) {
  TEXLOOM_REQUIRE(executor && buffer);
  return guarded([&] {
    return executor->executor->bind_output(output, hal::BufferBinding{buffer->buffer, offset});
  });
}

texloom_error* texloom_bind_input_texture(texloom_executor* executor, uint32_t input,
                                          texloom_texture* texture, uint32_t x, uint32_t y) {
  TEXLOOM_REQUIRE(executor && texture);
  return guarded([&] {
    return executor->executor->bind_input(input, hal::TextureBinding{texture->texture, {x, y}});
  });
}
texloom_error* texloom_bind_output_texture(texloom_executor* executor, uint32_t output,
                                           texloom_texture* texture, uint32_t x, uint32_t y) {
  TEXLOOM_REQUIRE(executor && texture);
  return guarded([&] {
    return executor->executor->bind_output(output, hal::TextureBinding{texture->texture, {x, y}});
  });
}

texloom_error* texloom_run(texloom_executor* executor) {
  TEXLOOM_REQUIRE(executor);
  return guarded([&] { return executor->executor->run(); });
}
texloom_error* texloom_submit(texloom_executor* executor) {
  TEXLOOM_REQUIRE(executor);
  return guarded([&] { return executor->executor->submit(); });
}

texloom_error* texloom_output_shape(const texloom_executor* executor, uint32_t output,
                                    int64_t* extents, size_t room, size_t* axes) {
  TEXLOOM_REQUIRE(executor && axes && (extents || room == 0));
  return guarded([&]() -> Status {
    TL_ASSIGN_OR_RETURN(const runtime::Shape shape, executor->executor->output_shape(output));
    *axes = shape.size();
    if (room >= shape.size()) std::copy(shape.begin(), shape.end(), extents);
    return {};
  });
}
texloom_error* texloom_output_bytes(const texloom_executor* executor, uint32_t output,
                                    size_t* bytes) {
  TEXLOOM_REQUIRE(executor && bytes);
  return guarded([&] { return give(executor->executor->output_bytes(output), bytes); });
}
texloom_error* texloom_get_output(texloom_executor* executor, uint32_t output, void* array,
                                  size_t bytes) {
  TEXLOOM_REQUIRE(executor && (array || bytes == 0));
  return guarded([&] { return executor->executor->get_output(output, bytes_of(array, bytes)); });
}

texloom_error* texloom_buffer_create(texloom_device* device, uint64_t bytes,
                                     texloom_buffer** buffer) {
  TEXLOOM_REQUIRE(device && buffer);
  return guarded([&]() -> Status {
    TL_ASSIGN_OR_RETURN(auto made, device->device->create_buffer({.bytes = bytes}));
    *buffer = new texloom_buffer{device->device, std::move(made)};
    return {};
  });
}
texloom_error* texloom_buffer_write(texloom_buffer* buffer, uint64_t offset, const void* data,
                                    size_t bytes) {
  TEXLOOM_REQUIRE(buffer && (data || bytes == 0));
  return guarded([&] {
    return hal::write_buffer(*buffer->device, buffer->buffer, offset, bytes_of(data, bytes));
  });
}
texloom_error* texloom_buffer_read(texloom_buffer* buffer, uint64_t offset, void* data,
                                   size_t bytes) {
  TEXLOOM_REQUIRE(buffer && (data || bytes == 0));
  return guarded([&] {
    return hal::read_buffer(*buffer->device, buffer->buffer, offset, bytes_of(data, bytes));
  });
}
void texloom_buffer_free(texloom_buffer* buffer) { delete buffer; }

texloom_error* texloom_buffer_wrap(texloom_device* device, void* memory, texloom_buffer** buffer) {
  TEXLOOM_REQUIRE(device && memory && buffer);
  return guarded([&]() -> Status {
    TL_ASSIGN_OR_RETURN(auto wrapped, device->device->allocator()->wrap_buffer(memory));
    *buffer = new texloom_buffer{device->device, std::move(wrapped)};
    return {};
  });
}
texloom_error* texloom_texture_wrap(texloom_device* device, void* image,
                                    texloom_texture** texture) {
  TEXLOOM_REQUIRE(device && image && texture);
  return guarded([&]() -> Status {
    TL_ASSIGN_OR_RETURN(auto wrapped, device->device->allocator()->wrap_texture(image));
    *texture = new texloom_texture{std::move(wrapped)};
    return {};
  });
}
void texloom_texture_free(texloom_texture* texture) { delete texture; }
