// Requests against the limits of a small invented device: at each limit, and one past it.
#include "runtime/hal/creation_check.h"

#include <gtest/gtest.h>

#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal {
namespace {

DeviceInfo small_device() {
  DeviceInfo device;
  device.name = "small";
  device.features.images = true;
  device.limits = {.max_image_width = 64,
                   .max_image_height = 32,
                   .max_read_images = 2,
                   .max_write_images = 1,
                   .max_workgroup_size = 64,
                   .max_workitem_sizes = {64, 32, 4},
                   .local_memory_bytes = 1024,
                   .max_allocation_bytes = 16384,
                   .max_argument_bytes = 40,
                   .buffer_offset_alignment = 64};
  return device;
}

ExecutableDesc executable_with(std::vector<KernelParam> params,
                               std::array<std::uint32_t, 3> workgroup_size = {1, 1, 1}) {
  return {.codes = opencl_c("kernel"),
          .entry_points = {
              {.name = "k", .params = std::move(params), .workgroup_size = workgroup_size}}};
}

TEST(CreationCheck, Buffers) {
  const DeviceInfo device = small_device();
  EXPECT_TRUE(check_creation(device, BufferDesc{.bytes = 16384}).ok());
  EXPECT_THAT(check_creation(device, BufferDesc{.bytes = 0}),
              fails_with(StatusCode::InvalidArgument, "zero bytes"));
  EXPECT_THAT(check_creation(device, BufferDesc{.bytes = 16385}),
              fails_with(StatusCode::InvalidArgument, "16385 bytes is over the limit"));
}

TEST(CreationCheck, Textures) {
  const DeviceInfo device = small_device();
  const auto check = [&](Extent2D extent, TexelFormat format = TexelFormat::Rgba8Int) {
    return check_creation(device, TextureDesc{.extent = extent, .format = format});
  };
  EXPECT_TRUE(check({64, 32}).ok());
  EXPECT_THAT(check({0, 1}), fails_with(StatusCode::InvalidArgument, "0x1 texels"));
  EXPECT_THAT(check({1, 0}), fails_with(StatusCode::InvalidArgument, "1x0 texels"));
  EXPECT_THAT(check({65, 1}), fails_with(StatusCode::InvalidArgument, "64x32 texels"));
  EXPECT_THAT(check({1, 33}), fails_with(StatusCode::InvalidArgument, "64x32 texels"));
  EXPECT_THAT(check({64, 32}, TexelFormat::Rgba32Float),
              fails_with(StatusCode::InvalidArgument, "32768 bytes is over the limit"));
}

TEST(CreationCheck, TexturesOnADeviceWithoutImages) {
  DeviceInfo device = small_device();
  device.features.images = false;
  EXPECT_THAT(check_creation(device, TextureDesc{.extent = {1, 1}}),
              fails_with(StatusCode::Unimplemented, "no images"));
  EXPECT_THAT(check_creation(device, executable_with({TextureParam{.name = "t"}})),
              fails_with(StatusCode::Unimplemented, "texture \"t\": device small has no images"));
}

TEST(CreationCheck, WorkgroupSizes) {
  const DeviceInfo device = small_device();
  EXPECT_TRUE(check_creation(device, executable_with({}, {64, 1, 1})).ok());
  EXPECT_TRUE(check_creation(device, executable_with({}, {4, 4, 4})).ok());
  EXPECT_THAT(check_creation(device, executable_with({}, {1, 0, 1})),
              fails_with(StatusCode::InvalidArgument, "axis 1 is zero"));
  EXPECT_THAT(check_creation(device, executable_with({}, {1, 1, 5})),
              fails_with(StatusCode::InvalidArgument, "5 work items along axis 2"));
  EXPECT_THAT(check_creation(device, executable_with({}, {33, 2, 1})),
              fails_with(StatusCode::InvalidArgument, "33 x 2 x 1 work items"));
  EXPECT_THAT(check_creation(device, executable_with({}, {8, 4, 3})),
              fails_with(StatusCode::InvalidArgument, "8 x 4 x 3 work items"));
}

TEST(CreationCheck, ArgumentsOverTheLimits) {
  const DeviceInfo device = small_device();
  const TextureParam read{.name = "r"};
  const TextureParam write{.name = "w", .access = Access::Write};
  EXPECT_TRUE(check_creation(device, executable_with({read, read, write})).ok());
  EXPECT_THAT(check_creation(device, executable_with({read, read, read})),
              fails_with(StatusCode::InvalidArgument, "reads 3 textures"));
  EXPECT_THAT(check_creation(device, executable_with({write, write})),
              fails_with(StatusCode::InvalidArgument, "writes 2 textures"));
  EXPECT_THAT(
      check_creation(device,
                     executable_with({TextureParam{.name = "rw", .access = Access::ReadWrite}})),
      fails_with(StatusCode::Unimplemented, "texture \"rw\""));
  // Four pointers of 8 bytes and two ints of 4 make 40.
  const ConstantParam word{.name = "n"};
  std::vector<KernelParam> params(4, BufferParam{.name = "b"});
  params.insert(params.end(), {word, word});
  EXPECT_TRUE(check_creation(device, executable_with(params)).ok());
  params.emplace_back(word);
  EXPECT_THAT(check_creation(device, executable_with(params)),
              fails_with(StatusCode::InvalidArgument, "44 bytes of arguments"));
}

TEST(CreationCheck, ConstantsAreOf32Or64Bits) {
  const DeviceInfo device = small_device();
  for (const char* name : {"int32", "uint32", "int64", "uint64", "float32", "float64"})
    EXPECT_TRUE(
        check_creation(device, executable_with({ConstantParam{"c", *element_type_from_name(name)}}))
            .ok());
  for (const char* name : {"bool", "int8", "uint16", "float16"})
    EXPECT_THAT(check_creation(
                    device, executable_with({ConstantParam{"c", *element_type_from_name(name)}})),
                fails_with(StatusCode::InvalidArgument, name));
}

TEST(CreationCheck, ExecutablesWithoutContent) {
  const DeviceInfo device = small_device();
  ExecutableDesc desc = executable_with({});
  desc.codes.clear();
  EXPECT_THAT(check_creation(device, desc),
              fails_with(StatusCode::InvalidArgument, "without code"));
  desc = executable_with({});
  desc.entry_points.push_back(desc.entry_points[0]);
  EXPECT_THAT(check_creation(device, desc),
              fails_with(StatusCode::InvalidArgument, "two entry points named \"k\""));
  desc.entry_points.clear();
  EXPECT_THAT(check_creation(device, desc),
              fails_with(StatusCode::InvalidArgument, "without entry points"));
  desc = executable_with({});
  desc.entry_points[0].name.clear();
  EXPECT_THAT(check_creation(device, desc),
              fails_with(StatusCode::InvalidArgument, "without a name"));
}

}  // namespace
}  // namespace texloom::hal
