#include "graph/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "codegen/llvm/emit.h"
#include "graph/compose.h"
#include "graph/text/computation_text.h"
#include "ir/text/lexer.h"
#include "ir/text/text_reader.h"
#include "support/check.h"
#include "support/diagnostic.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace texloom::graph {
namespace {

constexpr std::array kStorages = {
    std::pair{OperandStorage::Any, std::string_view("any")},
    std::pair{OperandStorage::RowMajor, std::string_view("row_major")},
    std::pair{OperandStorage::Constant, std::string_view("constant")},
};

OperandStorage storage_of(const Tensor& tensor, const TaskRules& rules) {
  switch (tensor.role) {
    case TensorRole::Input:
      return OperandStorage::RowMajor;
    case TensorRole::Output:
      return rules.open_outputs.contains(tensor.name) ? OperandStorage::Any
                                                      : OperandStorage::RowMajor;
    case TensorRole::Constant:
      return OperandStorage::Constant;
    case TensorRole::Intermediate:
      return OperandStorage::Any;
  }
  TL_UNREACHABLE();
}

// Parses the first line of a task, which precedes the computation.
Task parse_head(std::string_view line, std::string_view file) {
  ir::TextReader reader(line, file);
  Task task;
  reader.expect_word("task");
  reader.expect_word("target");
  reader.expect("=");
  const ir::NamedToken target = reader.name("a target in quotes");
  try {
    task.target = ir::parse_target(target.name, {});
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    reader.fail_at(target.token, d.code, d.message, d.help);
  }
  task.textures = reader.accept_word("textures");
  reader.expect_word("operands");
  reader.expect("=");
  reader.expect("(");
  while (!reader.accept(")")) {
    if (!task.operands.empty()) reader.expect(",");
    const ir::Token word = reader.next();
    const auto* found =
        std::ranges::find(kStorages, word.text, &decltype(kStorages)::value_type::second);
    if (found == kStorages.end())
      reader.wrong(word, "write any, row_major or constant", "{} is not a storage of operands",
                   word.text);
    task.operands.push_back(found->first);
  }
  if (reader.peek().kind != ir::TokenKind::End) reader.fail_expected("the end of the line");
  return task;
}

}  // namespace

std::string_view to_string(OperandStorage storage) {
  return std::ranges::find(kStorages, storage, &decltype(kStorages)::value_type::first)->second;
}

Task task_of(const Graph& graph, const Node& node, const TaskRules& rules) {
  TL_CHECK(node.computation != nullptr, node.name);
  Task task{computation_as_stored(graph, node), {}, rules.textures, graph.target};
  for (const TensorId id : tensors_of(node))
    task.operands.push_back(storage_of(graph.tensors[id], rules));
  return task;
}

std::string to_string(const Task& task) {
  std::vector<std::string_view> operands;
  for (const OperandStorage each : task.operands) operands.push_back(to_string(each));
  return fmt::format("task target={}{} operands=({})\n", ir::quote(ir::to_string(task.target)),
                     task.textures ? " textures" : "", fmt::join(operands, ", ")) +
         to_string(*task.computation, 0);
}

Task parse_task(std::string_view text, std::string_view file) {
  const std::size_t line = std::min(text.find('\n'), text.size());
  Task task = parse_head(text.substr(0, line), file);
  // The computation keeps its line numbers in the whole text, for diagnostics.
  task.computation = parse_computation(text.substr(line), file);
  const std::size_t tensors = task.computation->inputs.size() + task.computation->outputs.size();
  if (task.operands.size() != tensors)
    fail(SourceLocation::make(file, 1), Code::BadText,
         "say where each input, then each output is stored",
         "the task has {} operands, but its computation has {} tensors", task.operands.size(),
         tensors);
  return task;
}

std::string identity(const Task& task) {
  Task named = task;
  named.target = codegen::native::with_named_processor(std::move(named.target));
  const std::string text = to_string(named);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace texloom::graph
