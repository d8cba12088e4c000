// The accesses to buffers and textures in a program, whatever node makes them.
#pragma once

#include <span>

#include "ir/buffer.h"
#include "ir/stmt.h"
#include "support/function_ref.h"

namespace texloom::ir {

// One access: a Load, Store, TextureLoad or TextureStore, or the box of a Pointer.
struct BufferAccess {
  const Buffer& buffer;
  Access access;
  // One for each axis or one offset; the column and the row of a texel; the first element of a
  // pointer's box.
  std::span<const Expr> indices;
  Type type;  // of the value
  const SourceLocation& location;
  bool foreign = false;  // a Pointer: foreign code may access the box in any way

  bool reads() const { return ir::reads(access); }
  bool writes() const { return ir::writes(access); }
};

using SeeAccess = FunctionRef<void(const BufferAccess&)>;

// The access that the node itself makes, if it makes one; those of its operands are not seen.
void see_access(const Expr& e, SeeAccess see);
void see_access(const Stmt& s, SeeAccess see);

// All accesses, in the order of walk(). A node that several expressions share is seen for each.
void for_each_access(const Expr& e, SeeAccess see);
void for_each_access(const Stmt& s, SeeAccess see);

// Whether the condition holds for some access.
bool any_access(const Expr& e, FunctionRef<bool(const BufferAccess&)> condition);
bool any_access(const Stmt& s, FunctionRef<bool(const BufferAccess&)> condition);

// Whether it reads memory, or hands out pointers.
bool accesses_memory(const Expr& e);
// Whether the buffer is read or written, or pointed to.
bool accesses(const Expr& e, const Buffer& buffer);
bool accesses(const Stmt& s, const Buffer& buffer);

}  // namespace texloom::ir
