#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/compose.h"
#include "graph/text/computation_text.h"
#include "graph/text/text.h"
#include "graph/verify/verify.h"
#include "ir/text/lexer.h"
#include "ir/text/text_reader.h"
#include "lower/te_text.h"
#include "runtime/custom/size_text.h"

namespace texloom::graph {

using ir::NamedToken;
using ir::Token;
using ir::TokenKind;

namespace {

constexpr int64_t kMost = 1 << 16;  // programs, axes
constexpr std::string_view kProgram = "program ";
constexpr std::string_view kComputation = "computation ";

// The positions of the lines that begin with the word `program` or `computation`: the graph, then
// its computations and its programs of stage te.
std::vector<std::size_t> lines_of_parts(std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t line = 0; line < text.size();) {
    const std::string_view rest = text.substr(line);
    if (rest.starts_with(kProgram) || rest.starts_with(kComputation)) starts.push_back(line);
    const std::size_t end = text.find('\n', line);
    line = end == std::string_view::npos ? text.size() : end + 1;
  }
  return starts;
}

// A part of a text, after as many empty lines as precede it in the whole text.
std::string at_own_lines(std::string_view text, std::size_t begin, std::size_t end) {
  const auto lines =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  std::string part(static_cast<std::size_t>(lines), '\n');
  part += text.substr(begin, end - begin);
  return part;
}

class GraphParser {
 public:
  GraphParser(std::string_view text, std::string_view file)
      : text_(text),
        file_(file),
        starts_(lines_of_parts(text)),
        reader_(text.substr(0, starts_.size() < 2 ? text.size() : starts_[1]), file) {}

  Graph parse() {
    head();
    while (reader_.peek().kind != TokenKind::End) {
      if (!at_node()) reader_.fail_expected("'node', 'operator', 'call' or 'concatenate'");
      graph_.nodes.push_back(node());
    }
    parts();
    return std::move(graph_);
  }

 private:
  // The number of a computation, where an operator names it.
  using NamedComputation = std::optional<std::pair<Token, std::size_t>>;

  // Calls a function whose errors have no place in the text, and reports them at this word.
  template <class F>
  auto at_word(const Token& word, F&& call) const {
    try {
      return std::forward<F>(call)();
    } catch (const UserError& error) {
      const Diagnostic& d = error.diagnostics().front();
      reader_.fail_at(word, d.code, d.message, d.help);
    }
  }

  void head() {
    reader_.expect_word("program");
    graph_.name = reader_.name("the name of the graph").name;
    reader_.expect_word("stage");
    reader_.expect("=");
    reader_.expect_word("graph");
    reader_.expect_word("target");
    reader_.expect("=");
    const NamedToken target = reader_.name("a target in quotes");
    graph_.target = at_word(target.token, [&] { return ir::parse_target(target.name, {}); });
    while (reader_.accept_word("symbol")) symbol();
    while (!reader_.at_word("condition") && !reader_.at_word("outputs")) tensor();
    while (reader_.accept_word("condition")) graph_.conditions.push_back(condition());
    reader_.expect_word("outputs");
    for (const TensorId id : tensors()) graph_.mark_output(id);
  }

  void symbol() {
    const NamedToken name = reader_.name("the name of a symbol");
    const auto known = std::find(graph_.symbols.begin(), graph_.symbols.end(), name.name);
    if (known != graph_.symbols.end())
      reader_.wrong(name.token, "give each symbol a name of its own", "two symbols are called {}",
                    name.token.text);
    graph_.symbols.push_back(name.name);
  }

  // A number, or an expression in quotes.
  Size size(int64_t least) {
    if (reader_.peek().kind == TokenKind::Integer)
      return reader_.integer("an extent", least, std::numeric_limits<std::int32_t>::max());
    const NamedToken text = reader_.name("a number, or an expression of symbols in quotes");
    auto parsed = runtime::parse_size(text.name, graph_.symbols);
    if (!parsed.ok())
      reader_.wrong(text.token, "use the symbols of the graph, numbers and + - * / % min max", "{}",
                    parsed.status().message());
    return *std::move(parsed);
  }

