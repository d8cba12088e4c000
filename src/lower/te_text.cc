#include "lower/te_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "ir/layout/layout_pattern.h"
#include "ir/text/lexer.h"
#include "ir/text/parse.h"
#include "ir/text/parse_layout.h"
#include "ir/text/text_reader.h"
#include "lower/build/widen_symbols.h"
#include "schedule/derived_axes.h"
#include "schedule/text/parse.h"
#include "schedule/text/print.h"
#include "support/check.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

// -- Printing.

class Printer {
 public:
  Printer(const Lowering& lowering, PrintOptions options)
      : lowering_(lowering), options_(options), schedule_(lowering.schedule, options) {}

  std::string text() {
    std::vector<std::string> params;
    for (const Argument& argument : lowering_.arguments) params.push_back(param(argument));
    for (const SymbolArgument& argument : lowering_.symbol_arguments) {
      schedule_.note_symbols({argument.symbol});
      params.insert(params.begin() + static_cast<ptrdiff_t>(argument.position),
                    fmt::format("  param {} symbol\n", schedule_.symbol_name(argument.symbol)));
    }
    return fmt::format("program {} stage=te target={}{}\n", spell_name(lowering_.program.name),
                       quote(ir::to_string(lowering_.target)),
                       location_text(lowering_.location, options_)) +
           schedule_.head() + fmt::format("{}", fmt::join(params, "")) + schedule_.operations();
  }

 private:
  std::string param(const Argument& argument) {
    const Op op = operation_of(argument.tensor);
    const auto id = lowering_.schedule.find(op);
    std::string text = "  param ";
    if (id) {
      text += schedule_.name(*id) + output_text(argument.tensor->output);
    } else {
      schedule_.note_symbols(op->shape);
      text += fmt::format("{} {} {}", spell_name(argument.tensor->name),
                          op->is_placeholder() ? "placeholder" : "compute",
                          schedule_.type_and_shape(argument.tensor->type, op->shape));
      text += location_text(op->location, options_);
    }
    return text + (argument.declaration ? declaration(*argument.declaration) : "") + "\n";
  }

  std::string declaration(const BufferDeclaration& d) {
    schedule_.note_symbols(d.shape);
    std::string text = fmt::format(": {} in {}", schedule_.type_and_shape(d.type, d.shape),
                                   spell_name(ir::to_string(d.scope)));
    if (d.layout) text += ", layout=" + ir::to_string(*d.layout);
    if (d.has_origin) text += ", origin";
    if (d.exact_image) text += ", exact_image";
    if (!d.name.empty()) text += ", name=" + spell_name(d.name);
    return text + location_text(d.location, options_);
  }

  const Lowering& lowering_;
  PrintOptions options_;
  SchedulePrinter schedule_;
};

// The lines in front of a program after stage te, for arguments of a call that do not follow from
// the program's parameters.
std::string call_text(const Lowering& lowering) {
  std::string text;
  for (size_t i = 0; i < lowering.array_layouts.size(); ++i) {
    const Layout& array = lowering.array_layouts[i];
    if (array == lowering.program.params[i]->layout) continue;
    const LayoutPattern pattern = pattern_of(array, axis_names(array.shape.size()));
    text += fmt::format("array {}: [{}], {}\n", i, fmt::join(array.shape, ", "),
                        ir::to_string(pattern));
  }
  const Exprs& symbols = lowering.program.symbols;
  for (const SymbolArgument& argument : lowering.symbol_arguments) {
    const auto symbol = std::find_if(symbols.begin(), symbols.end(),
                                     [&](const Expr& s) { return s.same_as(argument.symbol); });
    text += fmt::format("value {}: symbol {}", argument.position, symbol - symbols.begin());
    if (argument.type != argument.symbol->type) text += " of " + ir::to_string(argument.type);
    text += "\n";
  }
  return text;
}

// -- Parsing.

