// Binds custom operators, and runs an operator by itself.

#include "core/runtime/custom.h"

#include <fmt/ranges.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compile/launch_plan.h"
#include "core/handles.h"
#include "core/runtime/arrays.h"
#include "core/runtime/open_devices.h"
#include "core/runtime/operator_declaration.h"
#include "core/runtime/python_operator.h"
#include "core/runtime/released_lock.h"
#include "core/runtime/tensor_types.h"
#include "runtime/custom/host_operator.h"
#include "runtime/custom/operator.h"
#include "runtime/custom/operator_registry.h"
#include "runtime/custom/prepared_calls.h"
#include "runtime/custom/shapes_like.h"
#include "runtime/custom/source_kernel.h"
#include "runtime/plan/aliases.h"
#include "runtime/plan/record.h"
#include "support/diagnostic.h"

namespace texloom::python {
namespace {

using runtime::AttributeValue;
using runtime::CustomOperator;
using runtime::OperatorInfo;
using SharedOperator = std::shared_ptr<const CustomOperator>;

// Fails with the diagnostic for a wrong declaration or call, at the user's line.
void throw_if_misused(const Status& status) {
  if (status.ok()) return;
  if (status.code() != StatusCode::InvalidArgument && status.code() != StatusCode::NotFound &&
      status.code() != StatusCode::Unimplemented)
    throw_if_error(status);
  const auto [message, help] = parted_help(status.message());
  fail(user_location(), Code::BadCustomOperator,
       help.empty() ? "see docs/custom_operators.md for what operators declare" : help, "{}",
       message);
}

constexpr std::size_t kMaxPrepared = 64;  // the most prepared calls that an operator keeps

// An operator, with prepared calls (mainly compiled kernels), which later calls use again.
struct PyOperator {
  explicit PyOperator(SharedOperator made) : op(std::move(made)) {}

  // The prepared calls of a plan with one call; `key` identifies the plan and the device.
  Result<std::shared_ptr<runtime::PreparedCalls>> prepared(
      const std::string& key, const runtime::LaunchPlan& plan,
      const std::shared_ptr<hal::Device>& device, bool check_writes) {
    const std::lock_guard lock(mutex);
    if (const auto found = calls.find(key); found != calls.end()) return found->second;
    runtime::OperatorRegistry registry;
    TL_RETURN_IF_ERROR(registry.add(op));
    TL_ASSIGN_OR_RETURN(
        auto made, runtime::prepare_calls(registry, plan, device, {.check_writes = check_writes}));
    if (calls.size() >= kMaxPrepared) calls.clear();
    return calls.emplace(key, std::move(made)).first->second;
  }

