#include "core/graph/tasks.h"

#include <pybind11/stl.h>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/compile/program.h"
#include "core/graph/computation.h"
#include "core/handles.h"
#include "graph/schedule_operators.h"
#include "graph/task.h"

namespace texloom::python {
namespace {

graph::Alternative make_alternative(std::string name, const PyProgram& program,
                                    std::optional<double> cost, std::optional<double> fold_share,
                                    bool may_fail) {
  graph::Alternative made;
  made.name = std::move(name);
  made.program = program.state;
  made.cost = cost;
  if (fold_share) made.fold_share = *fold_share;
  made.may_fail = may_fail;
  return made;
}

std::vector<std::string> operands_of(const graph::Task& task) {
  std::vector<std::string> words;
  for (const graph::OperandStorage each : task.operands) words.emplace_back(to_string(each));
  return words;
}

// Calls `scheduler`; errors of Texloom get a note that names the node.
std::vector<graph::Alternative> scheduled(const py::function& scheduler, const graph::Task& task,
                                          const graph::Node& node) {
  try {
    return scheduler(task).cast<std::vector<graph::Alternative>>();
  } catch (py::error_already_set& error) {
    const py::module_ errors = py::module_::import("texloom.errors");
    if (error.matches(errors.attr("TVMError")))
      errors.attr("with_note")(error.value(), fmt::format("in the node '{}'", node.name));
    throw;
  }
}

std::map<std::string, std::size_t> schedule_operators(graph::Graph& g,
                                                      const py::function& scheduler, bool textures,
                                                      const std::set<std::string>& open_outputs,
                                                      const py::object& progress) {
  return graph::schedule_operators(
      g, {textures, open_outputs},
      [&](const graph::Task& task, const graph::Node& node) {
        return scheduled(scheduler, task, node);
      },
      [&](std::size_t done, std::size_t all) {
        if (!progress.is_none()) progress("kernels are scheduled", done, all);
      });
}

}  // namespace

void bind_tasks(py::module_& m, py::class_<graph::Graph>& graphs) {
  py::class_<graph::Alternative>(m, "_Alternative")
      .def(py::init(&make_alternative), py::arg("name"), py::arg("program"),
           py::arg("cost") = py::none(), py::arg("fold_share") = py::none(),
           py::arg("may_fail") = false)
      .def_readonly("name", &graph::Alternative::name)
      .def_property_readonly("program",
                             [](const graph::Alternative& own) { return PyProgram{own.program}; });
  py::class_<graph::Task>(m, "_Task")
      .def_static("parse", [](const std::string& text) { return graph::parse_task(text, "task"); })
      .def_property_readonly(
          "computation", [](const graph::Task& task) { return PyComputation{task.computation}; })
      .def_property_readonly("operands", &operands_of)
      .def_readonly("textures", &graph::Task::textures)
      .def_readonly("target", &graph::Task::target)
      .def_property_readonly("identity", &graph::identity)
      .def("__str__", [](const graph::Task& task) { return to_string(task); });
  graphs.def("schedule_operators", &schedule_operators, py::arg("scheduler"),
             py::arg("textures") = false, py::arg("open_outputs") = std::set<std::string>(),
             py::arg("progress") = py::none());
}

}  // namespace texloom::python
