#include "runtime/parts/host_part.h"

#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/custom/prepared_calls.h"
#include "runtime/custom/tensor_copies.h"
#include "runtime/executor/executor.h"
#include "runtime/package/package_file.h"
#include "runtime/plan/host_parts.h"

namespace texloom::runtime {
namespace {

// Memory of the program that the host's device uses, too: of whole cache lines.
struct SharedArray {
  static constexpr std::align_val_t kAlignment{128};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };

  static Result<SharedArray> make(hal::Device& host, std::uint64_t bytes) {
    SharedArray made;
    auto* memory = static_cast<std::byte*>(
        ::operator new(static_cast<std::size_t>(bytes), kAlignment, std::nothrow));
    if (memory == nullptr)
      return make_error(StatusCode::OutOfMemory, "no host memory for {} bytes", bytes);
    const std::shared_ptr<std::byte> owned(memory, Free());
    made.bytes = {memory, static_cast<std::size_t>(bytes)};
    TL_ASSIGN_OR_RETURN(made.buffer,
                        host.allocator()->import({.memory = made.bytes, .release = [owned] {}}));
    return made;
  }

  std::shared_ptr<hal::Buffer> buffer;  // keeps the memory
  std::span<std::byte> bytes;
};

// The state that the recorded calls of one part share.
class PartState {
 public:
  PartState(std::string name, PrepareContext& context, std::size_t reads)
      : name_(std::move(name)),
        device_(context.device),
        transfers_(context.transfers),
        reads_(reads) {}

  Status load(const std::shared_ptr<hal::Device>& host, std::shared_ptr<const PackageFile> file,
              const GraphOptions& options, std::span<const TensorSpec> tensors) {
    TL_ASSIGN_OR_RETURN(LoadedGraph graph, load_graph(host, std::move(file), options));
    const std::vector<TensorSpec> own = graph.program->plan().arguments;
    const GraphInterface ports = graph.interface;
    TL_ASSIGN_OR_RETURN(executor_,
                        Executor::create(std::move(graph.program), std::move(graph.interface)));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const bool is_read = i < reads_;
      const GraphPort& port = is_read ? ports.inputs[i] : ports.outputs[i - reads_];
      const std::uint64_t bytes = bytes_of(tensors[i].storage);
      if (port.argument && !fits(own[*port.argument], bytes))
        return invalid_argument("\"{}\" has {} bytes, but the part has another size for it",
                                port.name, bytes);
      TL_ASSIGN_OR_RETURN(SharedArray array, SharedArray::make(*host, bytes));
      const hal::BufferBinding memory{array.buffer};
      const auto number = static_cast<std::uint32_t>(is_read ? i : i - reads_);
      if (is_read) {
        if (port.argument) TL_RETURN_IF_ERROR(executor_->bind_input(number, memory));
      } else {
        TL_RETURN_IF_ERROR(executor_->bind_output(number, memory));
      }
      arrays_.push_back(std::move(array));
    }
    return {};
  }

  // Copies what the part reads to the host, runs the part, and copies what it writes back.
  Status run(std::span<const hal::Binding> memory) {
    // The device may be gone, because the queue that makes this call does not keep it open.
    const auto device = device_.lock();
    if (device == nullptr)
      return make_error(StatusCode::Unavailable, "the device was released before the call");
    const std::lock_guard lock(running_);
    TensorCopies reads(*device, transfers_);
    for (std::size_t i = 0; i < reads_; ++i)
      TL_RETURN_IF_ERROR(reads.read(std::get<hal::BufferBinding>(memory[i]), arrays_[i].bytes));
    TL_RETURN_IF_ERROR(reads.run());
    TL_RETURN_IF_ERROR(executor_->run());
    TensorCopies writes(*device, transfers_);
    for (std::size_t i = reads_; i < arrays_.size(); ++i)
      TL_RETURN_IF_ERROR(writes.write(std::get<hal::BufferBinding>(memory[i]), arrays_[i].bytes));
    return writes.run();
  }

  const std::string& name() const { return name_; }

 private:
  static bool fits(const TensorSpec& tensor, std::uint64_t bytes) {
    const auto* buffer = std::get_if<BufferStorage>(&tensor.storage);
    return buffer != nullptr && buffer->bytes == bytes && tensor.layout.is_row_major();
  }

  std::string name_;
  std::weak_ptr<hal::Device> device_;
  std::shared_ptr<hal::Queue> transfers_;
  std::size_t reads_;  // the first arguments, which the part reads
  std::mutex running_;
  std::unique_ptr<Executor> executor_;  // guarded by running_
  std::vector<SharedArray> arrays_;     // by argument; guarded by running_
};

class PreparedPart final : public PreparedCall {
 public:
  explicit PreparedPart(std::shared_ptr<PartState> state) : state_(std::move(state)) {}

