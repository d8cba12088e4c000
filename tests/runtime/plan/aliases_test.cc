// Tests the search for arguments of a plan that alias.
#include "runtime/plan/aliases.h"

#include "runtime/drivers/null/driver.h"
#include "tests/runtime/opencl_fixture.h"
#include "tests/runtime/plan/plan_fixture.h"

namespace texloom::runtime {
namespace {

using hal::Access;

// The arguments are A, B and C; the kernel writes C inside two loops.
LaunchPlan plan_of(std::vector<TensorSpec> arguments, std::vector<hal::KernelParam> params) {
  LaunchPlan plan;
  plan.arguments = std::move(arguments);
  plan.modules.resize(1);
  plan.kernels.resize(1);
  plan.kernels[0].entry = {.name = "k", .params = std::move(params)};
  const Step step = launch(0, {1, 1, 1}, {argument(0), argument(1), argument(2)});
  plan.steps = {loop(0, 2, {loop(1, 2, {step})})};
  return plan;
}

LaunchPlan buffers() {
  return plan_of({buffer_tensor("A", 64), buffer_tensor("B", 64), buffer_tensor("C", 128)},
                 {hal::BufferParam{.name = "A", .access = Access::Read},
                  hal::BufferParam{.name = "B", .access = Access::Read},
                  hal::BufferParam{.name = "C", .access = Access::Write}});
}

LaunchPlan textures() {
  return plan_of(
      {texture_tensor("A", {8, 4}), texture_tensor("B", {8, 4}), texture_tensor("C", {2, 2})},
      {hal::TextureParam{.name = "A", .access = Access::Read},
       hal::TextureParam{.name = "B", .access = Access::Read},
       hal::TextureParam{.name = "C", .access = Access::Write}});
}

TEST(WrittenArguments, ThoseThatALaunchWrites) {
  EXPECT_EQ(written_arguments(buffers()), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(written_arguments(textures()), (std::vector<bool>{false, false, true}));
}

class Aliases : public hal::OpenClTest {
 protected:
  // Returns "0 2" if arguments 0 and 2 share memory, empty if none do.
  static std::string found(const LaunchPlan& plan, const std::vector<hal::Binding>& bindings) {
    const auto alias = find_alias(plan, written_arguments(plan), bindings);
    return alias ? fmt::format("{} {}", alias->first, alias->second) : "";
  }
  std::string of_buffers(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const auto buffer = make_buffer(1024);
    return found(buffers(), {hal::BufferBinding{buffer, a}, hal::BufferBinding{buffer, b},
                             hal::BufferBinding{buffer, c}});
  }
  std::string of_textures(hal::Offset2D a, hal::Offset2D c) {
    const auto texture = make_texture({16, 16}, hal::TexelFormat::Rgba32Float);
    const auto other = make_texture({16, 16}, hal::TexelFormat::Rgba32Float);
    return found(textures(), {hal::TextureBinding{texture, a}, hal::TextureBinding{other, {}},
                              hal::TextureBinding{texture, c}});
  }
};

TEST_F(Aliases, TwoThatAreReadMayShare) { EXPECT_EQ(of_buffers(0, 0, 64), ""); }

TEST_F(Aliases, RangesOfOneBuffer) {
  EXPECT_EQ(of_buffers(0, 512, 0), "0 2");
  EXPECT_EQ(of_buffers(512, 63, 0), "1 2");
  EXPECT_EQ(of_buffers(512, 127, 0), "1 2");
  EXPECT_EQ(of_buffers(512, 128, 0), "");
  EXPECT_EQ(of_buffers(512, 65, 128), "1 2");
  EXPECT_EQ(of_buffers(512, 64, 128), "");
}

TEST_F(Aliases, DifferentBuffers) {
  const auto a = make_buffer(64), b = make_buffer(64), c = make_buffer(128);
  EXPECT_EQ(found(buffers(), {hal::BufferBinding{a}, hal::BufferBinding{b}, hal::BufferBinding{c}}),
            "");
}

TEST_F(Aliases, RectanglesOfOneTexture) {
  EXPECT_EQ(of_textures({0, 0}, {7, 3}), "0 2");
  EXPECT_EQ(of_textures({0, 0}, {8, 3}), "");
  EXPECT_EQ(of_textures({0, 0}, {7, 4}), "");
  EXPECT_EQ(of_textures({2, 0}, {0, 0}), "");
  EXPECT_EQ(of_textures({1, 1}, {0, 0}), "0 2");
}

// A view covers the rows that it shows: 64 bytes each, from byte 128 on.
class AliasesOfViews : public ::testing::Test {
 protected:
  std::shared_ptr<hal::Texture> view(std::uint64_t offset = 128) {
    return *device_->allocator()->create_view(
        buffer_, {.texture = {.extent = {4, 4}}, .offset = offset, .row_pitch = 64});
  }
  static bool alias(const LaunchPlan& plan, const std::vector<hal::Binding>& bindings) {
    return find_alias(plan, {false, true}, bindings).has_value();
  }

  std::shared_ptr<hal::Device> device_ = *hal::null::create_driver()->open(0);
  std::shared_ptr<hal::Buffer> buffer_ = *device_->create_buffer({.bytes = 1024});
};

TEST_F(AliasesOfViews, MeetTheirBuffer) {
  LaunchPlan plan;
  plan.arguments = {texture_tensor("A", {4, 2}), buffer_tensor("B", 64)};
  const auto at = [&](std::uint64_t offset) {
    return alias(plan, {hal::TextureBinding{view(), {0, 1}}, hal::BufferBinding{buffer_, offset}});
  };
  EXPECT_FALSE(at(128));  // the row before
  EXPECT_TRUE(at(144));
  EXPECT_TRUE(at(304));
  EXPECT_FALSE(at(320));  // the row after
  EXPECT_TRUE(alias(
      plan, {hal::TextureBinding{view(), {0, 1}}, hal::BufferBinding{*buffer_->subspan(192, 64)}}));
}

TEST_F(AliasesOfViews, OfNoBytesMeetNothing) {
  LaunchPlan plan;
  plan.arguments = {texture_tensor("A", {4, 2}), buffer_tensor("B", 0)};
  EXPECT_FALSE(alias(plan, {hal::TextureBinding{view()}, hal::BufferBinding{buffer_, 144}}));
}

TEST_F(AliasesOfViews, MeetEachOther) {
  LaunchPlan plan;
  plan.arguments = {texture_tensor("A", {2, 2}), texture_tensor("B", {2, 2})};
  EXPECT_TRUE(alias(plan, {hal::TextureBinding{view()}, hal::TextureBinding{view(), {0, 1}}}));
  EXPECT_TRUE(alias(plan, {hal::TextureBinding{view()}, hal::TextureBinding{view(192)}}));
  EXPECT_FALSE(alias(plan, {hal::TextureBinding{view()}, hal::TextureBinding{view(256)}}));
  // Two tensors lie side by side in one view.
  const auto one = view();
  EXPECT_FALSE(alias(plan, {hal::TextureBinding{one}, hal::TextureBinding{one, {2, 0}}}));
  EXPECT_TRUE(alias(plan, {hal::TextureBinding{one}, hal::TextureBinding{one, {1, 1}}}));
}

}  // namespace
}  // namespace texloom::runtime
