// Buffers and textures: declared memory, which Load, Store and the texture nodes access.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/layout/layout.h"
#include "ir/node.h"

namespace texloom::ir {

// How memory is used.
enum class Access : uint8_t { Read, Write, ReadWrite };
std::string_view to_string(Access access);
inline bool reads(Access access) { return access != Access::Write; }
inline bool writes(Access access) { return access != Access::Read; }

// The first texel of a tensor's rectangle in its image. Null variables: the origin is known to be
// (0, 0), and the kernel has no parameters for it.
struct TextureOrigin {
  Expr x, y;
  // For a parameter at (0, 0): the image has exactly the texels of the tensor's rectangle, so that
  // reads outside the rectangle are outside the image and return zeros. The runtime checks
  // arguments for this.
  bool exact_image = false;
  bool is_zero() const { return !x; }
};

// Compared by address.
struct BufferNode : RefCounted {
  std::string name;
  Type type;                   // of an element: a scalar type
  std::vector<int64_t> shape;  // logical
  // The shape, as expressions of the program's symbols, of a row-major array or a texture in global
  // memory whose size is known only at the call. `shape` is then empty. The layout of such an array
  // is empty; the layout of such a texture is open (layout/layout.h).
  Exprs extents;
  MemoryScope memory = MemoryScope::Global;
  // Vectors that are stored to this array in global memory do not stay in the caches of a
  // processor.
  bool nontemporal = false;
  // Counters of blocks (LastBlock in stmt.h): int32, in global memory, along one axis. They are
  // zero before and after each launch.
  bool counts = false;
  Layout layout;         // fixed at compile time: part of a kernel's signature
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
// A row-major buffer in global memory, whose extents may be symbolic.
Buffer make_array(std::string name, Type type, const Exprs& extents, SourceLocation location = {});
// A buffer in an order other than row-major. Requires MemoryObject::Buffer as the layout's object.
Buffer make_buffer_with_layout(std::string name, Type type, Layout layout, MemoryScope memory,
                               SourceLocation location = {});
// A texture, which is in global memory. The layout is open if the extents are symbolic.
Buffer make_symbolic_texture(std::string name, Type type, const Exprs& extents, Layout layout,
                             TextureOrigin origin = {}, SourceLocation location = {});
// A texture, which is in global memory.
Buffer make_texture(std::string name, Type type, Layout layout, TextureOrigin origin = {},
                    SourceLocation location = {});

// The same array in global memory, with non-temporal stores.
Buffer make_nontemporal(const BufferNode& array);

// Counters of groups of blocks, as many as the extent says.
Buffer make_counters(std::string name, const Expr& extent, SourceLocation location = {});

// The extents as a shape, with kToTheEnd in place of extents that are not constant.
Shape open_shape(const Exprs& extents);

// The distance in elements between neighbors along an axis of an array. nullopt if it varies or is
// known only at the call.
std::optional<int64_t> stride_of(const BufferNode& buffer, size_t axis);
// Whether neighbors have a fixed distance along each axis, as in an array in C.
bool has_strides(const BufferNode& buffer);

}  // namespace texloom::ir
