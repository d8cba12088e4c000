#include "schedule/storage.h"

#include <fmt/ranges.h>

#include "ir/text/parse_layout.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on layouts

namespace {

StorageScope scope_or_fail(std::string_view text, const SourceLocation& where) {
  if (const auto scope = parse_scope(text)) return *scope;
  fail(where, Code::UnknownScope, fmt::format("use one of {}", fmt::join(scope_spellings(), ", ")),
       "unknown memory scope '{}'", text);
}

}  // namespace

void check_storage(const Storage& storage, const SourceLocation& where) {
  if (!storage.layout) return;
  const MemoryObject object = storage.layout->object;
  if (object != MemoryObject::Buffer && object != MemoryObject::Image2d) {
    fail(where, Code::BadLayout, "begin the layout with 'texture' or 'buffer'",
         "no kernel accesses an object of kind '{}'", spelling(object));
  }
  if ((object == MemoryObject::Image2d) == storage.scope.texture.has_value()) return;
  fail(where, Code::BadLayout,
       fmt::format("begin the layout with '{}', or give the tensor another scope",
                   spelling(storage.scope.texture ? MemoryObject::Image2d : MemoryObject::Buffer)),
       "a layout of kind '{}' does not fit the scope '{}'", spelling(object),
       to_string(storage.scope));
}

Storage parse_storage(std::string_view scope, std::string_view layout, const Shape& shape,
                      const SourceLocation& where) {
  Storage storage{scope_or_fail(scope, where), {}};
  if (layout.empty()) return storage;
  storage.layout = parse_layout(layout, shape, where);
  if (scope.empty() && storage.layout->object == MemoryObject::Image2d) {
    storage.scope.texture = TextureRule::Activation;
  }
  check_storage(storage, where);
  return storage;
}

Storage parse_storage(std::string_view scope, std::string_view layout, const Exprs& shape,
                      std::string_view tensor, std::string_view directive,
                      const SourceLocation& where) {
  try {
    if (layout.empty()) return {scope_or_fail(scope, where), {}};
    const Exprs extents = extents_of(shape, std::string(tensor), where);
    return parse_storage(scope, layout, open_shape(extents), where);
  } catch (const UserError& error) {
    std::vector<Diagnostic> diagnostics = error.diagnostics();
    for (Diagnostic& d : diagnostics) {
      d.message = fmt::format("{} of '{}': {}", directive, tensor, d.message);
    }
    throw UserError(std::move(diagnostics));
  }
}

}  // namespace texloom::schedule
