// Tests when a table of bindings counts as equal to the table of the previous submission.

#include "runtime/hal/internal/recording/known_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "runtime/drivers/null/driver.h"
#include "runtime/hal/device.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal {
namespace {

class KnownTableTest : public ::testing::Test {
 protected:
  std::shared_ptr<Buffer> make_buffer() { return *device_->create_buffer({.bytes = 4096}); }
  std::shared_ptr<Texture> make_texture() { return *device_->create_texture({.extent = {16, 16}}); }

  static std::vector<Binding> table_of(const std::vector<std::shared_ptr<Buffer>>& buffers) {
    std::vector<Binding> table;
    for (const auto& each : buffers) table.emplace_back(BufferBinding{each});
    return table;
  }

  std::shared_ptr<Device> device_ = *null::create_driver()->open(0);
  KnownTable known_;
};

TEST_F(KnownTableTest, ATableIsKnownUntilAnotherIsRemembered) {
  const std::vector<Binding> a = {BufferBinding{make_buffer()}, TextureBinding{make_texture()}};
  const std::vector<Binding> b = {BufferBinding{make_buffer()}, a[1]};
  EXPECT_EQ(known_.find(a), 0U);
  const std::uint64_t number = known_.remember(a, 0);
  EXPECT_NE(number, 0U);
  EXPECT_EQ(known_.find(a), number);
  EXPECT_EQ(known_.find(b), 0U);
  EXPECT_NE(known_.remember(b, 0), number);
  EXPECT_EQ(known_.find(a), 0U);
}

// A subspan is compared by its buffer and offset, not by its handle.
TEST_F(KnownTableTest, SubspansAreKnownByTheirPlace) {
  const auto buffer = make_buffer();
  const auto part = *buffer->subspan(1024, 512);
  const std::vector<Binding> table = {BufferBinding{part, 256}};
  const std::uint64_t number = known_.remember(table, 0);
  EXPECT_EQ(known_.find(std::vector<Binding>{BufferBinding{*buffer->subspan(1024, 512), 256}}),
            number);
  EXPECT_EQ(known_.find(std::vector<Binding>{BufferBinding{*buffer->subspan(1280, 256)}}), number);
  for (const BufferBinding& other :
       {BufferBinding{part}, BufferBinding{buffer, 1280}, BufferBinding{buffer, 256},
        BufferBinding{*buffer->subspan(1024, 1024), 256}})
    EXPECT_EQ(known_.find(std::vector<Binding>{other}), 0U);
}

TEST_F(KnownTableTest, ATexturesOriginCounts) {
  const auto texture = make_texture();
  const std::uint64_t number =
      known_.remember(std::vector<Binding>{TextureBinding{texture, {1, 2}}}, 0);
  EXPECT_EQ(known_.find(std::vector<Binding>{TextureBinding{texture, {1, 2}}}), number);
  EXPECT_EQ(known_.find(std::vector<Binding>{TextureBinding{texture, {2, 1}}}), 0U);
}

TEST_F(KnownTableTest, SizesAndKindsCount) {
  const std::vector<Binding> none;
  const std::vector<Binding> null_buffer = {BufferBinding{}};
  const std::vector<Binding> null_texture = {TextureBinding{}};
  const std::uint64_t number = known_.remember(null_buffer, 0);
  EXPECT_EQ(known_.find(null_buffer), number);
  EXPECT_EQ(known_.find(null_texture), 0U);
  EXPECT_EQ(known_.find(none), 0U);
}

// A buffer from no allocator has no id, so a new buffer at the same address would look equal.
TEST_F(KnownTableTest, MemoryWithoutANumberIsNeverKnown) {
  class PlainBuffer final : public Buffer {
   public:
    explicit PlainBuffer(std::shared_ptr<const DeviceInfo> info)
        : Buffer(std::move(info), {.bytes = 4}) {}
  };
  const std::vector<Binding> table = {
      BufferBinding{std::make_shared<PlainBuffer>(std::make_shared<const DeviceInfo>())}};
  known_.remember(table, 0);
  EXPECT_EQ(known_.find(table), 0U);
}

// Lent arrays are new buffers, and temporaries trade places: checks would find nothing new.
TEST_F(KnownTableTest, LikeBuffersRenewATable) {
  const auto a = make_buffer(), b = make_buffer();
  const std::uint64_t number = known_.remember(table_of({a, b, a}), b->id());
  const auto c = make_buffer(), d = make_buffer();
  for (const std::vector<Binding>& table : std::vector<std::vector<Binding>>{
           table_of({b, a, b}), table_of({c, a, c}), table_of({b, d, b})}) {
    EXPECT_EQ(known_.find(table), 0U);
    const std::uint64_t renewed = known_.renew(table);
    EXPECT_GT(renewed, number);
    EXPECT_EQ(known_.find(table), renewed);
    known_.remember(table_of({a, b, a}), b->id());
  }
}

TEST_F(KnownTableTest, OtherTablesAreNotRenewed) {
  const auto fixed = make_buffer(), a = make_buffer(), b = make_buffer();
  EXPECT_EQ(known_.renew(table_of({a, b})), 0U);
  known_.remember(table_of({a, b}), fixed->id());
  const auto more = *device_->create_buffer({.bytes = 8192});
  const auto c = make_buffer(), d = make_buffer();
  for (const std::vector<Binding>& table : std::vector<std::vector<Binding>>{
           table_of({c, c}),                          // shares what was apart
           table_of({c, fixed}),                      // commands use it, too
           table_of({c, more}),                       // has another size
           {BufferBinding{c}, BufferBinding{d, 16}},  // begins elsewhere
           {BufferBinding{c}, BufferBinding{}},       // is null
           {BufferBinding{c}, TextureBinding{make_texture()}},
           table_of({c})})
    EXPECT_EQ(known_.renew(table), 0U);
  known_.remember(table_of({a, a}), fixed->id());
  EXPECT_EQ(known_.renew(table_of({c, d})), 0U);  // is apart what was shared
}

}  // namespace
}  // namespace texloom::hal
