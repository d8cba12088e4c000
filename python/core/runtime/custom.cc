// Binds custom operators: makes them from Python functions and from source, and runs an operator by
// itself.

#include "core/runtime/custom.h"

#include <fmt/ranges.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <cstring>
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
#include "core/runtime/python_call.h"
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

using runtime::AttributeType;
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

// A shared Python object whose last reference may be dropped by a thread without the GIL.
std::shared_ptr<py::object> shared(py::object object) {
  return {new py::object(std::move(object)), [](py::object* held) {
            const PythonCall python;
            if (python) held->dec_ref();
            held->release();  // without Python, the object ends with the process
            delete held;
          }};
}

// str(value) as UTF-8. Works for values whose str() raises, and for text that UTF-8 cannot encode.
std::string text_of(const py::handle& value) {
  try {
    return py::str(value).attr("encode")("utf-8", "backslashreplace").cast<std::string>();
  } catch (const py::error_already_set&) {
    return "(a message that cannot be printed)";
  }
}

// "FILE:LINE" of the innermost frame; "" if it is unknown.
std::string place_of(py::object trace) {
  if (!trace || trace.is_none()) return {};
  while (!trace.attr("tb_next").is_none()) trace = trace.attr("tb_next");
  const py::object code = trace.attr("tb_frame").attr("f_code");
  return fmt::format("{}:{}", py::str(code.attr("co_filename")).cast<std::string>(),
                     trace.attr("tb_lineno").cast<int>());
}

// An error with the exception's type, the first line of its text, and its place. Exceptions of
// Texloom keep their help.
Status status_of(const py::error_already_set& error) {
  if (error.matches(PyExc_KeyboardInterrupt)) {
    PyErr_SetInterrupt();  // for the waiting main thread: a queue's thread runs this call
    return Status(StatusCode::Cancelled, "was interrupted");
  }
  const std::string type = text_of(error.type().attr("__name__"));
  std::string message = text_of(error.value());
  std::string help = "; help: correct the function, or what it is called with";
  if (py::isinstance(error.value(), py::module_::import("texloom.errors").attr("TVMError"))) {
    const py::object first = error.value().attr("diagnostics")[py::int_(0)];
    message = first.attr("message").cast<std::string>();
    help = "; help: " + first.attr("help").cast<std::string>();
  }
  const std::string place = place_of(error.trace());
  return make_error(StatusCode::Internal, "raised {}: {}{}{}", type,
                    message.substr(0, message.find('\n')), place.empty() ? "" : ", at " + place,
                    help);
}

// Calls a function with the GIL; an exception becomes an error.
template <class Function>
Status with_python(const Function& function) {
  const PythonCall python;
  if (!python)
    return Status(StatusCode::Cancelled,
                  "Python is ending and calls no more functions; help: run the operator earlier: "
                  "functions of atexit that are registered after texloom is imported still can");
  try {
    return function();
  } catch (const py::error_already_set& error) {
    return status_of(error);
  } catch (const std::exception& error) {
    return make_error(StatusCode::Internal, "raised {}", error.what());
  }
}

py::object attribute_value(const AttributeValue& value) {
  return std::visit([](const auto& each) { return py::cast(each); }, value);
}

py::dict keywords(const runtime::Attributes& attributes) {
  py::dict words;
  for (const runtime::Attribute& each : attributes.values())
    words[py::str(each.name)] = attribute_value(each.value);
  return words;
}

// NumPy has no bfloat16: functions get the bits.
py::dtype numpy_dtype(hal::ElementType element) {
  return py::dtype(element == hal::ElementType::BFloat16 ? "uint16"
                                                         : std::string(hal::to_string(element)));
}

hal::ElementType element_of(const std::string& name) {
  const auto element = hal::element_type_from_name(name);
  if (element) return *element;
  fail(user_location(), Code::UnknownType, "use 'float32', 'uint8' or 'bool'",
       "'{}' is not a dtype", name);
}

