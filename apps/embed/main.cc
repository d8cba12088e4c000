// An example of embedding Texloom's runtime: opens a device, fills a texture from a buffer with one
// kernel, smooths it with another, and compares the result with the host's.
// Everything that can fail returns a Status or a Result, which contains a value or a Status;
// nothing throws. TL_ASSIGN_OR_RETURN and TL_RETURN_IF_ERROR return an error to the caller.
#include <texloom/runtime/drivers/opencl/driver.h>
#include <texloom/runtime/hal/transfer.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

namespace {

namespace hal = texloom::hal;
using texloom::Result;
using texloom::Status;
using texloom::StatusCode;

constexpr hal::Extent2D kExtent = {64, 32};  // texels
constexpr std::size_t kCount = std::size_t{kExtent.width} * kExtent.height * 4;

// A sampler that clamps to a border reads zero outside the image.
constexpr const char* kSource = R"(
__constant sampler_t kNearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel void fill(__global const float4* numbers, __write_only image2d_t image) {
  int x = get_global_id(0), y = get_global_id(1);
  write_imagef(image, (int2)(x, y), numbers[y * get_global_size(0) + x]);
}

__kernel void smooth(__read_only image2d_t image, __global float4* sums, float weight) {
  int x = get_global_id(0), y = get_global_id(1);
  float4 sides = read_imagef(image, kNearest, (int2)(x - 1, y)) +
                 read_imagef(image, kNearest, (int2)(x + 1, y));
  float4 middle = read_imagef(image, kNearest, (int2)(x, y));
  sums[y * get_global_size(0) + x] = middle + weight * sides;
}
)";

constexpr std::array<std::uint32_t, 3> kWorkgroup = {8, 4, 1};
constexpr std::array<std::uint32_t, 3> kGroups = {kExtent.width / kWorkgroup[0],
                                                  kExtent.height / kWorkgroup[1], 1};

hal::ExecutableDesc kernels() {
  const hal::BufferParam numbers = {"numbers", hal::Access::Read, kCount * sizeof(float)};
  const hal::BufferParam sums = {"sums", hal::Access::Write, kCount * sizeof(float)};
  hal::TextureParam image = {.name = "image", .access = hal::Access::Write, .min_extent = kExtent};
  hal::EntryPoint fill = {"fill", {numbers, image}, kWorkgroup};
  image.access = hal::Access::Read;
  const hal::ConstantParam weight = {"weight", hal::ElementType::Float32};
  hal::EntryPoint smooth = {"smooth", {image, sums, weight}, kWorkgroup};
  hal::ExecutableDesc desc;
  desc.codes = {{.code = kSource}};
  desc.entry_points = {std::move(fill), std::move(smooth)};
  return desc;
}

// Runs both kernels over `numbers`, kCount floats, with one submission.
Result<std::vector<float>> smooth_on_device(hal::Device& device, std::span<const float> numbers,
                                            float weight) {
  constexpr std::uint64_t kBytes = kCount * sizeof(float);
  TL_ASSIGN_OR_RETURN(auto input, device.create_buffer({.bytes = kBytes}));
  TL_ASSIGN_OR_RETURN(auto output, device.create_buffer({.bytes = kBytes}));
  TL_ASSIGN_OR_RETURN(auto image, device.create_texture({.extent = kExtent}));
  TL_ASSIGN_OR_RETURN(auto executable, device.create_executable(kernels()));
  TL_ASSIGN_OR_RETURN(const std::uint32_t fill, executable->find("fill"));
  TL_ASSIGN_OR_RETURN(const std::uint32_t smooth, executable->find("smooth"));

  const std::array<hal::Binding, 2> filled = {hal::BufferBinding{input},
                                              hal::TextureBinding{image}};
  const std::array<hal::Binding, 2> smoothed = {hal::TextureBinding{image},
                                                hal::BufferBinding{output}};
  const std::array<hal::Constant, 1> constants = {hal::Constant(weight)};
  std::vector<float> result(kCount);

  const std::shared_ptr<hal::CommandBuffer> commands = device.create_command_buffer();
  TL_RETURN_IF_ERROR(commands->update(input, 0, std::as_bytes(numbers)));
  TL_RETURN_IF_ERROR(commands->dispatch(executable, fill, kGroups, filled, {}));
  TL_RETURN_IF_ERROR(commands->dispatch(executable, smooth, kGroups, smoothed, constants));
  TL_RETURN_IF_ERROR(commands->readback(output, 0, std::as_writable_bytes(std::span(result))));
  TL_RETURN_IF_ERROR(commands->finish());
  TL_RETURN_IF_ERROR(device.queue()->submit(commands));
  TL_RETURN_IF_ERROR(device.queue()->wait_idle());
  return result;
}

std::vector<float> smooth_on_host(std::span<const float> numbers, float weight) {
  std::vector<float> sums(kCount);
  const std::size_t row = std::size_t{kExtent.width} * 4;
  for (std::size_t i = 0; i < kCount; ++i) {
    const float left = i % row < 4 ? 0 : numbers[i - 4];
    const float right = i % row >= row - 4 ? 0 : numbers[i + 4];
    sums[i] = numbers[i] + weight * (left + right);
  }
  return sums;
}

Status run() {
  TL_ASSIGN_OR_RETURN(const auto driver, hal::opencl::create_driver());
  for (const hal::DeviceInfo& info : driver->devices())
    std::printf("device: %s (%s)\n", info.name.c_str(), info.api_version.c_str());
  TL_ASSIGN_OR_RETURN(const auto device, driver->open(0));

  std::vector<float> numbers(kCount);
  for (std::size_t i = 0; i < kCount; ++i) numbers[i] = static_cast<float>(i % 251);
  const float weight = 0.5F;  // small multiples of 1/2: sums are exact in any order
  TL_ASSIGN_OR_RETURN(const std::vector<float> sums, smooth_on_device(*device, numbers, weight));

  if (sums != smooth_on_host(numbers, weight))
    return Status(StatusCode::Internal, "device and host differ");
  std::printf("smoothed a texture of %u x %u texels: as on the host\n", kExtent.width,
              kExtent.height);

  // An error describes what was wrong; all objects remain usable.
  const auto refused =
      device->create_texture({.extent = {device->info().limits.max_image_width + 1, 1}});
  std::printf("a texture too wide: %s\n", refused.status().to_string().c_str());
  return {};
}

}  // namespace

int main() {
  const Status status = run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "embed: %s\n", status.to_string().c_str());
  return 1;
}
