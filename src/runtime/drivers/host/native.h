// The driver host for functions of native commands (CommandBuffer::native): a function runs on the
// queue's thread in order with the commands around it, and accesses the memory itself.
#pragma once

#include <cstddef>

#include "runtime/drivers/host/image.h"
#include "runtime/hal/segment.h"

namespace texloom::hal::host {

// NativeCommands::handles is null; these are for its memory, which is of this driver.
std::byte* native_memory(const BoundBuffer& place);
Image native_memory(const BoundTexture& place);

}  // namespace texloom::hal::host
