#include "graph/text/computation_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ir/text/lexer.h"
#include "ir/text/print_names.h"
#include "ir/text/text_reader.h"
#include "schedule/text/parse.h"
#include "schedule/text/print.h"

namespace texloom::graph {
namespace {

using ir::NamedToken;

// The computation as a schedule. Inputs that no operation reads are stages, too.
schedule::Schedule schedule_of(const Computation& computation) {
  std::vector<schedule::Op> operations;
  for (const auto* list : {&computation.outputs, &computation.inputs}) {
    for (const ir::Tensor& tensor : *list) operations.push_back(schedule::operation_of(tensor));
  }
  schedule::Schedule made = schedule::Schedule::create(operations);
  for (const schedule::StageId id : made.order()) made.stage(id).is_output = false;
  return made;
}

class ComputationParser {
 public:
  ComputationParser(std::string_view text, std::string_view file)
      : reader_(text, file), schedule_(reader_) {}

  SharedComputation parse() {
    reader_.expect_word("computation");
    reader_.integer("the number of a computation", 0, kMost);
    const std::vector<Name> inputs = names();
    reader_.expect("->");
    const std::vector<Name> outputs = names();
    std::vector<Name> symbols;
    if (reader_.accept_word("symbols")) symbols = names();
    schedule_.head();
    const schedule::Schedule all = schedule_.operations();
    Computation made;
    for (const Name& each : inputs) {
      made.inputs.push_back(tensor(all, each));
      if (schedule::operation_of(made.inputs.back())->is_placeholder()) continue;
      reader_.wrong(each.name.token, "list only placeholders as inputs", "the input {} is computed",
                    each.name.token.text);
    }
    check_placeholders(all, made.inputs);
    for (const Name& each : outputs) made.outputs.push_back(tensor(all, each));
    for (const Name& each : symbols) made.symbols.push_back(schedule_.symbol(each.name));
    return std::make_shared<const Computation>(std::move(made));
  }

 private:
  static constexpr std::int64_t kMost = 1 << 16;

  struct Name {
    NamedToken name;
    std::size_t output = 0;
  };

  std::vector<Name> names() {
    std::vector<Name> list;
    reader_.expect("(");
    while (!reader_.accept(")")) {
      if (!list.empty()) reader_.expect(",");
      Name& name = list.emplace_back(Name{reader_.name("a name"), 0});
      name.output = schedule_.output_number();
    }
    return list;
  }

  void check_placeholders(const schedule::Schedule& all, const std::vector<ir::Tensor>& inputs) {
    for (const schedule::StageId id : all.order()) {
      const schedule::Op& op = all.stage(id).origin;
      const auto is_op = [&](const ir::Tensor& input) {
        return schedule::operation_of(input).get() == op.get();
      };
      if (!op->is_placeholder() || std::ranges::any_of(inputs, is_op)) continue;
      const ir::NamedToken name = schedule_.name_of(id);
      reader_.wrong(name.token, "list all placeholders: computation 0 (in0, in1) -> (out)",
                    "{} is a placeholder, but not among the inputs", name.token.text);
    }
  }

  ir::Tensor tensor(const schedule::Schedule& all, const Name& named) const {
    const schedule::Op& op = all.stage(schedule_.stage(named.name)).origin;
    if (named.output >= op->types.size())
      reader_.wrong(named.name.token, "number the outputs from 0", "{} has no output {}",
                    named.name.token.text, named.output);
    return schedule::output_of(op, named.output);
  }

  ir::TextReader reader_;
  schedule::ScheduleParser schedule_;
};

}  // namespace

std::string to_string(const Computation& computation, std::size_t number) {
  const schedule::Schedule all = schedule_of(computation);
  schedule::SchedulePrinter printer(all, {}, /*attributes=*/true);
  const auto names = [&](const std::vector<ir::Tensor>& tensors) {
    std::vector<std::string> list;
    for (const ir::Tensor& tensor : tensors)
      list.push_back(printer.name(all.producer(tensor)) + ir::output_text(tensor->output));
    return fmt::format("({})", fmt::join(list, ", "));
  };
  std::string text = fmt::format("computation {} {} -> {}", number, names(computation.inputs),
                                 names(computation.outputs));
  printer.note_symbols(computation.symbols);
  std::vector<std::string> symbols;
  for (const ir::Expr& symbol : computation.symbols) symbols.push_back(printer.symbol_name(symbol));
  if (!symbols.empty()) text += fmt::format(" symbols ({})", fmt::join(symbols, ", "));
  return text + "\n" + printer.head() + printer.operations();
}

SharedComputation parse_computation(std::string_view text, std::string_view file) {
  return ComputationParser(text, file).parse();
}

}  // namespace texloom::graph
