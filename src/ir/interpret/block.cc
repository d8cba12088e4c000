#include "ir/interpret/block.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/interpret/stepper.h"

namespace texloom::ir {
namespace {

// A thread is not movable: its parts refer to each other.
struct Thread {
  Thread(LaunchState& launch, const ThreadId& id, Bindings& shared, ObjectHistories& block)
      : runner(launch.run, launch.kernel.name, id),
        view{&launch.memory, &shared, {}, &launch.histories, &block},
        evaluator(runner, view),
        stepper(launch.kernel.body, runner, view, evaluator) {
    for (const KernelParam& param : launch.kernel.params) {
      if (param.scalar) evaluator.bind(param.scalar, launch.plan.value_of(param.scalar));
    }
    for (const ThreadAxis& axis : launch.kernel.axes) {
      evaluator.bind(axis.var, (axis.tag.block ? id.block : id.thread)[axis.tag.dim]);
    }
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  Runner runner;
  View view;
  Evaluator evaluator;
  Stepper stepper;
  Stepper::Halt halt = Stepper::Halt::End;
};

using Threads = std::vector<std::unique_ptr<Thread>>;

std::string_view name_of(Stepper::Halt halt) {
  return halt == Stepper::Halt::Shuffle     ? "shuffle"
         : halt == Stepper::Halt::LastBlock ? "ticket"
                                            : "barrier";
}

// Whether all threads have halted at the same statement. If not, reports this for the first thread
// that waits.
bool agree(Threads& threads, const Kernel& kernel) {
  const auto waits = [](const Thread& t) { return t.halt != Stepper::Halt::End; };
  Thread* first = nullptr;
  for (const auto& thread : threads) {
    if (first == nullptr && waits(*thread)) first = thread.get();
  }
  if (first == nullptr) return true;
  for (const auto& thread : threads) {
    const bool ended = !waits(*thread);
    if (!ended && first->stepper.is_where(thread->stepper)) continue;
    const StmtNode& place = first->stepper.halted_at();
    const bool same = !ended && &thread->stepper.halted_at() == &place;
    const std::string_view what = name_of(first->halt);
    const std::string elsewhere = ended  ? "has come to the end of " + kernel.name
                                  : same ? "waits there in another iteration"
                                  : thread->halt == first->halt
                                      ? fmt::format("waits at another {}", what)
                                      : fmt::format("waits at a {}", name_of(thread->halt));
    first->runner.report(ReportKind::Divergence, &place, place.location, [&] {
      return fmt::format("it waits at a {}, and {} {}", what, to_string(*thread->runner.id()),
                         elsewhere);
    });
    return false;
  }
  return true;
}

// Gives every thread the value of the thread whose number is larger by the offset. All threads are
// at the same shuffle.
void shuffle(Threads& threads) {
  const auto& n = static_cast<const Shuffle&>(threads.front()->stepper.halted_at());
  std::vector<Value> values;
  for (const auto& thread : threads) values.push_back(thread->evaluator.evaluate(n.value));
  const auto count = static_cast<int64_t>(threads.size());
  for (int64_t number = 0; number < count; ++number) {
    Thread& thread = *threads[static_cast<size_t>(number)];
    const int64_t other =
        number + thread.evaluator.evaluate_decision(n.offset, &n, n.location, "the offset is");
    const bool is_there = other >= 0 && other < count && other / n.width == number / n.width;
    Value value{n.var->type, {}};
    if (is_there) {
      value = values[static_cast<size_t>(other)];
    } else {
      const Scalar none{.undefined = thread.runner.note_undefined(&n, 0, n.location, [] {
        return "it is shuffled from outside of the SIMD-group";
      })};
      value.lanes.fill(none, n.var->type.lanes);
    }
    thread.evaluator.bind(n.var, value);
  }
}

// Takes the block's ticket. All threads are at the same LastBlock.
void take_ticket(Threads& threads, LaunchState& launch) {
  Thread& first = *threads.front();
  const auto& n = static_cast<const LastBlock&>(first.stepper.halted_at());
  const auto number = [&](const Expr& e, const char* what) {
    return first.evaluator.evaluate_decision(e, &n, n.location, what);
  };
  const Memory* counters = launch.memory.at(n.counters.get()).memory.get();
  Tickets& group = launch.tickets[{counters, number(n.index, "the index of the counter is")}];
  group.emplace(first.runner.id()->block, first.runner.barriers_passed());
  const bool is_last =
      static_cast<int64_t>(group.size()) == number(n.count, "the number of blocks is");
  for (const auto& thread : threads) {
    thread->runner.pass_barrier();
    if (is_last) thread->runner.enter_last_block(group);
    thread->stepper.enter_last_block(is_last);
  }
}

}  // namespace

void run_block(LaunchState& launch, const std::array<int64_t, 3>& block) {
  Bindings shared;
  ObjectHistories histories;
  Threads threads;
  const auto& [nx, ny, nz] = launch.kernel.block;
  for (int64_t z = 0; z < nz; ++z) {
    for (int64_t y = 0; y < ny; ++y) {
      for (int64_t x = 0; x < nx; ++x) {
        launch.run.steps.take(1, launch.kernel.location);
        threads.push_back(
            std::make_unique<Thread>(launch, ThreadId{block, {x, y, z}}, shared, histories));
      }
    }
  }
  do {
    for (const auto& thread : threads) thread->halt = thread->stepper.advance();
    if (!agree(threads, launch.kernel)) return;
    if (threads.front()->halt == Stepper::Halt::Shuffle) {
      shuffle(threads);
    } else if (threads.front()->halt == Stepper::Halt::LastBlock) {
      take_ticket(threads, launch);
    } else {
      for (const auto& thread : threads) thread->runner.pass_barrier();
    }
  } while (threads.front()->halt != Stepper::Halt::End);
}

}  // namespace texloom::ir
