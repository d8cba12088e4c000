// Where a tensor of a graph is stored: the scope and the layout that a kernel expects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/layout/layout.h"
#include "schedule/storage.h"

namespace texloom::graph {

// The default alignment, in bytes, of temporaries in a buffer. Devices require at most this
// alignment (hal::DeviceLimits::buffer_offset_alignment).
inline constexpr std::uint64_t kBufferAlignment = 512;

struct Stored {
  ir::StorageScope scope;
  ir::Layout layout;
  // Whether the size is known only at each run. If so, the layout of a buffer is empty and means
  // row-major, and the layout of a texture is open (ir/layout/layout.h).
  bool is_open = false;

  // Whether the layout is the one that the scope alone determines.
  bool is_by_rule() const;
  bool is_texture() const { return layout.object == ir::MemoryObject::Image2d; }
  // Whether a kernel that expects this storage can use a tensor in the other storage.
  bool same_memory(const Stored& other) const { return layout == other.layout; }
};

// "global", "texture:weight", "texture texture[(d0, d1) -> …]"
std::string to_string(const Stored& stored);

// The bytes of a tensor, padding included; nullopt if the size is known only at each run.
std::optional<int64_t> bytes_of(const Stored& stored, ir::Type type);

// A tensor of this shape in a row-major buffer.
Stored in_buffer(const Shape& shape);

// A tensor of this shape in this storage, folded as far as the target's limits require. A texture
// whose size is known only at each run is not folded. Fails at `where` with TextureTooLarge, or
// with BadLayout, also for a layout of a buffer whose size is known only at each run.
Stored stored_as(const schedule::Storage& storage, const Shape& shape, ir::Type type,
                 const ir::Target& target, const std::string& name, const SourceLocation& where);

// The storage of a program's argument: that of its declaration or of the schedule. Fails like
// stored_as(), and with BadLayout for an argument that transform_layout reshapes.
Stored stored_argument(const lower::Lowering& program, std::size_t argument,
                       const SourceLocation& where);

}  // namespace texloom::graph
