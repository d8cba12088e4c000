// Binds the state of schedules for scripts: relations of axes, attributes of loops, the places
// where stages are computed, and the ranges that bound inference gives.

#include <pybind11/stl.h>

#include "core/handles.h"
#include "lower/pipeline.h"
#include "schedule/attach.h"
#include "schedule/bounds/axis_values.h"
#include "schedule/bounds/bounds.h"
#include "schedule/derived_axes.h"
#include "schedule/directives/auto_inline.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes
using schedule::AttachKind;
using schedule::Schedule;

namespace {

std::vector<IterVar> all_axes(const schedule::Stage& stage) {
  std::vector<IterVar> axes = stage.op->axes;
  if (stage.op->is_scan()) axes.push_back(stage.op->scan_axis);
  const auto add = [&](const std::vector<IterVar>& more) {
    axes.insert(axes.end(), more.begin(), more.end());
  };
  add(stage.op->reduce_axes);
  add(unit_axes(stage));
  for (const schedule::Relation& r : stage.relations) add(results_of(r));
  return axes;
}

// A list of ("split", parent, outer, inner, factor, nparts), ("fuse", outer, inner, fused) and
// ("unit", axis).
py::list relations(const schedule::Stage& stage) {
  py::list rows;
  for (const IterVar& axis : unit_axes(stage)) {
    rows.append(py::make_tuple("unit", PyIterVar{axis}));
  }
  const auto given = [](int64_t value) -> py::object {
    return value > 0 ? py::object(py::int_(value)) : py::none();
  };
  for (const schedule::Relation& r : stage.relations) {
    if (const auto* fuse = std::get_if<schedule::FuseRelation>(&r)) {
      rows.append(py::make_tuple("fuse", PyIterVar{fuse->outer}, PyIterVar{fuse->inner},
                                 PyIterVar{fuse->fused}));
    } else {
      const auto& split = std::get<schedule::SplitRelation>(r);
      rows.append(py::make_tuple("split", PyIterVar{split.parent}, PyIterVar{split.outer},
                                 PyIterVar{split.inner}, given(split.factor), given(split.nparts)));
    }
  }
  return rows;
}

// (axis, kind of its loop, thread axis or none, keys of its pragmas)
py::list loop_attributes(const schedule::Stage& stage) {
  py::list rows;
  for (const IterVar& axis : all_axes(stage)) {
    const schedule::AxisAttributes* attributes = stage.attributes_of(axis);
    std::vector<std::string> keys;
    for (const schedule::Pragma& p : stage.pragmas) {
      if (p.axis.same_as(axis)) keys.push_back(p.key);
    }
    if (attributes == nullptr && keys.empty()) continue;
    std::string loop = "serial";
    py::object thread = py::none();
    if (attributes != nullptr) {
      if (attributes->intrinsic) {
        loop = "tensorized";
      } else if (attributes->thread) {
        thread = py::cast(PyIterVar{attributes->thread});
      } else {
        loop = to_string(attributes->loop);
      }
    }
    rows.append(py::make_tuple(PyIterVar{axis}, loop, thread, keys));
  }
  return rows;
}

// The value of each loop variable, which counts from 0, as an expression of its axis' variable.
Substitution by_axis_variables(const schedule::Bounds& bounds) {
  Substitution values;
  for (const schedule::StageBounds& stage : bounds.stages) {
    for (const schedule::LeafLoop& loop : stage.loops) {
      const Expr& min = loop.axis->min;
      values.emplace(loop.var, min && !is_int(min, 0) ? loop.axis->var - min : loop.axis->var);
    }
  }
  return values;
}

// (axis, first value, extent) of every axis of every stage that is computed in loops.
py::list inferred_ranges(const Schedule& s) {
  lower::Lowering lowering;
  lowering.schedule = s;
  lower::prepare_schedule(lowering);
  const Schedule& prepared = lowering.schedule;
  const schedule::Bounds bounds = infer_bounds(prepared);
  const Substitution axis_variables = by_axis_variables(bounds);
  py::list rows;
  for (const schedule::StageId id : prepared.order()) {
    const schedule::Stage& stage = prepared.stage(id);
    const schedule::StageBounds& own = bounds.stages[static_cast<size_t>(id)];
    if (stage.op->is_scan()) {
      const IterVar& axis = stage.op->scan_axis;
      rows.append(py::make_tuple(PyIterVar{axis}, PyExpr{axis->min}, PyExpr{axis->extent}));
    }
    if (!stage.op->is_compute() || stage.attachment.kind == AttachKind::Inline) continue;
    schedule::AxisExtents extents;
    const auto add = [&](const IterVar& axis, const Expr& min, const Expr& extent) {
      extents[axis] = extent;
      rows.append(
          py::make_tuple(PyIterVar{axis}, PyExpr{substitute(min, axis_variables)}, PyExpr{extent}));
    };
    for (size_t i = 0; i < stage.op->axes.size(); ++i) {
      add(stage.op->axes[i], own.min[i], own.extent[i]);
    }
    for (const IterVar& axis : stage.op->reduce_axes) {
      add(axis, axis->min, axis->extent);
    }
    add_derived_extents(prepared, stage, extents);
    for (const schedule::Relation& r : stage.relations) {
      for (const IterVar& axis : results_of(r)) add(axis, make_int(0), extents.at(axis));
    }
    for (const IterVar& axis : unit_axes(stage)) add(axis, make_int(0), make_int(1));
  }
  return rows;
}

schedule::InlinePattern pattern_named(const std::string& name) {
  if (name == "elemwise") return schedule::InlinePattern::ElementWise;
  if (name == "broadcast") return schedule::InlinePattern::Broadcast;
  return schedule::InlinePattern::Injective;
}

}  // namespace

