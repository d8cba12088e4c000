#include "core/function/runs.h"

#include <algorithm>
#include <span>
#include <vector>

#include "compile/bad_indices.h"
#include "compile/interpreted_kernels.h"
#include "compile/launch_plan.h"
#include "compile/native/native_code.h"
#include "compile/needs.h"
#include "core/function/scalar_arguments.h"
#include "core/runtime/arrays.h"
#include "core/runtime/build_wait.h"
#include "core/runtime/open_devices.h"
#include "core/runtime/released_lock.h"
#include "core/runtime/wait_notice.h"
#include "ir/program.h"
#include "runtime/hal/profile.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR types

namespace {

// Fails if an array with this layout is not where the kernels expect it in its image.
void check_place(const hal::Binding& binding, const BufferNode& param, const Layout& layout,
                 const SourceLocation& where) {
  const auto* texture = std::get_if<hal::TextureBinding>(&binding);
  if (texture != nullptr && param.origin.is_zero() && texture->origin != hal::Offset2D{}) {
    fail(where, Code::WrongScope, "declare the argument with decl_buffer(..., origin=True)",
         "the array of '{}' does not begin at the corner of its image, but the kernel expects it "
         "there",
         param.name);
  }
  if (texture == nullptr || !param.origin.exact_image) return;
  const hal::Extent2D there = texture->texture->extent();
  const hal::Extent2D declared{static_cast<uint32_t>(layout.col_count()),
                               static_cast<uint32_t>(layout.row_count())};
  if (there == declared) return;
  fail(where, Code::InexactImage,
       "make the array without image=, or declare the argument without exact_image=True",
       "the argument '{}' is declared to fill an image of {}, but the array is in an image of {}",
       param.name, hal::to_string(declared), hal::to_string(there));
}

using SharedProgram = std::shared_ptr<runtime::DeviceProgram>;

// The launch plan for a device. For the driver `host`, it includes code for the interpreter.
runtime::LaunchPlan plan_for(const compile::CompiledModule& module, const PyDevice& device) {
  runtime::LaunchPlan plan = compile::make_launch_plan(module);
  if (device.driver == "host") compile::add_interpreted_code(module, plan);
  compile::link_native_code(plan);
  return plan;
}

// Returns the program for the device. Builds the kernels at the function's first run on the device.
Result<SharedProgram> find_program(PyFunction& f, const PyDevice& device,
                                   const std::shared_ptr<hal::Device>& opened, BuildWait& wait) {
  const ReleasedLock released;
  const std::lock_guard lock(f.mutex);
  SharedProgram& made = f.programs[opened.get()];
  if (!made) {
    TL_ASSIGN_OR_RETURN(
        made, runtime::DeviceProgram::create(
                  opened, plan_for(f.module, device), [&](const runtime::KernelProgress& at) {
                    const auto& kernel = f.module.kernels[at.current];
                    return wait.goes_on(at, kernel.name, kernel.code->bytes.size());
                  }));
  }
  return made;
}

SharedProgram program_on(PyFunction& f, const PyDevice& device,
                         const std::shared_ptr<hal::Device>& opened) {
  BuildWait wait;
  const Result<SharedProgram> program = find_program(f, device, opened, wait);
  wait.throw_if_interrupted();
  throw_if_error(program.status());
  warn_of_unusable_cache();
  return *program;
}

// The arguments of one call. `bindings` and `shapes` are in the order of the arrays; shapes are
// those that the caller sees.
struct CallArguments {
  std::optional<PyDevice> device;  // the device of the arrays; nullopt without arrays
  std::vector<hal::Binding> bindings;
  std::vector<Shape> shapes;
  GivenNumbers numbers;
};

// Checks the arguments of a call that leaves none out.
CallArguments checked_arguments(const PyFunction& f, const py::args& args,
                                const SourceLocation& where) {
  f.signature.check_count(args.size(), where);
  const std::vector<py::handle> given(args.begin(), args.end());
  CallArguments arguments;
  std::vector<py::handle> tensors;
  arguments.numbers = given_numbers(f.module, f.signature.parameters(), given, tensors, where);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const PyArray& array = f.signature.checked_array(i, tensors[i], where);
    if (arguments.device && *arguments.device != array.device) {
      fail(where, Code::WrongDevice, "copy all arguments to one device",
           "the argument '{}' is on {}, but earlier arguments are on {}", f.signature.param(i).name,
           to_string(array.device), to_string(*arguments.device));
    }
    arguments.device = array.device;
    arguments.bindings.push_back(array.binding);
    arguments.shapes.push_back(array.shape);
  }
  return arguments;
}

