// Tests the list of devices over mock platforms: its order, and which devices are left out.
#include "runtime/drivers/opencl/platform/platform.h"

#include <CL/cl_ext.h>

#include <cstring>

#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::opencl {
namespace {

// A handle is the address of its invented platform or device.
struct InventedDevice {
  const char* name;
  cl_device_type type;
  cl_bool images = CL_TRUE;
  cl_bool available = CL_TRUE;
  cl_bool compiler = CL_TRUE;
  cl_int answer = CL_SUCCESS;  // the result of every query
  std::string extensions = "cl_khr_fp16_not cl_khr_fp64 ";
  cl_device_fp_config half = 0;
  cl_bool little_endian = CL_TRUE;
};
std::vector<std::vector<InventedDevice>> g_platforms;  // an empty platform has no devices
int g_names_told = 0;  // queries of a platform's name that succeed before errors begin

cl_platform_id platform_handle(std::size_t i) {
  return reinterpret_cast<cl_platform_id>(&g_platforms[i]);
}
const std::vector<InventedDevice>& platform_of(cl_platform_id handle) {
  return *reinterpret_cast<const std::vector<InventedDevice>*>(handle);
}

cl_int CL_API_CALL get_platform_ids(cl_uint, cl_platform_id* ids, cl_uint* count) {
  if (count != nullptr) *count = static_cast<cl_uint>(g_platforms.size());
  for (std::size_t i = 0; ids != nullptr && i < g_platforms.size(); ++i)
    ids[i] = platform_handle(i);
  return CL_SUCCESS;
}

template <typename T>
cl_int give(const T* value, std::size_t bytes, void* to, std::size_t* size) {
  if (size != nullptr) *size = bytes;
  if (to != nullptr) std::memcpy(to, value, bytes);
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_platform_info(cl_platform_id, cl_platform_info, std::size_t, void* to,
                                     std::size_t* size) {
  if (g_names_told-- <= 0) return CL_OUT_OF_HOST_MEMORY;
  return give("invented", sizeof "invented", to, size);
}

cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type, cl_uint,
                                  cl_device_id* ids, cl_uint* count) {
  const auto& devices = platform_of(platform);
  if (devices.empty()) return CL_DEVICE_NOT_FOUND;
  if (count != nullptr) *count = static_cast<cl_uint>(devices.size());
  for (std::size_t i = 0; ids != nullptr && i < devices.size(); ++i)
    ids[i] = reinterpret_cast<cl_device_id>(const_cast<InventedDevice*>(&devices[i]));
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_device_info(cl_device_id handle, cl_device_info name, std::size_t bytes,
                                   void* to, std::size_t* size) {
  const auto& device = *reinterpret_cast<const InventedDevice*>(handle);
  if (device.answer != CL_SUCCESS) return device.answer;
  switch (name) {
    case CL_DEVICE_NAME:
      return give(device.name, std::strlen(device.name) + 1, to, size);
    case CL_DEVICE_EXTENSIONS:
      return give(device.extensions.c_str(), device.extensions.size() + 1, to, size);
    case CL_DEVICE_HALF_FP_CONFIG:
      if (device.half == 0) return CL_INVALID_VALUE;
      return give(&device.half, sizeof device.half, to, size);
    case CL_DEVICE_TYPE:
      return give(&device.type, sizeof device.type, to, size);
    case CL_DEVICE_IMAGE_SUPPORT:
      return give(&device.images, sizeof(cl_bool), to, size);
    case CL_DEVICE_AVAILABLE:
      return give(&device.available, sizeof(cl_bool), to, size);
    case CL_DEVICE_ENDIAN_LITTLE:
      return give(&device.little_endian, sizeof(cl_bool), to, size);
    case CL_DEVICE_COMPILER_AVAILABLE:
      return give(&device.compiler, sizeof(cl_bool), to, size);
    default:
      break;
  }
  // A numeric answer is the query's own number; a text without a value is "x".
  const std::size_t number = name - CL_DEVICE_TYPE;
  if (name == CL_DEVICE_MAX_WORK_ITEM_SIZES) {
    const std::size_t sizes[3] = {100, 101, 102};
    return give(sizes, sizeof sizes, to, size);
  }
  if (size != nullptr) return give("x", 2, to, size);
  if (bytes == 2) return give("x", 2, to, nullptr);
  std::memset(to, 0, bytes);
  *static_cast<char*>(to) = static_cast<char>(number);
  return CL_SUCCESS;
}

class PlatformTest : public ::testing::Test {
 protected:
  void SetUp() override { g_names_told = 1000; }
  void TearDown() override { g_platforms.clear(); }

  static Result<std::vector<PlatformDevice>> find() {
    Api api;
    api.clGetPlatformIDs = get_platform_ids;
    api.clGetPlatformInfo = get_platform_info;
    api.clGetDeviceIDs = get_device_ids;
    api.clGetDeviceInfo = get_device_info;
    return find_devices(api);
  }
  static std::vector<std::string> names() {
    std::vector<std::string> names;
    const auto devices = find();
    EXPECT_TRUE(devices.ok()) << devices.status().to_string();
    for (const PlatformDevice& device : *devices) names.push_back(device.info->name);
    return names;
  }
};

TEST_F(PlatformTest, GpusFirstThenAcceleratorsThenCpusElseInOrder) {
  g_platforms = {{{"cpu 0", CL_DEVICE_TYPE_CPU}, {"gpu 0", CL_DEVICE_TYPE_GPU}},
                 {},
                 {{"accelerator", CL_DEVICE_TYPE_ACCELERATOR},
                  {"gpu 1", CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT},
                  {"cpu 1", CL_DEVICE_TYPE_CPU},
                  {"other", CL_DEVICE_TYPE_CUSTOM}}};
  EXPECT_EQ(names(),
            (std::vector<std::string>{"gpu 0", "gpu 1", "accelerator", "cpu 0", "cpu 1", "other"}));
}

TEST_F(PlatformTest, DeviceWithoutImagesIsListedWithTheFeatureOff) {
  g_platforms = {{{"plain", CL_DEVICE_TYPE_GPU, CL_FALSE}, {"rich", CL_DEVICE_TYPE_GPU}}};
  const auto devices = find();
  ASSERT_TRUE(devices.ok());
  const DeviceInfo& plain = *(*devices)[0].info;
  EXPECT_FALSE(plain.features.images);
  EXPECT_EQ(plain.limits.max_image_width, 0u);
  const DeviceInfo& rich = *(*devices)[1].info;
  EXPECT_TRUE(rich.features.images);
  EXPECT_EQ(rich.limits.max_image_width, CL_DEVICE_IMAGE2D_MAX_WIDTH - CL_DEVICE_TYPE);
}

TEST_F(PlatformTest, EachLimitComesFromItsQuery) {
  g_platforms = {{{"gpu", CL_DEVICE_TYPE_GPU}}};
  const auto devices = find();
  ASSERT_TRUE(devices.ok());
  const DeviceInfo& info = *(*devices)[0].info;
  EXPECT_EQ(info.platform, "invented");
  EXPECT_EQ(info.vendor, "x");
  const auto answer = [](cl_device_info name) -> std::uint64_t { return name - CL_DEVICE_TYPE; };
  const DeviceLimits& limits = info.limits;
  EXPECT_EQ(limits.max_image_height, answer(CL_DEVICE_IMAGE2D_MAX_HEIGHT));
  EXPECT_EQ(limits.max_read_images, answer(CL_DEVICE_MAX_READ_IMAGE_ARGS));
  EXPECT_EQ(limits.max_write_images, answer(CL_DEVICE_MAX_WRITE_IMAGE_ARGS));
  EXPECT_EQ(limits.max_workgroup_size, answer(CL_DEVICE_MAX_WORK_GROUP_SIZE));
  EXPECT_EQ(limits.max_workitem_sizes, (std::array<std::uint64_t, 3>{100, 101, 102}));
  EXPECT_EQ(limits.local_memory_bytes, answer(CL_DEVICE_LOCAL_MEM_SIZE));
  EXPECT_EQ(limits.max_allocation_bytes, answer(CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  EXPECT_EQ(limits.max_argument_bytes, answer(CL_DEVICE_MAX_PARAMETER_SIZE));
  EXPECT_EQ(limits.buffer_offset_alignment, answer(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
  EXPECT_EQ(limits.global_memory_bytes, answer(CL_DEVICE_GLOBAL_MEM_SIZE));
  EXPECT_EQ(limits.compute_units, answer(CL_DEVICE_MAX_COMPUTE_UNITS));
}

TEST_F(PlatformTest, ExtensionsAreWholeWords) {
  g_platforms = {{{"gpu", CL_DEVICE_TYPE_GPU}}};
  const auto devices = find();
  ASSERT_TRUE(devices.ok());
  EXPECT_FALSE((*devices)[0].info->features.float16_arithmetic);
  EXPECT_TRUE((*devices)[0].info->features.float64);
}

// The extension alone does not promise rounding to nearest, so the driver queries the rounding. A
// device that does not answer the query is listed, too.
TEST_F(PlatformTest, HalfArithmeticRoundsToNearest) {
  constexpr cl_device_fp_config kNearest = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
  const auto has_arithmetic = [](const std::string& extensions, cl_device_fp_config half) {
    g_platforms = {
        {{.name = "gpu", .type = CL_DEVICE_TYPE_GPU, .extensions = extensions, .half = half}}};
    const auto devices = find();
    return devices.ok() && (*devices)[0].info->features.float16_arithmetic;
  };
  EXPECT_TRUE(has_arithmetic("cl_khr_fp16", kNearest));
  EXPECT_TRUE(has_arithmetic("cl_khr_fp64 cl_khr_fp16", kNearest | CL_FP_FMA));
  EXPECT_FALSE(has_arithmetic("cl_khr_fp16", CL_FP_ROUND_TO_ZERO));
  EXPECT_FALSE(has_arithmetic("cl_khr_fp16", CL_FP_ROUND_TO_NEAREST));
  EXPECT_FALSE(has_arithmetic("cl_khr_fp16", 0));
  EXPECT_EQ(names(), std::vector<std::string>{"gpu"});
  EXPECT_FALSE(has_arithmetic("cl_khr_fp64", kNearest));
}

TEST_F(PlatformTest, DevicesThatCannotBeUsedAreLeftOut) {
  g_platforms = {{{"gone", CL_DEVICE_TYPE_GPU, CL_TRUE, CL_FALSE},
                  {"binary", CL_DEVICE_TYPE_GPU, CL_TRUE, CL_TRUE, CL_FALSE},
                  {"broken", CL_DEVICE_TYPE_GPU, CL_TRUE, CL_TRUE, CL_TRUE, CL_OUT_OF_RESOURCES},
                  {"cpu", CL_DEVICE_TYPE_CPU}}};
  g_platforms[0].push_back({"big", CL_DEVICE_TYPE_CPU});
  g_platforms[0].back().little_endian = CL_FALSE;
  EXPECT_EQ(names(), (std::vector<std::string>{"cpu"}));
  g_platforms[0].erase(g_platforms[0].begin() + 3);
  g_platforms.emplace_back();
  const Status status = find().status();
  for (const char* part :
       {"no OpenCL device; invented: device gone is not available", "device binary has no compiler",
        "device big is big-endian", "invented: clGetDeviceInfo: CL_OUT_OF_RESOURCES",
        "clGetDeviceIDs: CL_DEVICE_NOT_FOUND", "pocl-opencl-icd"})
    EXPECT_THAT(status, fails_with(StatusCode::Unavailable, std::string(part)));
}

TEST_F(PlatformTest, APlatformThatTellsNoNameIsUsed) {
  g_platforms = {{{"cpu", CL_DEVICE_TYPE_CPU}}};
  // The driver queries the length first, then the name.
  for (const int told : {0, 1, 2}) {
    g_names_told = told;
    const auto devices = find();
    ASSERT_TRUE(devices.ok()) << devices.status().to_string();
    EXPECT_EQ((*devices)[0].info->platform, told == 2 ? "invented" : "an unnamed platform");
  }
}

TEST_F(PlatformTest, NoPlatform) {
  EXPECT_THAT(find().status(), fails_with(StatusCode::Unavailable, "the loader knows no platform"));
}

}  // namespace
}  // namespace texloom::hal::opencl
