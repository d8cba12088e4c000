#include "schedule/operation/compact_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/arith/simplify.h"
#include "ir/layout/strides.h"
#include "ir/program.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The strides of a row-major array: int32 if they contain symbols (ir/program.h), else int64, since
// constants may be large.
Exprs compact_strides(const Exprs& shape) {
  const bool constant = std::all_of(shape.begin(), shape.end(),
                                    [](const Expr& e) { return int_value(e) != nullptr; });
  const Type type = constant ? kInt64 : kInt32;
  Exprs strides(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    strides[i] = arith::simplify(row_major_stride(shape, i, make_int(1, type),
                                                  [type](const Expr& stride, const Expr& extent) {
                                                    return stride * make_cast(type, extent);
                                                  }));
  }
  return strides;
}

// Without the type, which only matters for the arithmetic here.
std::string text_of(const Expr& e) {
  const int64_t* value = int_value(e);
  return value != nullptr ? std::to_string(*value) : to_string(e);
}

}  // namespace

// An expression of symbols must equal the value; a new variable gets the value.
bool CompactViews::make_equal(const Expr& stated, const Expr& value) {
  if (!stated->type.is_integer() || !stated->type.is_scalar()) return false;
  const bool is_symbol = std::any_of(symbols_.begin(), symbols_.end(),
                                     [&](const Expr& s) { return s.same_as(stated); });
  if (as<Var>(stated) != nullptr && !is_symbol) {
    const auto [known, added] = values_.try_emplace(stated, make_cast(stated->type, value));
    return added || arith::prove_equal(make_cast(value->type, known->second), value, {});
  }
  return arith::prove_equal(make_cast(value->type, stated), value, {});
}

std::optional<std::string> CompactViews::add(const Exprs& shape, const Exprs& strides,
                                             const Expr& offset) {
  if (!strides.empty() && strides.size() != shape.size()) {
    return fmt::format("has {} axes and {} strides", shape.size(), strides.size());
  }
  const Exprs compact = compact_strides(shape);
  for (size_t i = 0; i < strides.size(); ++i) {
    if (make_equal(strides[i], compact[i])) continue;
    return fmt::format("has the stride {} along axis {}, but arrays are compact and have {}",
                       text_of(strides[i]), i, text_of(compact[i]));
  }
  if (!offset || make_equal(offset, make_int(0))) return std::nullopt;
  return fmt::format("begins at element {}, but arrays begin at 0", text_of(offset));
}

}  // namespace texloom::schedule
