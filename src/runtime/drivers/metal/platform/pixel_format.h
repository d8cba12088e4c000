// Metal's formats of texels. For Objective-C++ sources alone.
#pragma once

#include "runtime/drivers/metal/api/objects.h"
#include "runtime/hal/types.h"

namespace texloom::hal::metal {

inline MTLPixelFormat pixel_format(TexelFormat format) {
  switch (format) {
    case TexelFormat::Rgba8Int:
      return MTLPixelFormatRGBA8Sint;
    case TexelFormat::Rgba8UInt:
      return MTLPixelFormatRGBA8Uint;
    case TexelFormat::Rgba16Int:
      return MTLPixelFormatRGBA16Sint;
    case TexelFormat::Rgba16UInt:
      return MTLPixelFormatRGBA16Uint;
    case TexelFormat::Rgba32Int:
      return MTLPixelFormatRGBA32Sint;
    case TexelFormat::Rgba32UInt:
      return MTLPixelFormatRGBA32Uint;
    case TexelFormat::Rgba16Float:
      return MTLPixelFormatRGBA16Float;
    case TexelFormat::Rgba32Float:
      return MTLPixelFormatRGBA32Float;
    case TexelFormat::Rgba8Unorm:
      return MTLPixelFormatRGBA8Unorm;
    case TexelFormat::Rgba16Unorm:
      return MTLPixelFormatRGBA16Unorm;
  }
  return MTLPixelFormatInvalid;
}

}  // namespace texloom::hal::metal
