// Returns the class of an expression in `tir`, and the fields of that class.

#include <pybind11/stl.h>

#include <algorithm>
#include <functional>

#include "core/handles.h"
#include "ir/program.h"
#include "ir/visit.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes

namespace {

std::string class_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
      return "Add";
    case BinaryOp::Sub:
      return "Sub";
    case BinaryOp::Mul:
      return "Mul";
    case BinaryOp::Div:
      return "Div";
    case BinaryOp::Mod:
      return "Mod";
    case BinaryOp::FloorDiv:
      return "FloorDiv";
    case BinaryOp::FloorMod:
      return "FloorMod";
    case BinaryOp::Min:
      return "Min";
    case BinaryOp::Max:
      return "Max";
    case BinaryOp::Eq:
      return "EQ";
    case BinaryOp::Ne:
      return "NE";
    case BinaryOp::Lt:
      return "LT";
    case BinaryOp::Le:
      return "LE";
    case BinaryOp::Gt:
      return "GT";
    case BinaryOp::Ge:
      return "GE";
    case BinaryOp::And:
      return "And";
    case BinaryOp::Or:
      return "Or";
    case BinaryOp::Shl:
    case BinaryOp::Shr:
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
      return "Call";
  }
  TL_UNREACHABLE();
}

std::string class_of(const Expr& e) {
  return visit(
      e, [](const Binary& n) { return class_of(n.op); },
      [](const TensorRead&) { return std::string("ProducerLoad"); },
      [](const ForeignCall&) { return std::string("Call"); },
      [](const auto& n) {
        switch (n.kind) {
#define TL_STMT(Name, summary)
#define TL_EXPR(Name, summary) \
  case ExprKind::Name:         \
    return std::string(#Name);
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
        }
        TL_UNREACHABLE();
      });
}

py::object constant(const Expr& e) {
  if (const int64_t* value = int_value(e)) {
    const bool is_uint64 = e->type == Type::u(64);
    return is_uint64 ? py::int_(static_cast<uint64_t>(*value)) : py::int_(*value);
  }
  if (const auto* n = as<FloatImm>(e)) return py::float_(n->value);
  if (const auto* n = as<Cast>(e)) return py::cast(PyExpr{n->value});
  throw py::attribute_error("only a constant has a value; this is " + to_string(e));
}

// Returns the field, or raises an AttributeError that names the class.
template <class Node, class Field>
auto field(const char* name, Field get) {
  return [name, get](const PyExpr& e) {
    const auto* n = as<Node>(e.node);
    if (n == nullptr) {
      throw py::attribute_error(
          fmt::format("a node of class {} has no field {}", class_of(e.node), name));
    }
    return get(*n);
  };
}

void bind_operands(py::class_<PyExpr>& c) {
  c.def_property_readonly("_class", [](const PyExpr& e) { return class_of(e.node); })
      .def_property_readonly(
          "value", [](const PyExpr& e) { return constant(e.node); },
          "The value of a constant, as a Python number; of a Cast, what is converted.")
      .def_property_readonly("name", field<Var>("name", [](const Var& n) { return n.name; }),
                             "The name of a variable.")
      .def_property_readonly(
          "a",
          [](const PyExpr& e) {
            if (const auto* n = as<Not>(e.node)) return PyExpr{n->value};
            return field<Binary>("a", [](const Binary& n) { return PyExpr{n.a}; })(e);
          },
          "The first operand of an operator, or the operand of a Not.")
      .def_property_readonly("b", field<Binary>("b", [](const Binary& n) { return PyExpr{n.b}; }),
                             "The second operand of an operator.")
      .def_property_readonly(
          "args",
          [](const PyExpr& e) {
            const auto* n = as<Binary>(e.node);
            if (n != nullptr && class_of(n->op) == "Call") {
              return wrap(Exprs{n->a, n->b});
            }
            if (const auto* call = as<ForeignCall>(e.node)) return wrap(call->arguments);
            return field<Call>("args", [](const Call& call) { return wrap(call.arguments); })(e);
          },
          "The arguments of a Call.")
      .def_property_readonly("_function",
                             [](const PyExpr& e) {
                               if (const auto* call = as<ForeignCall>(e.node))
                                 return call->function;
                               return field<Call>("op", [](const Call& n) {
                                 return std::string(info(n.function).te_name);
                               })(e);
                             })
      .def_property_readonly(
          "true_value",
          field<Select>("true_value", [](const Select& n) { return PyExpr{n.if_true}; }),
          "What a Select gives if its condition holds.")
      .def_property_readonly(
          "false_value",
          field<Select>("false_value", [](const Select& n) { return PyExpr{n.if_false}; }),
          "What a Select gives if its condition does not hold.")
      .def_property_readonly(
          "condition",
          [](const PyExpr& e) {
            if (const auto* n = as<Reduce>(e.node)) {
              return PyExpr{n->condition ? n->condition : make_bool(true)};
            }
            return field<Select>("condition",
                                 [](const Select& n) { return PyExpr{n.condition}; })(e);
          },
          "The condition of a Select, or the ``where=`` of a Reduce.")
      .def_property_readonly(
          "producer",
          field<TensorRead>("producer", [](const TensorRead& n) { return PyTensor{n.tensor}; }),
          "The tensor of which a ProducerLoad reads an element.")
      .def_property_readonly(
          "indices",
          field<TensorRead>("indices", [](const TensorRead& n) { return wrap(n.indices); }),
          "The indices of a ProducerLoad.");
}

void bind_reduce(py::class_<PyExpr>& c) {
  c.def_property_readonly("axis",
                          field<Reduce>("axis", [](const Reduce& n) { return wrap(n.axes); }),
                          "The axes of a Reduce.")
      .def_property_readonly(
          "source", field<Reduce>("source", [](const Reduce& n) { return wrap(n.sources); }),
          "The expressions that a Reduce combines, one for each of its values.")
      .def_property_readonly("init",
                             field<Reduce>("init", [](const Reduce& n) { return wrap(n.init); }),
                             "The ``init=`` of a Reduce; empty without one.")
      .def_property_readonly("combiner",
                             field<Reduce>("combiner", [](const Reduce& n) { return n.reducer; }),
                             "How a Reduce combines two partial results.")
      .def_property_readonly(
          "value_index",
          [](const PyExpr& e) {
            field<Reduce>("value_index", [](const Reduce&) { return 0; })(e);
            return e.output;
          },
          "Which value of a Reduce of several values it is, from 0.");
}

}  // namespace

