#include "runtime/executor/executor.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "runtime/plan/tensor_transfer.h"

namespace texloom::runtime {
namespace {

// Smaller arrays are copied, in less time than it takes to bind them.
constexpr std::size_t kFewestLentBytes = 16 << 10;

// The shape; nullopt if it depends on the call.
std::optional<Shape> fixed_shape(const TensorSpec& tensor) {
  Shape shape;
  for (const Size& extent : tensor.shape) {
    const auto known = extent.constant();
    if (!known) return std::nullopt;
    shape.push_back(*known);
  }
  return shape;
}

// The shape of the tensor's array.
std::string shape_text(const TensorSpec& tensor, std::span<const std::string> symbols) {
  if (!tensor.layout.shape.empty()) return fmt::format("{}", fmt::join(tensor.layout.shape, ", "));
  std::vector<std::string> extents;
  for (const Size& extent : tensor.shape) extents.push_back(extent.text(symbols));
  return fmt::format("{}", fmt::join(extents, ", "));
}

// Whether the fixed extents of a tensor without layout are those of the shape, whose other extents
// are sizes.
bool agrees(const TensorSpec& tensor, std::span<const std::int64_t> shape) {
  if (shape.size() != tensor.shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0 || shape[i] != tensor.shape[i].constant().value_or(shape[i])) return false;
  }
  return true;
}

template <class Named>
Result<std::uint32_t> find(const std::vector<Named>& list, std::string_view kind,
                           std::string_view name) {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return i;
    names.push_back(list[i].name);
  }
  return make_error(StatusCode::NotFound, "no {} \"{}\"; there are: {}", kind, name,
                    fmt::join(names, ", "));
}

std::uint64_t array_bytes(const TensorSpec& tensor) {
  return static_cast<std::uint64_t>(tensor.layout.elements()) * hal::byte_size(tensor.element);
}

// Whether memory that was allocated for the tensor, maybe with another size, has room for it.
// An image is at least as large as its tensor, and of the same size if kernels rely on its size.
bool has_room(const hal::Binding& memory, const TensorSpec& tensor) {
  if (const auto* texture = std::get_if<hal::TextureBinding>(&memory)) {
    const auto& wanted = std::get<TextureStorage>(tensor.storage);
    const hal::Extent2D extent = texture->texture->extent();
    return wanted.exact_extent ? extent == wanted.extent
                               : hal::region_fits(texture->origin, wanted.extent, extent);
  }
  return std::get<hal::BufferBinding>(memory).buffer->bytes() >=
         std::get<BufferStorage>(tensor.storage).bytes;
}

Status check_interface(const LaunchPlan& plan, const GraphInterface& interface) {
  for (const std::vector<GraphPort>* ports : {&interface.inputs, &interface.outputs}) {
    for (const GraphPort& port : *ports) {
      if (ports == &interface.outputs && !port.argument)
        return invalid_argument(
            "output \"{}\" is no argument of the plan; every output must be one", port.name);
      if (port.argument && *port.argument >= plan.arguments.size())
        return invalid_argument("\"{}\" is argument {}, but the plan has {} arguments", port.name,
                                *port.argument, plan.arguments.size());
    }
  }
  return {};
}

}  // namespace

Executor::Executor(std::shared_ptr<DeviceProgram> program, GraphInterface interface,
                   std::shared_ptr<hal::Queue> queue)
    : program_(std::move(program)),
      interface_(std::move(interface)),
      queue_(queue == nullptr ? program_->device()->queue() : std::move(queue)) {
  for (const TensorSpec& tensor : program_->plan().arguments)
    arguments_.push_back({.tensor = tensor, .shape = fixed_shape(tensor)});
  for (const ScalarSpec& scalar : program_->plan().scalars)
    scalars_.push_back(hal::Constant::zero(scalar.element));
  scalar_is_set_.assign(scalars_.size(), false);
}

Result<std::unique_ptr<Executor>> Executor::create(std::shared_ptr<DeviceProgram> program,
                                                   GraphInterface interface,
                                                   std::shared_ptr<hal::Queue> queue) {
  if (program == nullptr) return invalid_argument("the program is null");
  TL_RETURN_IF_ERROR(check_interface(program->plan(), interface));
  return std::unique_ptr<Executor>(
      new Executor(std::move(program), std::move(interface), std::move(queue)));
}

