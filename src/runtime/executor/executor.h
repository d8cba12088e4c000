// Runs a graph: inputs and outputs by name, around a program on a device.
//
//     auto graph = *load_graph(device, *PackageFile::open("net.tlp"));  // load_graph.h
//     auto executor = *Executor::create(graph.program, graph.interface);
//     executor->set_input(*executor->find_input("image"), pixels);
//     executor->run();
//     executor->get_output(0, scores);
//
// Threads: an executor is used by one thread at a time. Threads that run the same graph have an
// executor each, made of one program: they share its kernels and constants, and, if they use one
// queue, the memory of temporaries, since their runs then follow one another. Executors with queues
// of their own run at the same time, each with temporaries of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/executor/device_program.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/queue.h"
#include "runtime/hal/semaphore.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/symbols.h"
#include "support/status.h"

namespace texloom::runtime {

// An input or an output of a graph.
struct GraphPort {
  std::string name;
  // The plan's argument; nullopt for an input that nothing reads.
  std::optional<std::uint32_t> argument = {};
};
// An argument may be an input and an output: it is then updated in place.
struct GraphInterface {
  std::vector<GraphPort> inputs;
  std::vector<GraphPort> outputs;  // each has an argument
};

// Runs are recorded once and submitted again (DeviceProgram), so a second run with the same sizes
// allocates no memory.
class Executor {
 public:
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // InvalidArgument if the interface does not fit the program's plan. `queue` is one of the
  // program's device; null for its default queue.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<DeviceProgram> program,
                                                  GraphInterface interface,
                                                  std::shared_ptr<hal::Queue> queue = {});

  const std::shared_ptr<DeviceProgram>& program() const { return program_; }
  const GraphInterface& interface() const { return interface_; }

  // The numbers of an input, an output and a scalar, as other functions take them. NotFound,
  // listing the names.
  Result<std::uint32_t> find_input(std::string_view name) const;
  Result<std::uint32_t> find_output(std::string_view name) const;
  Result<std::uint32_t> find_scalar(std::string_view name) const;

  // Sets the shape of an input whose shape depends on the call. For any other input,
  // InvalidArgument unless the shape is the fixed one. Call this before set_input() for the same
  // input. Shapes without elements are InvalidArgument.
  Status set_shape(std::uint32_t input, std::span<const std::int64_t> shape);
  // Enqueues a copy of a row-major array into memory of the executor, without waiting.
  // InvalidArgument for a wrong number of bytes or an unknown shape.
  Status set_input(std::uint32_t input, std::span<const std::byte> array);
  // Like set_input(), but runs read the array itself if in_place() (plan/tensor_transfer.h) can use
  // it. `owner`, which keeps the array alive, is then held until the input is set again.
  Status lend_input(std::uint32_t input, std::span<const std::byte> array,
                    std::shared_ptr<const void> owner);
  // Lets runs write the output into the array if in_place() can use it; returns whether they do.
  Result<bool> lend_output(std::uint32_t output, std::span<std::byte> array,
                           std::shared_ptr<const void> owner);
  // Lets go of lent arrays of outputs. The outputs of the latest run are then unknown here.
  void end_loans();
  // Uses the caller's memory at each run: a buffer with an offset, or a texture, which may be
  // larger than the tensor, with an origin. The runs keep the memory alive. submit() checks whether
  // it fits.
  Status bind_input(std::uint32_t input, hal::Binding memory);
  Status bind_output(std::uint32_t output, hal::Binding memory);
  // Sets the value of plan().scalars[scalar]. Fails with InvalidArgument if the type differs.
  Status set_scalar(std::uint32_t scalar, const hal::Constant& value);

  // Runs the graph and waits. The first error of earlier work of the queue is returned, too.
  Status run();
  // Runs the graph behind earlier work of the queue and `waits`, without waiting on the host; see
  // DeviceProgram::run() for `signals` and errors. Outputs that are not bound are in memory of the
  // executor, which the next run overwrites. InvalidArgument, naming the fault: an input or a
  // scalar that was not set; shapes that do not agree; an output bound over an input or another
  // output. A caller that waits for the queue next says so (`is_awaited`): no thread wakes up then.
  Status submit(std::vector<hal::TimelinePoint> waits = {},
                std::vector<hal::TimelinePoint> signals = {}, bool is_awaited = false);

  // The following functions describe the latest submitted run, even if inputs or memory were set
  // since. After a run that was refused or failed they are InvalidArgument, as before the first.

  // The shape of the output, and the bytes of its row-major array. InvalidArgument before the first
  // run if the shape depends on the call.
  Result<Shape> output_shape(std::uint32_t output) const;
  Result<std::uint64_t> output_bytes(std::uint32_t output) const;
  // Copies the elements into a row-major array, when earlier work of the queue is complete.
  // InvalidArgument before the first run.
  Status get_output(std::uint32_t output, std::span<std::byte> array);

  // The memory of the output. InvalidArgument before the first run.
  Result<hal::Binding> output(std::uint32_t output) const;

 private:
  // The state of one argument of the plan.
  struct Argument {
    TensorSpec tensor;           // the plan's tensor, with its size once known
    std::optional<Shape> shape;  // nullopt if it is not known
    std::optional<hal::Binding> memory = {};
    bool is_own = false;   // the memory
    bool is_lent = false;  // the memory, for the time of a run
    bool is_set = false;   // whether the memory of an input has values of this shape
  };
  // The place to which a run writes an output.
  struct Output {
    TensorSpec tensor;  // with a known size
    hal::Binding memory;
  };

  Executor(std::shared_ptr<DeviceProgram> program, GraphInterface interface,
           std::shared_ptr<hal::Queue> queue);
  Result<Argument*> argument(const std::vector<GraphPort>& ports, std::uint32_t port,
                             std::string_view kind);
  Status check_output(std::uint32_t output) const;
  Result<const TensorSpec*> tensor_of_output(std::uint32_t output) const;
  Result<const Output*> latest_output(std::uint32_t output) const;
  Status submit_checked(std::vector<hal::TimelinePoint> waits,
                        std::vector<hal::TimelinePoint> signals, bool is_awaited);
  void keep_outputs();
  void drop_outputs();
  bool is_updated(std::uint32_t argument) const;
  bool is_input(std::uint32_t argument) const;
  Status allocate_own(Argument& argument);
  Status resolve_sizes();
  Status check_inputs() const;
  Status check_scalars() const;
  Status bind_all();
  Status check_aliases() const;
  std::string describe(std::size_t argument) const;

  std::shared_ptr<DeviceProgram> program_;
  GraphInterface interface_;
  std::shared_ptr<hal::Queue> queue_;
  std::vector<Argument> arguments_;  // of the plan
  std::vector<hal::Constant> scalars_;
  std::vector<bool> scalar_is_set_;
  std::vector<std::int64_t> symbols_;   // of the current run
  std::vector<hal::Binding> bindings_;  // of the current run, by argument
  std::vector<Output> outputs_;         // of the latest run; empty before the first
  bool shapes_changed_ = true;          // since symbols_ were found
  bool memory_changed_ = true;          // memory or its sizes, since the latest run
  bool has_failed_ = false;             // the latest run
};

}  // namespace texloom::runtime
