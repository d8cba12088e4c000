// Tensor intrinsics.

#include <pybind11/stl.h>

#include "declared_buffer.h"
#include "handles.h"
#include "schedule/buffer_statement.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

// What te.decl_tensor_intrin returns holds this.
struct PyIntrinsic {
  schedule::Intrinsic node;
};

// Views lie nowhere: what a declaration says of its scope is of no account.
class Views {
 public:
  std::vector<schedule::TensorView> of(const std::vector<PyBuffer>& buffers) {
    std::vector<schedule::TensorView> views;
    for (const PyBuffer& b : buffers) {
      const BufferNode& n = *b.node;
      const Buffer& view =
          views_.emplace(&n, make_buffer(n.name, n.type, n.shape, MemoryScope::Global, n.location))
              .first->second;
      views.push_back({view, b.strides, b.offset});
    }
    return views;
  }

  // The statement over views.
  Stmt statement(const py::object& given) const {
    if (given.is_none()) return {};
    const auto place = [&](const Buffer& b, const Exprs& indices) -> schedule::ElementPlace {
      const auto found = views_.find(b.get());
      return {found == views_.end() ? b : found->second, indices};
    };
    return schedule::with_places(given.cast<const PyStmt&>().node, place);
  }

 private:
  std::unordered_map<const BufferNode*, Buffer> views_;  // by the buffer that was declared
};

PyIntrinsic make_intrinsic(const std::string& name, const PyOperation& op,
                           const std::vector<PyBuffer>& inputs,
                           const std::vector<PyBuffer>& outputs, const PyStmt& body,
                           const py::object& reset, const py::object& update) {
  Views views;
  std::vector<schedule::TensorView> reads = views.of(inputs), writes = views.of(outputs);
  return {schedule::make_tensor_intrinsic(
      name, op.node, std::move(reads), std::move(writes),
      {views.statement(py::cast(body)), views.statement(reset), views.statement(update)},
      user_location())};
}

}  // namespace

void bind_intrinsics(py::module_& m) {
  const auto statement = [](Stmt schedule::IntrinsicStatements::* which) {
    return [which](const PyIntrinsic& i) -> py::object {
      const Stmt& s = i.node->statements.*which;
      return s ? py::cast(PyStmt{s}) : py::none();
    };
  };
  using Statements = schedule::IntrinsicStatements;
  py::class_<PyIntrinsic>(m, "TensorIntrin", "A computation, and statements that perform it.")
      .def(py::init(&make_intrinsic))
      .def("__eq__",
           [](const PyIntrinsic& a, const py::object& b) {
             return py::isinstance<PyIntrinsic>(b) &&
                    a.node.same_as(b.cast<const PyIntrinsic&>().node);
           })
      .def("__hash__", [](const PyIntrinsic& i) { return RefHash()(i.node); })
      .def("__repr__", [](const PyIntrinsic& i) { return "intrinsic " + i.node->name; })
      .def_property_readonly("body", statement(&Statements::body))
      .def_property_readonly("reduce_init", statement(&Statements::reset))
      .def_property_readonly("reduce_update", statement(&Statements::update))
      .def_property_readonly("name", [](const PyIntrinsic& i) { return i.node->name; })
      .def_property_readonly("op",
                             [](const PyIntrinsic& i) { return PyOperation{i.node->computation}; });
  py::reinterpret_borrow<py::class_<PyStage>>(m.attr("Stage"))
      .def("_tensorize",
           [](const PyStage& s, const PyIterVar& axis, const PyIntrinsic& intrinsic) {
             s.schedule->tensorize(s.id, axis.node, intrinsic.node, user_location());
           })
      .def("_intrinsic_of", [](const PyStage& s, const PyIterVar& axis) -> py::object {
        const schedule::AxisAttributes* attributes = s.get().attributes_of(axis.node);
        if (attributes == nullptr || !attributes->intrinsic) return py::none();
        return py::cast(PyIntrinsic{attributes->intrinsic});
      });
}

}  // namespace texloom::python
