// Tasks: the operators of graphs as they are scheduled, measured and tuned, each without its graph.
//
// A task has all facts that decide which kernels an operator may have, and which kernel is fast: a
// computation, where its operands are stored, and a target. A task does not depend on the graph:
// equal operators of several networks are one task. A task has a text form (docs/text_form.md) and
// an identity, under which tuners can store measurements.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/computation.h"
#include "graph/graph.h"
#include "ir/target/target.h"

namespace texloom::graph {

// Where a tensor that a task reads or writes may be stored.
enum class OperandStorage : std::uint8_t {
  Any,       // in the storage for which the whole graph costs least
  RowMajor,  // in a row-major buffer, as it is an input or an output of the graph
  Constant,  // in any storage that the kernel needs: values are packed at compile time
};
std::string_view to_string(OperandStorage storage);  // "row_major"

struct Task {
  SharedComputation computation;         // uses the types in which operands are stored
  std::vector<OperandStorage> operands;  // one for each input, then for each output
  bool textures = false;                 // whether textures are possible storages
  ir::Target target;
};

// The caller's decisions for all tasks of a graph.
struct TaskRules {
  bool textures = false;
  // The names of outputs that kernels may store in any storage: a conversion makes them row-major.
  std::set<std::string> open_outputs = {};
};

// The task of an operator with a computation.
Task task_of(const Graph& graph, const Node& node, const TaskRules& rules);

// "task target="opencl" operands=(row_major, constant, any)", then the computation.
std::string to_string(const Task& task);
// The inverse of to_string(). Throws a UserError with SyntaxError or BadText.
Task parse_task(std::string_view text, std::string_view file);

// A digest of the task's text, as 32 hexadecimal digits. The digest is equal in all processes, and
// in all versions of Texloom that print equal texts. Locations in the user's program do not matter.
// The target's processor is named: "llvm -mcpu=native" stands for another one on another machine.
// Fails with UnknownTarget where this needs the LLVM plug-in, and it is not there.
std::string identity(const Task& task);

}  // namespace texloom::graph
