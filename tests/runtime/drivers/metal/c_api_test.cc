// Tests that programs in C open the Metal driver: the list of drivers has it, and graphs run.
#include <gtest/gtest.h>

#include <string>

#include "runtime/c_api/texloom.h"

namespace {

TEST(CApiOverMetal, OpensADeviceByPath) {
  for (const char* path : {"metal", "metal:0", "metal://0"}) {
    texloom_device* device = nullptr;
    texloom_error* error = texloom_device_open(path, &device);
    EXPECT_STREQ(texloom_error_message(error), "") << path;
    EXPECT_STRNE(texloom_device_name(device), "");
    texloom_error_free(error);
    texloom_device_free(device);
  }
  texloom_device* device = nullptr;
  texloom_error* error = texloom_device_open("metal:9", &device);
  EXPECT_EQ(texloom_error_code(error), TEXLOOM_NOT_FOUND);
  EXPECT_EQ(std::string(texloom_error_message(error)).find("no metal device 9"), 0U);
  texloom_error_free(error);
}

}  // namespace
