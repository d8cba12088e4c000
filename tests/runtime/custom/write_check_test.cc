// Tests that the write check finds writes that an operator does not declare.
#include <cstring>

#include "runtime/drivers/host/native.h"
#include "tests/runtime/custom/custom_fixture.h"

namespace texloom::runtime {
namespace {

// On the host driver, a native operator can write anywhere.
class WriteChecks : public CustomOperators {
 protected:
  void SetUp() override {
    open("host");
    plan_.arguments = {buffer_of_elements("X"), buffer_of_elements("Y"), texture_of_elements("Z")};
  }

  // Runs an operator that changes the byte at offset `byte` of argument i.
  Status run_writer(std::size_t i, std::ptrdiff_t byte, bool checks = true) {
    registry_ = {};
    plan_.calls.clear();
    plan_.steps.clear();
    call(operator_of(x_to_y("writer"),
                     [=](const EncodeContext& context) {
                       return context.native([=](const hal::NativeCommands& commands) {
                         std::byte* at = hal::host::native_memory(
                             std::get<hal::BoundBuffer>(commands.memory[i]));
                         at[byte] ^= std::byte{1};
                         return Status();
                       });
                     }),
         {0, 1});
    TL_RETURN_IF_ERROR(prepare({.check_writes = checks}));
    TL_ASSIGN_OR_RETURN(const auto commands, recorded());
    return device_->queue()->run({{}, {{commands, table_}}, {}});
  }
};

constexpr std::ptrdiff_t kBytes = kElements * sizeof(float);

TEST_F(WriteChecks, OfTensorsThatAreOnlyRead) {
  table_ = table_of({numbers(0), numbers(0), numbers(0)});
  TL_EXPECT_OK(run_writer(1, 0));
  TL_EXPECT_OK(run_writer(1, kBytes - 1));
  EXPECT_THAT(run_writer(0, 5), fails_with(StatusCode::InvalidArgument,
                                           "operator \"test::writer\": the call writes \"x\" (X), "
                                           "which the operator declares as read; help: declare"));
  TL_EXPECT_OK(run_writer(0, 5, false));
}

// X and Y are parts of one buffer, with a gap between them.
TEST_F(WriteChecks, OfTheRestOfAnObject) {
  const auto arena = make_buffer(hal::Bytes(4 * kBytes, std::byte{0}));
  table_ = table_of({numbers(0), numbers(0), numbers(0)});
  table_[0] = hal::BufferBinding{arena, 0};
  table_[1] = hal::BufferBinding{arena, 2 * kBytes};
  TL_EXPECT_OK(run_writer(1, 3));
  EXPECT_THAT(run_writer(1, kBytes),
              fails_with(StatusCode::InvalidArgument,
                         fmt::format("writes byte {} of the object of \"x\", outside of the "
                                     "operator's tensors",
                                     3 * kBytes)));
  EXPECT_THAT(run_writer(1, -1),
              fails_with(StatusCode::InvalidArgument, "outside of the operator's tensors"));
  EXPECT_THAT(run_writer(1, -2 * kBytes),
              fails_with(StatusCode::InvalidArgument, "writes \"x\" (X)"));
}

// The operator writes the texture in slot 2, which is not one of its arguments.
TEST_F(WriteChecks, OfOtherTensorsOfTheTable) {
  table_ = table_of({numbers(0), numbers(0), numbers(0)});
  const auto texture = std::get<hal::TextureBinding>(table_[2]).texture;
  call(operator_of(x_to_y("stray"),
                   [=](const EncodeContext& context) {
                     return context.native([=](const hal::NativeCommands&) {
                       *hal::host::native_memory(hal::BoundTexture{texture.get(), {}}).at(1, 0) ^=
                           std::byte{1};
                       return Status();
                     });
                   }),
       {0, 1});
  TL_ASSERT_OK(prepare({.check_writes = true}));
  const auto commands = *recorded();
  EXPECT_THAT(device_->queue()->run({{}, {{commands, table_}}, {}}),
              fails_with(StatusCode::InvalidArgument, "writes byte 16 of the object in slot 2"));
}

// Table entries of unused temporaries are null and not checked; the other entries are checked.
TEST_F(WriteChecks, SkipTheNullEntriesOfATable) {
  table_ = table_of({numbers(0), numbers(0), numbers(0)});
  table_[2] = hal::TextureBinding{};
  table_.push_back(hal::BufferBinding{});
  TL_EXPECT_OK(run_writer(1, 0));
  EXPECT_THAT(run_writer(0, 5), fails_with(StatusCode::InvalidArgument, "writes \"x\" (X)"));
}

// A host operator is refused if it writes into the copy of an argument that it declares as read.
TEST_F(WriteChecks, OfHostOperators) {
  call(std::make_shared<HostFunction>(x_to_y("host"),
                                      [](const HostArguments& arguments) {
                                        floats(arguments.tensors[0])[0] = 9;
                                        return Status();
                                      }),
       {0, 1});
  TL_EXPECT_OK(run_plan({numbers(0), numbers(0), numbers(0)}));
  EXPECT_THAT(
      run_plan({numbers(0), numbers(0), numbers(0)}, {.check_writes = true}),
      fails_with(
          StatusCode::InvalidArgument,
          "operator \"test::host\": the call writes \"x\", which the operator declares as read"));
}

// In a texture that is larger than its tensor, only the tensor's rectangle may change.
TEST_F(WriteChecks, OfTheRestOfATexture) {
  plan_.arguments[1] = texture_of_elements("Y");
  table_ = table_of({numbers(0), numbers(0), numbers(0)});
  table_[1] = hal::TextureBinding{
      make_texture_full_of(std::byte{0}, {8, 8}, hal::TexelFormat::Rgba32Float), {2, 3}};
  const auto run_at = [&](std::uint32_t x, std::uint32_t y) -> Status {
    registry_ = {};
    plan_.calls.clear();
    plan_.steps.clear();
    call(operator_of(x_to_y("texels"),
                     [=](const EncodeContext& context) {
                       return context.native([=](const hal::NativeCommands& commands) {
                         const auto image = hal::host::native_memory(
                             std::get<hal::BoundTexture>(commands.memory[1]));
                         *image.at(x, y) ^= std::byte{1};
                         return Status();
                       });
                     }),
         {0, 1});
    TL_RETURN_IF_ERROR(prepare({.check_writes = true}));
    TL_ASSIGN_OR_RETURN(const auto commands, recorded());
    return device_->queue()->run({{}, {{commands, table_}}, {}});
  };
  TL_EXPECT_OK(run_at(2, 3));
  TL_EXPECT_OK(run_at(4, 4));
  EXPECT_THAT(run_at(5, 4), fails_with(StatusCode::InvalidArgument, "of the object of \"y\""));
  EXPECT_THAT(run_at(2, 2),
              fails_with(StatusCode::InvalidArgument, "outside of the operator's tensors"));
}

}  // namespace
}  // namespace texloom::runtime