class Parser {
 public:
  Parser(std::string_view text, std::string_view file)
      : text_(text), file_(file), reader_(text, file), schedule_(reader_) {}

  // Parses a program of a stage after te.
  Lowering program(VerifyOptions options) {
    std::vector<ArrayLine> arrays;
    std::vector<ValueLine> values;
    while (reader_.at_word("array")) arrays.push_back(array_line());
    while (reader_.at_word("value")) values.push_back(value_line());
    lowering_.program = parse_program(rest(), file_, options);
    for (const Buffer& param : lowering_.program.params) {
      lowering_.array_layouts.push_back(param->layout);
    }
    for (ArrayLine& line : arrays) set_array(std::move(line));
    for (const ValueLine& line : values) set_value(line);
    return std::move(lowering_);
  }

  Lowering lowering() {
    try {
      parse();
    } catch (const UserError& error) {
      // The make_ functions do not know the position in the text.
      const Diagnostic& d = error.diagnostics().front();
      if (d.location.column > 0 || d.code != Code::ProgramTooDeep) throw;
      reader_.fail_at(reader_.peek(), d.code, d.message, d.help);
    }
    return std::move(lowering_);
  }

  bool at_stage_te() const {
    return reader_.at_word("program") && reader_.at_word("stage", 2) && reader_.at("=", 3) &&
           reader_.at_word("te", 4);
  }

 private:
  // "array 0: [8, 4], buffer[...]": the layout of a parameter's array.
  struct ArrayLine {
    Token at;
    size_t param;
    Layout layout;
  };
  // "value 1: symbol 0": the argument of a call that gives a symbol its value; with "of int8" if
  // the symbol has a wider type.
  struct ValueLine {
    Token at;
    size_t position, symbol;
    std::optional<Type> type;
  };

  static constexpr int64_t kMostArguments = 1 << 16;

  ArrayLine array_line() {
    const Token at = reader_.next();
    const int64_t param = reader_.integer("the number of a parameter", 0, kMostArguments);
    reader_.expect(":");
    reader_.expect("[");
    Shape shape;
    while (!reader_.accept("]")) {
      if (!shape.empty()) reader_.expect(",");
      shape.push_back(reader_.integer("an extent", 1, kLargestExtent));
    }
    reader_.expect(",");
    return {at, static_cast<size_t>(param), LayoutParser(reader_).bind(shape)};
  }

  ValueLine value_line() {
    const Token at = reader_.next();
    const int64_t position = reader_.integer("the number of an argument", 0, kMostArguments);
    reader_.expect(":");
    reader_.expect_word("symbol");
    const int64_t symbol = reader_.integer("the number of a symbol", 0, kMostArguments);
    ValueLine line{at, static_cast<size_t>(position), static_cast<size_t>(symbol), {}};
    if (reader_.accept_word("of")) line.type = reader_.type();
    return line;
  }

  // The remaining text, at its original lines and columns.
  std::string rest() const {
    std::string text(text_);
    const Token& first = reader_.peek();
    const auto end = first.kind == TokenKind::End
                         ? text.end()
                         : text.begin() + (first.text.data() - text_.data());
    std::replace_if(text.begin(), end, [](char c) { return c != '\n'; }, ' ');
    return text;
  }

  // transform_layout changes the shape and the order of elements, but not the size in memory.
  void set_array(ArrayLine line) {
    const std::vector<Buffer>& params = lowering_.program.params;
    if (line.param >= params.size()) {
      reader_.wrong(line.at, "number the parameters from 0", "there is no parameter {}",
                    line.param);
    }
    const Layout& own = params[line.param]->layout;
    if (params[line.param]->is_symbolic() || line.layout.object != own.object ||
        line.layout.row_count() != own.row_count() || line.layout.col_count() != own.col_count()) {
      reader_.wrong(line.at, "give it a layout of as many rows and columns",
                    "the array does not have the size of the parameter {}", line.param);
    }
    lowering_.array_layouts[line.param] = std::move(line.layout);
  }

