#include "schedule/storage.h"

#include <fmt/ranges.h>

#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file speaks of layouts

namespace {

// `subject`: for whom, as "set_scope of 'A': "; may be empty.
StorageScope scope_or_fail(std::string_view text, std::string_view subject,
                           const SourceLocation& where) {
  if (const auto scope = parse_scope(text)) return *scope;
  fail(where, Code::UnknownScope, fmt::format("use one of {}", fmt::join(scope_spellings(), ", ")),
       "{}unknown memory scope '{}'", subject, text);
}

Storage with_layout(StorageScope scope, bool is_given, std::string_view layout, const Shape& shape,
                    const SourceLocation& where) {
  Storage storage{scope, parse_layout(layout, shape, where)};
  if (!is_given && storage.layout->object == MemoryObject::Image2d) {
    storage.scope.texture = TextureRule::Activation;
  }
  check_storage(storage, where);
  return storage;
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
       fmt::format("begin the layout with '{}', or give it another scope",
                   spelling(storage.scope.texture ? MemoryObject::Image2d : MemoryObject::Buffer)),
       "a layout of kind '{}' in the scope '{}'", spelling(object), to_string(storage.scope));
}

Storage parse_storage(std::string_view scope, std::string_view layout, const Shape& shape,
                      const SourceLocation& where) {
  const StorageScope known = scope_or_fail(scope, "", where);
  if (layout.empty()) return {known, {}};
  return with_layout(known, !scope.empty(), layout, shape, where);
}

Storage parse_storage(std::string_view scope, std::string_view layout, const Exprs& shape,
                      std::string_view tensor, std::string_view directive,
                      const SourceLocation& where) {
  const StorageScope known =
      scope_or_fail(scope, fmt::format("{} of '{}': ", directive, tensor), where);
  if (layout.empty()) return {known, {}};
  const Shape extents = constant_shape(shape, std::string(tensor), where);
  return with_layout(known, !scope.empty(), layout, extents, where);
}

}  // namespace texloom::schedule
