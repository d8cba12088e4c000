// Declared memory: what Load, Store and the texture nodes access.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/layout/layout.h"
#include "ir/node.h"

namespace texloom::ir {

// What is done with memory.
enum class Access : uint8_t { Read, Write, ReadWrite };
std::string_view to_string(Access access);
inline bool reads(Access access) { return access != Access::Write; }
inline bool writes(Access access) { return access != Access::Read; }

// Where a tensor's rectangle begins inside its image, in texels. Null variables: known to be
// (0, 0), and the kernel then has no such constants.
struct TextureOrigin {
  Expr x, y;
  // A contract of a parameter at (0, 0): the image has the texels of the tensor's rectangle and no
  // others, so that a read outside of the rectangle is one outside of the image, which gives zeros.
  // The runtime holds arguments to it.
  bool exact_image = false;
  bool is_zero() const { return !x; }
};

// Identity is the node's address.
struct BufferNode : RefCounted {
  std::string name;
  Type type;                   // of an element; scalar
  std::vector<int64_t> shape;  // logical
  // Of a row-major array in global memory whose size only the call tells: its shape, as
  // expressions of the program's symbols; `shape` and the layout are empty then.
  Exprs extents;
  MemoryScope memory = MemoryScope::Global;
  Layout layout;         // static: part of a kernel's signature
  TextureOrigin origin;  // textures only
  SourceLocation location;

  bool is_texture() const { return layout.object == MemoryObject::Image2d; }
  bool is_symbolic() const { return !extents.empty(); }
  size_t rank() const { return is_symbolic() ? extents.size() : shape.size(); }
};

using Buffer = Ref<BufferNode>;

// A row-major buffer.
Buffer make_buffer(std::string name, Type type, std::vector<int64_t> shape, MemoryScope memory,
                   SourceLocation location = {});
// Of constant extents the same; else an array of symbolic extents, in global memory.
Buffer make_array(std::string name, Type type, const Exprs& extents, SourceLocation location = {});
// In another order: a layout of an object of kind Buffer.
Buffer make_buffer_with_layout(std::string name, Type type, Layout layout, MemoryScope memory,
                               SourceLocation location = {});
// A texture: global memory, one origin.
Buffer make_texture(std::string name, Type type, Layout layout, TextureOrigin origin = {},
                    SourceLocation location = {});

// Of an array: how many elements apart neighbours along the axis lie. Nothing where they do not all
// lie alike, or where only the call tells.
std::optional<int64_t> stride_of(const BufferNode& buffer, size_t axis);
// Whether they do along each axis: what C knows as an array.
bool has_strides(const BufferNode& buffer);

}  // namespace texloom::ir
