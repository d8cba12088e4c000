// Memory objects of the interpreter: bytes, and the reason why an element is undefined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/buffer.h"
#include "ir/interpret/value.h"
#include "support/function_ref.h"

namespace texloom::ir {

// Marks an element as undefined because it was never written.
inline constexpr Undefined kNeverWritten = 1;

// An array of elements, or an image of texels whose lanes are the elements. An image may be larger
// than its tensor, and contain several tensors. No element is written at first.
class Memory {
 public:
  static Memory array(Type element, int64_t elements);
  static Memory image(Type element, int64_t width, int64_t height);

  Type type() const { return type_; }
  bool is_image() const { return is_image_; }
  int64_t width() const { return width_; }    // in texels; for an array, in elements
  int64_t height() const { return height_; }  // 1 for an array
  int64_t size() const { return static_cast<int64_t>(undefined_.size()); }
  // The element number of a texel's first lane.
  int64_t texel(int64_t x, int64_t y) const { return (y * width_ + x) * kTexelLanes; }

  // Elements are numbered from 0 to size() - 1. Even an undefined element has a value.
  Scalar get(int64_t element) const;
  void set(int64_t element, Scalar value);

  // The bytes as on a device. Writing here does not mark elements as written; define_all() does.
  std::vector<std::byte>& bytes() { return bytes_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  void define_all();
  // Forgets the origins of undefined values, which are valid only within one run. Undefined
  // elements then count as never written.
  void forget_origins();

 private:
  Memory(Type element, int64_t width, int64_t height, bool is_image);

  Type type_;
  int64_t width_, height_;
  bool is_image_;
  std::vector<std::byte> bytes_;
  std::vector<Undefined> undefined_;
};

// The place of a tensor: a memory object and, in an image, the first texel of its rectangle.
struct Placement {
  Memory* memory = nullptr;  // not owned
  int64_t x = 0, y = 0;
};

// A memory object for this buffer. An image is just large enough for the tensor at (x, y).
Memory memory_for(const BufferNode& buffer, int64_t x = 0, int64_t y = 0);

// The element at coordinates of the layout, which must be inside the rectangle.
int64_t element_at(const Placement& placement, const Coordinates& coordinates);

// Calls `see` with the element of each point of the tensor, in row-major order.
void for_each_element(const BufferNode& buffer, const Placement& placement,
                      FunctionRef<void(int64_t)> see);

// A tensor's elements in row-major order, as doubles: for tests and small inputs. `fill` writes all
// elements and does not change padding; `contents` requires that all elements are defined.
void fill(const BufferNode& buffer, const Placement& placement, const std::vector<double>& values);
std::vector<double> contents(const BufferNode& buffer, const Placement& placement);

}  // namespace texloom::ir
