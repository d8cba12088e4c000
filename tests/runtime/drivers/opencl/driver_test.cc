// Tests finding OpenCL: the loader, platforms and devices, present and missing.
#include "runtime/drivers/opencl/driver.h"

#include <cstdlib>
#include <filesystem>

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/api/error.h"
#include "runtime/drivers/opencl/platform/platform.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::opencl {
namespace {

TEST(OpenClLoader, MissingNamesWhatToInstall) {
  const Status status =
      create_driver(DriverOptions{.loader_paths = {"libNoOpenCL.so.1", "/nowhere/libOpenCL.so"}})
          .status();
  for (const char* part : {"no OpenCL loader", "libNoOpenCL.so.1", "/nowhere/libOpenCL.so",
                           "ocl-icd-libopencl1", "pocl-opencl-icd"})
    EXPECT_THAT(status, fails_with(StatusCode::Unavailable, std::string(part)));
}

TEST(OpenClLoader, LibraryThatIsNoLoaderNamesTheMissingFunction) {
  EXPECT_THAT(create_driver(DriverOptions{.loader_paths = {"libm.so.6"}}).status(),
              fails_with(StatusCode::Unavailable, "libm.so.6 lacks clGetPlatformIDs"));
}

TEST_F(OpenClTest, LoaderIsTheFirstThatIsThere) {
  EXPECT_TRUE(
      create_driver(DriverOptions{.loader_paths = {"libNoOpenCL.so.1", "libOpenCL.so.1"}}).ok());
}

// Runs in its own process, since a loader reads its list of implementations only once.
int exit_code_without_platforms() {
  const std::filesystem::path empty =
      std::filesystem::temp_directory_path() / "texloom_no_opencl_vendors";
  std::filesystem::create_directories(empty);
  setenv("OCL_ICD_VENDORS", (empty.string() + "/").c_str(), 1);
  const Status status = create_driver().status();
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.code() == StatusCode::Unavailable ? 0 : 1;
}

TEST(OpenClDriverDeathTest, NoPlatformAtAll) {
  // Opening the loader does not read its list of implementations yet.
  const Status loader = load_api(DriverOptions().loader_paths).status();
  if (!loader.ok()) GTEST_SKIP() << loader.message();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(exit_code_without_platforms()), ::testing::ExitedWithCode(0),
              "unavailable: no OpenCL device: the loader knows no platform.*pocl-opencl-icd");
}

TEST_F(OpenClTest, DevicesDescribeThemselves) {
  EXPECT_EQ(driver_->name(), "opencl");
  ASSERT_FALSE(driver_->devices().empty());
  for (const DeviceInfo& info : driver_->devices()) {
    EXPECT_FALSE(info.name.empty());
    EXPECT_FALSE(info.platform.empty());
    EXPECT_EQ(info.name.find('\0'), std::string::npos);
    EXPECT_EQ(info.api_version.rfind("OpenCL ", 0), 0u) << info.api_version;
    EXPECT_EQ(info.language_version.rfind("OpenCL C ", 0), 0u) << info.language_version;
    const DeviceLimits& limits = info.limits;
    // OpenCL 1.2's embedded profile requires at least these limits.
    EXPECT_GE(limits.max_workgroup_size, 1u);
    for (const std::uint64_t size : limits.max_workitem_sizes) EXPECT_GE(size, 1u);
    EXPECT_GE(limits.local_memory_bytes, 1024u);
    EXPECT_GE(limits.max_allocation_bytes, 1u << 20);
    EXPECT_GE(limits.max_argument_bytes, 256u);
    EXPECT_GE(limits.compute_units, 1u);
    if (!info.features.images) continue;
    EXPECT_GE(limits.max_image_width, 2048u);
    EXPECT_GE(limits.max_image_height, 2048u);
    EXPECT_GE(limits.max_read_images, 8u);
    EXPECT_GE(limits.max_write_images, 1u);
  }
}

// OpenCL 1.2's full profile requires these formats (table 5.8, four channels).
TEST_F(OpenClTest, TheFormatsThatAnyDeviceHasAreThere) {
  if (!device_->info().features.images) GTEST_SKIP() << "the device has no images";
  for (const TexelFormat format : kAllTexelFormats) {
    EXPECT_TRUE(device_->supports(format, TextureUsage::Sampled)) << to_string(format);
    EXPECT_TRUE(device_->supports(format, TextureUsage::Storage)) << to_string(format);
  }
}

TEST_F(OpenClTest, OrdinalsAreStableAndBounded) {
  const Result<std::shared_ptr<Driver>> again = create_driver();
  ASSERT_TRUE(again.ok());
  ASSERT_EQ((*again)->devices().size(), driver_->devices().size());
  for (std::size_t i = 0; i < driver_->devices().size(); ++i)
    EXPECT_EQ((*again)->devices()[i].name, driver_->devices()[i].name);
  EXPECT_EQ(device_->info().name, driver_->devices()[0].name);
  EXPECT_THAT(driver_->open(driver_->devices().size()).status(),
              fails_with(StatusCode::NotFound, "no opencl device"));
}

TEST(OpenClErrors, KeepTheirNames) {
  EXPECT_EQ(error_name(CL_INVALID_WORK_GROUP_SIZE), "CL_INVALID_WORK_GROUP_SIZE");
  EXPECT_EQ(error_name(-9998), "an unknown OpenCL error");
  EXPECT_TRUE(to_status(CL_SUCCESS, "clFinish").ok());
  EXPECT_EQ(to_status(CL_INVALID_KERNEL_ARGS, "clEnqueueNDRangeKernel").message(),
            "clEnqueueNDRangeKernel: CL_INVALID_KERNEL_ARGS (-52)");
  EXPECT_EQ(to_status(CL_MEM_OBJECT_ALLOCATION_FAILURE, "x").code(), StatusCode::OutOfMemory);
  EXPECT_EQ(to_status(CL_BUILD_PROGRAM_FAILURE, "x").code(), StatusCode::BuildFailed);
  EXPECT_EQ(to_status(CL_DEVICE_NOT_AVAILABLE, "x").code(), StatusCode::Unavailable);
  EXPECT_EQ(to_status(CL_OUT_OF_RESOURCES, "x").code(), StatusCode::DeviceError);
}

}  // namespace
}  // namespace texloom::hal::opencl
