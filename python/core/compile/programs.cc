// Binds programs, and the functions lower and build.

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "codegen/backend.h"
#include "compile/te_program.h"
#include "core/compile/program.h"
#include "core/function/function.h"
#include "core/ir/declared_buffer.h"
#include "core/runtime/released_lock.h"
#include "ir/equal.h"
#include "lower/pipeline.h"
#include "lower/te_text.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes

namespace {

PyProgram keep(lower::Lowering lowering) {
  return {std::make_shared<const lower::Lowering>(std::move(lowering))};
}

PyProgram keep_lowered(lower::Lowering lowering) {
  lowering.schedule = {};
  lowering.arguments.clear();
  return keep(std::move(lowering));
}

compile::ProgramArgument argument_of(const py::handle& value, size_t position,
                                     const SourceLocation& where) {
  if (py::isinstance<PyTensor>(value)) return value.cast<const PyTensor&>().node;
  if (py::isinstance<PyExpr>(value)) {
    if (const Expr symbol = value.cast<const PyExpr&>().node; as<Var>(symbol) != nullptr) {
      return symbol;
    }
  }
  fail(where, Code::BadArgument, "give tensors of the schedule, and variables that it uses",
       "argument {} is neither a tensor nor a variable, but {}", position,
       py::repr(value).cast<std::string>());
}

PyProgram make_program(const schedule::Schedule& schedule, const py::list& args,
                       const py::dict& binds, const std::string& name, const ir::Target& target) {
  compile::TeProgramDesc desc;
  desc.schedule = schedule;
  desc.name = name;
  desc.location = user_location();
  desc.target = target;
  for (size_t i = 0; i < args.size(); ++i) {
    desc.arguments.push_back(argument_of(args[i], i, desc.location));
  }
  for (const auto& [tensor, buffer] : binds) {
    const auto& b = buffer.cast<const PyBuffer&>();
    desc.bindings.push_back(
        {tensor.cast<const PyTensor&>().node, {b.declaration, b.node->name, b.strides, b.offset}});
  }
  return keep(compile::te_program(std::move(desc)));
}

py::object for_target(const PyProgram& program, const ir::Target& target) {
  auto scheduled = compile::for_target(program, target);
  return scheduled ? py::cast(*std::move(scheduled)) : py::none();
}

// Lowers without the GIL, so that other threads can run.
template <class Lower>
lower::Lowering without_lock(const Lower& run) {
  const ReleasedLock unlocked;
  return run();
}

PyProgram lower_as_far_as_bound(const PyProgram& program) {
  lower::Lowering schedule = compile::schedule_of(program, compile_options());
  lower::Lowering lowering = without_lock([&] {
    return lower::lower_as_far_as_bound(
        std::move(schedule), [](const lower::Pass&, const lower::Lowering&) { hear_interrupt(); });
  });
  show_warnings(lowering.warnings);
  PyProgram lowered = keep_lowered(std::move(lowering));
  lowered.scheduled = program.state;
  return lowered;
}

PyProgram lower_to_kernels(const PyProgram& program) {
  const compile::CompileOptions options = compile_options();
  lower::Lowering lowering = without_lock(
      [&] { return compile::lower_to_kernels(program, options, [] { hear_interrupt(); }); });
  show_warnings(lowering.warnings);
  return keep_lowered(std::move(lowering));
}

std::vector<std::pair<std::string, std::string>> lower_texts(const PyProgram& program) {
  std::vector<std::pair<std::string, std::string>> texts;
  lower::Lowering schedule = compile::schedule_of(program, compile_options());
  without_lock([&] {
    return lower::lower_as_far_as_bound(
        std::move(schedule), [&](const lower::Pass& pass, const lower::Lowering& state) {
          texts.emplace_back(std::string(pass.name), lower::to_string(state));
          hear_interrupt();
        });
  });
  return texts;
}

// Returns the program's loops after the pass build_loops.
PyStmt loop_nest(const PyProgram& program) {
  const std::span<const lower::Pass> all = lower::pipeline();
  const auto last = std::find_if(all.begin(), all.end(), [](const lower::Pass& pass) {
    return pass.out == ProgramStage::Loops;
  });
  const auto count = static_cast<size_t>(last - all.begin()) + 1;
  lower::Lowering schedule = compile::schedule_of(program, compile_options());
  const lower::Lowering lowered = without_lock([&] {
    lower::run_passes(all.first(count), schedule,
                      [](const lower::Pass&, const lower::Lowering&) { hear_interrupt(); });
    return std::move(schedule);
  });
  return {lowered.program.body};
}

std::shared_ptr<PyFunction> build(const PyProgram& program, bool checked) {
  const compile::CompileOptions options = compile_options(checked);
  const auto function = [&] {
    const ReleasedLock unlocked;
    return std::make_shared<PyFunction>(
        compile::compile(program, options, [] { hear_interrupt(); }));
  }();
  show_warnings(function->module.warnings);
  return function;
}

// Schedules are compared by their texts.
bool equal_programs(const lower::Lowering& a, const lower::Lowering& b) {
  if (a.program.stage != b.program.stage) return false;
  if (a.program.stage == ProgramStage::Te) return lower::to_string(a) == lower::to_string(b);
  return equal(a.program, b.program);
}

bool is_structurally_equal(const py::object& a, const py::object& b) {
  if (py::isinstance<PyProgram>(a) && py::isinstance<PyProgram>(b)) {
    return equal_programs(*a.cast<const PyProgram&>().state, *b.cast<const PyProgram&>().state);
  }
  return is_expr(a) && is_expr(b) && equal(to_expr(a), to_expr(b));
}

py::list passes(const std::string& kind) {
  const auto found = ir::kind_named(kind);
  TL_CHECK(found.has_value());
  const std::vector<lower::Pass> passes = codegen::all_passes(*found);
  py::list rows;
  for (const lower::Pass* pass : lower::rows_of(passes)) {
    rows.append(
        py::make_tuple(pass->name, to_string(pass->in), to_string(pass->out), pass->summary));
  }
  return rows;
}

}  // namespace

