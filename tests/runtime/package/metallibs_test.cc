// Tests adding metallibs to package files, with a function in place of Apple's compiler.
#include "runtime/package/metallibs.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/package/package_writer.h"
#include "tests/runtime/package/package_fixture.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::runtime {
namespace {

using hal::fails_with;
using hal::KernelCode;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
namespace fs = std::filesystem;

using Sources = std::vector<MetalSource>;

const KernelCode kMsl{KernelFormat::Msl, "kernel void scale() {}", {"-std=metal2.3"}};
const KernelCode kOldMetallib{KernelFormat::Metallib, "an old one", {"-std=metal2.3"}};
const MetalSource kSource{kMsl.code, kMsl.build_options, false};

// Returns a package of two variants whose kernel has these codes.
Package metal_package(const std::string& name, const std::vector<KernelCode>& codes) {
  Package package = example_package();
  package.name = name;
  for (PackageVariant& variant : package.variants) variant.plan.modules.front().codes = codes;
  return package;
}

// A fake compiler: its metallib contains the source's name.
constexpr auto kCompiled =
    [](std::span<const MetalSource> sources) -> Result<std::vector<std::string>> {
  std::vector<std::string> metallibs;
  for (const MetalSource& source : sources)
    metallibs.push_back("metallib of " + source.code + (source.is_fast ? ", fast" : ""));
  return metallibs;
};

class Metallibs : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::path(::testing::TempDir()) / fmt::format("metallibs-{}-{}", ::getpid(), test->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Writes packages to a file, and adds metallibs to it.
  Result<std::size_t> add(const std::vector<Package>& packages, MetalCompiler compile) {
    if (Status status = write_packages(packages, input()); !status.ok()) return status;
    TL_ASSIGN_OR_RETURN(const auto file, PackageFile::open(input()));
    return add_metallibs(*file, output(), compile);
  }

  fs::path input() const { return folder_ / "input.tlp"; }
  fs::path output() const { return folder_ / "output.tlp"; }

 private:
  fs::path folder_;
};

TEST_F(Metallibs, AreBesideTheirSources) {
  std::vector<Package> packages = {metal_package("a", {kOldMetallib, kMsl}),
                                   metal_package("b", {kMsl})};
  packages[1].variants[1].plan.modules[0].math = hal::MathMode::Fast;
  Sources seen;
  const auto count = add(packages, [&](std::span<const MetalSource> sources) {
    seen.assign(sources.begin(), sources.end());
    return kCompiled(sources);
  });
  TL_ASSERT_OK(count.status());
  EXPECT_EQ(*count, 2U);
  EXPECT_THAT(seen, ElementsAre(kSource, MetalSource{kMsl.code, kMsl.build_options, true}));
  const auto made = PackageFile::open(output());
  TL_ASSERT_OK(made.status());
  const KernelCode metallib{KernelFormat::Metallib, "metallib of " + kMsl.code, kMsl.build_options};
  KernelCode fast = metallib;
  fast.code += ", fast";
  for (std::size_t p = 0; p < packages.size(); ++p) {
    for (std::size_t v = 0; v < packages[p].variants.size(); ++v) {
      const ModuleSpec& module = (*made)->packages()[p].variants[v].plan.modules[0];
      EXPECT_THAT(module.codes, ElementsAre(kMsl, p == 1 && v == 1 ? fast : metallib));
      const auto constant = (*made)->constant(v, 0, p);
      TL_ASSERT_OK(constant.status());
      EXPECT_THAT(*constant, ElementsAreArray(weight_bytes()));
    }
  }
}

TEST_F(Metallibs, MayReplaceTheFile) {
  TL_ASSERT_OK(write_package(metal_package("a", {kMsl}), input()));
  auto file = PackageFile::open(input());
  TL_ASSERT_OK(file.status());
  TL_ASSERT_OK(add_metallibs(**file, input(), kCompiled).status());
  EXPECT_EQ((*file)->package().variants[0].plan.modules[0].codes.size(), 1U);
  file = PackageFile::open(input());
  TL_ASSERT_OK(file.status());
  EXPECT_EQ((*file)->package().variants[0].plan.modules[0].codes.size(), 2U);
}

TEST_F(Metallibs, AreNeededByNoPackageWithoutKernels) {
  Package package = symbolic_package();
  PackageVariant& variant = package.variants[0];
  variant.plan.modules.clear();
  variant.plan.kernels.clear();
  variant.plan.steps.clear();
  variant.nodes.clear();
  const auto count = add({package}, [](auto) -> Result<std::vector<std::string>> {
    return make_error(StatusCode::Internal, "it is called");
  });
  TL_ASSERT_OK(count.status());
  EXPECT_EQ(*count, 0U);
  EXPECT_TRUE(fs::exists(output()));
}

TEST_F(Metallibs, OfWhichOneFailsLeaveNoFile) {
  const Package package = metal_package("a", {kMsl});
  const auto failing = [](auto) -> Result<std::vector<std::string>> {
    return make_error(StatusCode::BuildFailed, "no such sdk");
  };
  EXPECT_THAT(add({package}, failing).status(), fails_with(StatusCode::BuildFailed, "no such sdk"));
  const auto forgetful = [](auto) -> Result<std::vector<std::string>> {
    return std::vector<std::string>();
  };
  EXPECT_THAT(add({package}, forgetful).status(),
              fails_with(StatusCode::InvalidArgument, "0 metallibs were made of 1 sources"));
  const auto throwing = [](auto) -> Result<std::vector<std::string>> {
    throw std::runtime_error("interrupted");
  };
  EXPECT_THROW((void)add({package}, throwing), std::runtime_error);
  EXPECT_THAT(add({example_package()}, kCompiled).status(),
              fails_with(StatusCode::NotFound, "no kernel in Metal's language"));
  EXPECT_FALSE(fs::exists(output()));
}

}  // namespace
}  // namespace texloom::runtime