std::vector<int64_t> symbol_values(const PyFunction& f, const CallArguments& arguments,
                                   const SourceLocation& where) {
  const auto values = f.shapes.symbols(arguments.shapes, arguments.numbers.symbols);
  if (values.ok()) return *values;
  fail(where, Code::WrongShape, "pass arrays whose shapes agree with one another", "{}",
       values.status().message());
}

// Called after the program has refused the arguments: fails with a diagnostic for the user if the
// reason is known.
void explain(const PyFunction& f, runtime::DeviceProgram& program,
             std::span<const hal::Binding> bindings, std::span<const Shape> shapes,
             const std::vector<int64_t>& symbols, const SourceLocation& where) {
  const std::vector<Buffer>& params = f.module.program.params;
  for (size_t i = 0; i < shapes.size(); ++i)
    check_place(bindings[i], *params[i], f.signature.layout(i, shapes[i]), where);
  const auto overlap = program.find_alias(bindings, symbols);
  throw_if_error(overlap.status());
  if (const auto& alias = *overlap) {
    fail(where, Code::AliasedArguments, "pass a separate array for each argument that is written",
         "the arguments '{}' and '{}' overlap in memory, and one of them is written",
         params[alias->first]->name, params[alias->second]->name);
  }
}

bool has_symbolic_texture(const Program& program) {
  const auto is_one = [](const Buffer& b) { return b->is_texture() && b->is_symbolic(); };
  return std::any_of(program.params.begin(), program.params.end(), is_one) ||
         std::any_of(program.temporaries.begin(), program.temporaries.end(), is_one);
}

// Runs the function, with at least one array among the arguments, on the device of the arrays.
void run(PyFunction& f, CallArguments arguments, int times, const SourceLocation& where) {
  const PyDevice& on = *arguments.device;
  const std::shared_ptr<hal::Device>& device = open_device(on);
  compile::check_device(f.module, device->info(), where);
  const hal::HostSpan span(device->options().profile.get(), f.module.program.name);
  const SharedProgram program = program_on(f, on, device);
  std::vector<hal::Binding>& bindings = arguments.bindings;
  const std::vector<lower::CheckedIndex>& checks = f.module.checks;
  if (!checks.empty()) {
    const auto report = compile::make_index_report(*device, checks);
    throw_if_error(report.status());
    bindings.push_back(*report);
  }
  const std::vector<int64_t> symbols = symbol_values(f, arguments, where);
  std::optional<py::error_already_set> interrupt;
  Status status;
  {
    const ReleasedLock released;
    status = program->run(bindings, {symbols, arguments.numbers.scalars}, {.times = times}, [&] {
      const py::gil_scoped_acquire lock;
      interrupt = take_interrupt();
      return interrupt.has_value();
    });
  }
  explain_waits_for(program);
  if (interrupt) throw_interrupt(*std::move(interrupt));
  if (status.code() == StatusCode::InvalidArgument)
    explain(f, *program, bindings, arguments.shapes, symbols, where);
  if (status.code() == StatusCode::LimitExceeded && has_symbolic_texture(f.module.program)) {
    fail(where, Code::TextureTooLarge, "pass smaller arrays, or keep the tensor in a buffer", "{}",
         status.message());
  }
  throw_if_error(status);
  if (checks.empty()) return;
  const auto report = [&] {
    const ReleasedLock released;
    return compile::read_index_report(*device, bindings.back(), checks);
  }();
  throw_if_error(report.status());
  compile::fail_if_bad(*report, checks);
}

}  // namespace

void enqueue(PyFunction& f, int times, const py::args& args) {
  if (times < 1) {
    fail(user_location(), Code::BadValue, "give the number of runs: enqueue(1, ...)",
         "enqueue: times={} is not positive", times);
  }
  const SourceLocation where = user_location();
  CallArguments arguments = checked_arguments(f, args, where);
  if (arguments.device) run(f, std::move(arguments), times, where);
}

void build_on(PyFunction& f, const PyDevice& device) { program_on(f, device, open_device(device)); }

std::optional<double> operations(const PyFunction& f, const py::args& args) {
  if (!f.module.operations) return std::nullopt;
  const SourceLocation where = user_location();
  const std::vector<int64_t> values = symbol_values(f, checked_arguments(f, args, where), where);
  Substitution symbols;
  for (size_t i = 0; i < values.size(); ++i) {
    symbols.emplace(f.module.symbols.sizes[i], make_int(values[i]));
  }
  return compile::total(*f.module.operations, symbols);
}

}  // namespace texloom::python
