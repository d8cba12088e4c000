// Tests packages with the binaries of a device's driver: what is added, and what runs them.
#include "runtime/executor/package_binaries.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <vector>

#include "runtime/drivers/null/driver.h"
#include "runtime/drivers/opencl/api/api.h"
#include "runtime/executor/executor.h"
#include "runtime/package/package_writer.h"
#include "tests/runtime/executor/scale_package.h"

namespace texloom::runtime {
namespace {

namespace fs = std::filesystem;
using hal::KernelCode;
using hal::opencl::Api;
using ::testing::ElementsAre;
using ::testing::Field;
using namespace std::chrono_literals;

class PackageBinaries : public DeviceProgramTest {
 protected:
  static inline Api real = {};
  static inline std::atomic<int> from_source = 0;

  void SetUp() override {
    DeviceProgramTest::SetUp();
    if (IsSkipped()) return;
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::path(::testing::TempDir()) / fmt::format("binaries-{}-{}", ::getpid(), test->name());
    fs::create_directories(folder_);
    open_counting_device();
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Opens the device again, over functions that count the programs that are made of source.
  void open_counting_device() {
    const std::vector<std::string> paths = hal::opencl::DriverOptions().loader_paths;
    real = **hal::opencl::load_api(paths);
    from_source = 0;
    const auto api = std::make_shared<Api>(real);
    api->clCreateProgramWithSource = [](cl_context context, cl_uint count, const char** sources,
                                        const std::size_t* lengths, cl_int* error) -> cl_program {
      ++from_source;
      return real.clCreateProgramWithSource(context, count, sources, lengths, error);
    };
    const auto driver = hal::opencl::create_driver(std::shared_ptr<const Api>(api));
    TL_ASSERT_OK(driver.status());
    device_ = *(*driver)->open(0);
  }

  // Writes packages to a file, and adds binaries to it.
  Result<std::size_t> add(const std::vector<Package>& packages,
                          const std::shared_ptr<hal::Device>& device) {
    TL_RETURN_IF_ERROR(write_packages(packages, input()));
    TL_ASSIGN_OR_RETURN(const auto file, PackageFile::open(input()));
    return add_binaries(*file, output(), device);
  }

  // Runs the package "scale" of the output.
  void expect_that_it_runs(const PackageOptions& options = {}) {
    const auto file = PackageFile::open(output(), options);
    TL_ASSERT_OK(file.status());
    const auto graph = load_graph(device_, *file, {}, "scale");
    TL_ASSERT_OK(graph.status());
    const auto executor = Executor::create(graph->program, graph->interface);
    TL_ASSERT_OK(executor.status());
    const std::vector<float> given = ramp(kCount);
    TL_ASSERT_OK((*executor)->set_input(0, std::as_bytes(std::span(given))));
    TL_ASSERT_OK((*executor)->set_input(1, std::as_bytes(std::span(given).first(1))));
    TL_ASSERT_OK((*executor)->run());
    std::vector<float> values(kCount), expected = given;
    for (float& each : expected) each *= 3;
    TL_ASSERT_OK((*executor)->get_output(0, std::as_writable_bytes(std::span(values))));
    EXPECT_EQ(values, expected);
  }

  // Changes the kernel to one that no earlier process has run, and that begins with a statement.
  static void make_new(LaunchPlan& plan, const std::string& statement) {
    std::string& source = plan.modules[0].codes[0].code;
    const auto now = std::chrono::system_clock::now().time_since_epoch() % 8h;
    source.replace(source.find("c[0];"), 5, fmt::format("c[0] + (i == -{});", 1 + now / 100us));
    source.insert(source.find("out[i]"), statement);
  }
  Result<KernelCode> binary_without_a_run(const LaunchPlan& plan) {
    TL_ASSIGN_OR_RETURN(const PlanKernels kernels, create_kernels(*device_, plan));
    return kernels.executables[0]->binary();
  }

  fs::path input() const { return folder_ / "input.tlp"; }
  fs::path output() const { return folder_ / "output.tlp"; }

 private:
  fs::path folder_;
};

TEST_F(PackageBinaries, MakeTheFirstRunCompileNothing) {
  const auto count = add({add_number_package(hal::ElementType::Int32), scale_package()}, device_);
  TL_ASSERT_OK(count.status());
  EXPECT_EQ(*count, 2U);
  from_source = 0;
  expect_that_it_runs();
  EXPECT_EQ(from_source, 0);
  // Programs that take no source from files run them, too.
  expect_that_it_runs({.kernels = {.takes_source = false}});
  EXPECT_EQ(from_source, 0);
}

// A binary that is taken right after the build lacks the code that such a device makes for the
// first run. No earlier process has run this source, so no cache of the device has that code.
TEST_F(PackageBinaries, HaveWhatTheDeviceCompilesAtTheFirstRun) {
  if (!device_->info().features.compiles_at_first_run)
    GTEST_SKIP() << "the device compiles nothing at the first run";
  Package package = scale_package();
  LaunchPlan& plan = package.variants[0].plan;
  make_new(plan, "");
  const auto built = binary_without_a_run(plan);
  TL_ASSERT_OK(built.status());
  TL_ASSERT_OK(add_binaries({&package, 1}, device_).status());
  EXPECT_GT(plan.modules[0].codes[1].code.size(), built->code.size());
  EXPECT_EQ(plan.modules[0].codes[1].origin, built->origin);
}

// The kernel never ends on zeros, so the test does not end if it is run.
TEST_F(PackageBinaries, OfKernelsThatLoopAreTakenWithoutARun) {
  if (!device_->info().features.compiles_at_first_run)
    GTEST_SKIP() << "the device compiles nothing at the first run";
  Package package = scale_package();
  LaunchPlan& plan = package.variants[0].plan;
  make_new(plan, "while (((__global volatile const float*)in)[i] == 0);");
  const auto built = binary_without_a_run(plan);
  TL_ASSERT_OK(built.status());
  TL_ASSERT_OK(add_binaries({&package, 1}, device_).status());
  EXPECT_EQ(plan.modules[0].codes[1].code.size(), built->code.size());
}

TEST_F(PackageBinaries, OfPlansThatRepeatStepsAreTakenWithoutARun) {
  if (!device_->info().features.compiles_at_first_run)
    GTEST_SKIP() << "the device compiles nothing at the first run";
  Package package = scale_package();
  LaunchPlan& plan = package.variants[0].plan;
  make_new(plan, "");
  plan.steps = {LoopStep{.slot = 0, .extent = 2, .body = plan.steps}};
  const auto built = binary_without_a_run(plan);
  TL_ASSERT_OK(built.status());
  TL_ASSERT_OK(add_binaries({&package, 1}, device_).status());
  EXPECT_EQ(plan.modules[0].codes[1].code.size(), built->code.size());
}

TEST_F(PackageBinaries, OfOtherDriversStayBesideThem) {
  Package package = scale_package();
  std::vector<KernelCode>& codes = package.variants[0].plan.modules[0].codes;
  const KernelCode earlier = {KernelFormat::OpenClBinary,
                              "an earlier one",
                              {},
                              hal::BinaryOrigin{hal::maker_of(device_->info()), {}}};
  KernelCode other = earlier;
  other.origin->maker.driver_version = "another one";
  codes.push_back(earlier);
  codes.push_back(other);
  TL_ASSERT_OK(add({package}, device_).status());
  const auto file = PackageFile::open(output());
  TL_ASSERT_OK(file.status());
  const std::vector<KernelCode>& made = (*file)->package().variants[0].plan.modules[0].codes;
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(made[0], codes[0]);
  EXPECT_EQ(made[1], other);
  EXPECT_EQ(made[2].origin->maker, earlier.origin->maker);
  EXPECT_NE(made[2].code, earlier.code);
  from_source = 0;
  expect_that_it_runs();
  EXPECT_EQ(from_source, 0);
}

// The file has binaries, but the program has other source, as after a change by hand.
TEST_F(PackageBinaries, OfOtherSourceAreNotUsed) {
  TL_ASSERT_OK(add({scale_package()}, device_).status());
  auto file = PackageFile::open(output());
  TL_ASSERT_OK(file.status());
  auto packages = (*file)->whole_packages();
  TL_ASSERT_OK(packages.status());
  packages->front().variants[0].plan.modules[0].codes[0].code += "\n";
  TL_ASSERT_OK(write_packages(*packages, output()));
  from_source = 0;
  expect_that_it_runs();
  EXPECT_EQ(from_source, 1);
}

TEST_F(PackageBinaries, AreAddedAllOrNone) {
  const auto null = *hal::null::create_driver()->open(0);
  EXPECT_THAT(add({scale_package()}, null).status(),
              fails_with(StatusCode::Unimplemented,
                         "the driver null gives no binaries of kernels back; help: "));
  Package wrong = add_number_package(hal::ElementType::Int32);
  wrong.variants[0].plan.modules[0].codes[0].code = "wrong";
  EXPECT_THAT(add({scale_package(), wrong}, device_).status(),
              fails_with(StatusCode::BuildFailed, "package \"add number\""));
  EXPECT_FALSE(fs::exists(output()));
  std::vector<Package> packages = {scale_package(), wrong};
  EXPECT_FALSE(add_binaries(packages, device_).ok());
  EXPECT_THAT(packages[0].variants[0].plan.modules[0].codes,
              ElementsAre(Field(&KernelCode::format, KernelFormat::OpenClC)));
  EXPECT_THAT(add_binaries(packages, nullptr).status(),
              fails_with(StatusCode::InvalidArgument, "the device is null"));
}

}  // namespace
}  // namespace texloom::runtime
