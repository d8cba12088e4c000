// Tests requests against the limits of a small mock device: at each limit, and one past it.
#include "runtime/hal/internal/checks/creation_check.h"

#include <gtest/gtest.h>

#include "runtime/drivers/null/driver.h"
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
              fails_with(StatusCode::OutOfMemory, "16 KiB is over the limit"));
}

TEST(CreationCheck, KindsThatTheDeviceLacks) {
  const DeviceInfo device = small_device();
  EXPECT_THAT(check_creation(device, BufferDesc{.bytes = 4, .memory = MemoryKind::Shared}),
              fails_with(StatusCode::Unimplemented, "no memory of the kind \"shared\""));
  for (const TextureKind kind : {TextureKind::Image2DArray, TextureKind::Image1DBuffer})
    EXPECT_THAT(check_creation(device, TextureDesc{.extent = {4, 4}, .kind = kind}),
                fails_with(StatusCode::Unimplemented, "only a 2-D image can"));
  EXPECT_THAT(check_creation(device, TextureDesc{.extent = {4, 4}, .memory = MemoryKind::Managed}),
              fails_with(StatusCode::Unimplemented, "no memory of the kind \"managed\""));
  EXPECT_THAT(check_creation(null::default_device(),
                             TextureDesc{.extent = {4, 4}, .memory = MemoryKind::Shared}),
              fails_with(StatusCode::Unimplemented, "of the kind \"shared\": only of \"device\""));
  EXPECT_THAT(check_creation(device, TextureDesc{.extent = {4, 4}, .layers = 2}),
              fails_with(StatusCode::InvalidArgument, "of 2 layers"));
}

TEST(CreationCheck, ImportsAreAlignedAndWithinTheLimit) {
  DeviceInfo device = small_device();
  alignas(64) static std::array<std::byte, 128> memory;
  const auto check = [&](std::size_t offset, std::size_t bytes) {
    return check_creation(device, ImportDesc{.memory = {memory.data() + offset, bytes}});
  };
  EXPECT_THAT(check(0, 64), fails_with(StatusCode::Unimplemented, "memory of the host"));
  device.features.host_import = true;
  device.limits.import_address_alignment = 64;
  device.limits.import_size_alignment = 32;
  device.limits.max_allocation_bytes = 96;
  EXPECT_TRUE(check(0, 96).ok());
  EXPECT_TRUE(check(64, 64).ok());
  EXPECT_THAT(check(32, 32), fails_with(StatusCode::InvalidArgument, "requires a multiple of 64"));
  EXPECT_THAT(check(0, 33), fails_with(StatusCode::InvalidArgument, "requires a multiple of 32"));
  EXPECT_THAT(check(0, 0), fails_with(StatusCode::InvalidArgument, "zero bytes"));
  EXPECT_THAT(check(0, 128), fails_with(StatusCode::OutOfMemory, "over the limit"));
}

