// Finds the accesses to buffers and textures in a program, whatever the kinds of the nodes that
// make them.
#pragma once

#include <span>

#include "ir/buffer.h"
#include "ir/stmt.h"
#include "support/function_ref.h"

namespace texloom::ir {

// One access: a Load, Store, Prefetch, TextureLoad or TextureStore, the box of a Pointer, the
// counter or the flag of a LastBlock.
struct BufferAccess {
  const Buffer& buffer;
  Access access;
  // For a buffer, one index for each axis, or one offset; for a texture, the texel's column and
  // row; for a Pointer, the first element of its box.
  std::span<const Expr> indices;
  Type type;  // of the value
  const SourceLocation& location;
  bool foreign = false;  // a Pointer: foreign code may access the box in any way

  bool reads() const { return ir::reads(access); }
  bool writes() const { return ir::writes(access); }
};

using SeeAccess = FunctionRef<void(const BufferAccess&)>;

// Passes to `see` the accesses that the node itself makes, but not the accesses of its
// operands.
void see_access(const Expr& e, SeeAccess see);
void see_access(const Stmt& s, SeeAccess see);

// Passes all accesses to `see`, in the order of walk(). Shared nodes count at each occurrence.
void for_each_access(const Expr& e, SeeAccess see);
void for_each_access(const Stmt& s, SeeAccess see);

// Whether the access names the same elements whenever it is made: its indices have neither
// variables nor loads. Fragments need it, since registers have no addresses.
bool has_known_place(const BufferAccess& access);

// Whether the condition holds for any access.
bool any_access(const Expr& e, FunctionRef<bool(const BufferAccess&)> condition);
bool any_access(const Stmt& s, FunctionRef<bool(const BufferAccess&)> condition);

// Whether the expression reads memory or makes pointers.
bool accesses_memory(const Expr& e);
// Whether the expression reads, writes or points to the buffer.
bool accesses(const Expr& e, const Buffer& buffer);
bool accesses(const Stmt& s, const Buffer& buffer);

}  // namespace texloom::ir
