// Expressions, axes and the te functions on them.

#include <pybind11/stl.h>

#include <optional>

#include "core/handles.h"
#include "ir/program.h"
#include "schedule/operation/operators.h"
#include "support/diagnostic.h"
#include "support/function_ref.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes

namespace {

PyExpr apply(BinaryOp op, const py::handle& a, const py::handle& b) {
  return {schedule::apply(op, to_expr(a), to_expr(b), user_location())};
}

// The Python truth value of an expression: a constant is true unless it is 0; == and != compare
// identity. Other expressions have no truth value.
bool truth(const PyExpr& e) {
  if (const int64_t* value = int_value(e.node)) return *value != 0;
  if (const auto* n = as<Binary>(e.node)) {
    if (n->op == BinaryOp::Eq) return n->a.same_as(n->b);
    if (n->op == BinaryOp::Ne) return !n->a.same_as(n->b);
  }
  fail(user_location(), Code::NoTruthValue,
       "use te.all, te.any or te.if_then_else instead of and, or, not, if and chained comparisons, "
       "and te.max or te.min instead of max or min",
       "an expression has no truth value: {}", to_string(e.node));
}

py::object not_implemented() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

// Arithmetic with a whole tensor is left to the tensor's operators.
template <class Class>
void bind_arithmetic(Class& c) {
  const auto both = [&c](const char* name, const char* reflected, BinaryOp op) {
    c.def(name, [op](const py::object& a, const py::object& b) {
      return py::isinstance<PyTensor>(b) ? not_implemented() : py::cast(apply(op, a, b));
    });
    c.def(reflected, [op](const py::object& a, const py::object& b) { return apply(op, b, a); });
  };
  both("__add__", "__radd__", BinaryOp::Add);
  both("__sub__", "__rsub__", BinaryOp::Sub);
  both("__mul__", "__rmul__", BinaryOp::Mul);
  both("__truediv__", "__rtruediv__", BinaryOp::Div);
  both("__floordiv__", "__rfloordiv__", BinaryOp::FloorDiv);
  both("__mod__", "__rmod__", BinaryOp::FloorMod);
  both("__lshift__", "__rlshift__", BinaryOp::Shl);
  both("__rshift__", "__rrshift__", BinaryOp::Shr);
  both("__and__", "__rand__", BinaryOp::BitAnd);
  both("__or__", "__ror__", BinaryOp::BitOr);
  both("__xor__", "__rxor__", BinaryOp::BitXor);
  c.def("__neg__", [](const py::object& value) {
    return PyExpr{schedule::negate(to_expr(value), user_location())};
  });
  c.def("__invert__", [](const py::object& value) {
    return PyExpr{schedule::invert(to_expr(value), user_location())};
  });
  c.def(
      "astype",
      [](const py::object& a, const py::object& dtype) {
        const Expr value = to_expr(a);  // a vector is converted lane by lane
        return PyExpr{make_cast(to_type(dtype).with_lanes(value->type.lanes), value)};
      },
      py::arg("dtype"),
      "Return the value, converted to a dtype. A float becomes an integer by dropping its "
      "fraction, which is undefined for NaN and for values outside the integer's range.");
}

template <class Class>
void bind_order(Class& c) {
  const auto compare = [&c](const char* name, BinaryOp op) {
    c.def(name, [op](const py::object& a, const py::object& b) { return apply(op, a, b); });
  };
  compare("__lt__", BinaryOp::Lt);
  compare("__le__", BinaryOp::Le);
  compare("__gt__", BinaryOp::Gt);
  compare("__ge__", BinaryOp::Ge);
}

template <class Class>
void bind_operators(Class& c) {
  bind_arithmetic(c);
  bind_order(c);
  // A comparison with an object that is not an expression compares identity, as usual in Python.
  const auto equality = [&c](const char* name, BinaryOp op) {
    c.def(name, [op](const py::object& a, const py::object& b) {
      return is_expr(b) ? py::cast(apply(op, a, b)) : not_implemented();
    });
  };
  equality("__eq__", BinaryOp::Eq);
  equality("__ne__", BinaryOp::Ne);
  c.def("__bool__", [](const py::object& value) { return truth({to_expr(value)}); })
      .def(
          "equal",
          [](const py::object& a, const py::object& b) { return apply(BinaryOp::Eq, a, b); },
          py::arg("other"), "Return the comparison ``a == b``, always as an expression.");
}

[[noreturn]] void refuse_number(const PyExpr& e) {
  fail(user_location(), Code::BadArgument,
       "compute with operators and with te's functions, such as te.exp(x) for math.exp(x)",
       "expected a number, but the expression {} is not a constant", to_string(e.node));
}

void bind_expr(py::module_& m) {
  py::class_<PyExpr> c(
      m, "Expr",
      R"(An expression: a value that a kernel computes, of a dtype that is known when it is written.

Python's arithmetic, comparisons and operators on bits make new expressions; functions of ``te`` and
``tir`` do so too. The classes of ``tir``, such as ``tir.Add``, tell kinds of expressions apart by
``isinstance``; an attribute that a kind lacks raises an AttributeError. ``int(e)`` and ``float(e)``
convert constants. An expression has no truth value (TL1010): combine conditions by ``te.all`` and
``te.any``.
)");
  bind_operators(c);
  c.def("__hash__", [](const PyExpr& e) { return RefHash()(e.node); })
      .def("__int__",
           [](const PyExpr& e) {
             const int64_t* value = int_value(e.node);
             if (value == nullptr) refuse_number(e);
             return *value;
           })
      .def_property_readonly("_integer",
                             [](const PyExpr& e) -> std::optional<int64_t> {
                               const int64_t* value = int_value(e.node);
                               return value == nullptr ? std::nullopt : std::optional(*value);
                             })
      .def("__float__",
           [](const PyExpr& e) {
             if (const auto* value = as<FloatImm>(e.node)) return value->value;
             const int64_t* value = int_value(e.node);
             if (value == nullptr) refuse_number(e);
             return static_cast<double>(*value);
           })
      .def("__repr__", [](const PyExpr& e) { return to_string(e.node); })
      .def(
          "same_as",
          [](const PyExpr& a, const py::object& b) {
            if (!py::isinstance<PyExpr>(b)) return false;
            const auto& other = b.cast<const PyExpr&>();
            return a.node.same_as(other.node) && a.output == other.output;
          },
          py::arg("other"),
          "Whether both are the same object: variables of equal names may differ.")
      .def_property_readonly(
          "dtype",
          [](const PyExpr& e) {
            const auto* reduce = as<Reduce>(e.node);
            return to_string(reduce == nullptr ? e.node->type : reduce->sources[e.output]->type);
          },
          "The type of the value, such as ``\"float32\"``.");
}

void bind_iter_var(py::module_& m) {
  py::class_<PyIterVar> c(m, "IterVar",
                          R"(An axis of an operation, a loop of a stage, or a thread axis.

In arithmetic and as an index it stands for its variable. Axes are compared by ``same_as``, because
``==`` makes an expression. The constants ``DataPar`` to ``Tensorized`` are values of ``iter_type``,
here and in ``Stage.iter_var_attrs``.
)");
  bind_operators(c);
  c.def("__hash__", [](const PyIterVar& a) { return RefHash()(a.node); })
      .def("__repr__", [](const PyIterVar& a) { return "axis " + a.node->name(); })
      .def(
          "same_as",
          [](const PyIterVar& a, const py::object& b) {
            return py::isinstance<PyIterVar>(b) && a.node.same_as(b.cast<const PyIterVar&>().node);
          },
          py::arg("other"), "Whether both are the same axis.")
      .def_property_readonly(
          "var", [](const PyIterVar& a) { return PyExpr{a.node->var}; },
          "The index, a variable of int32.")
      .def_property_readonly(
          "dtype", [](const PyIterVar& a) { return to_string(a.node->var->type); },
          "The type of the index: ``\"int32\"``.")
      .def_property_readonly(
          "iter_type",
          [](const PyIterVar& a) {
            const IterKind kind = a.node->kind;
            if (kind == IterKind::Ordered) return 3;
            return kind == IterKind::Data ? 0 : kind == IterKind::Thread ? 1 : 2;
          },
          "The kind of axis: ``IterVar.DataPar``, ``ThreadIndex``, ``CommReduce`` (of a reduction) "
          "or ``Ordered`` (of the steps of a scan).")
      .def_property_readonly("_min",
                             [](const PyIterVar& a) -> py::object {
                               return a.node->min ? py::cast(PyExpr{a.node->min}) : py::none();
                             })
      .def_property_readonly(
          "name", [](const PyIterVar& a) { return a.node->name(); },
          "The name of the index; of a thread axis, its tag.")
      .def_property_readonly(
          "is_reduction", [](const PyIterVar& a) { return a.node->kind == IterKind::Reduction; },
          "Whether it is an axis of a reduction.")
      .def_property_readonly(
          "thread_tag",
          [](const PyIterVar& a) {
            const bool thread =
                a.node->kind == IterKind::Thread || a.node->kind == IterKind::VirtualThread;
            return thread ? a.node->name() : std::string();
          },
          "The tag of a thread axis, such as ``threadIdx.x``; empty for others.")
      .def_property_readonly(
          "extent",
          [](const PyIterVar& a) -> py::object {
            return a.node->extent ? py::cast(PyExpr{a.node->extent}) : py::none();
          },
          "The number of its indices; None while it is unknown.");
}

std::string slice_text(const PyTensorSlice& s) {
  std::string text;
  for (const Expr& e : s.indices) text += (text.empty() ? "" : ", ") + to_string(e);
  return fmt::format("{}[{}]", s.tensor->name, text);
}

// As operands, a tensor without axes and a slice with all its indices are elements. Other tensors
// and slices are refused, with the number of their axes. te/tensor.py adds arithmetic of tensors.
void bind_tensor_operands(py::module_& m) {
  py::class_<PyTensor> tensor(m, "Tensor", R"(A tensor: one output of an operation.

``T[i, j]`` is an element, as an expression. Arithmetic of whole tensors makes tensors: shapes
broadcast as NumPy's do. A tensor without axes is an expression itself. Two tensors are equal if
they are the same output of one operation, and can be keys of dicts.
)");
  bind_order(tensor);
  py::class_<PyTensorSlice> slice(m, "TensorSlice", "A tensor indexed by only its first indices.");
  bind_operators(slice);
  slice.def("__hash__", [](const py::object& s) { return std::hash<const void*>()(s.ptr()); })
      .def(
          "same_as", [](const py::object& a, const py::object& b) { return a.is(b); },
          py::arg("other"), "Whether both are the same object.")
      .def("__repr__", [](const PyTensorSlice& s) { return slice_text(s); })
      .def_property_readonly(
          "tensor", [](const PyTensorSlice& s) { return PyTensor{s.tensor}; },
          "The tensor that is indexed.")
      .def_property_readonly(
          "indices", [](const PyTensorSlice& s) { return wrap(s.indices); }, "The indices so far.")
      .def_property_readonly(
          "dtype", [](const PyTensorSlice& s) { return to_string(s.tensor->type); },
          "The type of an element.");
}

// An end of an axis' range: the first index, or one past the last index.
Expr end_of_range(const py::handle& given, const std::string& axis, const SourceLocation& where) {
  Expr end = to_expr(given);
  if (end->type.is_integer()) return end;
  fail(where, Code::BadShape, "give the range by integers, as in (0, n)",
       "the range of the axis '{}' has the end {}, which is not an integer", axis, to_string(end));
}

PyIterVar reduce_axis(const py::handle& begin, const py::handle& end, const std::string& name) {
  const SourceLocation where = user_location();
  const Expr first = end_of_range(begin, name, where), last = end_of_range(end, name, where);
  const Expr extent = schedule::apply(BinaryOp::Sub, last, first, where);
  const int64_t* value = int_value(extent);
  if (value != nullptr && *value < 1) {
    fail(where, Code::BadShape, "give a range with end > begin", "the reduction axis '{}' is empty",
         name);
  }
  return {make_iter_var(make_var(name, kInt32, where), make_cast(kInt32, first),
                        make_cast(kInt32, extent), IterKind::Reduction, where)};
}

IterVar thread_axis_of(const std::string& tag, const SourceLocation& where) {
  if (tag == "vthread" || tag.starts_with("vthread.")) return make_virtual_thread_axis(tag, where);
  const auto parsed = parse_thread_tag(tag);
  if (!parsed) {
    fail(where, Code::BadThreadAxis,
         "use blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z or vthread",
         "unknown thread tag '{}'", tag);
  }
  return make_thread_axis(*parsed, where);
}

// Only scripts read the domain of a thread axis: bind uses the domain of the bound axis.
PyIterVar thread_axis(const std::string& tag, const py::object& begin, const py::object& end) {
  const IterVar axis = thread_axis_of(tag, user_location());
  if (begin.is_none()) return {axis};
  auto* node = new IterVarNode;
  IterVar result(node);
  node->var = axis->var;
  node->location = axis->location;
  node->min = make_cast(kInt32, end_of_range(begin, tag, node->location));
  const Expr last = end_of_range(end, tag, node->location);
  node->extent = make_cast(kInt32, schedule::apply(BinaryOp::Sub, last, node->min, node->location));
  node->kind = axis->kind;
  node->tag = axis->tag;
  return {result};
}

// A constant with the same value in each lane of the type; `make` creates it for the element's
// type. Constants with several lanes are for statements.
PyExpr in_each_lane(const py::handle& dtype, FunctionRef<Expr(Type)> make) {
  const Type type = to_vector_type(dtype);
  const Expr element = make(type.element());
  return {type.is_scalar() ? element : make_broadcast(element, type.lanes)};
}

Expr integer_constant(const py::int_& value, Type type) {
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return schedule::constant(number, type, user_location());
  if (type == Type::u(64) && value >= py::int_(0) && value <= py::int_(UINT64_MAX)) {
    return make_int(static_cast<int64_t>(value.cast<uint64_t>()), type);
  }
  return schedule::constant(value.cast<double>(), type, user_location());
}

void bind_functions_of_te(py::module_& m) {
  m.def("var", [](const std::string& name, const py::object& dtype) {
    const SourceLocation where = user_location();
    if (parse_thread_tag(name)) {
      fail(where, Code::BadThreadAxis, fmt::format("use te.thread_axis(\"{}\").var", name),
           "the variable '{}' has the name of a thread index", name);
    }
    return PyExpr{make_var(name, to_type(dtype), where)};
  });
  m.def("const", [](double value, const py::object& dtype) {
    return in_each_lane(
        dtype, [&](Type type) { return schedule::constant(value, type, user_location()); });
  });
  m.def("const_int", [](const py::int_& value, const py::object& dtype) {
    return in_each_lane(dtype, [&](Type type) { return integer_constant(value, type); });
  });
  m.def("to_expr", [](const py::object& value) { return PyExpr{to_expr(value)}; });
  m.def("reduce_axis", reduce_axis);
  m.def("thread_axis", thread_axis, py::arg("tag"), py::arg("begin") = py::none(),
        py::arg("end") = py::none());
  m.def("data_axis", [](const std::string& name, const py::object& extent) {
    const SourceLocation where = user_location();
    return PyIterVar{make_iter_var(make_var(name, kInt32, where), make_int(0),
                                   make_cast(kInt32, to_expr(extent)), IterKind::Data, where)};
  });
  m.def("call", [](const std::string& name, const py::args& args) {
    return PyExpr{schedule::call(name, to_exprs(args), user_location())};
  });
  m.def("intrinsics", [] {
    py::dict arities;
#define TL_INTRINSIC(Name, te_name, arity) arities[te_name] = arity;
#include "ir/intrinsics.def"
#undef TL_INTRINSIC
    return arities;
  });
  m.def("fma", [](const py::object& a, const py::object& b, const py::object& c) {
    return PyExpr{schedule::fma(to_expr(a), to_expr(b), to_expr(c), user_location())};
  });
  m.def(
      "dtype_name", [](const py::object& dtype) { return to_string(to_type(dtype)); },
      "The name of a dtype; NumPy dtypes are accepted.");
  m.def("popcount", [](const py::object& value) {
    return PyExpr{schedule::popcount(to_expr(value), user_location())};
  });
  m.def("leading_zeros", [](const py::object& value) {
    return PyExpr{schedule::leading_zeros(to_expr(value), user_location())};
  });
  m.def("if_then_else", [](const py::object& c, const py::object& t, const py::object& f) {
    return PyExpr{schedule::select(to_expr(c), to_expr(t), to_expr(f), user_location())};
  });
  m.def("logical_not", [](const py::object& value) {
    return PyExpr{schedule::logical_not(to_expr(value), user_location())};
  });
  m.def("truncdiv", [](const py::object& a, const py::object& b) {
    return PyExpr{schedule::truncating_div(to_expr(a), to_expr(b), user_location())};
  });
  const auto binary = [&m](const char* name, BinaryOp op) {
    m.def(name, [op](const py::object& a, const py::object& b) { return apply(op, a, b); });
  };
  binary("truncmod", BinaryOp::Mod);
  binary("min", BinaryOp::Min);
  binary("max", BinaryOp::Max);
  binary("logical_and", BinaryOp::And);
  binary("logical_or", BinaryOp::Or);
}

}  // namespace

void bind_expressions(py::module_& m) {
  bind_expr(m);
  bind_iter_var(m);
  bind_tensor_operands(m);
  bind_functions_of_te(m);
}

}  // namespace texloom::python
