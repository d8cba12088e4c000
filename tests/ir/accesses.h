// Short constructors for one-dimensional buffers and flattened accesses to them.
#pragma once

#include <string>
#include <utility>

#include "ir/program.h"

namespace texloom::ir {

// A buffer in global memory.
inline Buffer global(std::string name, Type type, int64_t elements) {
  return make_buffer(std::move(name), type, {elements}, MemoryScope::Global);
}
inline Buffer local(std::string name, Type type, int64_t elements) {
  return make_buffer(std::move(name), type, {elements}, MemoryScope::Local);
}
inline Buffer shared(std::string name, Type type, int64_t elements) {
  return make_buffer(std::move(name), type, {elements}, MemoryScope::Shared);
}
// An image of `width` x `height` texels.
inline Buffer texture(std::string name, Type type, int64_t width, int64_t height) {
  return make_texture(std::move(name), type,
                      texture_layout({height, width, 4}, TextureRule::Activation));
}

inline Expr ramp(const Expr& base, int lanes, int64_t stride = 1) {
  return make_ramp(base, make_int(stride), lanes);
}
inline Expr at(const Buffer& buffer, const Expr& index) { return make_load(buffer, {index}); }
inline Expr at(const Buffer& buffer, int64_t index) { return at(buffer, make_int(index)); }
// The `lanes` consecutive elements that start at `base`.
inline Expr vector_at(const Buffer& buffer, const Expr& base, int lanes) {
  return at(buffer, ramp(base, lanes));
}
inline Expr texel(const Buffer& texture, const Expr& x, const Expr& y) {
  return make_texture_load(texture, x, y);
}
inline Expr lane(const Expr& vector, int64_t index) { return make_lane(vector, make_int(index)); }

inline Stmt put(const Buffer& buffer, const Expr& index, const Expr& value) {
  return make_store(buffer, {index}, value);
}
inline Stmt put_vector(const Buffer& buffer, const Expr& base, const Expr& value) {
  return make_store(buffer, {ramp(base, value->type.lanes)}, value);
}

}  // namespace texloom::ir