void bind_stage_state(py::module_& m) {
  py::reinterpret_borrow<py::class_<PyStage>>(m.attr("Stage"))
      .def_property_readonly("_schedule", [](const PyStage& s) { return s.schedule; })
      .def_property_readonly(
          "all_iter_vars", [](const PyStage& s) { return wrap(all_axes(s.get())); },
          "All axes: those of the operation and those that splits and fusions made.")
      .def_property_readonly("_relations", [](const PyStage& s) { return relations(s.get()); })
      .def_property_readonly("_loop_attributes",
                             [](const PyStage& s) { return loop_attributes(s.get()); })
      .def_property_readonly(
          "attach_type",
          [](const PyStage& s) {
            if (s.schedule->is_update(s.id)) return 5;
            switch (s.get().attachment.kind) {
              case AttachKind::Root:
                return 1;
              case AttachKind::Inline:
                return 2;
              case AttachKind::At:
                return 4;
            }
            return 1;
          },
          "1: at the root, 2: inline, 4: at a loop of another stage, 5: as the update of a scan.")
      .def_property_readonly("_scan",
                             [](const PyStage& s) -> py::object {
                               const schedule::StageId scan = s.get().scan;
                               if (scan < 0) return py::none();
                               return py::cast(PyStage{s.schedule, scan});
                             })
      .def_property_readonly(
          "attach_ivar",
          [](const PyStage& s) -> py::object {
            const schedule::Attachment& at = s.get().attachment;
            if (at.kind != AttachKind::At) return py::none();
            const IterVar axis = leaf_of(s.schedule->stage(at.stage), at.axis);
            return py::cast(PyIterVar{axis});
          },
          "The loop that the stage is computed at; None at the root.")
      .def_property_readonly(
          "attach_stage",
          [](const PyStage& s) -> py::object {
            const schedule::Attachment& at = s.get().attachment;
            if (at.kind != AttachKind::At) return py::none();
            return py::cast(PyStage{s.schedule, at.stage});
          },
          "The stage of that loop; None at the root.");
  m.def("inferred_ranges", inferred_ranges);
  m.def("copy_schedule", [](const Schedule& s) { return std::make_shared<Schedule>(s); });
  m.def("auto_inline", [](Schedule& s, const std::string& pattern) {
    auto_inline(s, pattern_named(pattern), user_location());
  });
}

}  // namespace texloom::python
