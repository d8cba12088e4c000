// Describes memory that an application has created, and checks whether a device can use it.
#pragma once

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/texture.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// InvalidArgument: an object that is not valid, is of another kind or another context, or, for an
// image, is not a 2-D image of RGBA texels in a format of textures, with one level and one sample
// and memory of its own.
Result<NativeBuffer> describe_buffer(const Context& context, cl_mem memory);
Result<TextureDesc> describe_image(const Context& context, cl_mem image);

// Adds a reference to an application's object.
Result<MemoryHandle> retain(const Context& context, cl_mem memory);

}  // namespace texloom::hal::opencl
