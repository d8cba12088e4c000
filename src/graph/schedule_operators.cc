#include "graph/schedule_operators.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "support/identifiers.h"

namespace texloom::graph {
namespace {

// "Conv_Relu" for a fused operator "Conv+Relu"; "node" if the result cannot be a kernel's name.
std::string kernel_name(std::string_view op) {
  std::string name(op);
  std::ranges::replace(name, '+', '_');
  return is_identifier(name) ? name : "node";
}

std::vector<Alternative> with_name(std::vector<Alternative> alternatives, const std::string& name) {
  for (Alternative& each : alternatives) {
    if (!each.program || each.program->program.name == name) continue;
    lower::Lowering renamed = *each.program;
    renamed.program.name = name;
    each.program = std::make_shared<const lower::Lowering>(std::move(renamed));
  }
  return alternatives;
}

}  // namespace

std::vector<Alternative> named_after(std::string_view op, std::vector<Alternative> alternatives) {
  return with_name(std::move(alternatives), kernel_name(op));
}

std::map<std::string, std::size_t> schedule_operators(Graph& graph, const TaskRules& rules,
                                                      Scheduler scheduler,
                                                      ScheduleProgress progress) {
  std::vector<Node*> operators;
  for (Node& node : graph.nodes) {
    if (node.pattern && node.computation && node.alternatives.empty()) operators.push_back(&node);
  }
  struct Scheduled {
    std::vector<Alternative> alternatives;
    std::map<std::string, std::vector<Alternative>> by_name = {};
    std::size_t operators = 0;
  };
  std::map<std::string, Scheduled> made;  // keyed by the texts of tasks: networks repeat layers
  for (std::size_t done = 0; done < operators.size(); ++done) {
    progress(done, operators.size());
    Node& node = *operators[done];
    const Task task = task_of(graph, node, rules);
    std::string text = to_string(task);
    auto found = made.find(text);
    if (found == made.end())
      found = made.emplace(std::move(text), Scheduled{scheduler(task, node)}).first;
    ++found->second.operators;
    const std::string name = kernel_name(node.op);
    auto named = found->second.by_name.find(name);
    if (named == found->second.by_name.end())
      named =
          found->second.by_name.emplace(name, with_name(found->second.alternatives, name)).first;
    node.alternatives = named->second;
  }
  std::map<std::string, std::size_t> counts;
  for (const auto& [text, scheduled] : made) counts.emplace(text, scheduled.operators);
  return counts;
}

}  // namespace texloom::graph
