// Binds buffers and statements for tir.ir_builder, and externs whose bodies are statements.

#include <pybind11/stl.h>

#include <optional>

#include "core/handles.h"
#include "core/ir/declared_buffer.h"
#include "ir/arith/linear.h"
#include "ir/arith/simplify.h"
#include "ir/program.h"
#include "schedule/operation/buffer_statement.h"
#include "schedule/operation/compact_view.h"
#include "schedule/operation/extern_operation.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes

namespace {

Exprs to_indices(const BufferNode& buffer, const py::object& given) {
  const bool several = py::isinstance<py::tuple>(given) || py::isinstance<py::list>(given);
  Exprs indices = several ? to_exprs(given) : Exprs{to_expr(given)};
  if (indices.size() != buffer.rank()) {
    fail(user_location(), Code::BadIndexCount, "give one index for each axis of its shape",
         "the buffer '{}' has {} {}, but is accessed with {} {}", buffer.name, buffer.rank(),
         buffer.rank() == 1 ? "axis" : "axes", indices.size(),
         indices.size() == 1 ? "index" : "indices");
  }
  for (Expr& index : indices) {
    if (!index->type.is_integer()) {
      fail(user_location(), Code::BadOperandType, "cast the index to int32 with .astype(\"int32\")",
           "an index of the buffer '{}' has type {}, not an integer type", buffer.name,
           to_string(index->type));
    }
    const bool is_index = index->type.element() == kInt32 || index->type.element() == kInt64;
    if (!is_index) index = make_cast(kInt32.with_lanes(index->type.lanes), index);
  }
  return indices;
}

// Turns the last index into a vector of the indices of `lanes` consecutive elements.
void widen(Exprs& indices, int lanes, const BufferNode& buffer) {
  if (lanes == 1) return;
  if (indices.empty() || !indices.back()->type.is_scalar()) {
    fail(user_location(), Code::BadOperandType, "give the index of the vector's first element",
         "a vector of the buffer '{}' with {} elements needs a scalar as its last index",
         buffer.name, lanes);
  }
  indices.back() =
      make_ramp(indices.back(), make_int(1, indices.back()->type), lanes, user_location());
}

PyExpr load(const Buffer& buffer, const py::object& begin, const py::object& dtype) {
  Exprs indices = to_indices(*buffer, begin);
  const Type type = dtype.is_none() ? buffer->type : to_vector_type(dtype);
  if (type.element() != buffer->type) {
    fail(user_location(), Code::BadOperandType, "load its elements, and convert them with .astype",
         "the buffer '{}' holds {} and is loaded as {}", buffer->name, to_string(buffer->type),
         to_string(type));
  }
  widen(indices, type.lanes, *buffer);
  return {make_load(buffer, std::move(indices), user_location())};
}

// Stores a value. A Python number is converted to the buffer's type; a value of another type is
// refused.
PyStmt store(const Buffer& buffer, const py::object& begin, const py::object& given) {
  Exprs indices = to_indices(*buffer, begin);
  Expr value = to_expr(given);
  const bool number = py::isinstance<py::int_>(given) || py::isinstance<py::float_>(given);
  if (number) value = make_cast(buffer->type, value);
  if (value->type.element() != buffer->type) {
    fail(user_location(), Code::BadOperandType,
         fmt::format("convert the value with .astype(\"{}\")", to_string(buffer->type)),
         "a value of type {} is stored to the buffer '{}', which holds {}", to_string(value->type),
         buffer->name, to_string(buffer->type));
  }
  widen(indices, value->type.lanes, *buffer);
  return {make_store(buffer, std::move(indices), std::move(value), user_location())};
}

Expr to_condition(const py::object& given) {
  Expr condition = to_expr(given);
  if (condition->type == kBool) return condition;
  fail(user_location(), Code::BadOperandType, "write a comparison",
       "a condition has type {}, not bool", to_string(condition->type));
}

Expr to_extent(const Expr& var, const py::object& given) {
  Expr extent = to_expr(given);
  if (extent->type.is_integer() && extent->type.is_scalar()) {
    return make_cast(var->type, arith::simplify(extent));
  }
  fail(user_location(), Code::BadOperandType, "give whole numbers for the ends of the loop",
       "the extent of the loop '{}' has type {}, not an integer type", as<Var>(var)->name,
       to_string(extent->type));
}

LoopKind loop_kind(const std::string& kind) {
  for (const LoopKind known : {LoopKind::Unrolled, LoopKind::Vectorized}) {
    if (kind == directive_for(known)) return known;
  }
  return LoopKind::Serial;
}

// The line of a call whose effect extends to the end of the enclosing block.
struct PyLocation {
  SourceLocation value;
};

PyStmt thread_loop(const PyIterVar& axis, const py::object& given, const PyStmt& body,
                   const PyLocation& where) {
  const Expr& var = axis.node->var;
  const Expr extent = to_extent(var, given);
  if (axis.node->kind == IterKind::VirtualThread) {
    return {make_for(var, extent, LoopKind::Virtual, body.node, where.value)};
  }
  if (axis.node->kind != IterKind::Thread) {
    fail(where.value, Code::BadThreadAxis, "make it by te.thread_axis(\"threadIdx.x\")",
         "'{}' is not a thread axis", axis.node->name());
  }
  return {make_thread_for(var, extent, axis.node->tag, body.node, where.value)};
}

// Substitutes values for the variables that buffers have as strides and offsets.
Stmt with_compact_arrays(const std::string& name,
                         const std::vector<const std::vector<PyBuffer>*>& buffers,
                         const Stmt& statement) {
  Exprs symbols;
  for (const auto* list : buffers) {
    for (const PyBuffer& b : *list) {
      for (const Expr& extent : b.declaration.shape) {
        walk(extent, [&](const Var& v) { symbols.emplace_back(&v); });
      }
    }
  }
  schedule::CompactViews views(std::move(symbols));
  for (const auto* list : buffers) {
    for (const PyBuffer& b : *list) {
      const auto problem = views.add(b.declaration.shape, b.strides, b.offset);
      if (!problem) continue;
      fail(user_location(), Code::BadExtern,
           "leave out strides and elem_offset, or use separate variables: te.var(\"stride\")",
           "extern '{}' has a buffer that is not a whole array: '{}' {}", name, b.node->name,
           *problem);
    }
  }
  return substitute(statement, views.values());
}

std::vector<PyTensor> external(const std::string& name, const std::string& tag,
                               const std::vector<PyTensor>& tensors,
                               const std::vector<PyBuffer>& reads,
                               const std::vector<PyBuffer>& writes, const PyStmt& statement,
                               const py::object& attributes) {
  if (tensors.size() != reads.size()) {
    fail(user_location(), Code::BadExtern, "give one buffer for each input",
         "extern '{}' has {} inputs and {} buffers for them", name, tensors.size(), reads.size());
  }
  std::vector<schedule::ExternInput> inputs;
  const Stmt over_arrays = with_compact_arrays(name, {&reads, &writes}, statement.node);
  for (size_t i = 0; i < reads.size(); ++i) inputs.push_back({tensors[i].node, reads[i].node});
  std::vector<Buffer> outputs;
  for (const PyBuffer& b : writes) outputs.push_back(b.node);
  const schedule::Op op =
      schedule::make_extern(name, tag, std::move(inputs), std::move(outputs), over_arrays,
                            user_location(), keep_attributes(attributes));
  std::vector<PyTensor> results;
  for (const Tensor& t : schedule::outputs_of(op)) results.push_back({t});
  return results;
}

void bind_buffer(py::module_& m) {
  py::class_<PyBuffer>(m, "Buffer",
                       R"(Memory of a declared shape and dtype, which statements access.

Made by ``tir.decl_buffer``, and passed to the functions of ``te.extern`` and
``te.decl_tensor_intrin``.
)")
      .def_property_readonly(
          "name", [](const PyBuffer& b) { return b.node->name; }, "The name used in kernels.")
      .def_property_readonly(
          "dtype", [](const PyBuffer& b) { return to_string(b.node->type); },
          "The type of an element.")
      .def_property_readonly(
          "shape",
          [](const PyBuffer& b) { return py::tuple(py::cast(wrap(schedule::shape_of(*b.node)))); },
          "The extents, as expressions.")
      .def_property_readonly(
          "strides", [](const PyBuffer& b) { return wrap(b.strides); },
          "The declared strides; empty if the elements are compact.")
      .def_property_readonly(
          "elem_offset",
          [](const PyBuffer& b) { return PyExpr{b.offset ? b.offset : make_int(0)}; },
          "The declared offset of the first element; by default zero, the start of the memory.")
      .def(
          "scope", [](const PyBuffer& b) { return to_string(b.declaration.scope); },
          "Return the memory scope, such as ``\"global\"``.")
      .def("__repr__", [](const PyBuffer& b) { return "buffer " + b.node->name; })
      .def(
          "vload",
          [](const PyBuffer& b, const py::object& begin, const py::object& dtype) {
            return load(b.node, begin, dtype);
          },
          py::arg("begin"), py::arg("dtype") = py::none(),
          R"(Return the element at these indices; for a vector type, it and the next ones.

Parameters
----------
begin : Expr or list of Expr
    An index for each axis.
dtype : str, optional
    The dtype of the buffer, or a vector of it such as ``"float32x4"``.

Raises
------
TVMError
    TL1002 for a wrong number of indices, TL1003 for another dtype.
)")
      .def(
          "vstore",
          [](const PyBuffer& b, const py::object& begin, const py::object& value) {
            return store(b.node, begin, value);
          },
          py::arg("begin"), py::arg("value"),
          R"(Return the statement that stores a value at these indices.

Parameters
----------
begin : Expr or list of Expr
    An index for each axis.
value : Expr or number
    The value; the lanes of a vector go to this element and the next ones.

Raises
------
TVMError
    TL1002 for a wrong number of indices, TL1003 for a value of another dtype.
)");
}

void bind_statements_of_builder(py::module_& m) {
  py::class_<PyLocation>(m, "Location", "A line of the user's program.")
      .def("__repr__", [](const PyLocation& l) { return fmt::format("line {}", l.value.line); });
  m.def("location", [] { return PyLocation{user_location()}; });
  m.def("allocated_buffer", [](const py::object& dtype, const py::object& shape,
                               const std::string& name, const std::string& scope) {
    const SourceLocation where = user_location();
    lower::BufferDeclaration d;
    d.name = name;
    d.type = to_type(dtype);
    d.shape = schedule::extents_of(to_exprs(shape), name, where);
    d.scope = schedule::parse_storage(scope, "", Shape(), where).scope;
    if (d.scope.texture) {
      fail(where, Code::BadExtern, "pass a tensor in a texture as an input instead",
           "a statement cannot allocate '{}' in a texture", name);
    }
    d.location = where;
    return PyBuffer{d};
  });
  m.def("make_for", [](const PyExpr& var, const py::object& extent, const std::string& kind,
                       const PyStmt& body) {
    return PyStmt{make_for(var.node, to_extent(var.node, extent), loop_kind(kind), body.node,
                           user_location())};
  });
  m.def("make_thread_for", thread_loop);
  m.def("make_if", [](const py::object& condition, const PyStmt& body) {
    return PyStmt{make_if(to_condition(condition), body.node, user_location())};
  });
  m.def("make_while", [](const py::object& condition, const PyStmt& body) {
    return PyStmt{make_while(to_condition(condition), body.node, user_location())};
  });
  m.def("make_let",
        [](const PyExpr& var, const PyExpr& value, const PyStmt& body, const PyLocation& where) {
          return PyStmt{make_let(var.node, value.node, body.node, where.value)};
        });
  m.def("make_allocate", [](const PyBuffer& buffer, const PyStmt& body) {
    return PyStmt{make_allocate(buffer.node, body.node, buffer.node->location)};
  });
  m.def("allocated_counters", [](const py::object& count, const std::string& name) {
    const SourceLocation where = user_location();
    const Exprs extents = schedule::extents_of(to_exprs(py::make_tuple(count)), name, where);
    lower::BufferDeclaration d;
    d.name = name;
    d.type = kInt32;
    d.shape = extents;
    d.location = where;
    PyBuffer counters{d};
    counters.node = make_counters(name, extents.front(), where);
    return counters;
  });
  m.def("make_last_block", [](const PyBuffer& counters, const py::object& group, int32_t count,
                              const PyStmt& body, const PyLocation& where) {
    const Buffer flag = make_buffer(counters.node->name + ".is_last", kInt32, {1},
                                    MemoryScope::Shared, where.value);
    const Stmt last = make_last_block(counters.node, to_expr(group), make_int(count), flag,
                                      body.node, where.value);
    return PyStmt{make_allocate(flag, last, where.value)};
  });
  m.def("make_barrier", [] { return PyStmt{make_barrier(user_location())}; });
  m.def("make_seq", [](const std::vector<PyStmt>& statements) {
    Stmts list;
    for (const PyStmt& s : statements) list.push_back(s.node);
    return PyStmt{make_seq(std::move(list))};
  });
  m.def(
      "reads_memory", [](const PyExpr& e) { return arith::reads_memory(e.node); },
      "Whether a store may change the value.");
}

}  // namespace

void bind_statements(py::module_& m) {
  py::class_<PyStmt>(m, "Stmt",
                     "A statement over buffers, as ``ib.get()`` and ``buffer.vstore()`` return it.")
      .def("__repr__", [](const PyStmt& s) { return to_string(s.node); });
  bind_buffer(m);
  bind_statements_of_builder(m);
  m.def("extern", external);
}

}  // namespace texloom::python
