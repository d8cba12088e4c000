// Tests the C API. tests/python/runtime/test_programs_in_c.py tests that its header is valid C11.
#include "runtime/c_api/texloom.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/package/package_writer.h"
#include "support/sanitizer.h"
#include "tests/runtime/executor/scale_package.h"

namespace texloom::runtime {
namespace {

constexpr char kNoMemory[] = "the host has no memory left for this";

// Returns the text of an error and frees the error; "" for no error.
std::string text_of(texloom_error* error) {
  std::string text = texloom_error_message(error);
  if (error != nullptr) text = std::to_string(texloom_error_code(error)) + ": " + text;
  texloom_error_free(error);
  return text;
}

class CApiTest : public hal::OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (IsSkipped()) return;
    file_ = std::filesystem::temp_directory_path() /
            (std::string("texloom_c_api_") +
             testing::UnitTest::GetInstance()->current_test_info()->name() + ".tlp");
    ASSERT_EQ(text_of(texloom_device_open("opencl", &opened_)), "");
    load(scale_package());
  }
  void load(const Package& package) {
    texloom_graph_free(std::exchange(graph_, nullptr));
    texloom_executor_free(std::exchange(executor_, nullptr));
    TL_ASSERT_OK(write_package(package, file_));
    ASSERT_EQ(text_of(texloom_graph_load(opened_, file_.c_str(), &graph_)), "");
    ASSERT_EQ(text_of(texloom_executor_create(graph_, &executor_)), "");
  }
  void TearDown() override {
    texloom_device_free(opened_);  // in any order
    texloom_graph_free(graph_);
    texloom_executor_free(executor_);
    std::filesystem::remove(file_);
  }

  std::filesystem::path file_;
  texloom_device* opened_ = nullptr;
  texloom_graph* graph_ = nullptr;
  texloom_executor* executor_ = nullptr;
};

std::vector<float> tripled(float start) {
  std::vector<float> values = ramp(kCount, start);
  for (float& value : values) value *= 3;
  return values;
}

TEST_F(CApiTest, RunsAGraph) {
  EXPECT_STRNE(texloom_device_name(opened_), "");
  EXPECT_EQ(texloom_graph_input_count(graph_), 2U);
  EXPECT_EQ(texloom_graph_output_count(graph_), 1U);
  EXPECT_STREQ(texloom_graph_input_name(graph_, 1), "unused");
  EXPECT_EQ(texloom_graph_input_name(graph_, 2), nullptr);
  EXPECT_STREQ(texloom_graph_output_name(graph_, 0), "out");
  uint32_t in = 7, out = 7;
  ASSERT_EQ(text_of(texloom_find_input(executor_, "in", &in)), "");
  ASSERT_EQ(text_of(texloom_find_output(executor_, "out", &out)), "");
  for (const float start : {1.0F, 2.0F, 3.0F}) {
    const std::vector<float> values = ramp(kCount, start);
    ASSERT_EQ(text_of(texloom_set_input(executor_, in, values.data(), values.size() * 4)), "");
    ASSERT_EQ(text_of(start == 2 ? texloom_submit(executor_) : texloom_run(executor_)), "");
    size_t bytes = 0, axes = 0;
    int64_t extent = 0;
    ASSERT_EQ(text_of(texloom_output_bytes(executor_, out, &bytes)), "");
    EXPECT_EQ(bytes, kCount * 4);
    ASSERT_EQ(text_of(texloom_output_shape(executor_, out, &extent, 1, &axes)), "");
    EXPECT_EQ(axes, 1U);
    EXPECT_EQ(extent, static_cast<int64_t>(kCount));
    std::vector<float> result(kCount);
    ASSERT_EQ(text_of(texloom_get_output(executor_, out, result.data(), bytes)), "");
    EXPECT_EQ(result, tripled(start));
  }
}

TEST_F(CApiTest, BindsBuffers) {
  texloom_buffer *in = nullptr, *out = nullptr;
  ASSERT_EQ(text_of(texloom_buffer_create(opened_, kCount * 4, &in)), "");
  ASSERT_EQ(text_of(texloom_buffer_create(opened_, kCount * 4, &out)), "");
  const std::vector<float> values = ramp(kCount, 4);
  ASSERT_EQ(text_of(texloom_buffer_write(in, 0, values.data(), kCount * 4)), "");
  ASSERT_EQ(text_of(texloom_bind_input(executor_, 0, in, 0)), "");
  ASSERT_EQ(text_of(texloom_bind_output(executor_, 0, in, 0)), "");
  EXPECT_EQ(text_of(texloom_run(executor_)),
            "1: input \"in\" and output \"out\" share memory, which the graph writes: bind each to "
            "memory of its own");
  ASSERT_EQ(text_of(texloom_bind_output(executor_, 0, out, 0)), "");
  ASSERT_EQ(text_of(texloom_run(executor_)), "");
  std::vector<float> result(kCount);
  ASSERT_EQ(text_of(texloom_buffer_read(out, 0, result.data(), kCount * 4)), "");
  EXPECT_EQ(result, tripled(4));
  texloom_buffer_free(in);
  texloom_buffer_free(out);
}

