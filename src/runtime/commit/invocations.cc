#include "runtime/commit/invocations.h"

#include <algorithm>
#include <utility>

#include "runtime/commit/commit_counter.h"
#include "runtime/plan/accesses.h"
#include "runtime/plan/host_parts.h"
#include "runtime/plan/launch_count.h"

namespace texloom::runtime {
namespace {

// The name of the first launch or call in the step; empty if there is none.
std::string first_name(const LaunchPlan& plan, const Step& step) {
  if (const auto* launch = std::get_if<LaunchStep>(&step))
    return plan.kernels[launch->kernel].entry.name;
  if (const auto* call = std::get_if<CallStep>(&step)) return plan.calls[call->call].op;
  if (const auto* loop = std::get_if<LoopStep>(&step)) {
    for (const Step& inner : loop->body) {
      const std::string name = first_name(plan, inner);
      if (!name.empty()) return name.starts_with("loop of ") ? name : "loop of " + name;
    }
  }
  return {};
}

class Lister {
 public:
  Lister(const LaunchPlan& plan, const CommitPolicy& policy, std::span<const std::string> devices)
      : plan_(plan), devices_(devices), counter_(policy) {}

  std::vector<Invocation> run() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      Invocation invocation;
      invocation.name = first_name(plan_, plan_.steps[i]);
      if (invocation.name.empty()) continue;
      invocation.step = i;
      add(plan_.steps[i], std::move(invocation));
    }
    return std::move(list_);
  }

 private:
  struct Running {
    std::size_t invocation;
    std::vector<TensorAccess> accesses;
  };

  void add(const Step& step, Invocation next) {
    std::vector<TensorAccess> accesses;
    add_accesses(plan_, step, accesses);
    for (const TensorAccess& each : accesses)
      next.bytes += bytes_of(tensor_of(plan_, each.tensor).storage);
    if (const auto* call = std::get_if<CallStep>(&step)) {
      next.encoding = plan_.calls[call->call].encoding;
      if (!devices_.empty()) next.device = devices_[call->call];
    }
    if (std::holds_alternative<LoopStep>(step)) {
      const Result<std::int64_t> launches = launches_of({&step, 1});
      next.launches = launches.ok() ? *launches : kMaxLaunches;
    }
    const auto* call = std::get_if<CallStep>(&step);
    const bool is_part = call != nullptr && is_host_part(plan_.calls[call->call]);
    if (is_part) add_copies(step, accesses, next.step, /*to_host=*/true);
    const std::size_t number = next.step;
    append(step, std::move(next), accesses);
    if (is_part) add_copies(step, accesses, number, /*to_host=*/false);
  }

  // Lists the copies of the tensors that a part on the host reads, or of those that it writes.
  void add_copies(const Step& step, const std::vector<TensorAccess>& accesses, std::size_t number,
                  bool to_host) {
    for (const TensorAccess& each : accesses) {
      if (hal::writes(each.access) == to_host) continue;
      const TensorSpec& tensor = tensor_of(plan_, each.tensor);
      Invocation copy;
      copy.step = number;
      copy.name = fmt::format("copy {} to the {}", tensor.name, to_host ? "host" : "device");
      copy.bytes = bytes_of(tensor.storage);
      copy.encoding = Encoding::Host;
      decide(step, copy, {});
      if (copy.transition != Transition::SameEncoder) running_.clear();
      list_.push_back(std::move(copy));
    }
  }

  void append(const Step& step, Invocation next, std::vector<TensorAccess> accesses) {
    decide(step, next, accesses);
    if (next.transition != Transition::SameEncoder) running_.clear();
    const bool is_call = std::holds_alternative<CallStep>(step);
    if (counter_.full(is_call)) counter_.commit();
    counter_.add(next.launches, next.bytes, is_call);
    running_.push_back({list_.size(), std::move(accesses)});
    list_.push_back(std::move(next));
  }

  void decide(const Step& step, Invocation& next, const std::vector<TensorAccess>& accesses) const {
    const auto set = [&](Transition transition, std::string reason) {
      next.transition = transition;
      next.reason = std::move(reason);
    };
    if (list_.empty()) return set(Transition::Start, "the first one");
    const Invocation& last = list_.back();
    const bool was_on_host = last.encoding == Encoding::Host;
    if (next.encoding == Encoding::Host)
      return was_on_host ? set(Transition::SameEncoder, "the host runs one after another")
                         : set(Transition::Wait, "runs on the host");
    if (was_on_host) return set(Transition::Start, "the host has run what comes before");
    if (next.device != last.device)
      return set(Transition::Event,
                 fmt::format("runs on another device, {}",
                             next.device.empty() ? "that of the program" : next.device));
    if (const auto limit = counter_.full(std::holds_alternative<CallStep>(step)))
      return set(*limit == CommitLimit::Waits ? Transition::Wait : Transition::Commit,
                 reason_of(*limit));
    if (next.encoding != last.encoding || next.encoding == Encoding::Native)
      return set(Transition::NewEncoder, next.encoding == Encoding::Native
                                             ? "encodes itself"
                                             : "the one before it encoded itself");
    std::string dependence = find_dependence(accesses);
    if (!dependence.empty()) return set(Transition::Barrier, std::move(dependence));
    set(Transition::SameEncoder, "depends on nothing that runs");
  }

  std::string reason_of(CommitLimit limit) const {
    switch (limit) {
      case CommitLimit::FirstLaunches:
        return fmt::format("the first submission ends after {} launches", counter_.launches());
      case CommitLimit::Launches:
        return fmt::format("{} launches are recorded", counter_.launches());
      case CommitLimit::Waits:
        return "the policy waits here";
      default:
        return fmt::format("the recorded launches name {} bytes", counter_.bytes());
    }
  }

  // The reason why the accesses must wait for running invocations; empty if they need not wait.
  std::string find_dependence(const std::vector<TensorAccess>& accesses) const {
    for (auto running = running_.rbegin(); running != running_.rend(); ++running) {
      const std::string& name = list_[running->invocation].name;
      for (const TensorAccess& now : accesses) {
        for (const TensorAccess& then : running->accesses) {
          if (!are_ordered(plan_, then, now)) continue;
          const std::string& tensor = tensor_of(plan_, now.tensor).name;
          if (now.tensor != then.tensor)
            return fmt::format("\"{}\" is where {} has \"{}\"", tensor, name,
                               tensor_of(plan_, then.tensor).name);
          return hal::writes(then.access)
                     ? fmt::format("uses \"{}\", which {} writes", tensor, name)
                     : fmt::format("writes \"{}\", which {} reads", tensor, name);
        }
      }
    }
    return {};
  }

  const LaunchPlan& plan_;
  std::span<const std::string> devices_;
  CommitCounter counter_;
  std::vector<Invocation> list_;
  std::vector<Running> running_;  // since the last transition other than SameEncoder
};

}  // namespace

std::string_view to_string(Transition transition) {
  switch (transition) {
    case Transition::Start:
      return "start";
    case Transition::SameEncoder:
      return "same encoder";
    case Transition::Barrier:
      return "barrier";
    case Transition::NewEncoder:
      return "new encoder";
    case Transition::Commit:
      return "commit";
    case Transition::Event:
      return "event";
    default:
      return "wait";
  }
}

std::vector<Invocation> list_invocations(const LaunchPlan& plan, const CommitPolicy& policy,
                                         std::span<const std::string> devices) {
  return Lister(plan, policy, devices).run();
}

}  // namespace texloom::runtime
