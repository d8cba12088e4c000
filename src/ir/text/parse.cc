#include "ir/text/parse.h"

#include <optional>
#include <utility>

#include "ir/text/parse_buffer.h"
#include "ir/text/parse_expr.h"
#include "ir/text/parse_launch.h"
#include "ir/text/parse_stmt.h"

namespace texloom::ir {
namespace {

class ProgramParser {
 public:
  ProgramParser(std::string_view text, std::string_view file)
      : reader_(text, file), exprs_(reader_, names_), stmts_(reader_, names_, exprs_) {}

  Program program(VerifyOptions options) {
    try {
      parse();
    } catch (const UserError& error) {
      // Adds the place in the text to the error, since the make_ functions do not know the place.
      const Diagnostic& d = error.diagnostics().front();
      if (d.location.column > 0 || d.code != Code::ProgramTooDeep) throw;
      reader_.fail_at(reader_.peek(), d.code, d.message, d.help);
    }
    report(find_violations(program_, options));
    return std::move(program_);
  }

 private:
  void parse() {
    reader_.expect_word("program");
    program_.name = reader_.name("the name of the program").name;
    reader_.expect_word("stage");
    reader_.expect("=");
    program_.stage = stage();
    exprs_.set_form({.logical = program_.stage == ProgramStage::Loops,
                     .widened = program_.stage == ProgramStage::Legalized});
    while (reader_.at_word("symbol") && !reader_.at("[", 1)) symbol();
    while (reader_.at_word("foreign") && !reader_.at("[", 1)) {
      foreign();
    }
    while (reader_.at_word("param") && !reader_.at("[", 1)) param();
    while (auto temporary = stmts_.temporary()) program_.temporaries.push_back(*temporary);
    launches_.find_kernels();
    program_.body = stmts_.statements();
    while (stmts_.at_kernel()) kernel();
    if (reader_.peek().kind != TokenKind::End) reader_.fail_expected("a statement or a kernel");
    launches_.check_launches(program_.kernels);
  }

  ProgramStage stage() {
    for (const ProgramStage stage : {ProgramStage::Te, ProgramStage::Loops, ProgramStage::Flattened,
                                     ProgramStage::Kernels, ProgramStage::Legalized}) {
      if (!reader_.at_word(to_string(stage))) continue;
      const Token at = reader_.next();
      if (stage != ProgramStage::Te) return stage;
      reader_.wrong(at, "read it as a schedule", "a text of stage te is a schedule, not a program");
    }
    if (reader_.at_word("graph")) {
      reader_.wrong(reader_.peek(), "give it to texloom-opt, which reads and prints graphs",
                    "a text of stage graph is a network, not a program");
    }
    reader_.fail_expected("'te', 'loops', 'flattened', 'kernels' or 'legalized'");
  }

  void foreign() {
    const Token first = reader_.next();
    const SourceLocation location = reader_.location(reader_.line_of(first));
    if (!reader_.accept_word("symbol")) {
      program_.foreign.push_back({.text = reader_.name("C text").name, .location = location});
      return;
    }
    const NamedToken name = reader_.name("the name of a function");
    if (program_.symbol_named(name.name) != nullptr) {
      reader_.wrong(name.token, "declare each function once", "the function {} is declared already",
                    name.token.text);
    }
    Foreign made{.kind = Foreign::Kind::Symbol, .text = name.name, .location = location};
    reader_.expect("(");
    while (!reader_.accept(")")) {
      if (!made.params.empty()) reader_.expect(",");
      const bool is_pointer = reader_.accept_word("pointer");
      made.params.push_back({reader_.type(), is_pointer});
    }
    reader_.expect(":");
    made.result = reader_.type();
    reader_.expect_word("in");
    made.library = reader_.name("the name of a library").name;
    program_.foreign.push_back(std::move(made));
  }