  runtime::SizeCondition condition() {
    runtime::SizeCondition condition;
    condition.subject = reader_.name("what the condition is about, in quotes").name;
    condition.left = size(0);
    if (reader_.accept(">=")) {
      condition.kind = runtime::SizeCondition::Kind::AtLeast;
    } else {
      reader_.expect("==");
    }
    condition.right = size(0);
    return condition;
  }

  void tensor() {
    const bool is_input = reader_.accept_word("input");
    const bool is_constant = !is_input && reader_.accept_word("constant");
    if (!is_input && !is_constant && !reader_.accept_word("edge"))
      reader_.fail_expected("'input', 'constant', 'edge' or 'outputs'");
    const NamedToken name = reader_.name("the name of a tensor");
    reader_.expect(":");
    const ir::Type type = reader_.type();
    Shape shape;
    reader_.expect("[");
    while (!reader_.accept("]")) {
      if (!shape.empty()) reader_.expect(",");
      shape.push_back(size(1));
    }
    if (numbers_.contains(name.name))
      reader_.wrong(name.token, "give each tensor a name of its own", "two tensors are called {}",
                    name.token.text);
    const TensorId id = is_input      ? graph_.add_input(name.name, type, std::move(shape))
                        : is_constant ? graph_.add_constant(name.name, type, std::move(shape), {})
                                      : graph_.add_edge(name.name, type, std::move(shape));
    numbers_.emplace(name.name, id);
  }

  // "(a, b)"
  std::vector<TensorId> tensors() {
    std::vector<TensorId> list;
    reader_.expect("(");
    while (!reader_.accept(")")) {
      if (!list.empty()) reader_.expect(",");
      const NamedToken name = reader_.name("the name of a tensor");
      const auto found = numbers_.find(name.name);
      if (found == numbers_.end())
        reader_.wrong(name.token, "declare it above: edge NAME: float32[8]",
                      "there is no tensor {}", name.token.text);
      list.push_back(found->second);
    }
    return list;
  }

  bool at_node() {
    return reader_.at_word("node") || reader_.at_word("operator") || reader_.at_word("call") ||
           reader_.at_word("concatenate");
  }

  Node node() {
    const Token kind = reader_.next();
    Node node;
    node.location = reader_.line_of(kind);
    node.name = reader_.name("the name of a node").name;
    reader_.expect_word("op");
    reader_.expect("=");
    node.op = reader_.name("what the node computes, in quotes").name;
    if (kind.text == "operator") kind_of_operator(node);
    node.inputs = tensors();
    reader_.expect("->");
    node.outputs = tensors();
    if (kind.text == "concatenate") {
      reader_.expect_word("axis");
      reader_.expect("=");
      node.concat_axis = static_cast<std::size_t>(reader_.integer("an axis", 0, kMost));
    }
    if (kind.text == "call") node.call = call();
    while (reader_.accept_word("attribute")) node.attributes.push_back(attribute());
    if (node.pattern && reader_.accept_word("members")) node.members = members();
    if (!node.concat_axis) {
      while (reader_.accept_word("alternative"))
        node.alternatives.push_back(alternative(node.call.has_value()));
    }
    return node;
  }

  void kind_of_operator(Node& node) {
    reader_.expect_word("pattern");
    reader_.expect("=");
    const Token word = reader_.next();
    node.pattern = pattern_of(word.text);
    if (!node.pattern)
      reader_.wrong(word,
                    "write elementwise, broadcast, injective, reduction, contraction or opaque",
                    "there is no pattern {}", word.text);
    pending_computations_.emplace_back();
    if (reader_.accept_word("computation")) {
      reader_.expect("=");
      const Token token = reader_.peek();
      const int64_t number = reader_.integer("the number of a computation", 0, kMost);
      pending_computations_.back().emplace(token, static_cast<std::size_t>(number));
    }
    node.is_view = reader_.accept_word("view");
    if (reader_.accept_word("joins")) {
      reader_.expect("=");
      node.joins_along = static_cast<std::size_t>(reader_.integer("an axis", 0, kMost));
    }
    if (reader_.accept_word("coordinates")) {
      reader_.expect("=");
      reader_.expect("{");
      while (!reader_.accept("}")) {
        if (!node.coordinates.empty()) reader_.expect(",");
        node.coordinates.push_back(
            static_cast<std::size_t>(reader_.integer("the number of an input", 0, kMost)));
      }
    }
  }

