#include "apps/bench-hal/rows.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "apps/bench-hal/bare_queue.h"
#include "runtime/drivers/opencl/driver.h"
#include "runtime/hal/device.h"
#include "runtime/hal/transfer.h"

namespace texloom::bench_hal {

using namespace comparison;

namespace {

constexpr int kDispatches = 1000;  // per command buffer
constexpr int kLatencies = 100;    // dispatches per sample, each of which is waited for
constexpr int kGraph = 50;         // dispatches of a small graph
constexpr int kGraphRuns = 20;     // runs of the graph per sample
constexpr int kRequests = 10'000;  // to a pool
// The bytes that one sample copies, in several copies if necessary: a single copy of 64 MiB ends
// before a GPU reaches full speed.
constexpr std::uint64_t kCopied = std::uint64_t{512} << 20;
constexpr std::uint64_t kMostCopies = 1000;
constexpr std::uint64_t kLargestCopy = std::uint64_t{64} << 20;

using Commands = std::shared_ptr<hal::CommandBuffer>;

// A device with the empty kernel.
class Dispatcher {
 public:
  static Result<std::shared_ptr<Dispatcher>> create(std::shared_ptr<hal::Device> device) {
    auto made = std::make_shared<Dispatcher>();
    made->device_ = std::move(device);
    const hal::ExecutableDesc desc = {
        .codes = {{KernelFormat::OpenClC, kEmptyKernel, {}}},
        .entry_points = {{.name = "nothing",
                          .params = {hal::BufferParam{.name = "a", .min_bytes = kEmptyKernelBytes},
                                     hal::BufferParam{.name = "b",
                                                      .access = hal::Access::Write,
                                                      .min_bytes = kEmptyKernelBytes},
                                     hal::ConstantParam{.name = "n"}},
                          .workgroup_size = {kEmptyKernelItems, 1, 1}}}};
    TL_ASSIGN_OR_RETURN(made->executable_, made->device_->create_executable(desc));
    for (int i = 0; i < 2; ++i) {
      TL_ASSIGN_OR_RETURN(auto buffer, made->device_->create_buffer({.bytes = kEmptyKernelBytes}));
      made->bindings_[static_cast<std::size_t>(i)] =
          hal::BufferBinding{.buffer = std::move(buffer)};
    }
    return made;
  }

  hal::Device& device() const { return *device_; }

  Result<Commands> record(int dispatches, bool reusable) const {
    Commands commands = device_->create_command_buffer({.reusable = reusable});
    for (int i = 0; i < dispatches; ++i) {
      const std::array constants = {hal::Constant(std::int32_t{i})};
      TL_RETURN_IF_ERROR(commands->dispatch(executable_, 0, {1, 1, 1}, bindings_, constants));
    }
    TL_RETURN_IF_ERROR(commands->finish());
    return commands;
  }

  // Records dispatches whose buffers are in the submission's table, without barriers of the HAL.
  Result<hal::SubmittedCommands> record_graph(bool reusable) const {
    Commands commands =
        device_->create_command_buffer({.reusable = reusable, .barriers = hal::Barriers::Explicit});
    const std::array<hal::BindingRef, 2> slots = {hal::BindingSlot{0}, hal::BindingSlot{1}};
    for (int i = 0; i < kGraph; ++i) {
      const std::array constants = {hal::Constant(std::int32_t{i})};
      TL_RETURN_IF_ERROR(
          commands->dispatch_with_table(executable_, 0, {1, 1, 1}, slots, constants));
      TL_RETURN_IF_ERROR(commands->barrier());
    }
    TL_RETURN_IF_ERROR(commands->finish());
    return hal::SubmittedCommands(commands, {bindings_.begin(), bindings_.end()});
  }

  // Times the caller's work to submit `recorded` or, if it is null, to record and submit the graph,
  // behind a submission that waits. Nothing is woken and nothing runs meanwhile.
  Result<double> time_graph_submission(const hal::SubmittedCommands* recorded) const {
    const auto first = hal::Semaphore::create();
    TL_RETURN_IF_ERROR(device_->queue()->submit({.waits = {{first, 1}}}));
    const Result<double> time = nanoseconds_per_call(1, [&]() -> Status {
      if (recorded != nullptr) return device_->queue()->submit({.commands = {*recorded}});
      TL_ASSIGN_OR_RETURN(hal::SubmittedCommands commands, record_graph(false));
      return device_->queue()->submit({.commands = {std::move(commands)}});
    });
    TL_RETURN_IF_ERROR(first->signal(1));
    TL_RETURN_IF_ERROR(device_->queue()->wait_idle());
    return time;
  }