  void symbol() {
    reader_.next();
    const NamedToken name = reader_.name("the name of a symbol");
    reader_.expect(":");
    const Token at = reader_.peek();
    const Type type = reader_.type();
    if (!type.is_scalar()) {
      reader_.wrong(at, "use a scalar type", "the symbol {} has the type {}", name.token.text,
                    at.text);
    }
    if (names_.find_variable(name.name)) {
      reader_.wrong(name.token, "name each symbol once", "{} is a symbol already", name.token.text);
    }
    program_.symbols.push_back(names_.bind(reader_, name, type));
  }

  void param() {
    reader_.next();
    const NamedToken name = reader_.name("the name of a parameter");
    reader_.expect(":");
    const Declaration declaration = parse_declaration(reader_, names_);
    SourceLocation location = reader_.location(reader_.line_of(name.token));
    if (names_.find_buffer(name.name)) {
      reader_.wrong(name.token, "name each parameter once", "{} is a parameter already",
                    name.token.text);
    }
    program_.params.push_back(names_.declare(reader_, name, declaration, std::move(location)));
  }

  // -- Kernels.

  void kernel() {
    const Token first = reader_.next();
    Kernel k;
    const NamedToken name = reader_.name("the name of a kernel");
    k.name = name.name;
    k.grid = launches_.extents("grid");
    k.block = launches_.block_extents();
    k.location = stmts_.place(first);
    if (launches_.kernel_number(k.name) != static_cast<int>(program_.kernels.size())) {
      reader_.wrong(name.token, "give each kernel a different name", "two kernels are named {}",
                    name.token.text);
    }
    while (reader_.at_word("param") && !reader_.at("[", 1)) k.params.push_back(kernel_param());
    while (reader_.at_word("axis") && !reader_.at("[", 1)) k.axes.push_back(axis());
    k.body = stmts_.statements();
    program_.kernels.push_back(std::move(k));
  }

  KernelParam kernel_param() {
    reader_.next();
    const NamedToken name = reader_.name("the name of a parameter");
    reader_.expect(":");
    KernelParam p;
    if (const std::optional<Access> access = reader_.accept_access()) {
      p.access = *access;
      const Declaration declaration = parse_declaration(reader_, names_);
      p.buffer = names_.declare(reader_, name, declaration, reader_.line_of(name.token));
      return p;
    }
    const bool scalar = reader_.at_name() && parse_type(reader_.peek().text).has_value();
    if (!scalar) reader_.fail_expected("'read', 'write', 'read_write' or a type");
    p.scalar = names_.bind(reader_, name, reader_.type());
    if (reader_.accept("<")) p.extent = launches_.extent();
    return p;
  }

  ThreadAxis axis() {
    reader_.next();
    const NamedToken name = reader_.name("the name of an axis");
    const Type type = reader_.accept(":") ? reader_.type() : kInt32;
    reader_.expect("=");
    ThreadAxis a;
    a.tag = reader_.thread_tag();
    reader_.expect("<");
    a.extent = launches_.extent();
    a.var = names_.bind(reader_, name, type);
    return a;
  }

  void report(const std::vector<Violation>& violations) const {
    if (violations.empty()) return;
    std::vector<Diagnostic> diagnostics;
    for (const Violation& v : violations) {
      diagnostics.push_back(
          {Severity::Error,
           Code::BadProgram,
           v.location.known() ? v.location : first_line_,
           fmt::format("{}: {}", v.node, v.problem),
           fmt::format("keep the rule '{}' of this stage, which src/ir/verify/verify.h explains",
                       to_string(v.rule)),
           {},
           reader_.line_text(v.location)});
    }
    throw UserError(std::move(diagnostics));
  }

  TextReader reader_;
  SourceLocation first_line_ = reader_.line_of(reader_.peek());
  TextNames names_;
  ExprParser exprs_;
  StmtParser stmts_;
  LaunchParser& launches_ = stmts_.launches();
  Program program_;
};

}  // namespace

Program parse_program(std::string_view text, std::string_view file, VerifyOptions options) {
  return ProgramParser(text, file).program(options);
}

}  // namespace texloom::ir