  std::vector<Node> members() {
    std::vector<Node> list;
    reader_.expect("{");
    while (!reader_.accept("}")) {
      if (!reader_.at_word("operator")) reader_.fail_expected("'operator' or '}'");
      const Token first = reader_.peek();
      list.push_back(node());
      if (list.back().members.empty() && list.back().alternatives.empty()) continue;
      reader_.wrong(first, "give alternatives and nested members to its node instead",
                    "the member {} is not a single operator", list.back().name);
    }
    return list;
  }

  runtime::OperatorCall call() {
    runtime::OperatorCall call;
    reader_.expect_word("operator");
    call.op = reader_.name("the name of an operator, in quotes").name;
    reader_.expect_word("version");
    reader_.expect("=");
    call.version = static_cast<std::uint32_t>(
        reader_.integer("a version", 0, std::numeric_limits<std::uint32_t>::max()));
    reader_.expect("(");
    while (!reader_.accept(")")) {
      if (!call.accesses.empty()) reader_.expect(",");
      const auto access = reader_.accept_access();
      if (!access) reader_.fail_expected("'read', 'write' or 'read_write'");
      call.accesses.push_back(*access == ir::Access::Read    ? hal::Access::Read
                              : *access == ir::Access::Write ? hal::Access::Write
                                                             : hal::Access::ReadWrite);
    }
    if (reader_.accept_word("encoding")) call.encoding = encoding();
    if (reader_.accept_word("payload")) call.payload = payload();
    while (reader_.accept_word("given")) call.attributes.push_back(attribute());
    return call;
  }

  runtime::Encoding encoding() {
    reader_.expect("=");
    for (const auto each :
         {runtime::Encoding::Kernels, runtime::Encoding::Native, runtime::Encoding::Host})
      if (reader_.accept_word(to_string(each))) return each;
    reader_.fail_expected("'kernels', 'native' or 'host'");
  }

  std::vector<std::byte> payload() {
    reader_.expect("=");
    const NamedToken digits = reader_.name("bytes as hexadecimal digits, in quotes");
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < digits.name.size(); i += 2) {
      unsigned value = 0;
      const char* begin = digits.name.data() + i;
      const bool is_pair = i + 1 < digits.name.size() &&
                           std::from_chars(begin, begin + 2, value, 16).ptr == begin + 2;
      if (!is_pair)
        reader_.wrong(digits.token, "write two hexadecimal digits for each byte",
                      "{} is not a sequence of bytes", digits.token.text);
      bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
  }

  runtime::Attribute attribute() {
    runtime::Attribute attribute;
    attribute.name = reader_.name("the name of an attribute").name;
    reader_.expect("=");
    if (reader_.peek().kind == TokenKind::Quoted) {
      attribute.value = reader_.name("a text").name;
    } else if (reader_.peek(reader_.at("-") ? 1 : 0).kind == TokenKind::Integer) {
      attribute.value = integer();
    } else {
      attribute.value = number();
    }
    return attribute;
  }

  std::int64_t integer() {
    std::string text(reader_.accept("-") ? "-" : "");
    const Token digits = reader_.next();
    text += digits.text;
    std::int64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
      reader_.wrong(digits, "write a number of 64 bits", "{} is out of range", text);
    return value;
  }

  double number() {
    const bool negative = reader_.accept("-");
    const auto value = ir::parse_float(reader_.peek().text, 64);
    if (!value) reader_.fail_expected("a number");
    reader_.next();
    return negative ? -*value : *value;
  }