// A Python function as a host operator. Queues call it on their threads.
class PythonOperator final : public runtime::HostOperator {
 public:
  // `shapes` may be None: then `like` determines the types of outputs from those of inputs.
  PythonOperator(OperatorInfo info, py::object function, py::object shapes,
                 runtime::LikeInputs like)
      : info_(std::move(info)),
        function_(shared(std::move(function))),
        shapes_(shapes.is_none() ? nullptr : shared(std::move(shapes))),
        like_(std::move(like)) {}

  const OperatorInfo& info() const override { return info_; }

  Result<std::vector<runtime::TensorType>> shapes(
      std::span<const runtime::TensorType> inputs,
      const runtime::Attributes& attributes) const override {
    if (shapes_ == nullptr) return runtime::shapes_like(info_, like_, inputs);
    std::vector<runtime::TensorType> types;
    TL_RETURN_IF_ERROR(with_python([&] {
                         const py::object given =
                             (*shapes_)(rows_of(inputs), **keywords(attributes));
                         TL_ASSIGN_OR_RETURN(types, returned_types(given));
                         return Status();
                       }).with_context(fmt::format("the shapes of operator \"{}\"", info_.name)));
    return types;
  }

  Status run(const runtime::HostArguments& arguments) const override {
    return with_python([&] { return call(arguments); });
  }

 private:
  // The types that the function for shapes returned, one for each argument that is only written.
  Result<std::vector<runtime::TensorType>> returned_types(const py::object& given) const {
    std::vector<std::string> outputs;
    for (const runtime::OperatorArgument& each : info_.arguments)
      if (!hal::reads(each.access)) outputs.push_back(each.name);
    const auto help = fmt::format(
        "; help: return a list with (dtype, shape) for each output ({}), as "
        "[(\"float32\", (2, 4))]",
        fmt::join(outputs, ", "));
    auto types = types_of(given);
    if (!types.ok())
      return invalid_argument("the returned value {}{}", types.status().message(), help);
    if (types->size() != outputs.size())
      return invalid_argument("the function returned {} outputs instead of {}{}", types->size(),
                              outputs.size(), help);
    return types;
  }

  // The function may keep the arrays: they are copies.
  Status call(const runtime::HostArguments& arguments) const {
    std::vector<py::array> arrays;
    py::tuple given(arguments.tensors.size());
    for (std::size_t i = 0; i < arguments.tensors.size(); ++i) {
      const runtime::HostTensor& tensor = arguments.tensors[i];
      arrays.emplace_back(numpy_dtype(tensor.spec.element), tensor.spec.layout.shape,
                          static_cast<const void*>(tensor.data.data()));
      if (!hal::writes(info_.arguments[i].access))
        arrays.back().attr("setflags")(py::arg("write") = false);
      given[i] = arrays.back();
    }
    const py::object returned = (*function_)(*given, **keywords(arguments.attributes));
    if (!returned.is_none())
      return invalid_argument(
          "returned {}; help: write results into an argument, as y[...] = x, and return nothing",
          kind_text(returned));
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (!hal::writes(info_.arguments[i].access)) continue;
      const std::span<std::byte> written = arguments.tensors[i].data;
      if (static_cast<std::size_t>(arrays[i].nbytes()) != written.size())
        return invalid_argument("resized the array \"{0}\"; help: write into it, as {0}[...] = x",
                                info_.arguments[i].name);
      std::memcpy(written.data(), arrays[i].data(), written.size());
    }
    return {};
  }

  OperatorInfo info_;
  std::shared_ptr<py::object> function_, shapes_;
  runtime::LikeInputs like_;
};

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

// The words of declarations.
template <class Enum>
struct Word {
  const char* word;
  Enum value;
};
constexpr Word<hal::Access> kAccesses[] = {{"read", hal::Access::Read},
                                           {"write", hal::Access::Write},
                                           {"read_write", hal::Access::ReadWrite}};
constexpr Word<runtime::ArgumentStorage> kStorages[] = {
    {"any", runtime::ArgumentStorage::Any},
    {"buffer", runtime::ArgumentStorage::Buffer},
    {"texture", runtime::ArgumentStorage::Texture}};
