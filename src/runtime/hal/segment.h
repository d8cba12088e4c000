// The recorded form of a command buffer: a list of segments that a driver walks at submission.
//
// Segments are validated when they are recorded: a driver may rely on it that ranges and regions
// fit, that objects are of its device, and that arguments match their kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "runtime/hal/binding.h"
#include "runtime/hal/executable.h"

namespace texloom::hal {

struct DispatchSegment {
  std::shared_ptr<Executable> executable;
  std::uint32_t entry_point = 0;
  std::array<std::uint32_t, 3> groups = {1, 1, 1};  // none is zero
  std::vector<Binding> bindings;    // the buffers and textures among the parameters, in order
  std::vector<Constant> constants;  // the constants among the parameters, in order
};

// Host to buffer.
struct UpdateSegment {
  std::shared_ptr<Buffer> target;
  std::uint64_t offset = 0;
  std::span<const std::byte> data;
  std::shared_ptr<const std::byte[]> owned;  // what `data` points into, unless it is borrowed
};

// Buffer to host.
struct ReadbackSegment {
  std::shared_ptr<Buffer> source;
  std::uint64_t offset = 0;
  std::span<std::byte> data;
};

struct CopyBufferSegment {
  std::shared_ptr<Buffer> source;
  std::uint64_t source_offset = 0;
  std::shared_ptr<Buffer> target;
  std::uint64_t target_offset = 0;
  std::uint64_t bytes = 0;
};

// A rectangle of texels and the place of its rows in a buffer.
struct BufferTextureRegion {
  Offset2D origin = {};             // in the texture
  Extent2D extent = {};             // in texels
  std::uint64_t buffer_offset = 0;  // bytes, of the first texel
  std::uint64_t row_pitch = 0;      // bytes from row to row; 0 stands for rows without gaps
};

struct CopyBufferToTextureSegment {
  std::shared_ptr<Buffer> source;
  std::shared_ptr<Texture> target;
  BufferTextureRegion region;  // its row_pitch is not 0
};

struct CopyTextureToBufferSegment {
  std::shared_ptr<Texture> source;
  std::shared_ptr<Buffer> target;
  BufferTextureRegion region;  // its row_pitch is not 0
};

struct CopyTextureSegment {
  std::shared_ptr<Texture> source;
  Offset2D source_origin = {};
  std::shared_ptr<Texture> target;
  Offset2D target_origin = {};
  Extent2D extent = {};
};

using Segment =
    std::variant<DispatchSegment, UpdateSegment, ReadbackSegment, CopyBufferSegment,
                 CopyBufferToTextureSegment, CopyTextureToBufferSegment, CopyTextureSegment>;

}  // namespace texloom::hal
