// lower and build, and what they return before it runs.

#include "lower/lowering.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <span>

#include "codegen/opencl/legalize.h"
#include "compiled.h"
#include "declared_buffer.h"
#include "lower/pipeline.h"
#include "lower/symbols.h"
#include "lower/text.h"
#include "released_lock.h"
#include "schedule/compact_view.h"

namespace texloom::python {

using namespace ir;  // the whole file speaks of IR nodes

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
  const Shape cut = layout.empty() ? Shape() : schedule::constant_shape(d.shape, name, where);
  schedule::Storage storage = schedule::parse_storage(scope, layout, cut, where);
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
         "the buffer '{}' has the offset_factor {}", name, offset_factor);
  }
  buffer.offset_factor = std::max<int64_t>(offset_factor, 1);  // 0 is te's word for any place
  buffer.names_scope = !scope.empty() || !layout.empty();
  return buffer;
}

PyProgram keep(lower::Lowering lowering) {
  return {std::make_shared<const lower::Lowering>(std::move(lowering))};
}

PyProgram keep_lowered(lower::Lowering lowering) {
  lowering.schedule = {};
  lowering.arguments.clear();
  return keep(std::move(lowering));
}

// A variable that is passed by value.
lower::SymbolArgument symbol_argument(const py::handle& value, size_t position,
                                      const SourceLocation& where) {
  const Expr symbol = py::isinstance<PyExpr>(value) ? value.cast<const PyExpr&>().node : Expr();
  if (!symbol || as<Var>(symbol) == nullptr) {
    fail(where, Code::BadDirectiveArgument,
         "give tensors of the schedule, and variables that it uses",
         "argument {} is neither a tensor nor a variable, but {}", position,
         py::repr(value).cast<std::string>());
  }
  if (symbol->type.is_scalar()) return {symbol, position, symbol->type};
  fail(where, Code::BadArguments, "make it a variable of a scalar dtype, or pass a tensor",
       "the argument '{}' is passed by value, but is {}", as<Var>(symbol)->name,
       to_string(symbol->type));
}

// Strides and offsets of arguments: nothing else uses their variables.
void check_compact(const std::vector<PyBuffer>& buffers, Exprs symbols,
                   const SourceLocation& where) {
  schedule::CompactViews views(std::move(symbols));
  for (const PyBuffer& b : buffers) {
    const auto& d = b.declaration;
    auto problem = views.add(d.shape, b.strides, b.offset);
    if (!problem && b.is_view() && (d.scope.texture || d.layout)) {
      problem = "has strides or an offset, but lies in a texture or by a layout";
    }
    if (!problem) continue;
    fail(d.location.known() ? d.location : where, Code::BadBinding,
         "leave strides and elem_offset out, or give variables of their own; by layout= the "
         "elements of an array lie in another order",
         "the buffer '{}' of an argument {}", b.node->name, *problem);
  }
}

// What lower() and build() are given: arguments, buffers of `binds`, target text.
PyProgram make_program(const SharedSchedule& schedule, const py::list& args, const py::dict& binds,
                       const std::string& name, const std::string& target) {
  lower::Lowering lowering;
  lowering.schedule = *schedule;
  lowering.location = user_location();
  lowering.target = parse_target(target, lowering.location);
  lowering.program.name = name;
  lowering.program.stage = ProgramStage::Te;
  std::vector<PyBuffer> views;
  py::dict unused(binds.attr("copy")());
  for (size_t i = 0; i < args.size(); ++i) {
    const py::object key = args[i];
    if (!py::isinstance<PyTensor>(key)) {
      lowering.symbol_arguments.push_back(symbol_argument(key, i, lowering.location));
      continue;
    }
    lower::Argument argument{key.cast<const PyTensor&>().node, {}};
    if (unused.contains(key)) {
      const py::object bound = unused.attr("pop")(key);
      views.push_back(bound.cast<const PyBuffer&>());
      argument.declaration = views.back().declaration;
    }
    lowering.arguments.push_back(std::move(argument));
  }
  for (const auto& [tensor, buffer] : unused) {
    fail(lowering.location, Code::BadBinding, "bind tensors that are among the arguments",
         "binds has a buffer for {}, which is no argument", py::repr(tensor).cast<std::string>());
  }
  check_compact(views, lower::symbols_of(lowering), lowering.location);
  return keep(std::move(lowering));
}

// The schedule for another target, a program of stage te; None where there is none to go back to.
py::object for_target(const PyProgram& program, const std::string& target) {
  const bool is_schedule = program.state->program.stage == ProgramStage::Te;
  const auto& scheduled = is_schedule ? program.state : program.scheduled;
  if (!scheduled) return py::none();
  lower::Lowering lowering = *scheduled;
  lowering.target = parse_target(target, user_location());
  return py::cast(keep(std::move(lowering)));
}

// A copy, to be lowered.
lower::Lowering schedule_in(const PyProgram& program) {
  lower::Lowering lowering = *program.state;
  if (lowering.program.stage != ProgramStage::Te) {
    fail(user_location(), Code::BadArguments, "lower a schedule, or the program that was parsed",
         "the program '{}' is at stage {}, and only one of stage te is lowered",
         lowering.program.name, to_string(lowering.program.stage));
  }
  lowering.verify_each = std::getenv("TEXLOOM_DEBUG") != nullptr;
  return lowering;
}

