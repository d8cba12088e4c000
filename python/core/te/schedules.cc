// Binds schedules and their stages. Directives return the same values as TVM's.

#include <pybind11/stl.h>

#include <set>

#include "core/handles.h"
#include "core/te/directive_docs.h"
#include "ir/program.h"
#include "schedule/attach.h"
#include "schedule/ignored_annotation.h"
#include "schedule/regrouped_reduction.h"
#include "schedule/text/print.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes
using schedule::Schedule;

namespace {

schedule::Op operation_in(const py::handle& value) {
  if (py::isinstance<PyOperation>(value)) return value.cast<const PyOperation&>().node;
  if (py::isinstance<PyTensor>(value)) {
    return schedule::operation_of(value.cast<const PyTensor&>().node);
  }
  fail(user_location(), Code::BadArgument, "pass a tensor that te.compute returned, or its .op",
       "expected a tensor or an operation, not {}", kind_text(value));
}

// Converts a tensor or an operation, or a list of either.
std::vector<schedule::Op> operations_in(const py::handle& value) {
  std::vector<schedule::Op> ops;
  if (!py::isinstance<py::list>(value) && !py::isinstance<py::tuple>(value)) {
    ops.push_back(operation_in(value));
    return ops;
  }
  for (const py::handle& each : value) ops.push_back(operation_in(each));
  return ops;
}

PyStage stage_of(const SharedSchedule& s, const py::handle& key) {
  const schedule::Op op = operation_in(key);
  const auto id = s->find(op);
  if (!id) {
    fail(user_location(), Code::NotInSchedule,
         "create the schedule from an output that reads the tensor",
         "'{}' is not part of this schedule", op->name);
  }
  return {s, *id};
}

// An argument of a split: an integer, positive or negative, from Python or a constant expression.
std::optional<int64_t> constant(const PyStage& s, const PyIterVar& axis, const py::handle& value) {
  if (value.is_none()) return std::nullopt;
  const Expr e = to_expr(value);
  const int64_t* number = int_value(e);
  if (number == nullptr || !e->type.is_integer()) {
    fail(user_location(), Code::BadSplitFactor,
         "give a number: the number of iterations of a loop is part of the kernel, so each factor "
         "to try needs a separate schedule",
         "cannot split '{}' of '{}' by {}: it is not an integer constant", axis.node->name(),
         s.get().name(), to_string(e));
  }
  return *number;
}

std::vector<IterVar> axes_of(const py::args& args) {
  std::vector<IterVar> axes;
  for (const py::handle& each : args) {
    if (py::isinstance<py::list>(each) || py::isinstance<py::tuple>(each)) {
      for (const py::handle& axis : each) axes.push_back(axis.cast<const PyIterVar&>().node);
    } else {
      axes.push_back(each.cast<const PyIterVar&>().node);
    }
  }
  return axes;
}

void show(const std::vector<Diagnostic>& warnings) {
  for (const Diagnostic& warning : warnings) warn(warning);
}

void annotate(const PyStage& s, const PyIterVar& axis, LoopKind kind) {
  const SourceLocation where = user_location();
  const auto warning = ignored_annotation(s.get(), axis.node, directive_for(kind), where);
  s.schedule->annotate(s.id, axis.node, kind, where);
  if (warning) warn(*warning);
}

py::tuple tile(const PyStage& s, const PyIterVar& x, const PyIterVar& y, const py::object& fx,
               const py::object& fy) {
  const SourceLocation where = user_location();
  // Works on a copy, so that a refused directive changes nothing.
  Schedule tiled = *s.schedule;
  const auto a = tiled.split(s.id, x.node, constant(s, x, fx), {}, where);
  const auto b = tiled.split(s.id, y.node, constant(s, y, fy), {}, where);
  tiled.reorder(s.id, {a.outer, b.outer, a.inner, b.inner}, where);
  const auto dropped = dropped_annotations(s.get(), {x.node, y.node}, "split", where);
  *s.schedule = std::move(tiled);
  show(dropped);
  return py::make_tuple(PyIterVar{a.outer}, PyIterVar{b.outer}, PyIterVar{a.inner},
                        PyIterVar{b.inner});
}

void bind_loop_directives(py::class_<PyStage>& c) {
  c.def(
      "split",
      [](const PyStage& s, const PyIterVar& parent, const py::object& factor,
         const py::object& nparts, bool exact) {
        const SourceLocation where = user_location();
        const auto dropped = dropped_annotations(s.get(), {parent.node}, "split", where);
        const auto parts = s.schedule->split(s.id, parent.node, constant(s, parent, factor),
                                             constant(s, parent, nparts), where, exact);
        show(dropped);
        return py::make_tuple(PyIterVar{parts.outer}, PyIterVar{parts.inner});
      },
      py::arg("parent"), py::arg("factor") = py::none(), py::arg("nparts") = py::none(),
      py::kw_only(), py::arg("exact") = false, docs::kSplit);
  c.def("tile", tile, py::arg("x_parent"), py::arg("y_parent"), py::arg("x_factor"),
        py::arg("y_factor"), docs::kTile);
  c.def(
      "fuse",
      [](const PyStage& s, const py::args& axes) {
        const SourceLocation where = user_location();
        const std::vector<IterVar> parts = axes_of(axes);
        std::vector<Diagnostic> dropped;
        if (parts.size() > 1) dropped = dropped_annotations(s.get(), parts, "fused", where);
        const IterVar fused = s.schedule->fuse(s.id, parts, where);
        show(dropped);
        return PyIterVar{fused};
      },
      docs::kFuse);
  c.def(
      "reorder",
      [](const PyStage& s, const py::args& axes) {
        s.schedule->reorder(s.id, axes_of(axes), user_location());
      },
      docs::kReorder);
  c.def(
      "bind",
      [](const PyStage& s, const PyIterVar& axis, const PyIterVar& thread) {
        const SourceLocation where = user_location();
        std::optional<Diagnostic> regrouped;
        if (axis.node->kind == IterKind::Reduction) {
          regrouped = regrouped_reduction(s.get(), "bound to " + thread.node->name(), where);
        }
        const auto warning = s.schedule->bind(s.id, axis.node, thread.node, where);
        if (warning) warn(*warning);
        if (regrouped) warn(*regrouped);
      },
      py::arg("ivar"), py::arg("thread_ivar"), docs::kBind);
  const auto annotation = [&c](LoopKind kind, const char* doc) {
    const std::string name(directive_for(kind));
    c.def(
        name.c_str(), [kind](const PyStage& s, const PyIterVar& axis) { annotate(s, axis, kind); },
        py::arg("var"), doc);
  };
  annotation(LoopKind::Vectorized, docs::kVectorize);
  annotation(LoopKind::Unrolled, docs::kUnroll);
  annotation(LoopKind::Parallel, docs::kParallel);
  c.def(
      "pragma",
      [](const PyStage& s, const PyIterVar& axis, const std::string& key, const py::object& value) {
        for (const LoopKind kind : {LoopKind::Unrolled, LoopKind::Vectorized}) {
          if (key == directive_for(kind)) return annotate(s, axis, kind);
        }
        std::string text;
        if (py::isinstance<py::bool_>(value) && key != "auto_unroll_max_step") {
          text = value.cast<bool>() ? "1" : "0";
        } else if (!value.is_none()) {
          text = py::str(value).cast<std::string>();
        }
        s.schedule->pragma(s.id, axis.node, key, text, user_location());
      },
      py::arg("var"), py::arg("pragma_type"), py::arg("pragma_value") = py::none(), docs::kPragma);
}

void bind_stage_directives(py::class_<PyStage>& c) {
  c.def(
      "compute_at",
      [](const PyStage& s, const PyStage& parent, const PyIterVar& scope) {
        if (s.schedule != parent.schedule) {
          fail(user_location(), Code::NotInSchedule, "use stages of one schedule",
               "'{}' cannot be computed at a loop of '{}', a stage of another schedule",
               s.get().name(), parent.get().name());
        }
        s.schedule->compute_at(s.id, parent.id, scope.node, user_location());
      },
      py::arg("parent"), py::arg("scope"), docs::kComputeAt);
  c.def(
      "pipeline",
      [](const PyStage& s, int64_t stages, bool asynchronous) {
        s.schedule->pipeline(s.id, stages, asynchronous, user_location());
      },
      py::arg("stages") = 2, py::arg("asynchronous") = false, docs::kPipeline);
  c.def(
      "compute_inline", [](const PyStage& s) { s.schedule->compute_inline(s.id, user_location()); },
      docs::kComputeInline);
  c.def(
      "compute_root", [](const PyStage& s) { s.schedule->compute_root(s.id, user_location()); },
      docs::kComputeRoot);
  c.def(
      "set_scope",
      [](const PyStage& s, const std::string& scope, const std::string& layout) {
        s.schedule->set_scope(s.id, scope, user_location(), layout);
      },
      py::arg("scope"), py::kw_only(), py::arg("layout") = "", docs::kSetScope);
  c.def(
      "storage_align",
      [](const PyStage& s, const PyIterVar& axis, int64_t factor, int64_t offset) {
        s.schedule->storage_align(s.id, axis.node, factor, offset, user_location());
      },
      py::arg("axis"), py::arg("factor"), py::arg("offset"), docs::kStorageAlign);
  c.def(
      "double_buffer", [](const PyStage& s) { s.schedule->double_buffer(s.id, user_location()); },
      docs::kDoubleBuffer);
  c.def(
      "set_store_predicate",
      [](const PyStage& s, const py::object& predicate) {
        s.schedule->set_store_predicate(s.id, to_expr(predicate), user_location());
      },
      py::arg("predicate"), docs::kStorePredicate);
  c.def_property_readonly("_layout_rank", [](const PyStage& s) {
    const schedule::Stage& stage = s.get();
    return stage.transform ? stage.transform->map.axes.size() : stage.op->shape.size();
  });
  c.def("_transform_layout", [](const PyStage& s, const py::object& axes, const py::object& indices,
                                const std::vector<size_t>& separators) {
    return wrap(s.schedule->transform_layout(s.id, to_exprs(axes), to_exprs(indices), separators,
                                             user_location()));
  });
}

// The memory scope of a stage; empty if it cannot be inferred yet, because the stage is attached to
// a loop that does not exist. Lowering reports the missing loop if no later directive moves the
// stage.
std::string scope_text(const PyStage& s) {
  try {
    return to_string(schedule::scope_of(*s.schedule, s.id));
  } catch (const UserError&) {
    return {};
  }
}

void bind_stage(py::module_& m) {
  py::class_<PyStage> c(m, "Stage",
                        R"(How one operation is computed: its loops, its place and its memory.

Obtained from a schedule: ``s[T]``. Directives never change values. A mistake in a directive's own
arguments is reported at once, and a mistake that only the whole schedule shows by ``lower``, at the
directive's line. A wrong kind or number of arguments is TL2040 or TL2043, also a TypeError.
)");
  bind_loop_directives(c);
  bind_stage_directives(c);
  c.def("__repr__", [](const PyStage& s) { return fmt::format("stage({})", s.get().name()); })
      .def("__eq__",
           [](const PyStage& a, const py::object& b) {
             if (!py::isinstance<PyStage>(b)) return false;
             const auto& other = b.cast<const PyStage&>();
             return a.schedule == other.schedule && a.id == other.id;
           })
      .def("__hash__",
           [](const PyStage& s) {
             return std::hash<const void*>()(s.schedule.get()) + static_cast<size_t>(s.id);
           })
      .def_property_readonly(
          "op", [](const PyStage& s) { return PyOperation{s.get().op}; },
          "The operation as the stage computes it now: caches and ``rfactor`` change it.")
      .def_property_readonly(
          "origin_op", [](const PyStage& s) { return PyOperation{s.get().origin}; },
          "The operation that the stage was created for.")
      .def_property_readonly(
          "is_output", [](const PyStage& s) { return s.get().is_output; },
          "Whether the schedule was created for it.")
      .def_property_readonly(
          "leaf_iter_vars", [](const PyStage& s) { return wrap(s.get().leaves); },
          "The loops, outermost first.")
      .def_property_readonly("scope", &scope_text,
                             "The memory scope of the result, set or inferred; empty while the "
                             "stage is attached to a loop that does not exist.");
}

// Creates the caches of all outputs of one operation, in the order of the tensors.
py::list cache_outputs(Schedule& s, const std::vector<PyTensor>& tensors, const std::string& scope,
                       const std::string& layout) {
  const SourceLocation where = user_location();
  std::set<int> outputs;
  bool of_one_operation = !tensors.empty();
  for (const PyTensor& t : tensors) {
    of_one_operation &= t.node->producer.same_as(tensors.front().node->producer);
    outputs.insert(t.node->output);
  }
  if (!of_one_operation) {
    fail(where, Code::BadCacheWrite, "call cache_write once for each operation",
         "cannot apply cache_write to {} tensors: they are not the outputs of one operation",
         tensors.size());
  }
  const schedule::Op op = schedule::operation_of(tensors.front().node);
  if (outputs.size() != op->types.size() || outputs.size() != tensors.size()) {
    fail(where, Code::BadCacheWrite,
         "name each of its outputs once, in a list: s.cache_write([A, B], scope)",
         "cannot apply cache_write to {} of the {} outputs of '{}': they are computed together",
         tensors.size(), op->types.size(), op->name);
  }
  const Tensor first = s.cache_write(tensors.front().node, scope, where, layout);
  const schedule::Op cache = schedule::operation_of(first);
  py::list caches;
  for (const PyTensor& t : tensors) {
    caches.append(PyTensor{schedule::output_of(cache, static_cast<size_t>(t.node->output))});
  }
  return caches;
}

py::object cache_write(Schedule& s, const py::object& tensor, const std::string& scope,
                       const std::string& layout) {
  if (py::isinstance<py::list>(tensor) || py::isinstance<py::tuple>(tensor))
    return cache_outputs(s, tensor.cast<std::vector<PyTensor>>(), scope, layout);
  return cache_outputs(s, {tensor.cast<PyTensor>()}, scope, layout)[0];
}

PyTensor cache_read(Schedule& s, const PyTensor& tensor, const std::string& scope,
                    const py::object& readers, const std::string& layout) {
  return {s.cache_read(tensor.node, scope, operations_in(readers), user_location(), layout)};
}

py::object rfactor(Schedule& s, const PyTensor& tensor, const PyIterVar& axis, int factor_axis) {
  const SourceLocation where = user_location();
  std::optional<Diagnostic> regrouped;
  if (const auto id = s.find(schedule::operation_of(tensor.node))) {
    regrouped = regrouped_reduction(s.stage(*id), "split by rfactor", where);
  }
  py::list partial;
  for (const Tensor& t : s.rfactor(tensor.node, axis.node, factor_axis, where))
    partial.append(PyTensor{t});
  if (regrouped) warn(*regrouped);
  return partial.size() == 1 ? py::object(partial[0]) : py::object(partial);
}

std::vector<IterVar> nodes_of(const std::vector<PyIterVar>& axes) {
  std::vector<IterVar> nodes;
  for (const PyIterVar& axis : axes) nodes.push_back(axis.node);
  return nodes;
}

py::tuple matrices(Schedule& s, const PyTensor& tensor, const std::vector<PyIterVar>& rows,
                   const std::vector<PyIterVar>& columns, const std::vector<PyIterVar>& steps,
                   std::array<int64_t, 3> multiples, std::vector<int64_t> row_extents,
                   std::optional<bool> left_transposed, std::optional<bool> right_transposed) {
  const auto made = s.matrices(tensor.node,
                               {nodes_of(rows),
                                nodes_of(columns),
                                nodes_of(steps),
                                std::move(row_extents),
                                multiples,
                                {left_transposed, right_transposed}},
                               user_location());
  return py::make_tuple(PyTensor{made.left}, PyTensor{made.right}, PyTensor{made.product});
}

std::vector<PyStage> stages_of(const SharedSchedule& s) {
  std::vector<PyStage> stages;
  for (const int id : s->order()) stages.push_back({s, id});
  return stages;
}

std::vector<PyOperation> outputs_of(const SharedSchedule& s) {
  std::vector<PyOperation> ops;
  for (const int id : s->order()) {
    if (s->stage(id).is_output) ops.push_back({s->stage(id).origin});
  }
  return ops;
}

SharedSchedule create_schedule(const py::object& ops) {
  const std::vector<schedule::Op> outputs = operations_in(ops);
  if (outputs.empty()) {
    fail(user_location(), Code::EmptySchedule, "pass the operations whose results you need",
         "create_schedule was given no outputs");
  }
  return std::make_shared<Schedule>(Schedule::create(outputs));
}

}  // namespace

