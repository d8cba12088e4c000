// Describes memory that an application has created, and checks whether a device can use it.
#pragma once

#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal::metal {

// InvalidArgument: an object of another kind or another device; memory that Metal does not track; a
// buffer whose length is not a multiple of kTransferUnit; a texture that is not a 2-D image of one
// level and one sample in a format of textures, with memory of its own.
Result<NativeBuffer> describe_buffer(const Context& context, void* memory);
Result<TextureDesc> describe_texture(const Context& context, void* image);

}  // namespace texloom::hal::metal
