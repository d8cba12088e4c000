#include "ir/analysis/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/program.h"

namespace texloom::ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Each exceeded limit as "<need> of <have> <limit>".
std::vector<std::string> excesses(const Kernel& kernel, const Target& target) {
  std::vector<std::string> texts;
  for (const Excess& e : exceeded_limits(kernel, target)) {
    texts.push_back(std::to_string(e.need) + " of " + std::to_string(e.have) + " " +
                    std::string(to_string(e.limit)) + (e.buffer ? ": " + e.buffer->name : ""));
  }
  return texts;
}

Buffer array(std::string name, MemoryScope scope, int64_t elements) {
  return make_buffer(std::move(name), kFloat32, {elements}, scope);
}
Buffer texture(std::string name, int64_t rows, int64_t columns) {
  return make_texture(std::move(name), kFloat32,
                      texture_layout({rows, columns, 4}, TextureRule::Activation));
}

Kernel with_body(const std::vector<Buffer>& allocated) {
  Kernel k;
  k.body = make_barrier();
  for (const Buffer& b : allocated) k.body = make_allocate(b, k.body);
  return k;
}
Kernel with_params(const std::vector<std::pair<Buffer, Access>>& params) {
  Kernel k;
  k.body = make_barrier();
  for (const auto& [buffer, access] : params) k.params.push_back({buffer, access, {}});
  return k;
}

TEST(Limits, Threads) {
  Kernel k = with_body({});
  k.block = {64, 4, 4};
  EXPECT_THAT(excesses(k, {}), IsEmpty());
  k.block = {65, 4, 4};
  EXPECT_THAT(excesses(k, {}), ElementsAre("1040 of 1024 threads in a block"));
  k.block = {1, 1, 65};
  EXPECT_THAT(excesses(k, {}), ElementsAre("65 of 64 threads along z"));
  // The product does not fit int64.
  k.block = {int64_t{1} << 40, int64_t{1} << 40, 1};
  EXPECT_THAT(excesses(k, {}), ElementsAre("9223372036854775807 of 1024 threads in a block"));
}

TEST(Limits, ArraysAreAddedUp) {
  EXPECT_THAT(excesses(with_body({array("a", MemoryScope::Shared, 4096),
                                  array("b", MemoryScope::Shared, 4096)}),
                       {}),
              IsEmpty());
  EXPECT_THAT(excesses(with_body({array("a", MemoryScope::Shared, 4096),
                                  array("b", MemoryScope::Shared, 4097)}),
                       {}),
              ElementsAre("32772 of 32768 bytes of shared memory: b"));
  EXPECT_THAT(excesses(with_body({array("p", MemoryScope::Local, 65536)}), {}), IsEmpty());
  EXPECT_THAT(excesses(with_body({array("p", MemoryScope::Local, 65537)}), {}),
              ElementsAre("262148 of 262144 bytes of local memory: p"));
}

// The threads of a block share the stack of one processor.
TEST(Limits, PrivateBytesOfManyThreads) {
  Kernel k = with_body({array("p", MemoryScope::Local, 512)});
  k.block = {1024, 1, 1};
  EXPECT_THAT(excesses(k, {}), IsEmpty());
  k.body = make_allocate(array("q", MemoryScope::Local, 1), k.body);
  EXPECT_THAT(excesses(k, {}), ElementsAre("2052 of 2048 bytes of local memory: p"));
}

TEST(Limits, Textures) {
  const Buffer t = texture("T", 8, 16), u = texture("U", 8, 16), b = array("B", {}, 8);
  Target target;
  target.limits.max_image_reads = 1;
  target.limits.max_image_writes = 1;
  EXPECT_THAT(
      excesses(with_params({{t, Access::Read}, {u, Access::Write}, {b, Access::Read}}), target),
      IsEmpty());
  EXPECT_THAT(excesses(with_params({{t, Access::Read}, {u, Access::Read}}), target),
              ElementsAre("2 of 1 textures to read: U"));
  EXPECT_THAT(excesses(with_params({{t, Access::Write}, {u, Access::Write}}), target),
              ElementsAre("2 of 1 textures to write: U"));
}

TEST(Limits, SizesOfTextures) {
  EXPECT_THAT(excesses(with_params({{texture("T", 8192, 8192), Access::Read}}), {}), IsEmpty());
  EXPECT_THAT(
      excesses(with_params(
                   {{texture("T", 8193, 1), Access::Read}, {texture("U", 1, 9000), Access::Read}}),
               {}),
      ElementsAre("8193 of 8192 texels along an axis: T", "9000 of 8192 texels along an axis: U"));
}

TEST(Limits, Arguments) {
  std::vector<std::pair<Buffer, Access>> params(128, {array("B", {}, 8), Access::Read});
  EXPECT_THAT(excesses(with_params(params), {}), IsEmpty());
  params.push_back(params.front());
  EXPECT_THAT(excesses(with_params(params), {}), ElementsAre("1032 of 1024 bytes of arguments"));
}

// If a target limits argument slots, all constants together take one buffer slot.
TEST(Limits, Slots) {
  const Buffer t = texture("T", 8, 16), b = array("B", {}, 8);
  Target target;
  target.limits.slots = {.buffers = 2, .textures = 2};
  Kernel k =
      with_params({{t, Access::Read}, {t, Access::Write}, {b, Access::Read}, {b, Access::Write}});
  EXPECT_THAT(excesses(k, target), IsEmpty());
  for (const char* name : {"n", "m"}) k.params.push_back({{}, Access::Read, make_var(name)});
  EXPECT_THAT(excesses(k, target), ElementsAre("3 of 2 buffers"));
  k = with_params({{t, Access::Read}, {t, Access::Write}, {t, Access::Read}});
  EXPECT_THAT(excesses(k, target), ElementsAre("3 of 2 textures"));
}

// A kernel that needs more slots uses an argument buffer, which only the bytes of arguments limit.
TEST(Limits, ArgumentBuffers) {
  const Buffer t = texture("T", 8, 16), b = array("B", {}, 8);
  Target target;
  target.limits.slots = {.buffers = 2, .textures = 2};
  target.limits.max_image_reads = 2;
  const Kernel textures = with_params({{t, Access::Read}, {t, Access::Read}, {t, Access::Read}});
  const Kernel buffers = with_params({{b, Access::Read}, {b, Access::Read}, {b, Access::Read}});
  const Kernel few = with_params({{t, Access::Read}, {b, Access::Read}, {b, Access::Read}});
  EXPECT_FALSE(uses_argument_buffer(buffers, target));
  target.features.argument_buffers = true;
  for (const Kernel* k : {&textures, &buffers}) {
    EXPECT_TRUE(uses_argument_buffer(*k, target));
    EXPECT_THAT(excesses(*k, target), IsEmpty());
  }
  EXPECT_FALSE(uses_argument_buffer(few, target));
  target.limits.max_parameter_bytes = 16;
  EXPECT_THAT(excesses(buffers, target), ElementsAre("24 of 16 bytes of arguments"));
}

}  // namespace
}  // namespace texloom::ir
