// Tests executables from metallibs: which code is used, and the errors for unusable metallibs.
#include "tests/softmetal/compile/metallib.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/drivers/metal/device_test.h"
#include "tests/softmetal/compile/cache.h"
#include "tests/softmetal/compile/process.h"
#include "tests/softmetal/compile/scratch_folder.h"

namespace texloom::hal::metal {
namespace {

// The number of processes for a library of source, and for the code of its pipelines.
constexpr std::uint64_t kLibrary = 2, kPipelines = 1;

KernelCode metallib_of(const std::string& source, int system = softmetal::kSystem) {
  return {.format = KernelFormat::Metallib,
          .code = softmetal::write_metallib(
              {source, {}, softmetal::compile_source(source, {}), system})};
}

class Metallibs : public DeviceTest {
 protected:
  void SetUp() override { start(); }
  void TearDown() override { softmetal::set_cache_folder(""); }

  // Opens the device as in a new process, in which Metal's own cache is empty.
  void start() {
    open({.binary_cache = std::make_shared<BinaryCache>(
              BinaryCacheOptions{.folder = folder_.path() + "/archives"})});
    forget();
  }
  void forget() {
    softmetal::set_cache_folder(folder_.path() + "/metal" + std::to_string(++caches_));
    before_ = softmetal::processes_run();
  }
  std::uint64_t runs() const { return softmetal::processes_run() - before_; }

  static ExecutableDesc desc_of(std::vector<KernelCode> codes) {
    return {.codes = std::move(codes), .entry_points = {{.name = "add", .params = add_params()}}};
  }
  void expect_refused(const KernelCode& code, StatusCode status, const std::string& words) {
    const auto made = device->create_executable(desc_of({code}));
    EXPECT_THAT(made.status(), fails_with(status, words));
    EXPECT_THAT(made.status(), fails_with(status, "or give the source beside it"));
  }

  const KernelCode source_ = {.format = KernelFormat::Msl, .code = kAddSource};
  const KernelCode metallib_ = metallib_of(kAddSource);
  const KernelCode nonsense_ = {.format = KernelFormat::Metallib, .code = "nonsense"};
  const KernelCode other_ = metallib_of("kernel void other() {}");
  const KernelCode newer_ = metallib_of(kAddSource, softmetal::kSystem + 1);
  softmetal::ScratchFolder folder_;
  int caches_ = 0;
  std::uint64_t before_ = 0;
};

TEST_F(Metallibs, AreTakenBeforeSource) {
  expect_that_it_adds(desc_of({source_, metallib_}));
  EXPECT_EQ(runs(), kPipelines);
}

TEST_F(Metallibs, NeedNoCompilerBesideAnArchive) {
  expect_that_it_adds(desc_of({metallib_}));
  start();
  expect_that_it_adds(desc_of({metallib_}));
  EXPECT_EQ(runs(), 0U);
}

TEST_F(Metallibs, LeaveTheirPlaceToSource) {
  for (const KernelCode& bad : {nonsense_, other_, newer_}) {
    start();
    expect_that_it_adds(desc_of({bad, source_}));
    EXPECT_EQ(runs(), kLibrary + (bad == nonsense_ ? kPipelines : 0U))
        << "the archive is that of the source";
  }
}

TEST_F(Metallibs, AreRefusedInWords) {
  expect_refused(nonsense_, StatusCode::BuildFailed,
                 "the metallib cannot be loaded: newLibraryWithData: the data is not a compiled "
                 "library");
  expect_refused({.format = KernelFormat::Metallib, .code = "MTLB\x01"}, StatusCode::BuildFailed,
                 "one of Apple's");
  expect_refused(other_, StatusCode::NotFound,
                 "the metallib defines no kernel \"add\"; it has: other; help: build");
  expect_refused(newer_, StatusCode::BuildFailed, "incompatible with this system");
}

TEST_F(Metallibs, DoNotHideTheErrorsOfTheirSource) {
  const KernelCode broken = {.format = KernelFormat::Msl, .code = "kernel void add() { x; }"};
  for (const auto& [bad, words] : {std::pair(nonsense_, "the metallib cannot be loaded"),
                                   std::pair(newer_, "incompatible with this system")}) {
    const Status status = device->create_executable(desc_of({bad, broken})).status();
    EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "newLibraryWithSource"));
    EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, words));
  }
}

// Wrong parameters do not make the driver try the source: they are wrong for the source, too.
TEST_F(Metallibs, DoNotLeaveTheirPlaceForWrongParameters) {
  ExecutableDesc wrong = desc_of({metallib_, source_});
  wrong.entry_points[0].params.pop_back();
  wrong.entry_points[0].params.push_back(BufferParam{.name = "more", .access = Access::Read});
  wrong.entry_points[0].params.push_back(BufferParam{.name = "most", .access = Access::Read});
  EXPECT_THAT(device->create_executable(wrong).status(),
              fails_with(StatusCode::InvalidArgument, "most"));
  EXPECT_EQ(runs(), kPipelines);
}

TEST_F(Metallibs, MayNotRelaxArithmeticMoreThanIsAllowed) {
  KernelCode fast = metallib_;
  fast.build_options = {"-ffast-math"};
  EXPECT_THAT(device->create_executable(desc_of({fast, source_})).status(),
              fails_with(StatusCode::InvalidArgument, "-ffast-math"));
}

}  // namespace
}  // namespace texloom::hal::metal
