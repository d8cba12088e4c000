#include "ir/parse.h"

#include <map>
#include <optional>
#include <utility>

#include "ir/parse_buffer.h"
#include "ir/parse_expr.h"
#include "ir/verify.h"

namespace texloom::ir {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 48;

using Extents = std::array<int64_t, 3>;

class ProgramParser {
 public:
  ProgramParser(std::string_view text, std::string_view file)
      : reader_(text, file), exprs_(reader_, names_) {}

  Program program() {
    try {
      parse();
    } catch (const UserError& error) {
      // The make_ functions do not know the text.
      const Diagnostic& d = error.diagnostics().front();
      if (d.location.column > 0 || d.code != Code::ProgramTooDeep) throw;
      reader_.fail_at(reader_.peek(), d.code, d.message, d.help);
    }
    report(find_violations(program_));
    return std::move(program_);
  }

 private:
  // A statement of a block. What a Let or an Allocate is made of reaches to the end of the block,
  // so that it is kept until that is known.
  struct Item {
    Stmt stmt;  // else the opening of one of the two:
    Expr var, value;
    Buffer buffer;
    SourceLocation location;
  };
  struct PendingLaunch {
    NamedToken kernel;
    std::vector<NamedToken> operands;
    Extents grid, block;
  };

  void parse() {
    reader_.expect_word("program");
    program_.name = reader_.name("the name of the program").name;
    reader_.expect_word("stage");
    reader_.expect("=");
    program_.stage = stage();
    exprs_.set_form(
        {.logical = program_.stage == Stage::Loops, .widened = program_.stage == Stage::Legalised});
    while (reader_.at_word("param") && !reader_.at("[", 1)) param();
    find_kernels();
    program_.body = block();
    while (at_kernel()) kernel();
    if (reader_.peek().kind != TokenKind::End) reader_.fail_expected("a statement or a kernel");
    for (const PendingLaunch& launch : launches_) check_launch(launch);
  }