constexpr Word<AttributeType> kTypes[] = {{"integer", AttributeType::Integer},
                                          {"float", AttributeType::Float},
                                          {"text", AttributeType::Text}};

template <class Enum>
py::tuple words_of(std::span<const Word<Enum>> table) {
  py::list words;
  for (const Word<Enum>& each : table) words.append(each.word);
  return py::tuple(words);
}

// Declarations come from texloom.custom, which has checked their keys and words.
template <class Enum>
Enum one_of(const py::handle& word, std::span<const Word<Enum>> table) {
  const auto given = word.cast<std::string>();
  for (const Word<Enum>& each : table) {
    if (given == each.word) return each.value;
  }
  throw py::value_error(given);
}

runtime::OperatorArgument argument_of(const py::dict& row) {
  runtime::OperatorArgument argument{
      .name = row["name"].cast<std::string>(),
      .access = one_of<hal::Access>(row["access"], kAccesses),
      .storage = one_of<runtime::ArgumentStorage>(row["storage"], kStorages)};
  if (!row["layout"].is_none()) {
    const auto axes = row["layout"].cast<std::map<std::string, std::vector<std::uint32_t>>>();
    argument.layout = {.rows = axes.at("rows"), .cols = axes.at("cols"), .lanes = axes.at("lanes")};
  }
  return argument;
}

runtime::AttributeSpec attribute_of(const py::dict& row) {
  runtime::AttributeSpec spec{.name = row["name"].cast<std::string>(),
                              .type = one_of<AttributeType>(row["type"], kTypes)};
  const py::object value = row["default"];
  if (value.is_none()) return spec;
  if (spec.type == AttributeType::Integer) {
    spec.default_value = value.cast<std::int64_t>();
  } else if (spec.type == AttributeType::Float) {
    spec.default_value = value.cast<double>();
  } else {
    spec.default_value = value.cast<std::string>();
  }
  return spec;
}

OperatorInfo info_of(const py::dict& declaration) {
  OperatorInfo info{.name = declaration["name"].cast<std::string>(),
                    .version = declaration["version"].cast<std::uint32_t>()};
  for (const py::handle row : declaration["arguments"])
    info.arguments.push_back(argument_of(row.cast<py::dict>()));
  for (const py::handle row : declaration["attributes"])
    info.attributes.push_back(attribute_of(row.cast<py::dict>()));
  for (const auto& names : declaration["dtypes"].cast<std::vector<std::vector<std::string>>>()) {
    std::vector<hal::ElementType>& variant = info.variants.emplace_back();
    for (const std::string& name : names) variant.push_back(element_of(name));
  }
  return info;
}

std::shared_ptr<PyOperator> make_host_operator(const py::dict& declaration, py::object function,
                                               py::object shapes, runtime::LikeInputs like) {
  OperatorInfo info = info_of(declaration);
  info.device = runtime::OperatorDevice::Host;
  throw_if_misused(validate(info));
  throw_if_misused(check_like(info, like).with_context(fmt::format("operator \"{}\"", info.name)));
  return std::make_shared<PyOperator>(std::make_shared<PythonOperator>(
      std::move(info), std::move(function), std::move(shapes), std::move(like)));
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
    fail(user_location(), Code::WrongArgumentCount, "pass an array for each argument, also outputs",
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
             "the attribute '{}' is {}", name.cast<std::string>(),
             py::str(number).cast<std::string>());
    } else if (PyNumber_Check(value.ptr()) != 0) {
      converted = py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>();
    } else {
      fail(user_location(), Code::BadArgument, "give a number or a string",
           "the attribute '{}' is {}", name.cast<std::string>(), kind_text(value));
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
  // The words of declarations, by the property that they describe.
  m.def("operator_words", [] {
    py::dict words;
    words["access"] = words_of<hal::Access>(kAccesses);
    words["storage"] = words_of<runtime::ArgumentStorage>(kStorages);
    words["type"] = words_of<AttributeType>(kTypes);
    return words;
  });
  m.def("make_host_operator", make_host_operator);
  m.def("make_source_operator", make_source_operator);
}

}  // namespace texloom::python
