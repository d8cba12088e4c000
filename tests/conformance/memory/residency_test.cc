// Tests objects that stay in the device's memory between submissions.
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class Residents : public On<> {};
TL_ON_EVERY_DEVICE(Residents);

TEST_P(Residents, AreUsedLikeOthers) {
  const auto advance = executable(kernels::advance());
  const auto x = make_buffer(bytes_of(std::vector<std::uint32_t>(8, 1)));
  const auto part = *x->subspan(16, 16);
  TL_ASSERT_OK(x->make_resident());
  TL_ASSERT_OK(x->make_resident());
  TL_ASSERT_OK(part->make_resident());
  TL_ASSERT_OK(advance->make_resident());
  for (int i = 0; i < 4; ++i) {
    const auto commands = begin();
    const std::array<Binding, 1> bindings = {BufferBinding{x}};
    const std::array constants = {Constant(1)};
    TL_ASSERT_OK(commands->dispatch(advance, 0, {8, 1, 1}, bindings, constants));
    TL_ASSERT_OK(run(commands));
    i % 2 == 0 ? x->evict() : part->evict();
  }
  advance->evict();
  expect_values(x, std::vector<std::uint32_t>(8, 121));
}
TEST_P(Residents, MayBeTextures) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  const auto texture = make_texture({4, 4});
  TL_ASSERT_OK(texture->make_resident());
  texture->evict();
  texture->evict();
}
TEST_P(Residents, MayBeReleasedAsTheyAre) { TL_ASSERT_OK(make_buffer(64)->make_resident()); }
TEST_P(Residents, AreBuilt) {
  if (tested().broken == nullptr) GTEST_SKIP() << "nothing is compiled";
  auto desc = tested().broken();
  desc.build = BuildTime::FirstUse;
  const auto broken = device().create_executable(desc);
  TL_ASSERT_OK(broken.status());
  EXPECT_THAT((*broken)->make_resident(),
              fails_with(StatusCode::BuildFailed, tested().broken_says));
}

}  // namespace
}  // namespace texloom::hal::conformance
