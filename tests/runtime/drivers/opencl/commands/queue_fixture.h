// A fixture with a device and command buffers whose order shows in their result.
#pragma once

#include <cstdint>
#include <memory>

#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::opencl {

inline constexpr const char* kAdvanceSource =
    "__kernel void advance(__global int* x, int k) {"
    "  int i = get_global_id(0); x[i] = x[i] * 3 + k; }";

inline EntryPoint advance_entry() {
  return {.name = "advance",
          .params = {BufferParam{.name = "x", .access = Access::ReadWrite},
                     ConstantParam{.name = "k"}}};
}

class QueueTest : public OpenClTest {
 protected:
  std::shared_ptr<CommandBuffer> advance_commands(const std::shared_ptr<Executable>& executable,
                                                  const std::shared_ptr<Buffer>& buffer, int k,
                                                  const CommandBufferDesc& desc = {}) {
    const auto commands = device_->create_command_buffer(desc);
    const auto groups = static_cast<std::uint32_t>(buffer->bytes() / sizeof(int));
    EXPECT_TRUE(
        commands
            ->dispatch(executable, 0, {groups, 1, 1}, {{BufferBinding{buffer}}}, {{Constant(k)}})
            .ok());
    EXPECT_TRUE(commands->finish().ok());
    return commands;
  }
};

}  // namespace texloom::hal::opencl
