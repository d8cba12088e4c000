// The host driver's interface for native commands (CommandBuffer::native). A function runs on the
// queue's thread, in order with the commands around it, and accesses the memory directly.
#pragma once

#include <cstddef>

#include "runtime/drivers/host/image.h"
#include "runtime/hal/segment.h"

namespace texloom::hal::host {

// Return the memory at `place`, one of NativeCommands::memory, which must belong to this driver.
// NativeCommands::handles is null.
std::byte* native_memory(const BoundBuffer& place);
Image native_memory(const BoundTexture& place);

}  // namespace texloom::hal::host