Result<std::uint32_t> Executor::find_input(std::string_view name) const {
  return find(interface_.inputs, "input", name);
}
Result<std::uint32_t> Executor::find_output(std::string_view name) const {
  return find(interface_.outputs, "output", name);
}
Result<std::uint32_t> Executor::find_scalar(std::string_view name) const {
  return find(program_->plan().scalars, "scalar", name);
}

// Null for an input that nothing reads.
Result<Executor::Argument*> Executor::argument(const std::vector<GraphPort>& ports,
                                               std::uint32_t port, std::string_view kind) {
  if (port >= ports.size())
    return invalid_argument("{} {} is out of range: there are {}", kind, port, ports.size());
  if (!ports[port].argument) return static_cast<Argument*>(nullptr);
  return &arguments_[*ports[port].argument];
}

Status Executor::set_shape(std::uint32_t input, std::span<const std::int64_t> shape) {
  TL_ASSIGN_OR_RETURN(Argument* const argument, this->argument(interface_.inputs, input, "input"));
  if (argument == nullptr) return {};
  const TensorSpec& tensor = program_->plan().arguments[*interface_.inputs[input].argument];
  const bool fixed = !tensor.layout.shape.empty();
  const bool fits = fixed ? std::equal(shape.begin(), shape.end(), tensor.layout.shape.begin(),
                                       tensor.layout.shape.end())
                          : agrees(tensor, shape);
  if (!fits)
    return invalid_argument("input \"{}\" has the shape ({}), got ({})",
                            interface_.inputs[input].name,
                            shape_text(tensor, program_->plan().symbols), fmt::join(shape, ", "));
  if (std::ranges::find(shape, 0) != shape.end())
    return invalid_argument(
        "input \"{}\" of the shape ({}) has no elements; help: leave the run out, since what is "
        "computed along that axis is empty too",
        interface_.inputs[input].name, fmt::join(shape, ", "));
  if (fixed || (argument->shape && std::equal(shape.begin(), shape.end(), argument->shape->begin(),
                                              argument->shape->end())))
    return {};
  TL_ASSIGN_OR_RETURN(argument->tensor, with_shape(tensor, shape));
  argument->shape = Shape(shape.begin(), shape.end());
  if (argument->is_own) argument->is_set = false;
  shapes_changed_ = true;
  return {};
}

Status Executor::allocate_own(Argument& argument) {
  if (argument.is_own && argument.memory && has_room(*argument.memory, argument.tensor)) return {};
  TL_ASSIGN_OR_RETURN(argument.memory, allocate(*program_->device(), argument.tensor));
  argument.is_own = true;
  memory_changed_ = true;
  return {};
}

Status Executor::set_input(std::uint32_t input, std::span<const std::byte> array) {
  TL_ASSIGN_OR_RETURN(Argument* const argument, this->argument(interface_.inputs, input, "input"));
  if (argument == nullptr) return {};
  const std::string& name = interface_.inputs[input].name;
  if (!argument->shape)
    return invalid_argument("the shape of input \"{}\" depends on the call: call set_shape() first",
                            name);
  const Status status = [&]() -> Status {
    TL_RETURN_IF_ERROR(allocate_own(*argument));
    TL_RETURN_IF_ERROR(
        submit_write(*program_->device(), queue_, argument->tensor, *argument->memory, array));
    argument->is_set = true;
    return {};
  }();
  return status.with_context(fmt::format("input \"{}\"", name));
}

Status Executor::lend_input(std::uint32_t input, std::span<const std::byte> array,
                            std::shared_ptr<const void> owner) {
  TL_ASSIGN_OR_RETURN(Argument* const argument, this->argument(interface_.inputs, input, "input"));
  if (argument == nullptr) return {};
  if (array.size() >= kFewestLentBytes && argument->shape &&
      !is_updated(*interface_.inputs[input].argument)) {
    // Kernels do not write an argument that is only an input.
    const std::span<std::byte> memory(const_cast<std::byte*>(array.data()), array.size());
    if (auto lent = in_place(*program_->device(), argument->tensor, memory, std::move(owner)))
      return bind_input(input, *std::move(lent));
  }
  return set_input(input, array);
}

Result<bool> Executor::lend_output(std::uint32_t output, std::span<std::byte> array,
                                   std::shared_ptr<const void> owner) {
  TL_ASSIGN_OR_RETURN(Argument* const argument,
                      this->argument(interface_.outputs, output, "output"));
  if (array.size() < kFewestLentBytes || is_updated(*interface_.outputs[output].argument))
    return false;
  TL_RETURN_IF_ERROR(resolve_sizes());
  auto lent = in_place(*program_->device(), argument->tensor, array, std::move(owner));
  if (!lent) return false;
  TL_RETURN_IF_ERROR(bind_output(output, *std::move(lent)));
  argument->is_lent = true;
  return true;
}