  Status submit_and_wait(const Commands& commands) const {
    return device_->queue()->run({.commands = {commands}});
  }

  Status run_anew(int dispatches) const {
    TL_ASSIGN_OR_RETURN(const Commands commands, record(dispatches, false));
    return submit_and_wait(commands);
  }

  // Times the caller's work to submit `recorded` or, if it is null, to record and submit a command
  // buffer. The wait afterwards is not measured.
  Result<double> time_submission(const Commands& recorded, int dispatches) const {
    Commands commands = recorded;
    const Result<double> time = nanoseconds_per_call(1, [&] {
      if (commands == nullptr) {
        TL_ASSIGN_OR_RETURN(commands, record(dispatches, false));
      }
      return device_->queue()->submit(commands);
    });
    TL_RETURN_IF_ERROR(device_->queue()->wait_idle());
    return time;
  }

 private:
  std::shared_ptr<hal::Device> device_;
  std::shared_ptr<hal::Executable> executable_;
  std::array<hal::Binding, 2> bindings_;
};

// An arm that times a call with kDispatches dispatches, in nanoseconds per dispatch.
template <typename Call>
Arm per_dispatch(const Call& call) {
  return [call]() -> Result<double> {
    TL_ASSIGN_OR_RETURN(const double time, nanoseconds_per_call(1, call));
    return time / kDispatches;
  };
}

// An arm that waits for each dispatch, in microseconds per dispatch.
template <typename Call>
Arm latency(const Call& call) {
  return [call]() -> Result<double> {
    TL_ASSIGN_OR_RETURN(const double time, nanoseconds_per_call(kLatencies, call));
    return time / 1000;
  };
}

Status add_dispatches(const std::shared_ptr<Dispatcher>& ours,
                      const std::shared_ptr<BareQueue>& bare, Rows& rows) {
  TL_ASSIGN_OR_RETURN(const Commands many, ours->record(kDispatches, true));
  TL_ASSIGN_OR_RETURN(const Commands one, ours->record(1, true));
  const Arm anew = per_dispatch([ours] { return ours->run_anew(kDispatches); });
  const Arm again = per_dispatch([ours, many] { return ours->submit_and_wait(many); });
  const Bar half = {Bar::Kind::RatioAtMost, 0.5};
  rows.comparisons.push_back({.name = "dispatch: recorded, submitted, done / bare loop",
                              .unit = "ns",
                              .ours = anew,
                              .peer = per_dispatch([bare] { return bare->run(kDispatches); }),
                              .bar = Bar{Bar::Kind::RatioAtMost, 1.1}});
  rows.comparisons.push_back({.name = "dispatch: submitted again, done / recorded anew",
                              .unit = "ns",
                              .ours = again,
                              .peer = anew,
                              .bar = half});
  rows.comparisons.push_back(
      {.name = "1,000 dispatches, the caller's time: submitted again / anew",
       .unit = "ns",
       .ours = [ours, many] { return ours->time_submission(many, kDispatches); },
       .peer = [ours] { return ours->time_submission(nullptr, kDispatches); },
       .bar = half});
  rows.comparisons.push_back({.name = "one dispatch until done: submitted again / bare",
                              .unit = "us",
                              .ours = latency([ours, one] { return ours->submit_and_wait(one); }),
                              .peer = latency([bare] { return bare->run(1); })});
  rows.comparisons.push_back({.name = "one dispatch until done: recorded anew / bare",
                              .unit = "us",
                              .ours = latency([ours] { return ours->run_anew(1); }),
                              .peer = latency([bare] { return bare->run(1); })});
  return {};
}

// A graph that is recorded once. Several complete runs are timed together, since one run is short.
Status add_graph(const std::shared_ptr<Dispatcher>& ours, const std::shared_ptr<BareQueue>& bare,
                 Rows& rows) {
  TL_ASSIGN_OR_RETURN(const hal::SubmittedCommands graph, ours->record_graph(true));
  TL_ASSIGN_OR_RETURN(const Commands plain, ours->record(kGraph, true));
  TL_RETURN_IF_ERROR(bare->preset(kGraph));
  const auto per_kernel = [](const auto& run) {
    return [run]() -> Result<double> {
      TL_ASSIGN_OR_RETURN(const double time, nanoseconds_per_call(kGraphRuns, run));
      return time / kGraph;
    };
  };
  rows.comparisons.push_back(
      {.name = "a graph of 50 dispatches, each: submitted again, done / bare loop",
       .unit = "ns",
       .ours =
           per_kernel([ours, graph] { return ours->device().queue()->run({.commands = {graph}}); }),
       .peer = per_kernel([bare] { return bare->run_preset(); }),
       .bar = Bar{Bar::Kind::RatioAtMost, 1.05}});
  rows.comparisons.push_back(
      {.name = "a graph of 50 dispatches, the caller's time: submitted again / anew",
       .unit = "ns",
       .ours = [ours, graph] { return ours->time_graph_submission(&graph); },
       .peer = [ours] { return ours->time_graph_submission(nullptr); },
       .bar = Bar{Bar::Kind::RatioAtMost, 0.1}});
  rows.comparisons.push_back(
      {.name = "the same, with waking the queue's thread",
       .unit = "ns",
       .ours = [ours, plain] { return ours->time_submission(plain, kGraph); },
       .peer = [ours] { return ours->time_submission(nullptr, kGraph); }});
  return {};
}

Status add_profile(hal::Driver& driver, const std::shared_ptr<Dispatcher>& plain, Rows& rows) {
  const auto profile = std::make_shared<hal::Profile>();
  TL_ASSIGN_OR_RETURN(auto device, driver.open_by_name(rows.device.id, {.profile = profile}));
  TL_ASSIGN_OR_RETURN(const auto profiled, Dispatcher::create(std::move(device)));
  const Arm with_profile = per_dispatch([profiled] { return profiled->run_anew(kDispatches); });
  rows.comparisons.push_back(
      {.name = "dispatch: with a profile / without",
       .unit = "ns",
       .ours =
           [with_profile, profile] {
             profile->clear();
             return with_profile();
           },
       .peer = per_dispatch([plain] { return plain->run_anew(kDispatches); })});
  return {};
}

Status add_command_buffer_extension(const std::shared_ptr<Dispatcher>& ours,
                                    const std::shared_ptr<BareQueue>& bare, Rows& rows) {
  auto made = bare->record(kDispatches, hal::opencl::DriverOptions().loader_paths);
  if (!made.ok()) {
    rows.left_out.push_back("dispatch by cl_khr_command_buffer: " + made.status().message());
    return {};
  }
  const std::shared_ptr<BareQueue::Recorded> recorded = *std::move(made);
  TL_ASSIGN_OR_RETURN(const Commands many, ours->record(kDispatches, true));
  const Arm extension = per_dispatch([bare, recorded] { return recorded->run(); });
  rows.comparisons.push_back(
      {.name = "dispatch: submitted again / cl_khr_command_buffer",
       .unit = "ns",
       .ours = per_dispatch([ours, many] { return ours->submit_and_wait(many); }),
       .peer = extension});
  rows.comparisons.push_back({.name = "dispatch: cl_khr_command_buffer / bare loop",
                              .unit = "ns",
                              .ours = extension,
                              .peer = per_dispatch([bare] { return bare->run(kDispatches); })});
  return {};
}

void add_pool(const std::shared_ptr<Dispatcher>& ours, Rows& rows) {
  if (!rows.device.features.images) {
    rows.left_out.emplace_back("workspace pool, a texture: the device has no images");
    return;
  }
  rows.comparisons.push_back(
      {.name = "workspace pool: a texture acquired and released",
       .unit = "ns",
       .ours = [ours]() -> Result<double> {
         hal::WorkspacePool& pool = ours->device().workspace_pool();
         const std::shared_ptr<hal::Queue>& queue = ours->device().queue();
         const auto request = [&]() -> Status {
           TL_ASSIGN_OR_RETURN(auto lease,
                               pool.acquire(queue, hal::TextureDesc{.extent = {64, 64}}));
           lease.release();
           return {};
         };
         TL_RETURN_IF_ERROR(request());
         const std::uint64_t allocations = pool.statistics().driver_allocations;
         const Result<double> time = nanoseconds_per_call(kRequests, request);
         if (pool.statistics().driver_allocations != allocations)
           return make_error(StatusCode::Internal, "the pool called the driver");
         return time;
       },
       .bar = Bar{Bar::Kind::OursAtMost, 1000}});
}

// Two buffers of a device.
struct Copier {
  std::shared_ptr<hal::Device> device;
  std::shared_ptr<hal::Buffer> source, target;

