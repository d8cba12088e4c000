// Schedules the operators of a graph: gives each its alternatives.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/task.h"
#include "support/function_ref.h"

namespace texloom::graph {

// Returns the alternatives of a task (graph/task.h); the names of their programs do not matter.
// `first` is one of the nodes that have this task, for messages.
using Scheduler = FunctionRef<std::vector<Alternative>(const Task& task, const Node& first)>;
// Called before each operator: `done` of `all` have alternatives.
using ScheduleProgress = FunctionRef<void(std::size_t done, std::size_t all)>;

// The alternatives, with kernels named after the operator: "Conv_Relu" for "Conv+Relu", and "node"
// if the operator's name cannot be the name of a kernel.
std::vector<Alternative> named_after(std::string_view op, std::vector<Alternative> alternatives);

// Gives alternatives to all operators that have a computation, and no alternatives yet. Calls the
// scheduler once for each task. Kernels are named after the operators that they compute. Returns
// how many operators have each task, by the tasks' texts.
std::map<std::string, std::size_t> schedule_operators(Graph& graph, const TaskRules& rules,
                                                      Scheduler scheduler,
                                                      ScheduleProgress progress);

}  // namespace texloom::graph