// Alignments are in texels: 4 texels are 16 bytes in one format and 64 in another.
TEST(CreationCheck, ViewsOverBuffers) {
  DeviceInfo info = null::default_device();
  info.limits.view_pitch_alignment = 4;
  info.limits.view_base_alignment = 2;
  info.limits.buffer_offset_alignment = 8;
  const auto device = *null::create_driver(info)->open(0);
  const auto buffer = *device->create_buffer({.bytes = 1024});
  const auto view = [&](TextureViewDesc desc) {
    return device->allocator()->create_view(buffer, desc);
  };
  const auto refused = [](const char* part) {
    return fails_with(StatusCode::InvalidArgument, std::string(part));
  };
  const TextureDesc bytes{.extent = {5, 3}, .format = TexelFormat::Rgba8UInt};
  const TextureDesc floats{.extent = {5, 3}, .format = TexelFormat::Rgba32Float};
  EXPECT_EQ((*view({.texture = bytes}))->backing()->row_pitch, 32U);
  EXPECT_EQ((*view({.texture = floats}))->backing()->row_pitch, 128U);
  EXPECT_EQ((*view({.texture = bytes, .row_pitch = 48}))->backing()->bytes, 144U);
  EXPECT_THAT(view({.texture = bytes, .row_pitch = 40}).status(), refused("a row pitch of 40"));
  EXPECT_THAT(view({.texture = bytes, .row_pitch = 16}).status(), refused("a row pitch of 16"));
  EXPECT_THAT(view({.texture = bytes, .row_pitch = 1040}).status(), refused("buffer has 1024"));
  EXPECT_TRUE(view({.texture = floats, .offset = 640}).ok());
  EXPECT_THAT(view({.texture = floats, .offset = 672}).status(), refused("384 bytes at offset"));
  EXPECT_TRUE(view({.texture = bytes, .offset = 8}).ok());
  EXPECT_THAT(view({.texture = bytes, .offset = 4}).status(), refused("is at byte 4"));
  EXPECT_THAT(view({.texture = floats, .offset = 8}).status(), refused("is at byte 8"));
  // For a subspan, its offset in the whole buffer must be aligned.
  const auto part = *buffer->subspan(8, 512);
  EXPECT_THAT(device->allocator()->create_view(part, {.texture = floats}).status(),
              refused("is at byte 8"));
  const auto seen = *device->allocator()->create_view(part, {.texture = bytes, .offset = 8});
  EXPECT_EQ(seen->backing()->buffer, buffer);
  EXPECT_EQ(seen->backing()->offset, 16U);
  EXPECT_THAT(device->allocator()->create_view(nullptr, {.texture = bytes}).status(),
              refused("is null"));
  const auto mute = *device->create_buffer({.bytes = 1024, .usage = BufferUsage::Storage});
  EXPECT_THAT(device->allocator()->create_view(mute, {.texture = bytes}).status(),
              refused("usage for views"));
  const auto other = *null::create_driver(info)->open(0);
  EXPECT_THAT(other->allocator()->create_view(buffer, {.texture = bytes}).status(),
              refused("another device"));
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
              fails_with(StatusCode::OutOfMemory, "32 KiB is over the limit"));
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
  for (const Extent2D extent : {Extent2D{4, 0}, Extent2D{0, 4}})
    EXPECT_THAT(
        check_creation(device, executable_with({TextureParam{.name = "t", .min_extent = extent}})),
        fails_with(StatusCode::InvalidArgument, "texture \"t\" of at least " + to_string(extent)));
  // Four pointers of 8 bytes and two ints of 4 bytes take 40 bytes.
  const ConstantParam word{.name = "n"};
  std::vector<KernelParam> params(4, BufferParam{.name = "b"});
  params.insert(params.end(), {word, word});
  EXPECT_TRUE(check_creation(device, executable_with(params)).ok());
  params.emplace_back(word);
  EXPECT_THAT(check_creation(device, executable_with(params)),
              fails_with(StatusCode::InvalidArgument, "44 bytes of arguments"));
}

// The limits are Metal's: 31 buffers and 4 KiB of constants.
TEST(CreationCheck, BuffersAndConstantsOverTheLimits) {
  DeviceInfo device = null::default_device();
  std::vector<KernelParam> params(31, BufferParam{.name = "b"});
  params.insert(params.end(), 512, ConstantParam{"c", ElementType::Int64});
  EXPECT_TRUE(check_creation(device, executable_with(params)).ok());
  std::vector<KernelParam> more = params;
  more.emplace_back(BufferParam{.name = "b"});
  EXPECT_THAT(
      check_creation(device, executable_with(more)),
      fails_with(StatusCode::InvalidArgument, "takes 32 buffers, but device null allows 31"));
  device.features.argument_buffers = true;
  EXPECT_TRUE(check_creation(device, executable_with(more)).ok());
  params.emplace_back(ConstantParam{"c", ElementType::Int32});
  EXPECT_THAT(check_creation(device, executable_with(params)),
              fails_with(StatusCode::InvalidArgument,
                         "takes 4100 bytes of constants, but device null allows 4096"));
  device.limits.max_buffers = kNoLimit32;
  device.limits.max_constant_bytes = kNoLimit64;
  params.emplace_back(BufferParam{.name = "b"});
  EXPECT_TRUE(check_creation(device, executable_with(params)).ok());
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