  void set_value(const ValueLine& line) {
    const Exprs& symbols = lowering_.program.symbols;
    std::vector<SymbolArgument>& known = lowering_.symbol_arguments;
    const size_t count = lowering_.program.params.size() + known.size();
    const bool in_order = known.empty() || known.back().position < line.position;
    if (line.symbol >= symbols.size() || line.position > count || !in_order) {
      reader_.wrong(line.at, "number symbols and arguments from 0, the arguments in their order",
                    "there is no such symbol or argument");
    }
    const Expr& symbol = symbols[line.symbol];
    const Type type = line.type.value_or(symbol->type);
    if (type != symbol->type && passed_as(type) != symbol->type) {
      reader_.wrong(line.at, "name the type that the symbol is widened from",
                    "the symbol has the type {}, but kernels do not widen {} to it",
                    ir::to_string(symbol->type), ir::to_string(type));
    }
    known.push_back({symbol, line.position, type});
  }

  // A parameter whose tensor the operations below declare.
  struct Param {
    NamedToken name;
    size_t output = 0;
    Op other;  // set if the tensor is not in the schedule
    std::optional<BufferDeclaration> declaration;
  };

  void parse() {
    const Token first = reader_.next();
    lowering_.program.name = reader_.name("the name of the program").name;
    for (int i = 0; i < 3; ++i) reader_.next();  // stage=te
    target();
    lowering_.location = reader_.location(reader_.line_of(first));
    schedule_.head();
    std::vector<Param> params;
    for (size_t position = 0; reader_.at_word("param"); ++position) {
      if (!symbol_param(position)) params.push_back(param());
    }
    lowering_.schedule = schedule_.operations();
    for (Param& p : params) {
      const Op op = p.other ? p.other : lowering_.schedule.stage(schedule_.stage(p.name)).origin;
      if (p.output >= op->types.size()) {
        reader_.wrong(p.name.token, "number the outputs from 0", "{} has no output {}",
                      p.name.token.text, p.output);
      }
      lowering_.arguments.push_back({output_of(op, p.output), std::move(p.declaration)});
    }
  }

  void target() {
    reader_.expect_word("target");
    reader_.expect("=");
    const NamedToken text = reader_.name("a target in quotes");
    try {
      lowering_.target = parse_target(text.name, {});
    } catch (const UserError& error) {
      const Diagnostic& d = error.diagnostics().front();
      reader_.fail_at(text.token, d.code, d.message, d.help);
    }
  }

  // "param n symbol"
  bool symbol_param(size_t position) {
    if (!reader_.at_word("symbol", 2)) return false;
    reader_.next();
    const NamedToken name = reader_.name("the name of a symbol");
    reader_.next();
    const Expr symbol = schedule_.symbol(name);
    lowering_.symbol_arguments.push_back({symbol, position, symbol->type});
    return true;
  }

  Param param() {
    const Token first = reader_.next();
    Param p;
    p.name = reader_.name("the name of a tensor");
    p.output = schedule_.output_number();
    const bool placeholder = reader_.at_word("placeholder") && !next_is_operation();
    const bool compute = reader_.at_word("compute") && !next_is_operation();
    if (placeholder || compute) p.other = other(p.name.name, compute);
    if (reader_.accept(":")) p.declaration = declaration(first);
    return p;
  }

  // "placeholder A: float32[8]" begins an operation, "placeholder float32[8]" describes a
  // parameter.
  bool next_is_operation() const { return reader_.at(":", 2) || reader_.at("(", 2); }

