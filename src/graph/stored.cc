#include "graph/stored.h"

#include <utility>

#include "ir/layout/layout_fold.h"
#include "ir/layout/layout_pattern.h"
#include "support/diagnostic.h"

namespace texloom::graph {

using namespace ir;  // the whole file works on layouts

bool Stored::is_by_rule() const {
  if (scope.texture) return layout == texture_layout(layout.shape, *scope.texture);
  return is_open || layout == linear_layout(layout.shape);
}

std::string to_string(const Stored& stored) {
  const std::string scope = ir::to_string(stored.scope);
  return stored.is_by_rule() ? scope : scope + " " + ir::to_string(stored.layout);
}

std::optional<int64_t> bytes_of(const Stored& stored, Type type) {
  if (stored.is_open) return std::nullopt;
  const Layout& layout = stored.layout;
  return layout.row_count() * layout.col_count() * layout.lane_count() * type.bytes();
}

Stored in_buffer(const Shape& shape) {
  const auto numbers = numbers_of(shape);
  if (numbers) return {{}, linear_layout(*numbers)};
  return {.scope = {}, .layout = {}, .is_open = true};
}

Stored stored_as(const schedule::Storage& storage, const Shape& extents, Type type,
                 const Target& target, const std::string& name, const SourceLocation& where) {
  const bool is_open = !numbers_of(extents);
  if (is_open && !storage.scope.texture) {
    if (storage.layout)
      fail(where, Code::BadLayout, "leave the layout out, or give its extents as numbers",
           "'{}' is a buffer with a layout, but its size depends on the call", name);
    return in_buffer(extents);
  }
  ir::Shape shape;
  for (const Size& extent : extents) shape.push_back(extent.constant().value_or(kToTheEnd));
  Stored stored{.scope = storage.scope, .layout = {}, .is_open = is_open};
  if (storage.layout) {
    stored.layout = layout_for(*storage.layout, shape);
    if (const auto problem = find_problem(stored.layout, storage.layout->names))
      fail(where, Code::BadLayout, problem->help, "the layout of '{}' does not fit: {}", name,
           problem->text);
  } else if (storage.scope.texture) {
    stored.layout = texture_layout(shape, *storage.scope.texture);
  } else {
    stored.layout = linear_layout(shape);
  }
  if (!stored.is_texture()) return stored;
  if (!is_texel_type(type))
    fail(where, Code::TextureElementType, "keep it in a buffer",
         "'{}' is {}, but no texture format has such elements", name, ir::to_string(type));
  if (is_open) return stored;
  if (const auto folded = best_fold(stored.layout, target.images())) {
    stored.layout = *folded;
    return stored;
  }
  fail(where, Code::TextureTooLarge, "keep the tensor in a buffer, or split it",
       "'{}' needs {} x {} texels, and no fold fits the target's limit of {} x {}", name,
       stored.layout.col_count(), stored.layout.row_count(), target.images().max_width,
       target.images().max_width);
}

Stored stored_argument(const lower::Lowering& program, std::size_t argument,
                       const SourceLocation& where) {
  const lower::Argument& given = program.arguments[argument];
  schedule::Storage storage;
  if (const auto id = program.schedule.find(schedule::operation_of(given.tensor))) {
    const schedule::Stage& stage = program.schedule.stage(*id);
    if (stage.transform)
      fail(where, Code::BadLayout, "give it a layout= instead",
           "transform_layout cannot reshape '{}': it is an argument of a graph's node",
           stage.name());
    storage = {stage.scope.value_or(StorageScope{}), stage.layout};
  }
  if (given.declaration) storage = {given.declaration->scope, given.declaration->layout};
  Shape shape;
  for (const Expr& extent : given.tensor->shape) {
    const int64_t* number = int_value(extent);
    shape.push_back(number != nullptr ? Size(*number) : Size::symbol(0));  // not a number
  }
  return stored_as(storage, shape, given.tensor->type, program.target, given.tensor->name, where);
}

}  // namespace texloom::graph
