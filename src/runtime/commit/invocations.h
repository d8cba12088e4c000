// The list of invocations of a plan, in order: for each, its encoder and the transition from the
// previous invocation. The list describes a plan before anything runs; texloom inspect shows it.
//
//     0  conv1             kernels  start
//     1  mine::softshrink  kernels  barrier      uses "y", which conv1 writes
//     2  mine::pool        native   new encoder  encodes itself
//     3  mine::sort        host     wait         runs on the host
//
// The host waits only before an invocation that runs on the host, or if the policy says so. An
// invocation of another device's queue is ordered by an event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/commit/policy.h"
#include "runtime/plan/plan.h"

namespace texloom::runtime {

// The transition before an invocation. From SameEncoder on, each transition costs more than the
// previous ones and includes their effects.
enum class Transition : std::uint8_t {
  Start,        // the first invocation
  SameEncoder,  // no dependence on running work
  Barrier,      // the device waits for running work
  NewEncoder,   // the encoder changes; the command buffer continues
  Commit,       // submits the recorded commands, and recording continues
  Event,        // another device's queue waits for the previous invocation
  Wait,         // the host waits for the device
};
std::string_view to_string(Transition transition);  // "start", "same encoder", …

// A step of the plan's outermost list that launches or calls something; or, around a part that runs
// on the host (plan/host_parts.h), a copy of a tensor to the host or back.
struct Invocation {
  std::size_t step = 0;       // index in the plan's outermost list
  std::string name;           // of the kernel or operator; "loop of conv1" for a loop
  std::int64_t launches = 1;  // for a loop, those of all iterations
  std::uint64_t bytes = 0;    // memory that the arguments name
  Encoding encoding = Encoding::Kernels;
  std::string device = {};  // set if the call runs on another device than the plan
  Transition transition = Transition::Start;
  std::string reason;  // the reason for this transition instead of a cheaper one
};

// `plan` is valid and has no symbols. Dependences are found from tensors and from the places of
// temporaries. `devices`, if not empty, names the devices of the plan's calls; "" stands for the
// plan's own device.
std::vector<Invocation> list_invocations(const LaunchPlan& plan, const CommitPolicy& policy,
                                         std::span<const std::string> devices = {});

}  // namespace texloom::runtime