void bind_nodes(py::module_& m) {
  py::class_<Reducer>(m, "CommReducer", "How a reduction combines two partial results.")
      .def_property_readonly(
          "lhs", [](const Reducer& r) { return wrap(r.lhs); },
          "The variables that stand for the first partial result, one for each value.")
      .def_property_readonly(
          "rhs", [](const Reducer& r) { return wrap(r.rhs); },
          "The variables that stand for the second partial result.")
      .def_property_readonly(
          "result", [](const Reducer& r) { return wrap(r.results); },
          "The combination, an expression of `lhs` and `rhs` for each value.")
      .def_property_readonly(
          "identity_element", [](const Reducer& r) { return wrap(r.identities); },
          "The values that a reduction starts with.");
  auto c = py::reinterpret_borrow<py::class_<PyExpr>>(m.attr("Expr"));
  bind_operands(c);
  bind_reduce(c);
  m.def(
      "loads_of",
      [](const PyExpr& e) {
        Exprs loads;
        walk(e.node, [&](const TensorRead& n) { loads.emplace_back(&n); });
        return wrap(loads);
      },
      "The elements of tensors that an expression reads, also in indices.");
  m.def(
      "mentions",
      [](const PyExpr& e, const PyExpr& variable) {
        return any_of(e.node, [&](const Var& n) { return &n == variable.node.get(); });
      },
      "Whether a variable occurs in an expression.");
  m.def(
      "substituted",
      [](const PyExpr& e, const std::vector<PyExpr>& variables, const std::vector<PyExpr>& values) {
        if (variables.size() != values.size())
          throw py::value_error("each variable needs one value");
        Substitution given;
        for (std::size_t i = 0; i < variables.size(); ++i)
          given.emplace(variables[i].node, values[i].node);
        return PyExpr{substitute(e.node, given)};
      },
      "The expression with the variables replaced by values.");
  m.def("has_variables", [](const PyExpr& e) {
    bool found = false;
    walk(e.node, [&](const Var&) { found = true; });
    return found;
  });
}

}  // namespace texloom::python
