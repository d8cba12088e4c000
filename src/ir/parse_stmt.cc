#include "ir/parse_stmt.h"

#include <optional>
#include <utility>

#include "ir/parse_buffer.h"

namespace texloom::ir {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 48;

}  // namespace

// -- Blocks.

Stmt StmtParser::statements() {
  std::vector<Block> open(1);
  for (;;) {
    if (reader_.at("}") && open.size() > 1) {
      reader_.next();
      Stmt closed = open.back().close(body_of(open.back().items));
      open.pop_back();
      open.back().items.push_back({std::move(closed), {}, {}, {}, {}});
    } else if (reader_.at("}") || reader_.peek().kind == TokenKind::End || at_kernel()) {
      if (open.size() > 1) reader_.fail_expected("a statement or '}'");
      return body_of(open.back().items);
    } else if (Close close = opening()) {
      if (open.size() > kMaxDepth) {
        reader_.fail_at(reader_.peek(), Code::ProgramTooDeep,
                        fmt::format("loops are nested more than {} levels deep", kMaxDepth),
                        "use fewer nested loops");
      }
      reader_.expect("{");
      open.push_back({std::move(close), {}});
    } else {
      open.back().items.push_back(item());
    }
  }
}

Stmt StmtParser::body_of(std::vector<Item>& items) {
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

StmtParser::Close StmtParser::opening() {
  if (reader_.at("{")) return [](Stmt body) { return body; };
  if (!reader_.at_name() || reader_.at("[", 1)) return nullptr;
  const std::string_view word = reader_.peek().text;
  if (word == "for") return loop(LoopKind::Serial);
  if (word == "unrolled") return loop(LoopKind::Unrolled);
  if (word == "vectorized") return loop(LoopKind::Vectorized);
  if (word == "thread") return loop(LoopKind::Thread);
  if (word == "if") return condition();
  if (word == "nest") return nest();
  if (word == "pipelined") return pipelined();
  return nullptr;
}

StmtParser::Close StmtParser::loop(LoopKind kind) {
  const Token first = reader_.next();
  ThreadTag thread;
  if (kind == LoopKind::Thread) {
    reader_.expect("<");
    thread = reader_.thread_tag();
    reader_.expect(">");
  }
  const NamedToken name = reader_.name("the name of a loop variable");
  std::optional<Type> type;
  if (reader_.accept(":")) type = reader_.type();
  reader_.expect("<");
  const Expr extent = exprs_.expr();
  const Expr var = names_.bind(reader_, name, type.value_or(extent->type));
  const SourceLocation location = place(first);
  return [this, kind, thread, first, var, extent, location](Stmt body) {
    Stmt s = kind == LoopKind::Thread
                 ? make_thread_for(var, extent, thread, std::move(body), location)
                 : make_for(var, extent, kind, std::move(body), location);
    return checked(exprs_, first, std::move(s));
  };
}

StmtParser::Close StmtParser::condition() {
  const Token first = reader_.next();
  const Expr condition = exprs_.expr();
  if (condition->type != kBool) {
    reader_.wrong(first, "write a comparison", "the condition is {}, not bool",
                  to_string(condition->type));
  }
  const SourceLocation location = place(first);
  return [condition, location](Stmt body) { return make_if(condition, std::move(body), location); };
}

StmtParser::Close StmtParser::nest() {
  const Token first = reader_.next();
  const Buffer result = names_.buffer(reader_, reader_.name("the name of a buffer"));
  const SourceLocation location = place(first);
  return [result, location](Stmt body) { return make_nest(result, std::move(body), location); };
}

StmtParser::Close StmtParser::pipelined() {
  const Token first = reader_.next();
  const Buffer buffer = names_.buffer(reader_, reader_.name("the name of a buffer"));
  reader_.expect_word("stages");
  reader_.expect("=");
  const auto stages =
      static_cast<int>(reader_.integer("a number of stages", kMinStages, kMaxStages));
  const SourceLocation location = place(first);
  return [this, first, buffer, stages, location](Stmt body) {
    return checked(exprs_, first, make_pipelined(buffer, stages, std::move(body), location));
  };
}

// -- Statements without a block.

StmtParser::Item StmtParser::item() {
  const bool quoted = reader_.peek().kind == TokenKind::Quoted;
  if (quoted || (reader_.at_name() && reader_.at("[", 1))) return {store(), {}, {}, {}, {}};
  if (!reader_.at_name()) reader_.fail_expected("a statement");
  const Token word = reader_.peek();
  if (word.text == "let") return let();
  if (word.text == "buffer.alloca" || word.text == "texture2d.alloca") return allocate();
  return {simple(word), {}, {}, {}, {}};
}

Stmt StmtParser::simple(const Token& word) {
  if (word.text == "barrier") return barrier();
  if (word.text == "launch") return launch();
  if (word.text == "texture2d.store") return texture_store();
  if (word.text == "buffer.free" || word.text == "texture2d.free") return free();
  reader_.fail_expected("a statement");
}

Stmt StmtParser::store() {
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
  return checked(exprs_, name.token,
                 make_store(buffer, std::move(indices), std::move(value), std::move(location)));
}

Stmt StmtParser::texture_store() {
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
    reader_.wrong(at, "write the value's type, of four lanes", "a value of type {} is stored as {}",
                  to_string(value->type), to_string(type));
  }
  reader_.expect(")");
  SourceLocation location = place(first);
  return checked(exprs_, first,
                 make_texture_store(texture, std::move(x), std::move(y), std::move(value),
                                    std::move(location)));
}

StmtParser::Item StmtParser::let() {
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

StmtParser::Item StmtParser::allocate() {
  const Token first = reader_.next();
  const NamedToken name = reader_.name("the name of a buffer");
  reader_.expect(":");
  const Declaration declaration = parse_declaration(reader_, names_);
  SourceLocation location = place(first);
  const Buffer buffer = names_.declare(reader_, name, declaration, location);
  check_object(first, *buffer);
  return {nullptr, nullptr, nullptr, buffer, std::move(location)};
}

void StmtParser::check_object(const Token& word, const BufferNode& buffer) const {
  if (word.text.starts_with("texture2d") != buffer.is_texture()) {
    reader_.wrong(word, "texture2d is for textures, buffer for all others", "{} is {} texture",
                  spell_name(buffer.name), buffer.is_texture() ? "a" : "no");
  }
}

Stmt StmtParser::free() {
  const Token first = reader_.next();
  const NamedToken name = reader_.name("the name of a buffer");
  const Buffer buffer = names_.buffer(reader_, name);
  check_object(first, *buffer);
  return make_free(buffer, place(first));
}

Stmt StmtParser::barrier() {
  const Token first = reader_.next();
  return make_barrier(place(first));
}

// -- Launches.

void StmtParser::find_kernels() {
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

Extents StmtParser::extents(std::string_view what) {
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

Stmt StmtParser::launch() {
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
    reader_.wrong(launch.kernel.token, "write the kernel behind the plan", "there is no kernel {}",
                  launch.kernel.token.text);
  }
  const int number = found->second;
  launches_.push_back(std::move(launch));
  return make_launch(number, place(first));
}

void StmtParser::check_launches(const std::vector<Kernel>& kernels) const {
  for (const PendingLaunch& launch : launches_) {
    check_launch(launch, kernels[static_cast<size_t>(kernel_number(launch.kernel.name))]);
  }
}

void StmtParser::check_launch(const PendingLaunch& launch, const Kernel& k) const {
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

}  // namespace texloom::ir
