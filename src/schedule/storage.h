// Where a tensor is to lie, as users say it: a scope and, if they like, a layout.
#pragma once

#include <optional>
#include <string_view>

#include "ir/layout_pattern.h"
#include "schedule/operation.h"

namespace texloom::schedule {

struct Storage {
  ir::StorageScope scope;
  std::optional<ir::LayoutPattern> layout;  // instead of the scope's own rule
};

// Fails with BadLayout unless kernels access objects of the layout's kind, and the scope is one of
// them.
void check_storage(const Storage& storage, const SourceLocation& where);

// Of a scope string and what `layout=` says, each empty where nothing is said; the scope is then
// the one of the layout's object. Fails at `where` with UnknownScope or BadLayout.
Storage parse_storage(std::string_view scope, std::string_view layout, const ir::Shape& shape,
                      const SourceLocation& where);
// The same for a directive on a tensor. With a layout its shape has to be constant.
Storage parse_storage(std::string_view scope, std::string_view layout, const ir::Exprs& shape,
                      std::string_view tensor, std::string_view directive,
                      const SourceLocation& where);

}  // namespace texloom::schedule
