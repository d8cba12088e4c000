// Tests which kernels of a package file are loaded.
#include "runtime/package/kernel_policy.h"

#include <gmock/gmock.h>

#include <vector>

namespace texloom::runtime {
namespace {

using ::testing::HasSubstr;

PackageVariant variant_in(std::vector<KernelFormat> formats) {
  PackageVariant variant;
  ModuleSpec& module = variant.plan.modules.emplace_back();
  for (const KernelFormat format : formats) module.codes.push_back({.format = format});
  return variant;
}

// Machine code is omitted unless it is allowed. A variant with only machine code stays in the list;
// devices get another variant.
TEST(KernelPolicy, LeavesOutNativeCodeByDefault) {
  Package package;
  package.variants = {variant_in({KernelFormat::NativeObject}), variant_in({KernelFormat::Spirv})};
  std::vector<Package> taken = {package}, all = {package};
  EXPECT_TRUE(leave_out_kernels(taken, {}).ok());
  EXPECT_TRUE(taken[0].variants[0].plan.modules[0].codes.empty());
  EXPECT_EQ(taken[0].variants[1].plan.modules[0].codes.size(), 1U);
  EXPECT_TRUE(leave_out_kernels(all, {.takes_native = true}).ok());
  EXPECT_EQ(all[0].variants[0].plan.modules[0].codes.size(), 1U);
}

TEST(KernelPolicy, RefusesAPackageWithoutOtherCode) {
  std::vector<Package> packages(1);
  packages[0].variants = {variant_in({KernelFormat::NativeObject})};
  const Status status = leave_out_kernels(packages, {});
  EXPECT_EQ(status.code(), StatusCode::Unavailable);
  EXPECT_THAT(status.message(), HasSubstr("module 0 has only native code, which is refused"));
}

}  // namespace
}  // namespace texloom::runtime
