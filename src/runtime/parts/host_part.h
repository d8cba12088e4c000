// Runs the parts of a plan that are for the host (plan/host_parts.h), with a device of the driver
// `host`.
//
//     GraphOptions options;
//     options.prepare_calls = prepare_with_host_parts(registry, [] { return driver->open(0); });
#pragma once

#include <functional>
#include <memory>

#include "runtime/custom/operator_registry.h"
#include "runtime/executor/load_graph.h"
#include "runtime/hal/device.h"
#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Opens the device of the driver `host`. Called only for plans that have parts for it.
using OpenHost = std::function<Result<std::shared_ptr<hal::Device>>()>;

// Adds an operator for each part of the plan. `registry` also has the operators that the parts
// themselves call, which must be functions on the host. The errors name the part: InvalidArgument
// for a payload that is no package, or whose inputs and outputs are not those of the call.
Status add_host_parts(OperatorRegistry& registry, const LaunchPlan& plan,
                      const std::shared_ptr<hal::Device>& host);

// GraphOptions::prepare_calls for the user's operators, and for parts on the host.
decltype(GraphOptions::prepare_calls) prepare_with_host_parts(OperatorRegistry registry,
                                                              OpenHost open_host);

}  // namespace texloom::runtime
