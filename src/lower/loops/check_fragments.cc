#include "lower/loops/check_fragments.h"

#include "ir/accesses.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The name of a variable of an index, or an empty name.
std::string variable_of(const BufferAccess& access) {
  std::string name;
  for (const Expr& index : access.indices) {
    walk(index, [&](const Var& v) { name = v.name; });
  }
  return name;
}

void check_fragment(const BufferAccess& access) {
  const BufferNode& fragment = *access.buffer;
  if (fragment.memory != MemoryScope::Fragment || has_known_place(access)) return;
  const std::string loop = variable_of(access);
  if (loop.empty()) {
    fail(fragment.location, Code::FragmentAccess, "keep it in \"local\" memory",
         "'{}' is in fragment memory, but the element that is accessed is read from memory",
         fragment.name);
  }
  fail(fragment.location, Code::FragmentAccess,
       fmt::format("unroll or vectorize the loop '{}', or compute '{}' inside of it", loop,
                   fragment.name),
       "'{}' is in fragment memory, which is registers, but the element that is accessed "
       "depends on '{}'",
       fragment.name, loop);
}

}  // namespace

void check_fragments(Lowering& lowering) {
  for_each_access(lowering.program.body,
                  [](const BufferAccess& access) { check_fragment(access); });
}

}  // namespace texloom::lower
