// Tests what the assembler leaves as it is. What it assembles depends on CUDA's driver.
#include "runtime/drivers/opencl/platform/assembler.h"

#include <gtest/gtest.h>

namespace texloom::hal::opencl {
namespace {

TEST(Assembler, HasNoMachineCodeOfOtherBinaries) {
  Assembler assembler("a device");
  for (const char* binary : {"", "ELF", ".version 8.0", ".target sm_90"}) {
    const auto code = assembler.machine_code_of(binary);
    ASSERT_TRUE(code.ok()) << code.status().message();
    EXPECT_EQ(*code, "") << binary;
  }
}

TEST(Assembler, HasNoMachineCodeForADeviceThatCudaLacks) {
  Assembler assembler("a device that nobody made");
  for (int i = 0; i < 2; ++i) {
    const auto code = assembler.machine_code_of(".version 8.0\n.target sm_90\n");
    ASSERT_TRUE(code.ok()) << code.status().message();
    EXPECT_EQ(*code, "");
  }
}

}  // namespace
}  // namespace texloom::hal::opencl