  const SharedOperator op;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<runtime::PreparedCalls>> calls;  // guarded by mutex
};

std::shared_ptr<PyOperator> make_host_operator(const py::dict& declaration, py::object function,
                                               py::object shapes, runtime::LikeInputs like) {
  OperatorInfo info = info_of(declaration);
  info.device = runtime::OperatorDevice::Host;
  throw_if_misused(validate(info));
  throw_if_misused(check_like(info, like).with_context(fmt::format("operator \"{}\"", info.name)));
  return std::make_shared<PyOperator>(
      python_operator(std::move(info), std::move(function), std::move(shapes), std::move(like)));
}

std::shared_ptr<PyOperator> make_source_operator(const std::string& file,
                                                 const py::dict& declaration, std::string body,
                                                 const std::array<std::uint32_t, 3>& workgroup,
                                                 const std::array<std::string, 3>& threads,
                                                 runtime::LikeInputs like) {
  auto made = runtime::make_source_operator({.info = info_of(declaration),
                                             .body = std::move(body),
                                             .workgroup = workgroup,
                                             .threads = threads,
                                             .like = std::move(like)});
  throw_if_misused(file.empty() ? made.status() : made.status().with_context(file));
  return std::make_shared<PyOperator>(*std::move(made));
}

// A plan of one call of the operator.
runtime::LaunchPlan plan_of(const OperatorInfo& info, const std::vector<const PyArray*>& arrays,
                            std::vector<runtime::Attribute> attributes) {
  runtime::LaunchPlan plan;
  plan.calls.push_back(
      {.op = info.name, .version = info.version, .attributes = std::move(attributes)});
  runtime::CallStep step;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    plan.arguments.push_back(
        compile::tensor_spec(info.arguments[i].name, arrays[i]->type, arrays[i]->layout));
    plan.calls[0].accesses.push_back(info.arguments[i].access);
    step.tensors.push_back({runtime::TensorRef::Kind::Argument, static_cast<std::uint32_t>(i)});
  }
  plan.steps.emplace_back(std::move(step));
  return plan;
}

std::vector<const PyArray*> arrays_of(const OperatorInfo& info, const py::tuple& given) {
  if (given.size() != info.arguments.size())
    fail(user_location(), Code::WrongArgumentCount,
         "pass an array for each argument, outputs included",
         "operator \"{}\" takes {} arrays but is called with {}", info.name, info.arguments.size(),
         given.size());
  std::vector<const PyArray*> arrays;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!py::isinstance<PyArray>(given[i]))
      fail(user_location(), Code::NotAnArray, "make one with nd.array(values, device)",
           "the argument '{}' of operator \"{}\" is {}, not an array", info.arguments[i].name,
           info.name, kind_text(given[i]));
    arrays.push_back(&given[i].cast<const PyArray&>());
    if (!(arrays.back()->device == arrays.front()->device))
      fail(user_location(), Code::WrongDevice, "copy all arguments to one device",
           "the argument '{}' is on {}, but earlier arguments are on {}", info.arguments[i].name,
           to_string(arrays.back()->device), to_string(arrays.front()->device));
  }
  return arrays;
}

// Whether all arrays that the operator writes are empty. The operator then does not run: its
// kernels and functions expect elements. Fails with WrongShape if only others are empty.
bool writes_nothing(const OperatorInfo& info, const std::vector<const PyArray*>& arrays) {
  const PyArray* empty = nullptr;
  bool writes = false;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const bool is_empty = std::ranges::count(arrays[i]->shape, 0) > 0;
    if (is_empty) empty = arrays[i];
    writes = writes || (!is_empty && info.arguments[i].access != hal::Access::Read);
  }
  if (empty != nullptr && writes)
    fail(user_location(), Code::WrongShape, "compute the result for empty arrays yourself",
         "operator \"{}\" writes elements, but is given an empty array of shape {}", info.name,
         shape_text(empty->shape));
  return empty != nullptr;
}

// The key of prepared calls: calls with equal keys can use the same prepared kernels.
std::string key_of(const std::vector<const PyArray*>& arrays,
                   const std::vector<runtime::Attribute>& attributes, bool check_writes) {
  std::string key = fmt::format("{} {}", to_string(arrays.front()->device), check_writes);
  for (const PyArray* array : arrays)
    key += fmt::format("; {} {} {} {}", ir::to_string(array->type), ir::to_string(array->layout),
                       fmt::join(array->layout.shape, " "), array->binding.index());
  for (const runtime::Attribute& each : attributes)
    std::visit(
        [&](const auto& value) {
          key += fmt::format("; {} {} {}", each.name, each.value.index(), value);
        },
        each.value);
  return key;
}

Status submit(PyOperator& op, const std::string& key, const runtime::LaunchPlan& plan,
              const std::shared_ptr<hal::Device>& device, std::span<const hal::BindingRef> memory,
              bool check_writes) {
  TL_ASSIGN_OR_RETURN(const auto calls, op.prepared(key, plan, device, check_writes));
  const auto commands = device->create_command_buffer();
  TL_RETURN_IF_ERROR(
      runtime::record(plan, {.kernels = {}, .arguments = memory, .calls = calls.get()}, *commands));
  TL_RETURN_IF_ERROR(commands->finish());
  return device->queue()->submit(commands);
}