  Alternative alternative(bool is_call) {
    Alternative alternative;
    alternative.name = reader_.name("the name of an alternative").name;
    if (is_call) {
      alternative.scopes = scopes();
    } else {
      reader_.expect_word("program");
      reader_.expect("=");
      const Token token = reader_.peek();
      const int64_t number = reader_.integer("the number of a program", 0, kMost);
      pending_.emplace_back(token, static_cast<std::size_t>(number));
    }
    if (reader_.accept_word("cost")) {
      reader_.expect("=");
      alternative.cost = number();
    }
    reader_.expect_word("fold_share");
    reader_.expect("=");
    alternative.fold_share = number();
    return alternative;
  }

  std::vector<ir::StorageScope> scopes() {
    std::vector<ir::StorageScope> list;
    reader_.expect("(");
    while (!reader_.accept(")")) {
      if (!list.empty()) reader_.expect(",");
      const NamedToken scope = reader_.name("a scope, in quotes");
      list.push_back(at_word(scope.token, [&] {
        return schedule::parse_storage(scope.name, "", ir::Shape(), {}).scope;
      }));
    }
    return list;
  }

  // Reads the computations and the programs, and gives them to nodes and alternatives.
  void parts() {
    std::vector<SharedComputation> computations;
    std::vector<std::shared_ptr<const lower::Lowering>> programs;
    for (std::size_t i = 1; i < starts_.size(); ++i) {
      const std::size_t end = i + 1 < starts_.size() ? starts_[i + 1] : text_.size();
      const std::string part = at_own_lines(text_, starts_[i], end);
      if (text_.substr(starts_[i]).starts_with(kComputation)) {
        computations.push_back(parse_computation(part, file_));
      } else {
        programs.push_back(
            std::make_shared<const lower::Lowering>(lower::parse_lowering(part, file_)));
      }
    }
    auto named = pending_computations_.begin();
    for (Node& node : graph_.nodes) {
      if (node.pattern) node.computation = computation_of(*named++, computations);
      for (Node& member : node.members) member.computation = computation_of(*named++, computations);
    }
    auto pending = pending_.begin();
    for (Node& node : graph_.nodes) {
      if (node.call) continue;
      for (Alternative& alternative : node.alternatives) {
        const auto& [token, number] = *pending++;
        if (number >= programs.size())
          reader_.wrong(token, "number the programs below from 0", "there is no program {}",
                        number);
        alternative.program = programs[number];
      }
    }
  }

  SharedComputation computation_of(const NamedComputation& named,
                                   const std::vector<SharedComputation>& computations) const {
    if (!named) return nullptr;
    const auto& [token, number] = *named;
    if (number >= computations.size())
      reader_.wrong(token, "number the computations below from 0", "there is no computation {}",
                    number);
    return computations[number];
  }

  std::string_view text_;
  std::string_view file_;
  std::vector<std::size_t> starts_;
  ir::TextReader reader_;  // reads the text in front of the programs
  Graph graph_;
  std::map<std::string, TensorId> numbers_;
  // The programs that alternatives name, in order.
  std::vector<std::pair<Token, std::size_t>> pending_;
  // The computations that operators name, in order; members come after their node.
  std::vector<NamedComputation> pending_computations_;
};

}  // namespace

bool is_graph_text(std::string_view text) {
  const auto starts = lines_of_parts(text);
  if (starts.empty()) return false;
  const std::string_view first = text.substr(starts.front());
  const std::vector<Token> words = ir::lex(first.substr(0, first.find('\n')));
  return words.size() > 4 && words[2].text == "stage" && words[4].text == "graph";
}

Graph parse_graph(std::string_view text, std::string_view file) {
  Graph graph = GraphParser(text, file).parse();
  verify(graph);
  for (Node& node : graph.nodes) {
    if (!node.members.empty()) node.computation = composed(graph, node);
  }
  return graph;
}

}  // namespace texloom::graph