  Status encode(const EncodeContext& context) const override {
    return context.commands.host_call_with_table(
        context.tensors, [state = state_](const hal::HostCallMemory& memory) {
          return state->run(memory.named).with_context(state->name());
        });
  }

 private:
  std::shared_ptr<PartState> state_;
};

class HostPart final : public CustomOperator {
 public:
  HostPart(const OperatorCall& call, std::shared_ptr<const PackageFile> file,
           OperatorRegistry operators, std::shared_ptr<hal::Device> host)
      : file_(std::move(file)), operators_(std::move(operators)), host_(std::move(host)) {
    info_.name = call.op;
    info_.version = call.version;
    info_.device = OperatorDevice::Host;
    info_.attributes = {{.name = std::string(kHostPartTarget), .type = AttributeType::Text}};
    for (std::size_t i = 0; i < call.accesses.size(); ++i)
      info_.arguments.push_back({.name = "tensor" + std::to_string(i),
                                 .access = call.accesses[i],
                                 .storage = ArgumentStorage::Buffer});
  }

  const OperatorInfo& info() const override { return info_; }

  Result<std::vector<TensorType>> shapes(std::span<const TensorType>,
                                         const Attributes&) const override {
    return make_error(StatusCode::Unimplemented, "only a compiled graph calls \"{}\"", info_.name);
  }

  Result<std::unique_ptr<PreparedCall>> prepare(PrepareContext& context) const override {
    const Package& package = file_->package();
    for (const TensorSpec& tensor : context.tensors) {
      if (!tensor.layout.is_row_major())
        return invalid_argument("\"{}\" is not in row-major order", tensor.name);
    }
    GraphOptions options;
    options.prepare_calls = prepare_with_host_parts(operators_, {});
    const auto state = std::make_shared<PartState>(info_.name, context, package.inputs.size());
    TL_RETURN_IF_ERROR(state->load(host_, file_, options, context.tensors));
    return std::unique_ptr<PreparedCall>(std::make_unique<PreparedPart>(state));
  }

 private:
  OperatorInfo info_;
  std::shared_ptr<const PackageFile> file_;
  OperatorRegistry operators_;
  std::shared_ptr<hal::Device> host_;
};

// Whether the call reads the package's inputs, and then writes its outputs.
bool has_arguments_of(const OperatorCall& call, const Package& package) {
  if (call.accesses.size() != package.inputs.size() + package.outputs.size()) return false;
  for (std::size_t i = 0; i < call.accesses.size(); ++i) {
    const bool is_read = i < package.inputs.size();
    if (call.accesses[i] != (is_read ? hal::Access::Read : hal::Access::Write)) return false;
  }
  return true;
}

Result<std::shared_ptr<const CustomOperator>> part_of(const OperatorCall& call,
                                                      const OperatorRegistry& operators,
                                                      const std::shared_ptr<hal::Device>& host) {
  // Whoever took the package from a file said whether its native code is taken (kernel_policy.h).
  TL_ASSIGN_OR_RETURN(auto file,
                      PackageFile::open(call.payload, {.kernels = {.takes_native = true}}));
  const Package& package = file->package();
  if (!package.symbols.empty())
    return invalid_argument("the part's sizes depend on the call, which parts do not support");
  if (!has_arguments_of(call, package))
    return invalid_argument("the part has {} inputs and {} outputs, which the call does not give",
                            package.inputs.size(), package.outputs.size());
  return std::shared_ptr<const CustomOperator>(
      std::make_shared<HostPart>(call, std::move(file), operators, host));
}

}  // namespace

Status add_host_parts(OperatorRegistry& registry, const LaunchPlan& plan,
                      const std::shared_ptr<hal::Device>& host) {
  if (host == nullptr) return invalid_argument("the device for the parts on the host is null");
  const OperatorRegistry own = registry;
  for (const OperatorCall& call : plan.calls) {
    if (!is_host_part(call)) continue;
    auto part = part_of(call, own, host);
    if (!part.ok()) return part.status().with_context(call.op);
    TL_RETURN_IF_ERROR(registry.add(*part));
  }
  return {};
}

decltype(GraphOptions::prepare_calls) prepare_with_host_parts(OperatorRegistry registry,
                                                              OpenHost open_host) {
  return [registry = std::move(registry), open_host = std::move(open_host)](
             const std::shared_ptr<hal::Device>& device,
             const LaunchPlan& plan) -> Result<std::shared_ptr<CallRecorder>> {
    OperatorRegistry all = registry;
    if (has_host_parts(plan) && open_host) {
      TL_ASSIGN_OR_RETURN(const auto host, open_host());
      TL_RETURN_IF_ERROR(add_host_parts(all, plan, host));
    }
    TL_ASSIGN_OR_RETURN(auto calls, prepare_calls(all, plan, device));
    return std::shared_ptr<CallRecorder>(std::move(calls));
  };
}

}  // namespace texloom::runtime