void Executor::end_loans() {
  for (Argument& argument : arguments_) {
    if (!argument.is_lent) continue;
    argument.memory.reset();
    argument.is_lent = false;
    memory_changed_ = true;
  }
  if (!memory_changed_) return;
  bindings_.clear();
  outputs_.clear();
}

Status Executor::bind_input(std::uint32_t input, hal::Binding memory) {
  TL_ASSIGN_OR_RETURN(Argument* const argument, this->argument(interface_.inputs, input, "input"));
  if (argument == nullptr) return {};
  argument->memory = std::move(memory);
  argument->is_own = false;
  argument->is_set = true;
  memory_changed_ = true;
  return {};
}

Status Executor::bind_output(std::uint32_t output, hal::Binding memory) {
  TL_ASSIGN_OR_RETURN(Argument* const argument,
                      this->argument(interface_.outputs, output, "output"));
  argument->memory = std::move(memory);
  argument->is_own = false;
  argument->is_set = true;
  memory_changed_ = true;
  return {};
}

Status Executor::set_scalar(std::uint32_t scalar, const hal::Constant& value) {
  const std::vector<ScalarSpec>& specs = program_->plan().scalars;
  if (scalar >= specs.size())
    return invalid_argument("scalar {} is out of range: there are {}", scalar, specs.size());
  if (value.type() != specs[scalar].element)
    return invalid_argument("scalar \"{}\" is {}, got {}", specs[scalar].name,
                            hal::to_string(specs[scalar].element), hal::to_string(value.type()));
  scalars_[scalar] = value;
  scalar_is_set_[scalar] = true;
  return {};
}

// Whether it is an input and an output.
bool Executor::is_updated(std::uint32_t argument) const {
  return is_input(argument) && std::ranges::find(interface_.outputs, argument,
                                                 &GraphPort::argument) != interface_.outputs.end();
}

bool Executor::is_input(std::uint32_t argument) const {
  return std::any_of(interface_.inputs.begin(), interface_.inputs.end(),
                     [&](const GraphPort& port) { return port.argument == argument; });
}

// The shapes of inputs determine the symbols, and the symbols determine the shapes of outputs.
Status Executor::resolve_sizes() {
  const LaunchPlan& plan = program_->plan();
  if (!shapes_changed_ || plan.symbols.empty()) return {};
  std::vector<std::optional<Shape>> known;
  for (std::uint32_t i = 0; i < arguments_.size(); ++i)
    known.push_back(is_input(i) || fixed_shape(plan.arguments[i]) ? arguments_[i].shape
                                                                  : std::nullopt);
  TL_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, complete_shapes(plan, known, {}));
  TL_ASSIGN_OR_RETURN(symbols_, bind_symbols(plan, shapes, {}));
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    TL_ASSIGN_OR_RETURN(arguments_[i].tensor, with_shape(plan.arguments[i], shapes[i]));
    arguments_[i].shape = shapes[i];
  }
  shapes_changed_ = false;
  memory_changed_ = true;
  return {};
}

std::string Executor::describe(std::size_t argument) const {
  for (const GraphPort& port : interface_.outputs)
    if (port.argument == argument) return fmt::format("output \"{}\"", port.name);
  for (const GraphPort& port : interface_.inputs)
    if (port.argument == argument) return fmt::format("input \"{}\"", port.name);
  return fmt::format("argument \"{}\"", program_->plan().arguments[argument].name);
}

Status Executor::check_aliases() const {
  TL_ASSIGN_OR_RETURN(const std::optional<Alias> alias, program_->find_alias(bindings_, symbols_));
  if (!alias) return {};
  return invalid_argument(
      "{} and {} share memory, which the graph writes: bind each to memory of its own",
      describe(alias->first), describe(alias->second));
}

Status Executor::check_inputs() const {
  for (const GraphPort& port : interface_.inputs) {
    if (port.argument && !arguments_[*port.argument].is_set)
      return invalid_argument("input \"{}\" was not set", port.name);
  }
  return {};
}

Status Executor::check_scalars() const {
  for (std::size_t i = 0; i < scalars_.size(); ++i) {
    if (!scalar_is_set_[i])
      return invalid_argument("scalar \"{}\" was not set", program_->plan().scalars[i].name);
  }
  return {};
}