TEST_F(CApiTest, ErrorsHaveCodesAndTexts) {
  EXPECT_EQ(texloom_error_code(nullptr), TEXLOOM_OK);
  EXPECT_STREQ(texloom_error_message(nullptr), "");
  texloom_device* device = nullptr;
  EXPECT_EQ(text_of(texloom_device_open("metal", &device)).rfind("2: ", 0), 0U);
  EXPECT_EQ(text_of(texloom_device_open("opencl", nullptr)),
            "1: texloom_device_open: an argument is null");
  EXPECT_EQ(device, nullptr);
  texloom_graph* graph = nullptr;
  EXPECT_EQ(text_of(texloom_graph_load(opened_, "no such file.tlp", &graph)).rfind("3: ", 0), 0U);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(text_of(texloom_run(executor_)), "1: input \"in\" was not set");
  EXPECT_EQ(text_of(texloom_set_input(executor_, 0, nullptr, 4)),
            "1: texloom_set_input: an argument is null");
  const int64_t extents[] = {3, 4};
  EXPECT_EQ(text_of(texloom_set_shape(executor_, 0, extents, 2)),
            "1: input \"in\" has the shape (192), got (3, 4)");
  uint32_t number = 5;
  EXPECT_EQ(text_of(texloom_find_output(executor_, "x", &number)),
            "2: no output \"x\"; there are: out");
  EXPECT_EQ(number, 5U);
  // The number exceeds the array's length; the call must refuse it without reading the array.
  EXPECT_EQ(text_of(texloom_set_shape(executor_, 0, extents, SIZE_MAX / 8)),
            "1: a shape of 2305843009213693951 axes; at most 32 are allowed");
}

TEST_F(CApiTest, SetsScalars) {
  load(add_number_package(hal::ElementType::Int32));
  const std::vector<float> values = ramp(kCount);
  ASSERT_EQ(text_of(texloom_set_input(executor_, 0, values.data(), kCount * 4)), "");
  EXPECT_EQ(text_of(texloom_run(executor_)), "1: scalar \"n\" was not set");
  uint32_t n = 7;
  EXPECT_EQ(text_of(texloom_find_scalar(executor_, "m", &n)), "2: no scalar \"m\"; there are: n");
  EXPECT_EQ(n, 7U);
  ASSERT_EQ(text_of(texloom_find_scalar(executor_, "n", &n)), "");
  EXPECT_EQ(text_of(texloom_set_scalar_i64(executor_, n, std::int64_t{1} << 31)),
            "1: scalar \"n\" must be from -2147483648 to 2147483647, got 2147483648");
  EXPECT_EQ(text_of(texloom_set_scalar_f64(executor_, n, 1)),
            "1: scalar \"n\" is int32; help: use texloom_set_scalar_i64()");
  EXPECT_EQ(text_of(texloom_set_scalar_i64(executor_, 1, 1)),
            "1: scalar 1 is out of range: there are 1");
  const auto expect_sum = [&](float number) {
    ASSERT_EQ(text_of(texloom_run(executor_)), "");
    std::vector<float> result(kCount);
    ASSERT_EQ(text_of(texloom_get_output(executor_, 0, result.data(), kCount * 4)), "");
    EXPECT_EQ(result, ramp(kCount, number));
  };
  ASSERT_EQ(text_of(texloom_set_scalar_i64(executor_, n, -3)), "");
  expect_sum(-3);
  load(add_number_package(hal::ElementType::Float32));
  ASSERT_EQ(text_of(texloom_set_input(executor_, 0, values.data(), kCount * 4)), "");
  EXPECT_EQ(text_of(texloom_set_scalar_i64(executor_, 0, 1)),
            "1: scalar \"n\" is float32; help: use texloom_set_scalar_f64()");
  EXPECT_EQ(text_of(texloom_set_scalar_f64(executor_, 0, 1e39)),
            "1: scalar \"n\" is float32, which cannot hold 1e+39");
  EXPECT_EQ(text_of(texloom_set_scalar_f64(executor_, 0, HUGE_VAL)), "");
  ASSERT_EQ(text_of(texloom_set_scalar_f64(executor_, 0, 0.5)), "");
  expect_sum(0.5);
}

// The error would repeat a long name, for which there is no memory. The test runs in a separate
// process, since a lowered limit cannot be raised again.
using CApiDeathTest = CApiTest;
TEST_F(CApiDeathTest, NoMemoryIsAnError) {
  if (kAddressSanitizer) GTEST_SKIP() << "AddressSanitizer ends a process that has no memory";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // for a process with threads
  EXPECT_EXIT(
      {
        const std::string name(std::size_t{1} << 26, 'x');
        rlimit limit = {};
        getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = std::uint64_t{1} << 20;  // less than is in use
        setrlimit(RLIMIT_AS, &limit);
        uint32_t input = 5;
        for (int i = 0; i < 2; ++i) {
          texloom_error* error = texloom_find_input(executor_, name.c_str(), &input);
          if (texloom_error_code(error) != TEXLOOM_OUT_OF_MEMORY || input != 5) _exit(1);
          if (texloom_error_message(error) != std::string_view(kNoMemory)) _exit(2);
          texloom_error_free(error);
        }
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace texloom::runtime