  Stage stage() {
    for (const Stage stage :
         {Stage::Te, Stage::Loops, Stage::Flattened, Stage::Kernels, Stage::Legalised}) {
      if (!reader_.at_word(to_string(stage))) continue;
      const Token at = reader_.next();
      if (stage != Stage::Te) return stage;
      reader_.wrong(at, "lower the schedule and write the program of a later stage",
                    "programs of stage te cannot be read");
    }
    reader_.fail_expected("'loops', 'flattened', 'kernels' or 'legalised'");
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

  // -- Statements.

  bool at_kernel() const { return reader_.at_word("kernel") && !reader_.at("[", 1); }

  Stmt block() {
    std::vector<Item> items;
    while (!reader_.at("}") && reader_.peek().kind != TokenKind::End && !at_kernel()) {
      items.push_back(item());
    }
    Stmts reversed;
    for (auto i = items.rbegin(); i != items.rend(); ++i) {
      if (i->stmt) {
        reversed.push_back(std::move(i->stmt));
        continue;
      }
      Stmt body = make_seq({reversed.rbegin(), reversed.rend()});
      reversed = {i->var ? make_let(i->var, i->value, std::move(body), i->location)
                         : make_allocate(i->buffer, std::move(body), i->location)};
    }
    return make_seq({reversed.rbegin(), reversed.rend()});
  }

  Stmt braces() {
    if (++depth_ > kMaxDepth) {
      reader_.fail_at(reader_.peek(), Code::ProgramTooDeep,
                      fmt::format("loops are nested more than {} levels deep", kMaxDepth),
                      "use fewer nested loops");
    }
    reader_.expect("{");
    Stmt body = block();
    if (!reader_.accept("}")) reader_.fail_expected("a statement or '}'");
    --depth_;
    return body;
  }

  Item item() {
    const bool quoted = reader_.peek().kind == TokenKind::Quoted;
    if (quoted || (reader_.at_name() && reader_.at("[", 1))) return {store(), {}, {}, {}, {}};
    if (reader_.at("{")) return {braces(), {}, {}, {}, {}};
    if (!reader_.at_name()) reader_.fail_expected("a statement");
    const Token word = reader_.peek();
    if (word.text == "let") return let();
    if (word.text == "buffer.alloca" || word.text == "texture2d.alloca") return allocate();
    return {keyword_statement(word), {}, {}, {}, {}};
  }

  Stmt keyword_statement(const Token& word) {
    if (word.text == "for") return loop(LoopKind::Serial);
    if (word.text == "unrolled") return loop(LoopKind::Unrolled);
    if (word.text == "vectorized") return loop(LoopKind::Vectorized);
    if (word.text == "thread") return loop(LoopKind::Thread);
    if (word.text == "if") return condition();
    if (word.text == "nest") return nest();
    if (word.text == "barrier") return barrier();
    if (word.text == "launch") return launch();
    if (word.text == "texture2d.store") return texture_store();
    if (word.text == "buffer.free" || word.text == "texture2d.free") return free();
    reader_.fail_expected("a statement");
  }

  // Reports what the rules of types find in this node alone.
  Stmt checked(const Token& at, Stmt s) const {
    exprs_.check(at, s);
    return s;
  }
  SourceLocation place(const Token& first) { return reader_.location(reader_.line_of(first)); }

  Stmt store() {
    const NamedToken name = reader_.name("the name of a buffer");
    const Buffer buffer = names_.buffer(reader_, name);
    reader_.expect("[");
    Exprs indices = exprs_.list_until("]");
    reader_.expect("=");
    Expr value = exprs_.expr();
    const int lanes = exprs_.access_lanes(name.token, indices);
    if (lanes != value->type.lanes) {
      reader_.wrong(name.token, "store as many lanes as the indices have",
                    "a value of {} lanes by an index of {}", value->type.lanes, lanes);
    }
    SourceLocation location = place(name.token);
    return checked(name.token,
                   make_store(buffer, std::move(indices), std::move(value), std::move(location)));
  }

  Stmt texture_store() {
    const Token first = reader_.next();
    reader_.expect("(");
    const NamedToken name = reader_.name("the name of a texture");
    const Buffer texture = names_.buffer(reader_, name);
    if (!texture->is_texture()) {
      reader_.wrong(name.token, "store its elements by A[i] = x", "{} is no texture",
                    name.token.text);
    }
    reader_.expect(",");
    Expr x, y;
    exprs_.texel(x, y);
    reader_.expect(",");
    Expr value = exprs_.expr();
    reader_.expect(":");
    const Token at = reader_.peek();
    const Type type = reader_.type();
    if (type != value->type || type.lanes != kTexelLanes) {
      reader_.wrong(at, "write the value's type, of four lanes",
                    "a value of type {} is stored as {}", to_string(value->type), to_string(type));
    }
    reader_.expect(")");
    SourceLocation location = place(first);
    return checked(first, make_texture_store(texture, std::move(x), std::move(y), std::move(value),
                                             std::move(location)));
  }

  Stmt loop(LoopKind kind) {
    const Token first = reader_.next();
    const ThreadTag tag = kind == LoopKind::Thread ? thread_tag() : ThreadTag{};
    const NamedToken name = reader_.name("the name of a loop variable");
    std::optional<Type> type;
    if (reader_.accept(":")) type = reader_.type();
    reader_.expect("<");
    Expr extent = exprs_.expr();
    const Expr var = names_.bind(reader_, name, type.value_or(extent->type));
    SourceLocation location = place(first);
    Stmt body = braces();
    return checked(
        first,
        kind == LoopKind::Thread
            ? make_thread_for(var, std::move(extent), tag, std::move(body), std::move(location))
            : make_for(var, std::move(extent), kind, std::move(body), std::move(location)));
  }

  ThreadTag thread_tag() {
    reader_.expect("<");
    const ThreadTag tag = tag_name();
    reader_.expect(">");
    return tag;
  }
  ThreadTag tag_name() {
    const std::optional<ThreadTag> tag =
        reader_.at_name() ? parse_thread_tag(reader_.peek().text) : std::nullopt;
    if (!tag) reader_.fail_expected("a thread index such as 'blockIdx.x'");
    reader_.next();
    return *tag;
  }

  Stmt condition() {
    const Token first = reader_.next();
    Expr condition = exprs_.expr();
    if (condition->type != kBool) {
      reader_.wrong(first, "write a comparison", "the condition is {}, not bool",
                    to_string(condition->type));
    }
    SourceLocation location = place(first);
    Stmt then = braces();
    return make_if(std::move(condition), std::move(then), std::move(location));
  }

  Stmt nest() {
    const Token first = reader_.next();
    const NamedToken name = reader_.name("the name of a buffer");
    const Buffer result = names_.buffer(reader_, name);
    SourceLocation location = place(first);
    Stmt body = braces();
    return make_nest(result, std::move(body), std::move(location));
  }

  Item let() {
    const Token first = reader_.next();
    const NamedToken name = reader_.name("the name of a variable");
    reader_.expect(":");
    const Type type = reader_.type();
    reader_.expect("=");
    Expr value = exprs_.expr();
    if (value->type != type) {
      reader_.wrong(name.token, "convert the value, as in float32(i)",
                    "{} is declared {}, its value is {}", name.token.text, to_string(type),
                    to_string(value->type));
    }
    const Expr var = names_.bind(reader_, name, type);
    return {nullptr, var, std::move(value), nullptr, place(first)};
  }

  Item allocate() {
    const Token first = reader_.next();
    const NamedToken name = reader_.name("the name of a buffer");
    reader_.expect(":");
    const Declaration declaration = parse_declaration(reader_, names_);
    SourceLocation location = place(first);
    const Buffer buffer = names_.declare(reader_, name, declaration, location);
    check_object(first, *buffer);
    return {nullptr, nullptr, nullptr, buffer, std::move(location)};
  }

  void check_object(const Token& word, const BufferNode& buffer) const {
    if (word.text.starts_with("texture2d") != buffer.is_texture()) {
      reader_.wrong(word, "texture2d is for textures, buffer for all others", "{} is {} texture",
                    spell_name(buffer.name), buffer.is_texture() ? "a" : "no");
    }
  }

  Stmt free() {
    const Token first = reader_.next();
    const NamedToken name = reader_.name("the name of a buffer");
    const Buffer buffer = names_.buffer(reader_, name);
    check_object(first, *buffer);
    return make_free(buffer, place(first));
  }

  Stmt barrier() {
    const Token first = reader_.next();
    return make_barrier(place(first));
  }

  // -- Kernels.

  // Launches stand in front of their kernels, and are numbers of them.
  void find_kernels() {
    for (size_t i = 0; reader_.peek(i).kind != TokenKind::End; ++i) {
      const Token& token = reader_.peek(i + 1);
      const bool quoted = token.kind == TokenKind::Quoted;
      const bool header = reader_.at_word("kernel", i) && (quoted || reader_.at_name(i + 1)) &&
                          reader_.at_word("grid", i + 2) && reader_.at("=", i + 3);
      if (!header) continue;
      const auto name = quoted ? unquote(token.text) : std::optional(std::string(token.text));
      const auto number = static_cast<int>(numbers_.size());
      if (name) numbers_.try_emplace(*name, number);
    }
  }

  Extents extents(std::string_view what) {
    reader_.expect_word(what);
    reader_.expect("=");
    reader_.expect("(");
    Extents e{};
    for (size_t i = 0; i < e.size(); ++i) {
      if (i > 0) reader_.expect(",");
      e[i] = reader_.integer("an extent", 1, kMaxExtent);
    }
    reader_.expect(")");
    return e;
  }

  Stmt launch() {
    const Token first = reader_.next();
    PendingLaunch launch;
    launch.kernel = reader_.name("the name of a kernel");
    reader_.expect("(");
    if (!reader_.accept(")")) {
      do {
        launch.operands.push_back(reader_.name("an operand of the launch"));
      } while (reader_.accept(","));
      if (!reader_.accept(")")) reader_.fail_expected("',' or ')'");
    }
    launch.grid = extents("grid");
    launch.block = extents("block");
    const auto found = numbers_.find(launch.kernel.name);
    if (found == numbers_.end()) {
      reader_.wrong(launch.kernel.token, "write the kernel behind the plan",
                    "there is no kernel {}", launch.kernel.token.text);
    }
    const int number = found->second;
    launches_.push_back(std::move(launch));
    return make_launch(number, place(first));
  }

  // What a launch says about its kernel is there for readers; it has to be true.
  void check_launch(const PendingLaunch& launch) const {
    const Kernel& k = program_.kernels[static_cast<size_t>(numbers_.at(launch.kernel.name))];
    const Token& at = launch.kernel.token;
    if (launch.grid != k.grid || launch.block != k.block) {
      reader_.wrong(at, "repeat those of the kernel", "the kernel {} has another grid or block",
                    at.text);
    }
    if (launch.operands.size() != k.params.size()) {
      reader_.wrong(at, "repeat the parameters of the kernel", "the kernel {} takes {} operands",
                    at.text, k.params.size());
    }
    for (size_t i = 0; i < k.params.size(); ++i) {
      const NamedToken& operand = launch.operands[i];
      const KernelParam& p = k.params[i];
      const bool same = p.scalar ? p.scalar.same_as(names_.find_variable(operand.name))
                                 : p.buffer.same_as(names_.find_buffer(operand.name));
      if (same) continue;
      reader_.wrong(operand.token, "repeat the parameters of the kernel",
                    "parameter {} of kernel {} is {}", i, at.text,
                    spell_name(p.scalar ? as<Var>(p.scalar)->name : p.buffer->name));
    }
  }

  void kernel() {
    const Token first = reader_.next();
    Kernel k;
    const NamedToken name = reader_.name("the name of a kernel");
    k.name = name.name;
    k.grid = extents("grid");
    k.block = extents("block");
    k.location = place(first);
    if (numbers_.at(k.name) != static_cast<int>(program_.kernels.size())) {
      reader_.wrong(name.token, "give each kernel a name of its own", "two kernels are named {}",
                    name.token.text);
    }
    while (reader_.at_word("param") && !reader_.at("[", 1)) k.params.push_back(kernel_param());
    while (reader_.at_word("axis") && !reader_.at("[", 1)) k.axes.push_back(axis());
    k.body = block();
    program_.kernels.push_back(std::move(k));
  }

  KernelParam kernel_param() {
    reader_.next();
    const NamedToken name = reader_.name("the name of a parameter");
    reader_.expect(":");
    KernelParam p;
    for (const Access access : {Access::Read, Access::Write, Access::ReadWrite}) {
      if (!reader_.accept_word(to_string(access))) continue;
      p.access = access;
      const Declaration declaration = parse_declaration(reader_, names_);
      p.buffer = names_.declare(reader_, name, declaration, reader_.line_of(name.token));
      return p;
    }
    const bool scalar = reader_.at_name() && parse_type(reader_.peek().text).has_value();
    if (!scalar) reader_.fail_expected("'read', 'write', 'read_write' or a type");
    p.scalar = names_.bind(reader_, name, reader_.type());
    return p;
  }

  ThreadAxis axis() {
    reader_.next();
    const NamedToken name = reader_.name("the name of an axis");
    const Type type = reader_.accept(":") ? reader_.type() : kInt32;
    reader_.expect("=");
    ThreadAxis a;
    a.tag = tag_name();
    reader_.expect("<");
    a.extent = reader_.integer("an extent", 1, kMaxExtent);
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
           fmt::format("the rule '{}' of src/ir/verify.h holds at this stage", to_string(v.rule)),
           {},
           reader_.line_text(v.location)});
    }
    throw UserError(std::move(diagnostics));
  }

  TextReader reader_;
  SourceLocation first_line_ = reader_.line_of(reader_.peek());
  TextNames names_;
  ExprParser exprs_;
  Program program_;
  std::map<std::string, int> numbers_;  // of kernels
  std::vector<PendingLaunch> launches_;
  int depth_ = 0;  // of braces
};

}  // namespace

Program parse_program(std::string_view text, std::string_view file) {
  return ProgramParser(text, file).program();
}

}  // namespace texloom::ir
