// The storage that a user requests for a tensor: a scope and optionally a layout.
#pragma once

#include <optional>
#include <string_view>

#include "ir/layout/layout_pattern.h"
#include "schedule/operation/operation.h"

namespace texloom::schedule {

struct Storage {
  ir::StorageScope scope;
  std::optional<ir::LayoutPattern> layout;  // instead of the scope's own rule
};

// Fails with BadLayout unless kernels can access objects of the layout's kind and the scope is one
// for such objects.
void check_storage(const Storage& storage, const SourceLocation& where);

// Parses a scope string and the text of `layout=`; either may be empty. Without a scope, the object
// of the layout implies the scope. Fails at `where` with UnknownScope or BadLayout.
Storage parse_storage(std::string_view scope, std::string_view layout, const ir::Shape& shape,
                      const SourceLocation& where);
// Parses the storage of a directive on a tensor. The tensor's shape must be constant if there is a
// layout.
Storage parse_storage(std::string_view scope, std::string_view layout, const ir::Exprs& shape,
                      std::string_view tensor, std::string_view directive,
                      const SourceLocation& where);

}  // namespace texloom::schedule