using RunPasses = lower::Lowering (*)(lower::Lowering, lower::PassObserver);

// Without Python's lock, so that other threads run; Ctrl-C is heard between two passes.
lower::Lowering run_unlocked(RunPasses run, lower::Lowering lowering,
                             lower::PassObserver observer) {
  const ReleasedLock unlocked;
  return run(std::move(lowering), [&](const lower::Pass& pass, const lower::Lowering& state) {
    observer(pass, state);
    const py::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  });
}

lower::Lowering run_unlocked(RunPasses run, lower::Lowering lowering) {
  lower::Lowering result =
      run_unlocked(run, std::move(lowering), [](const lower::Pass&, const lower::Lowering&) {});
  for (const Diagnostic& warning : result.warnings) warn(warning);
  return result;
}

std::vector<std::pair<std::string, std::string>> lower_texts(const PyProgram& program) {
  std::vector<std::pair<std::string, std::string>> texts;
  run_unlocked(lower::lower_as_far_as_bound, schedule_in(program),
               [&](const lower::Pass& pass, const lower::Lowering& state) {
                 texts.emplace_back(std::string(pass.name), lower::to_string(state));
               });
  return texts;
}

// As build_loops makes it.
PyStmt loop_nest(const PyProgram& program) {
  const RunPasses run = [](lower::Lowering lowering, lower::PassObserver observer) {
    const std::span<const lower::Pass> all = lower::pipeline();
    const auto last = std::find_if(all.begin(), all.end(), [](const lower::Pass& pass) {
      return pass.out == ProgramStage::Loops;
    });
    const auto count = static_cast<size_t>(last - all.begin()) + 1;
    return lower::run_passes(all.first(count), std::move(lowering), observer);
  };
  return {run_unlocked(run, schedule_in(program), [](const auto&, const auto&) {}).program.body};
}

}  // namespace

lower::Lowering with_kernels(const PyProgram& program, bool checked) {
  // Tests of indices cannot be put into loops of flat storage any more.
  if (program.state->program.stage == ProgramStage::Flattened && !checked) {
    return run_unlocked(lower::make_kernels, *program.state);
  }
  lower::Lowering scheduled = schedule_in(program);
  scheduled.target.checked |= checked;
  return run_unlocked(lower::lower, std::move(scheduled));
}

void bind_lowering(py::module_& m) {
  m.def("decl_buffer", declare_buffer);

  py::class_<PyProgram>(m, "Program", "A program, as program, lower and parse return it.")
      .def("__str__", [](const PyProgram& p) { return lower::to_string(*p.state); })
      .def(
          "text",
          [](const PyProgram& p, bool locations) {
            return lower::to_string(*p.state, {.locations = locations});
          },
          py::arg("locations") = false,
          "The text form; with the lines that statements came from, if asked.")
      .def_property_readonly("_target",
                             [](const PyProgram& p) { return to_string(p.state->target); })
      .def("_for_target", for_target)
      .def_property_readonly("name", [](const PyProgram& p) { return p.state->program.name; })
      .def_property_readonly(
          "stage", [](const PyProgram& p) { return to_string(p.state->program.stage); },
          "How far it is lowered: \"te\" is a schedule, \"kernels\" what build takes; "
          "\"flattened\" "
          "are loops of which some are bound to no thread.");
  m.def("program", make_program);
  m.def("lower", [](const PyProgram& p) {
    PyProgram lowered = keep_lowered(run_unlocked(lower::lower_as_far_as_bound, schedule_in(p)));
    lowered.scheduled = p.state;
    return lowered;
  });
  m.def("lower_to_kernels", [](const PyProgram& p) { return keep_lowered(with_kernels(p)); });
  m.def("lower_texts", lower_texts);
  m.def("loop_nest", loop_nest);
  m.def("parse", [](const std::string& text, const std::string& file) {
    return keep(lower::parse_lowering(text, file));
  });
  m.def("passes", [] {
    py::list rows;
    for (const lower::Pass& pass : lower::pipeline()) {
      rows.append(py::make_tuple(pass.name, to_string(pass.in), to_string(pass.out), pass.summary));
    }
    return rows;
  });
  m.def("legalize_steps", [] {
    py::list rows;
    for (const codegen::opencl::Step& step : codegen::opencl::legalize_steps()) {
      rows.append(py::make_tuple(step.name, step.summary));
    }
    return rows;
  });
  m.def("check_target",
        [](const std::string& text) { return to_string(parse_target(text, user_location())); });
  m.def("target_devices", [] {
    std::vector<std::string> devices;
    for (const std::string& preset : target_presets()) {
      if (const Target t = parse_target(preset, {}); !t.device.empty()) devices.push_back(t.device);
    }
    return devices;
  });
  m.def("target_attributes", [](const std::string& text) {
    const Target t = parse_target(text, user_location());
    py::dict attributes;
    attributes["device"] = t.device;
    for (const auto& [name, value] : numeric_attributes(t)) {
      attributes[py::str(name.data(), name.size())] = value;
    }
    for (const auto& [name, is_on] : flag_attributes(t)) {
      attributes[py::str(name.data(), name.size())] = is_on;
    }
    return attributes;
  });
}

}  // namespace texloom::python
