#include "ir/interpret/memory.h"

#include <algorithm>

#include "support/check.h"

namespace texloom::ir {

Memory::Memory(Type element, int64_t width, int64_t height, bool is_image)
    : type_(element), width_(width), height_(height), is_image_(is_image) {
  TL_CHECK(element.is_scalar() && width > 0 && height > 0);
  const int64_t elements = width * height * (is_image ? kTexelLanes : 1);
  bytes_.resize(static_cast<size_t>(elements * element.bytes()));
  undefined_.assign(static_cast<size_t>(elements), kNeverWritten);
}

Memory Memory::array(Type element, int64_t elements) { return {element, elements, 1, false}; }
Memory Memory::image(Type element, int64_t width, int64_t height) {
  return {element, width, height, true};
}

Scalar Memory::get(int64_t element) const {
  TL_CHECK(element >= 0 && element < size());
  Scalar value = decode(type_, bytes_.data() + element * type_.bytes());
  value.undefined = undefined_[static_cast<size_t>(element)];
  return value;
}

void Memory::set(int64_t element, Scalar value) {
  TL_CHECK(element >= 0 && element < size());
  encode(type_, value, bytes_.data() + element * type_.bytes());
  undefined_[static_cast<size_t>(element)] = value.undefined;
}

void Memory::define_all() { std::fill(undefined_.begin(), undefined_.end(), Undefined{0}); }

void Memory::forget_origins() {
  for (Undefined& u : undefined_) u = u == 0 ? 0 : kNeverWritten;
}

Memory memory_for(const BufferNode& buffer, int64_t x, int64_t y) {
  const Layout& layout = buffer.layout;
  if (!buffer.is_texture()) return Memory::array(buffer.type, layout.col_count());
  return Memory::image(buffer.type, x + layout.col_count(), y + layout.row_count());
}

int64_t element_at(const Placement& placement, const Coordinates& c) {
  const Memory& memory = *placement.memory;
  if (!memory.is_image()) return c.col;
  return memory.texel(placement.x + c.col, placement.y + c.row) + c.lane;
}

void for_each_element(const BufferNode& buffer, const Placement& placement,
                      FunctionRef<void(int64_t)> see) {
  std::vector<int64_t> index(buffer.shape.size(), 0);
  while (true) {
    see(element_at(placement, buffer.layout.at(index)));
    size_t axis = index.size();
    while (axis > 0 && ++index[axis - 1] == buffer.shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

void fill(const BufferNode& buffer, const Placement& placement, const std::vector<double>& values) {
  size_t next = 0;
  for_each_element(buffer, placement, [&](int64_t element) {
    TL_CHECK(next < values.size(), buffer.name);
    const double value = values[next++];
    const Scalar scalar = buffer.type.is_float() ? scalar_of(value) : scalar_of(int64_t(value));
    placement.memory->set(element, scalar);
  });
  TL_CHECK(next == values.size(), buffer.name);
}

std::vector<double> contents(const BufferNode& buffer, const Placement& placement) {
  std::vector<double> values;
  for_each_element(buffer, placement, [&](int64_t element) {
    const Scalar value = placement.memory->get(element);
    TL_CHECK(value.undefined == 0, buffer.name);
    values.push_back(buffer.type.is_float() ? value.number : static_cast<double>(value.integer));
  });
  return values;
}

}  // namespace texloom::ir
