// Tests deriving targets from the properties of devices that are not present.
#include "compile/device_target.h"

#include <gtest/gtest.h>

#include "codegen/backend.h"
#include "ir/target/presets.h"

namespace texloom::compile {
namespace {

hal::DeviceInfo adreno() {
  hal::DeviceInfo info;
  info.name = "QUALCOMM Adreno(TM)";
  info.vendor = "QUALCOMM";
  info.platform = "QUALCOMM Snapdragon(TM)";
  info.type = hal::DeviceType::Gpu;
  info.features = {.images = true, .float16_arithmetic = true, .float64 = false};
  info.limits.max_image_width = 16384;
  info.limits.max_image_height = 8192;
  info.limits.max_workgroup_size = 512;
  info.limits.max_workitem_sizes = {512, 512, 512};
  info.limits.local_memory_bytes = 32768;
  info.limits.max_read_images = 128;
  info.limits.max_write_images = 64;
  return info;
}

TEST(DeviceTarget, IsThePresetWithTheDevicesLimits) {
  EXPECT_EQ(to_string(target_of(adreno())),
            "opencl -device=adreno -max_num_threads=512 -max_num_threads_z=512 "
            "-texture_spatial_limit=8192 -max_image_writes=64 -float64=0 -float16_arithmetic=1");
}

TEST(DeviceTarget, Families) {
  using enum hal::DeviceType;
  const auto preset_of = [](hal::DeviceType type, std::string name, std::string vendor,
                            std::string platform) {
    hal::DeviceInfo info;
    info.type = type;
    info.name = std::move(name);
    info.vendor = std::move(vendor);
    info.platform = std::move(platform);
    return target_of(info).device;
  };
  EXPECT_EQ(preset_of(Gpu, "Mali-G710", "ARM", "ARM Platform"), "mali");
  EXPECT_EQ(preset_of(Gpu, "NVIDIA H200", "NVIDIA Corporation", "NVIDIA CUDA"), "nvidia");
  EXPECT_EQ(preset_of(Gpu, "Intel(R) UHD Graphics", "Intel(R) Corporation", "Intel(R) OpenCL"),
            "intel_graphics");
  EXPECT_EQ(preset_of(Cpu, "Intel(R) Xeon(R)", "Intel(R) Corporation", "Intel(R) OpenCL"), "");
  // These are the properties of PoCL on an Intel processor.
  EXPECT_EQ(
      preset_of(Cpu, "cpu-haswell-Intel(R) Xeon(R)", "GenuineIntel", "Portable Computing Language"),
      "pocl");
  EXPECT_EQ(preset_of(Gpu, "llvmpipe", "Mesa", "rusticl"), "");
}

TEST(DeviceTarget, IsOfTheClassOfTheDevice) {
  hal::DeviceInfo info;
  for (const auto type : {hal::DeviceType::Gpu, hal::DeviceType::Cpu}) {
    info.type = type;
    const bool is_cpu = type == hal::DeviceType::Cpu;
    EXPECT_EQ(target_of(info).device_class, is_cpu ? ir::DeviceClass::Cpu : ir::DeviceClass::Gpu);
    EXPECT_EQ(target_of(info).quirks.conditional_barriers, !is_cpu);
  }
}

// Registers of a number or size for which there are no schedules stay unknown.
TEST(DeviceTarget, HasTheVectorRegistersOfAProcessor) {
  hal::DeviceInfo info;
  info.type = hal::DeviceType::Cpu;
  info.limits.vector_registers = 16;
  info.limits.vector_register_bytes = 32;
  EXPECT_EQ(target_of(info).vectors, (ir::VectorRegisters{.count = 16, .bytes = 32}));
  EXPECT_EQ(ir::parse_target(to_string(target_of(info)), {}), target_of(info));
  info.limits.vector_register_bytes = 128;
  EXPECT_EQ(target_of(info).vectors, ir::VectorRegisters());
}

// Limits that a device does not state come from the preset; without images, image sizes are
// ignored.
TEST(DeviceTarget, UnstatedLimits) {
  hal::DeviceInfo info = adreno();
  info.limits = {};
  info.limits.local_memory_bytes = UINT64_MAX;
  info.features = {};
  const ir::Target target = target_of(info);
  EXPECT_EQ(target.limits.max_image_size, 16384);
  EXPECT_EQ(target.limits.max_threads, 1024);
  EXPECT_EQ(target.limits.local_memory_bytes, INT64_MAX);
  EXPECT_FALSE(target.features.images);
  EXPECT_EQ(ir::parse_target(to_string(target), {}), target);
}

// The target's kind is that of the first backend that serves the device's class and emits a format
// that the driver accepts. The driver's name does not matter. If no backend fits, kernels are
// interpreted, so any kind works.
TEST(DeviceTarget, KindFollowsFromClassAndFormats) {
  using enum hal::DeviceType;
  const auto kind_of = [](hal::DeviceType type, std::vector<KernelFormat> formats) {
    hal::DeviceInfo info;
    info.driver = "another";
    info.type = type;
    info.formats = std::move(formats);
    return target_of(info).kind;
  };
  for (const hal::DeviceType type : {Cpu, Gpu}) {
    EXPECT_EQ(kind_of(type, {KernelFormat::OpenClC}), ir::TargetKind::OpenCL);
    EXPECT_EQ(kind_of(type, {KernelFormat::Ir}), ir::TargetKind::OpenCL);
  }
  EXPECT_EQ(kind_of(Gpu, {KernelFormat::Msl}), ir::TargetKind::Metal);
  EXPECT_EQ(kind_of(Cpu, {KernelFormat::Msl}), ir::TargetKind::OpenCL);
}

// For each preset, the backend of the preset's kind serves the preset's class of devices.
TEST(DeviceTarget, PresetsAreOfClassesThatTheirBackendServes) {
  for (const ir::Preset& preset : ir::presets())
    EXPECT_TRUE(codegen::backend_of(preset.kind).serves(preset.device_class)) << preset.device;
}

TEST(DeviceTarget, MetalHasItsOwnKindOfTarget) {
  hal::DeviceInfo info;
  info.formats = {KernelFormat::Metallib, KernelFormat::Msl};
  info.vendor = "Apple";
  info.name = "Apple M2";
  info.type = hal::DeviceType::Gpu;
  info.features = {.images = true, .float16_arithmetic = true};
  EXPECT_FALSE(target_of(info).features.argument_buffers);
  info.features.argument_buffers = true;
  info.limits.max_buffers = 31;
  info.limits.max_read_images = info.limits.max_write_images = 96;
  const ir::Target apple = target_of(info);
  EXPECT_EQ(apple.kind, ir::TargetKind::Metal);
  EXPECT_EQ(apple.device, "m1");
  EXPECT_EQ(apple.limits.simd_width, 32);
  EXPECT_EQ(apple.limits.slots->textures, 96);
  EXPECT_EQ(apple.limits.slots->buffers, 31);
  EXPECT_TRUE(apple.features.argument_buffers);
  EXPECT_FALSE(apple.features.float64);
  info.vendor = info.name = "AMD";
  EXPECT_EQ(target_of(info).device, "mac-intel");
  EXPECT_EQ(target_of(info).limits.simd_width, 1);
}

}  // namespace
}  // namespace texloom::compile