compile::CompileOptions compile_options(bool checked) {
  return {.checked = checked,
          .verify_each = std::getenv("TEXLOOM_DEBUG") != nullptr,
          .location = user_location()};
}

void hear_interrupt() {
  const py::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void show_warnings(const std::vector<Diagnostic>& warnings) {
  for (const Diagnostic& warning : warnings) warn(warning);
}

void bind_programs(py::module_& m) {
  py::class_<PyProgram>(
      m, "Program",
      R"(A program at some stage of lowering, as ``program``, ``lower`` and ``parse`` return it.

``str(p)`` is its text, which ``parse`` reads back. ``build`` accepts it.
)")
      .def("__str__", [](const PyProgram& p) { return lower::to_string(*p.state); })
      .def(
          "text",
          [](const PyProgram& p, bool locations) {
            return lower::to_string(*p.state, {.locations = locations});
          },
          py::arg("locations") = false,
          "The text form; with the lines that statements came from, if asked.")
      .def_property_readonly("_target", [](const PyProgram& p) { return p.state->target; })
      .def("_for_target", for_target)
      .def_property_readonly(
          "name", [](const PyProgram& p) { return p.state->program.name; },
          "The name given to ``lower``.")
      .def_property_readonly(
          "stage", [](const PyProgram& p) { return to_string(p.state->program.stage); },
          "How far it is lowered: \"te\" is a schedule, \"kernels\" what build takes; "
          "\"flattened\" "
          "are loops of which some are bound to no thread.");
  m.def("program", make_program);
  m.def("lower", lower_as_far_as_bound);
  m.def("lower_to_kernels", lower_to_kernels);
  m.def("lower_texts", lower_texts);
  m.def("loop_nest", loop_nest);
  m.def("build", build);
  m.def("parse", [](const std::string& text, const std::string& file) {
    return keep(lower::parse_lowering(text, file));
  });
  m.def("structural_equal", is_structurally_equal);
  m.def("passes", passes, py::arg("kind") = "opencl");
}

}  // namespace texloom::python
