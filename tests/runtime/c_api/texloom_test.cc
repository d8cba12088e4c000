// Tests the C API. That its header is C11 is tested by tests/python/test_embedding.py.
#include "runtime/c_api/texloom.h"

#include <filesystem>
#include <string>

#include "runtime/package/package_writer.h"
#include "tests/runtime/executor/scale_package.h"

namespace texloom::runtime {
namespace {

// The text of an error, which is freed; "" without one.
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
    TL_ASSERT_OK(write_package(scale_package(), file_));
    ASSERT_EQ(text_of(texloom_device_open("opencl", &opened_)), "");
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
            "its own");
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
}

}  // namespace
}  // namespace texloom::runtime