void run(PyOperator& op, const py::tuple& given, const py::dict& attributes, bool check_writes) {
  const OperatorInfo& info = op.op->info();
  const std::vector<const PyArray*> arrays = arrays_of(info, given);
  if (writes_nothing(info, arrays)) return;
  const std::vector<runtime::Attribute> values = attributes_of(attributes);
  const runtime::LaunchPlan plan = plan_of(info, arrays, values);
  const std::string key = key_of(arrays, values, check_writes);
  std::vector<hal::Binding> bindings;
  std::vector<hal::BindingRef> memory;
  for (const PyArray* array : arrays) {
    bindings.push_back(array->binding);
    std::visit([&](const auto& each) { memory.emplace_back(each); }, array->binding);
  }
  if (const auto alias = runtime::find_alias(plan, runtime::written_arguments(plan), bindings))
    fail(user_location(), Code::AliasedArguments,
         "pass a separate array for each argument that is written",
         "the arguments '{}' and '{}' overlap in memory, and one of them is written",
         info.arguments[alias->first].name, info.arguments[alias->second].name);
  const std::shared_ptr<hal::Device>& device = open_device(arrays.front()->device);
  const Status status = [&] {
    const ReleasedLock released;
    return submit(op, key, plan, device, memory, check_writes);
  }();
  throw_if_misused(status);
}

py::list shapes(const SharedOperator& op, const py::object& inputs, const py::dict& attributes) {
  const auto complete = runtime::Attributes::complete(op->info(), attributes_of(attributes));
  throw_if_misused(complete.status().with_context(fmt::format("operator \"{}\"", op->info().name)));
  const auto given = types_of(inputs);
  throw_if_misused(given.status().with_context("what is given"));
  const auto types = op->shapes(*given, *complete);
  throw_if_misused(types.status());
  return rows_of(*types);
}

// (name, access, storage) of each argument.
py::list arguments(const OperatorInfo& info) {
  py::list rows;
  for (const runtime::OperatorArgument& each : info.arguments)
    rows.append(py::make_tuple(each.name, std::string(hal::to_string(each.access)),
                               std::string(runtime::to_string(each.storage))));
  return rows;
}

}  // namespace

std::shared_ptr<const runtime::CustomOperator> operator_of(const py::handle& value) {
  return value.cast<const PyOperator&>().op;
}

std::vector<runtime::Attribute> attributes_of(const py::dict& given) {
  std::vector<runtime::Attribute> attributes;
  for (const auto& [name, value] : given) {
    AttributeValue converted;
    if (py::isinstance<py::str>(value)) {
      converted = value.cast<std::string>();
    } else if (PyIndex_Check(value.ptr()) != 0) {
      const py::int_ number(py::reinterpret_borrow<py::object>(value));
      int overflow = 0;
      converted = std::int64_t{PyLong_AsLongLongAndOverflow(number.ptr(), &overflow)};
      if (overflow != 0)
        fail(user_location(), Code::BadArgument, "give a number of 64 bits, or a string",
             "the attribute '{}' is {}, which does not fit in 64 bits", name.cast<std::string>(),
             py::str(number).cast<std::string>());
    } else if (PyNumber_Check(value.ptr()) != 0) {
      converted = py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>();
    } else {
      fail(user_location(), Code::BadArgument, "give a number or a string",
           "the attribute '{}' is {}, not a number or a string", name.cast<std::string>(),
           kind_text(value));
    }
    attributes.push_back({name.cast<std::string>(), std::move(converted)});
  }
  return attributes;
}

void bind_custom_operators(py::module_& m) {
  py::class_<PyOperator, std::shared_ptr<PyOperator>>(m, "CustomOperator")
      .def_property_readonly("name", [](const PyOperator& op) { return op.op->info().name; })
      .def_property_readonly("is_on_host",
                             [](const PyOperator& op) {
                               return op.op->info().device == runtime::OperatorDevice::Host;
                             })
      .def_property_readonly("version", [](const PyOperator& op) { return op.op->info().version; })
      .def_property_readonly("arguments",
                             [](const PyOperator& op) { return arguments(op.op->info()); })
      .def("run", run)
      .def("shapes", [](const PyOperator& op, const py::object& inputs,
                        const py::dict& attributes) { return shapes(op.op, inputs, attributes); });
  m.def("operator_words", operator_words);
  m.def("make_host_operator", make_host_operator);
  m.def("make_source_operator", make_source_operator);
}

}  // namespace texloom::python