void bind_schedules(py::module_& m) {
  bind_stage(m);
  py::class_<Schedule, SharedSchedule>(
      m, "Schedule", py::dynamic_attr(),
      R"(How a set of outputs, and everything that they read, is computed.

Made by ``te.create_schedule``. It has a stage for each operation, ``s[T]`` or ``s[T.op]``; an
original tensor finds its stage also after caches replaced its operation. ``str(s)`` is its text.
)")
      .def("__getitem__", &stage_of,
           "The stage of a tensor or of an operation; TL2007 if the schedule has none.")
      .def("__str__", [](const Schedule& s) { return schedule::to_string(s); })
      .def_property_readonly("stages", &stages_of, "All stages, each after those that it reads.")
      .def_property_readonly(
          "outputs", &outputs_of,
          "The operations that the schedule was created from, whatever caches changed since.")
      .def("cache_read", &cache_read, py::arg("tensor"), py::arg("scope"), py::arg("readers"),
           py::kw_only(), py::arg("layout") = "", docs::kCacheRead)
      .def("cache_write", &cache_write, py::arg("tensor"), py::arg("scope"), py::kw_only(),
           py::arg("layout") = "", docs::kCacheWrite)
      .def("rfactor", &rfactor, py::arg("tensor"), py::arg("axis"), py::arg("factor_axis") = 0,
           docs::kRfactor)
      .def("matrices", &matrices, py::arg("tensor"), py::arg("rows"), py::arg("columns"),
           py::arg("steps"), py::arg("multiples") = std::array<int64_t, 3>{1, 1, 1}, py::kw_only(),
           py::arg("row_extents") = std::vector<int64_t>(), py::arg("left_transposed") = py::none(),
           py::arg("right_transposed") = py::none(), docs::kMatrices);
  m.def("create_schedule", &create_schedule);
}

}  // namespace texloom::python
