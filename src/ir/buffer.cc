#include "ir/buffer.h"

#include "ir/leaf_expr.h"
#include "support/check.h"

namespace texloom::ir {

std::string_view to_string(Access access) {
  switch (access) {
    case Access::Read:
      return "read";
    case Access::Write:
      return "write";
    case Access::ReadWrite:
      return "read_write";
  }
  TL_UNREACHABLE();
}

Buffer make_buffer(std::string name, Type type, std::vector<int64_t> shape, MemoryScope memory,
                   SourceLocation location) {
  return make_buffer_with_layout(std::move(name), type, linear_layout(std::move(shape)), memory,
                                 std::move(location));
}

Buffer make_array(std::string name, Type type, const Exprs& extents, SourceLocation location) {
  std::vector<int64_t> shape;
  for (const Expr& extent : extents) {
    if (const int64_t* value = int_value(extent)) shape.push_back(*value);
  }
  if (shape.size() == extents.size()) {
    return make_buffer(std::move(name), type, std::move(shape), MemoryScope::Global,
                       std::move(location));
  }
  auto* node = new BufferNode;
  node->name = std::move(name);
  node->type = type;
  node->extents = extents;
  node->location = std::move(location);
  return Buffer(node);
}

Buffer make_buffer_with_layout(std::string name, Type type, Layout layout, MemoryScope memory,
                               SourceLocation location) {
  TL_CHECK(layout.object == MemoryObject::Buffer);
  auto* node = new BufferNode;
  node->name = std::move(name);
  node->type = type;
  node->shape = layout.shape;
  node->layout = std::move(layout);
  node->memory = memory;
  node->location = std::move(location);
  return Buffer(node);
}

Buffer make_texture(std::string name, Type type, Layout layout, TextureOrigin origin,
                    SourceLocation location) {
  TL_CHECK(layout.object == MemoryObject::Image2d);
  auto* node = new BufferNode;
  node->name = std::move(name);
  node->type = type;
  node->shape = layout.shape;
  node->layout = std::move(layout);
  node->origin = std::move(origin);
  node->location = std::move(location);
  return Buffer(node);
}

Buffer make_symbolic_texture(std::string name, Type type, const Exprs& extents, Layout layout,
                             TextureOrigin origin, SourceLocation location) {
  TL_CHECK(layout.object == MemoryObject::Image2d && layout.shape == open_shape(extents));
  auto* node = new BufferNode;
  node->name = std::move(name);
  node->type = type;
  if (layout.is_open()) {
    node->extents = extents;
  } else {
    node->shape = layout.shape;
  }
  node->layout = std::move(layout);
  node->origin = std::move(origin);
  node->location = std::move(location);
  return Buffer(node);
}

Buffer make_nontemporal(const BufferNode& array) {
  TL_CHECK(!array.is_texture() && array.memory == MemoryScope::Global);
  auto* node = new BufferNode;
  node->name = array.name;
  node->type = array.type;
  node->shape = array.shape;
  node->extents = array.extents;
  node->layout = array.layout;
  node->location = array.location;
  node->nontemporal = true;
  return Buffer(node);
}

Buffer make_counters(std::string name, const Expr& extent, SourceLocation location) {
  const Buffer array = make_array(std::move(name), kInt32, {extent}, std::move(location));
  auto* node = new BufferNode;
  node->name = array->name;
  node->type = array->type;
  node->shape = array->shape;
  node->extents = array->extents;
  node->layout = array->layout;
  node->location = array->location;
  node->counts = true;
  return Buffer(node);
}

Shape open_shape(const Exprs& extents) {
  Shape shape;
  for (const Expr& extent : extents) {
    const int64_t* value = int_value(extent);
    TL_CHECK(value == nullptr || *value != kToTheEnd);
    shape.push_back(value == nullptr ? kToTheEnd : *value);
  }
  return shape;
}

std::optional<int64_t> stride_of(const BufferNode& b, size_t axis) {
  const LayoutParts& cols = b.layout.cols;
  if (b.is_texture() || b.is_symbolic() || cols.size() != b.shape.size()) return std::nullopt;
  int64_t stride = 1;
  for (size_t i = cols.size(); i-- > 0;) {
    const bool whole =
        cols[i].axis == static_cast<int>(i) && cols[i].divisor == 1 && cols[i].extent >= b.shape[i];
    if (!whole) return std::nullopt;
    if (i == axis) return stride;
    stride *= cols[i].extent;
  }
  return std::nullopt;
}

bool has_strides(const BufferNode& buffer) {
  if (buffer.is_symbolic() || buffer.shape.empty()) return !buffer.is_texture();
  return stride_of(buffer, 0).has_value();
}

}  // namespace texloom::ir