  static Result<Copier> create(std::shared_ptr<hal::Device> device) {
    Copier copier{.device = std::move(device), .source = {}, .target = {}};
    for (auto* buffer : {&copier.source, &copier.target}) {
      TL_ASSIGN_OR_RETURN(*buffer, copier.device->create_buffer({.bytes = kLargestCopy + 64}));
      const auto commands = copier.device->create_command_buffer();
      TL_RETURN_IF_ERROR(
          commands->fill(*buffer, 0, kLargestCopy + 64, std::array{std::byte{1}, std::byte{2}}));
      TL_RETURN_IF_ERROR(hal::run_and_wait(*copier.device, commands));
    }
    return copier;
  }

  // An arm in GB/s.
  Result<Arm> copying(std::uint64_t source_offset, std::uint64_t target_offset,
                      std::uint64_t bytes) const {
    const std::uint64_t copies = std::clamp<std::uint64_t>(kCopied / bytes, 1, kMostCopies);
    const Commands commands = device->create_command_buffer({.reusable = true});
    for (std::uint64_t i = 0; i < copies; ++i)
      TL_RETURN_IF_ERROR(
          commands->copy_buffer(source, source_offset, target, target_offset, bytes));
    TL_RETURN_IF_ERROR(commands->finish());
    const auto run = [queue = device->queue(), commands]() -> Status {
      TL_RETURN_IF_ERROR(queue->submit(commands));
      return queue->wait_idle();
    };
    return Arm([run, all = static_cast<double>(copies * bytes)]() -> Result<double> {
      TL_ASSIGN_OR_RETURN(const double time, nanoseconds_per_call(1, run));
      return all / time;
    });
  }
};

Status add_copies(const Copier& plain, const Copier& by_kernels, Rows& rows) {
  struct Size {
    const char* name;
    std::uint64_t bytes;
  };
  for (const Size& size : {Size{"64 KiB", std::uint64_t{64} << 10},
                           Size{"1 MiB", std::uint64_t{1} << 20}, Size{"64 MiB", kLargestCopy}}) {
    TL_ASSIGN_OR_RETURN(const Arm aligned, plain.copying(0, 0, size.bytes));
    TL_ASSIGN_OR_RETURN(const Arm unaligned, plain.copying(1, 2, size.bytes));
    TL_ASSIGN_OR_RETURN(const Arm kernels, by_kernels.copying(1, 2, size.bytes));
    rows.comparisons.push_back(
        {.name =
             fmt::format("copies of {} by kernels: unaligned / aligned, by the driver", size.name),
         .unit = "GB/s",
         .ours = kernels,
         .peer = aligned,
         .bar = Bar{Bar::Kind::RatioAtLeast, 0.5}});
    rows.comparisons.push_back(
        {.name = fmt::format("copies of {}, by the driver: unaligned / aligned", size.name),
         .unit = "GB/s",
         .ours = unaligned,
         .peer = aligned});
  }
  return {};
}

}  // namespace

Result<Rows> make_rows(std::string_view device) {
  constexpr std::string_view kScheme = "opencl://";
  if (device.starts_with(kScheme)) device.remove_prefix(kScheme.size());
  const std::vector<std::string> paths = hal::opencl::DriverOptions().loader_paths;
  TL_ASSIGN_OR_RETURN(const std::shared_ptr<const hal::opencl::Api> api,
                      hal::opencl::load_api(paths));
  TL_ASSIGN_OR_RETURN(const auto driver, hal::opencl::create_driver(api));
  TL_ASSIGN_OR_RETURN(auto opened, driver->open_by_name(device));
  Rows rows{.device = opened->info(), .comparisons = {}, .left_out = {}};

  TL_ASSIGN_OR_RETURN(const auto found, hal::opencl::find_devices(*api));
  const auto same = std::find_if(found.begin(), found.end(),
                                 [&](const auto& each) { return each.info->id == rows.device.id; });
  if (same == found.end()) return make_error(StatusCode::NotFound, "the device is gone");
  TL_ASSIGN_OR_RETURN(std::shared_ptr<BareQueue> bare, BareQueue::create(api, *same));
  TL_ASSIGN_OR_RETURN(const auto ours, Dispatcher::create(opened));
  TL_RETURN_IF_ERROR(add_dispatches(ours, bare, rows));
  TL_RETURN_IF_ERROR(add_graph(ours, bare, rows));
  TL_RETURN_IF_ERROR(add_command_buffer_extension(ours, bare, rows));
  TL_RETURN_IF_ERROR(add_profile(*driver, ours, rows));
  add_pool(ours, rows);

  TL_ASSIGN_OR_RETURN(const auto aligning,
                      hal::opencl::create_driver(api, {.transfer_alignment = 4}));
  TL_ASSIGN_OR_RETURN(auto aligned_device, aligning->open_by_name(rows.device.id));
  TL_ASSIGN_OR_RETURN(const Copier plain, Copier::create(opened));
  TL_ASSIGN_OR_RETURN(const Copier by_kernels, Copier::create(std::move(aligned_device)));
  TL_RETURN_IF_ERROR(add_copies(plain, by_kernels, rows));
  return rows;
}

}  // namespace texloom::bench_hal
