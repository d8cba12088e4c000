// Tests recording: a refused command leaves the command buffer unchanged, and commands that move
// nothing are left out.
#include <limits>

#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

class Recording : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    buffer_ = make_buffer(16);
    mute_ = make_buffer(16, BufferUsage::Storage);
    commands_ = begin();
  }
  // After each refused command, the command buffer still accepts and runs a valid one.
  void TearDown() override {
    if (commands_ != nullptr && !commands_->finished()) {
      TL_EXPECT_OK(commands_->update(buffer_, 0, Bytes(16, std::byte{9})));
      TL_EXPECT_OK(run(commands_));
      expect_content(buffer_, Bytes(16, std::byte{9}));
    }
    On<>::TearDown();
  }
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }

  std::shared_ptr<Buffer> buffer_, mute_;
  std::shared_ptr<CommandBuffer> commands_;
  Bytes data_ = Bytes(8);
};
TL_ON_EVERY_DEVICE(Recording);

TEST_P(Recording, RefusesToUpdateNothing) {
  EXPECT_THAT(commands_->update(nullptr, 0, data_), refused("update: the target is null"));
}
TEST_P(Recording, RefusesUpdatesPastTheEnd) {
  EXPECT_THAT(commands_->update(buffer_, 9, data_), refused("16 bytes, wanted 8 at offset 9"));
}
TEST_P(Recording, RefusesUpdatesWhoseEndOverflows) {
  EXPECT_THAT(commands_->update(buffer_, kMax, data_), refused("update: the target has 16 bytes"));
}
TEST_P(Recording, RefusesUpdatesWithoutTheUsage) {
  EXPECT_THAT(commands_->update(mute_, 0, data_), refused("usage"));
}
TEST_P(Recording, RefusesToReadNothing) {
  EXPECT_THAT(commands_->readback(nullptr, 0, data_), refused("readback: the source is null"));
}
TEST_P(Recording, RefusesReadbacksPastTheEnd) {
  EXPECT_THAT(commands_->readback(buffer_, 17, {}), refused("at offset 17"));
  EXPECT_THAT(commands_->readback(buffer_, 9, data_), refused("wanted 8 at offset 9"));
}
TEST_P(Recording, RefusesReadbacksWithoutTheUsage) {
  EXPECT_THAT(commands_->readback(mute_, 0, data_), refused("usage"));
}
TEST_P(Recording, RefusesCopiesFromOrToNothing) {
  EXPECT_THAT(commands_->copy_buffer(nullptr, 0, buffer_, 0, 1), refused("the source is null"));
  EXPECT_THAT(commands_->copy_buffer(buffer_, 0, nullptr, 0, 1), refused("the target is null"));
}
TEST_P(Recording, RefusesCopiesWithoutTheUsage) {
  EXPECT_THAT(commands_->copy_buffer(mute_, 0, buffer_, 0, 1), refused("the source was made"));
  EXPECT_THAT(commands_->copy_buffer(buffer_, 0, mute_, 0, 1), refused("the target was made"));
}
TEST_P(Recording, RefusesCopiesPastTheEnd) {
  EXPECT_THAT(commands_->copy_buffer(buffer_, 12, buffer_, 0, 5), refused("the source has 16"));
  EXPECT_THAT(commands_->copy_buffer(buffer_, 0, buffer_, 12, 5), refused("the target has 16"));
  EXPECT_THAT(commands_->copy_buffer(buffer_, 1, buffer_, 0, kMax), refused("the source has 16"));
}
TEST_P(Recording, RefusesCopiesOntoThemselves) {
  EXPECT_THAT(commands_->copy_buffer(buffer_, 0, buffer_, 4, 5), refused("overlap"));
  EXPECT_THAT(commands_->copy_buffer(buffer_, 4, buffer_, 0, 5), refused("overlap"));
  TL_ASSERT_OK(commands_->copy_buffer(buffer_, 0, buffer_, 5, 5));
}
TEST_P(Recording, RefusesObjectsOfAnotherDevice) {
  const auto other = open_another();
  const auto foreign = *other->create_buffer({.bytes = 16});
  EXPECT_THAT(commands_->update(foreign, 0, data_), refused("belongs to another device"));
  EXPECT_THAT(commands_->copy_buffer(buffer_, 0, foreign, 0, 4), refused("another device"));
  EXPECT_THAT(commands_->copy_buffer(foreign, 0, buffer_, 0, 4), refused("another device"));
}
TEST_P(Recording, LeavesOutWhatMovesNothing) {
  TL_ASSERT_OK(commands_->update(buffer_, 16, {}));
  TL_ASSERT_OK(commands_->readback(buffer_, 16, {}));
  TL_ASSERT_OK(commands_->copy_buffer(buffer_, 0, buffer_, 0, 0));
  EXPECT_TRUE(commands_->segments().empty());
  TL_ASSERT_OK(run(commands_));
}
TEST_P(Recording, EndsOnce) {
  EXPECT_FALSE(commands_->finished());
  TL_ASSERT_OK(commands_->finish());
  EXPECT_TRUE(commands_->finished());
  EXPECT_THAT(commands_->finish(), refused("finished"));
}
TEST_P(Recording, RefusesCommandsAfterTheEnd) {
  TL_ASSERT_OK(commands_->finish());
  EXPECT_THAT(commands_->update(buffer_, 0, data_),
              refused("update: the command buffer is finished"));
  EXPECT_THAT(commands_->readback(buffer_, 0, data_), refused("finished"));
  EXPECT_THAT(commands_->copy_buffer(buffer_, 0, buffer_, 8, 8), refused("finished"));
}

}  // namespace
}  // namespace texloom::hal::conformance