Status Executor::bind_all() {
  for (const GraphPort& port : interface_.outputs) {
    Argument& argument = arguments_[*port.argument];
    if (!argument.memory || argument.is_own)
      TL_RETURN_IF_ERROR(
          allocate_own(argument).with_context(fmt::format("output \"{}\"", port.name)));
  }
  if (!memory_changed_) return {};
  bindings_.clear();
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].memory)
      return invalid_argument("{} is neither an input nor an output", describe(i));
    bindings_.push_back(*arguments_[i].memory);
  }
  return {};
}

Status Executor::submit(std::vector<hal::TimelinePoint> waits,
                        std::vector<hal::TimelinePoint> signals, bool is_awaited) {
  Status status = submit_checked(std::move(waits), std::move(signals), is_awaited);
  if (!status.ok()) drop_outputs();
  return status;
}

Status Executor::submit_checked(std::vector<hal::TimelinePoint> waits,
                                std::vector<hal::TimelinePoint> signals, bool is_awaited) {
  TL_RETURN_IF_ERROR(check_inputs());
  TL_RETURN_IF_ERROR(check_scalars());
  TL_RETURN_IF_ERROR(resolve_sizes());
  TL_RETURN_IF_ERROR(bind_all());
  const RunOptions options{.queue = queue_,
                           .waits = std::move(waits),
                           .signals = std::move(signals),
                           .is_awaited = is_awaited};
  Status status = program_->run(bindings_, {.symbols = symbols_, .scalars = scalars_}, options);
  if (status.code() == StatusCode::InvalidArgument && memory_changed_)
    TL_RETURN_IF_ERROR(check_aliases());
  if (status.ok() && memory_changed_) keep_outputs();
  return status;
}

void Executor::keep_outputs() {
  outputs_.clear();
  for (const GraphPort& port : interface_.outputs)
    outputs_.push_back({arguments_[*port.argument].tensor, bindings_[*port.argument]});
  memory_changed_ = false;
  has_failed_ = false;
}

void Executor::drop_outputs() {
  outputs_.clear();
  memory_changed_ = true;  // so that the next run keeps its outputs
  has_failed_ = true;
}

Status Executor::run() {
  TL_RETURN_IF_ERROR(submit({}, {}, true));
  Status status = queue_->wait_idle();
  if (!status.ok()) drop_outputs();
  return status;
}

Status Executor::check_output(std::uint32_t output) const {
  if (output < interface_.outputs.size()) return {};
  return invalid_argument("output {} is out of range: there are {}", output,
                          interface_.outputs.size());
}

// A shape that does not depend on the call is known before a run.
Result<const TensorSpec*> Executor::tensor_of_output(std::uint32_t output) const {
  TL_RETURN_IF_ERROR(check_output(output));
  if (!outputs_.empty()) return &outputs_[output].tensor;
  const TensorSpec& tensor = program_->plan().arguments[*interface_.outputs[output].argument];
  if (fixed_shape(tensor)) return &tensor;
  return invalid_argument("the shape of output \"{}\" is not known {}",
                          interface_.outputs[output].name,
                          has_failed_ ? "after a run that failed" : "before a run");
}

Result<const Executor::Output*> Executor::latest_output(std::uint32_t output) const {
  TL_RETURN_IF_ERROR(check_output(output));
  if (!outputs_.empty()) return &outputs_[output];
  return invalid_argument(
      "output \"{}\" has no {}", interface_.outputs[output].name,
      has_failed_ ? "values, since the latest run failed; help: run again" : "memory before a run");
}

Result<Shape> Executor::output_shape(std::uint32_t output) const {
  TL_ASSIGN_OR_RETURN(const TensorSpec* const tensor, tensor_of_output(output));
  return tensor->layout.shape;
}

Result<std::uint64_t> Executor::output_bytes(std::uint32_t output) const {
  TL_ASSIGN_OR_RETURN(const TensorSpec* const tensor, tensor_of_output(output));
  return array_bytes(*tensor);
}

Result<hal::Binding> Executor::output(std::uint32_t output) const {
  TL_ASSIGN_OR_RETURN(const Output* const latest, latest_output(output));
  return latest->memory;
}

Status Executor::get_output(std::uint32_t output, std::span<std::byte> array) {
  TL_ASSIGN_OR_RETURN(const Output* const latest, latest_output(output));
  return read_after(*program_->device(), queue_, latest->tensor, latest->memory, array)
      .with_context(fmt::format("output \"{}\"", interface_.outputs[output].name));
}

}  // namespace texloom::runtime
