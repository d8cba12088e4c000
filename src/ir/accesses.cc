#include "ir/accesses.h"

#include <algorithm>
#include <array>

#include "ir/visit.h"

namespace texloom::ir {
namespace {

void see_node(const Load& n, SeeAccess see) {
  see({n.buffer, Access::Read, n.indices, n.type, n.location});
}
void see_node(const TextureLoad& n, SeeAccess see) {
  const std::array texel{n.x, n.y};
  see({n.texture, Access::Read, texel, n.type, n.location});
}
void see_node(const Pointer& n, SeeAccess see) {
  see({n.buffer, n.access, n.indices, n.type, n.location, true});
}
void see_node(const Store& n, SeeAccess see) {
  see({n.buffer, Access::Write, n.indices, n.value->type, n.location});
}
void see_node(const Prefetch& n, SeeAccess see) {
  see({n.buffer, Access::Read, n.indices, n.buffer->type, n.location});
}
void see_node(const LastBlock& n, SeeAccess see) {
  const Expr first = make_int(0);
  see({n.counters, Access::ReadWrite, {&n.index, 1}, n.counters->type, n.location});
  see({n.flag, Access::ReadWrite, {&first, 1}, n.flag->type, n.location});
}
void see_node(const TextureStore& n, SeeAccess see) {
  const std::array texel{n.x, n.y};
  see({n.texture, Access::Write, texel, n.value->type, n.location});
}

template <class Node>
concept Accesses = requires(const Node& n, SeeAccess see) { see_node(n, see); };

template <class Handle>
void see_own(const Handle& handle, SeeAccess see) {
  visit(handle, [&]<class Node>(const Node& n) {
    if constexpr (Accesses<Node>) see_node(n, see);
  });
}

template <class Handle>
void see_all(const Handle& handle, SeeAccess see) {
  walk(handle, [&]<class Node>(const Node& n) {
    if constexpr (Accesses<Node>) see_node(n, see);
  });
}

template <class Handle>
bool is_any(const Handle& handle, FunctionRef<bool(const BufferAccess&)> condition) {
  return any_of(handle, [&]<class Node>(const Node& n) {
    bool found = false;
    if constexpr (Accesses<Node>) {
      see_node(n, [&](const BufferAccess& access) { found = found || condition(access); });
    }
    return found;
  });
}

}  // namespace

void see_access(const Expr& e, SeeAccess see) { see_own(e, see); }
void see_access(const Stmt& s, SeeAccess see) { see_own(s, see); }

void for_each_access(const Expr& e, SeeAccess see) { see_all(e, see); }
void for_each_access(const Stmt& s, SeeAccess see) { see_all(s, see); }

bool has_known_place(const BufferAccess& access) {
  return std::ranges::none_of(access.indices, [](const Expr& index) {
    return contains<Var>(index) || accesses_memory(index);
  });
}

bool any_access(const Expr& e, FunctionRef<bool(const BufferAccess&)> condition) {
  return is_any(e, condition);
}
bool any_access(const Stmt& s, FunctionRef<bool(const BufferAccess&)> condition) {
  return is_any(s, condition);
}

bool accesses_memory(const Expr& e) {
  return any_access(e, [](const BufferAccess&) { return true; });
}
bool accesses(const Expr& e, const Buffer& buffer) {
  return any_access(e, [&](const BufferAccess& access) { return access.buffer.same_as(buffer); });
}
bool accesses(const Stmt& s, const Buffer& buffer) {
  return any_access(s, [&](const BufferAccess& access) { return access.buffer.same_as(buffer); });
}

}  // namespace texloom::ir
