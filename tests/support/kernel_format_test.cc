// Tests the table of kernel formats.
#include "support/kernel_format.h"

#include <gtest/gtest.h>

namespace texloom {
namespace {

// The properties decide what is omitted: source on demand, native code by default.
TEST(KernelFormat, HasProperties) {
  for (const KernelFormatTraits& each : kernel_formats())
    EXPECT_EQ(&traits_of(each.format), &each) << each.name;
  EXPECT_TRUE(traits_of(KernelFormat::Ir).is_text);
  EXPECT_FALSE(traits_of(KernelFormat::Metallib).is_text);
  EXPECT_TRUE(traits_of(KernelFormat::NativeObject).is_native);
  EXPECT_FALSE(traits_of(KernelFormat::HostFunctions).is_code);
  EXPECT_EQ(traits_of(KernelFormat::Spirv).prefix.size(), 4U);
}

}  // namespace
}  // namespace texloom