  Op other(const std::string& name, bool compute) {
    const Token first = reader_.next();
    ScheduleParser::TensorType t = schedule_.tensor_type();
    SourceLocation location = reader_.location(reader_.line_of(first));
    if (!compute) return make_placeholder(name, t.type, std::move(t.shape), std::move(location));
    // Nothing in the schedule reads or writes this tensor, so any compute of its shape and type
    // will do.
    std::vector<IterVar> axes;
    for (const Expr& extent : t.shape) {
      axes.push_back(make_iter_var(make_var("i"), make_int(0), extent, IterKind::Data, location));
    }
    return make_compute(name, "", std::move(axes), make_const(0, t.type), std::move(location));
  }

  BufferDeclaration declaration(const Token& first) {
    BufferDeclaration d;
    ScheduleParser::TensorType t = schedule_.tensor_type();
    d.type = t.type;
    d.shape = std::move(t.shape);
    reader_.expect_word("in");
    d.scope = schedule_.memory_scope();
    while (reader_.accept(",")) {
      if (reader_.accept_word("layout")) {
        d.layout = schedule_.layout(d.scope, extents_for_layout(d.shape));
      } else if (reader_.accept_word("origin")) {
        d.has_origin = true;
      } else if (reader_.accept_word("exact_image")) {
        d.exact_image = true;
      } else if (reader_.accept_word("name")) {
        reader_.expect("=");
        d.name = reader_.name("the name of a buffer").name;
      } else {
        reader_.fail_expected("'layout', 'origin', 'exact_image' or 'name'");
      }
    }
    d.location = reader_.location(reader_.line_of(first));
    return d;
  }

  // The shape of an array that has a layout. Symbolic extents are open.
  Shape extents_for_layout(const Exprs& extents) {
    for (const Expr& extent : extents) {
      const int64_t* value = int_value(extent);
      if (value == nullptr || (*value >= 1 && *value <= kLargestExtent)) continue;
      reader_.wrong(reader_.peek(), "give it positive extents, or leave the layout out",
                    "the array has a layout and the extent {}, which is not positive",
                    ir::to_string(extent));
    }
    return open_shape(extents);
  }

  static constexpr int64_t kLargestExtent = INT32_MAX;

  std::string_view text_, file_;
  TextReader reader_;
  ScheduleParser schedule_;
  Lowering lowering_;
};

// Whether a stage is attached to a loop that a later cache_write or rfactor removed; the text form
// cannot name such a loop.
bool has_lost_attachment(const Schedule& s) {
  return std::any_of(s.order().begin(), s.order().end(), [&](StageId id) {
    const Attachment& at = s.stage(id).attachment;
    if (at.kind != AttachKind::At) return false;
    const auto is_loop = [&](const IterVar& axis) { return axis.same_as(at.axis); };
    const schedule::Stage& host = s.stage(at.stage);
    return !host.is_leaf(at.axis) &&
           std::none_of(host.relations.begin(), host.relations.end(), [&](const Relation& r) {
             const std::vector<IterVar> operands = operands_of(r);
             return std::any_of(operands.begin(), operands.end(), is_loop);
           });
  });
}

}  // namespace

std::string to_string(const Lowering& lowering, PrintOptions options) {
  if (lowering.program.stage != ProgramStage::Te) {
    return call_text(lowering) + ir::to_string(lowering.program, options);
  }
  return Printer(lowering, options).text();
}

Lowering parse_lowering(std::string_view text, std::string_view file, VerifyOptions options) {
  Parser parser(text, file);
  return parser.at_stage_te() ? parser.lowering() : parser.program(options);
}

void check_text(const Lowering& lowering, VerifyOptions options) {
  if (has_lost_attachment(lowering.schedule)) return;  // a later pass refuses it
  const std::string text = to_string(lowering, {.locations = true});
  if (text.size() > kMaxTextSize) return;  // the parser refuses longer texts
  std::string again;
  try {
    again = to_string(parse_lowering(text, lowering.program.name, options), {.locations = true});
  } catch (const UserError& error) {
    TL_UNREACHABLE(std::string("the text is not read back: ") + error.what());
  }
  TL_CHECK(again == text, "what is read back prints as\n" + again);
}

}  // namespace texloom::lower
