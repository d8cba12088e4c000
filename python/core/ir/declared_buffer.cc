#include "core/ir/declared_buffer.h"

#include <algorithm>

#include "core/handles.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR types

namespace {

PyBuffer declare_buffer(const py::object& shape, const py::object& dtype, const std::string& name,
                        const std::string& scope, bool origin, bool exact_image,
                        const std::string& layout, const py::object& strides,
                        const py::object& offset, int64_t offset_factor) {
  const SourceLocation where = user_location();
  lower::BufferDeclaration d;
  d.name = name;
  d.type = to_type(dtype);
  d.shape = schedule::extents_of(to_exprs(shape), name, where);
  schedule::Storage storage = schedule::parse_storage(scope, layout, open_shape(d.shape), where);
  d.scope = storage.scope;
  d.layout = std::move(storage.layout);
  d.has_origin = origin;
  d.exact_image = exact_image;
  d.location = where;
  PyBuffer buffer(std::move(d));
  if (!strides.is_none()) buffer.strides = to_exprs(strides);
  if (!offset.is_none()) buffer.offset = to_expr(offset);
  if (offset_factor < 0) {
    fail(where, Code::BadBinding, "give a positive number, or leave it out",
         "{} has offset_factor {}; it must be positive",
         name.empty() ? "a buffer" : fmt::format("the buffer '{}'", name), offset_factor);
  }
  buffer.offset_factor = std::max<int64_t>(offset_factor, 1);  // in te, 0 allows any offset
  buffer.names_scope = !scope.empty() || !layout.empty();
  return buffer;
}

}  // namespace

void bind_declared_buffers(py::module_& m) { m.def("decl_buffer", declare_buffer); }

}  // namespace texloom::python
