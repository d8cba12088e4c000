#include "ir/text/parse_stmt.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "ir/text/parse_buffer.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

constexpr int64_t kMaxSimdWidth = 1024;

using Words = std::array<std::string_view, 4>;

// The words that statements begin with, besides the words of loops (ir/loop_kind.h). Code does not
// compile if a node of nodes.def has no row here.
namespace words {
constexpr Words kStore = {};  // begins with the name of the buffer
constexpr Words kTextureStore = {"texture2d.store"};
constexpr Words kEvaluate = {"evaluate"};
constexpr Words kPrefetch = {"prefetch"};
constexpr Words kFor = {};  // find_loop_kind()
constexpr Words kIf = {"if"};
constexpr Words kWhile = {"while"};
constexpr Words kSeq = {};  // has no word: statements follow one another
constexpr Words kLet = {"let"};
constexpr Words kNest = {"nest"};
constexpr Words kAllocate = {"buffer.alloca", "texture2d.alloca"};
constexpr Words kFree = {"buffer.free", "texture2d.free"};
constexpr Words kBarrier = {"barrier"};
constexpr Words kAsyncCopies = {"async_copies"};
constexpr Words kAwaitCopies = {"await_copies"};
constexpr Words kShuffle = {"shuffle"};
constexpr Words kFragmentStep = {"fragment.fill", "fragment.load", "fragment.mma",
                                 "fragment.store"};
constexpr Words kLastBlock = {"last_block"};
constexpr Words kLaunch = {"launch"};
constexpr Words kPipelined = {"pipelined"};
}  // namespace words

std::optional<StmtKind> stmt_kind_of(std::string_view word) {
  static constexpr std::pair<StmtKind, Words> kTable[] = {
#define TL_EXPR(Name, summary)
#define TL_STMT(Name, summary) {StmtKind::Name, words::k##Name},
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
  };
  if (find_loop_kind(word)) return StmtKind::For;
  for (const auto& [kind, words] : kTable) {
    if (!word.empty() && std::ranges::find(words, word) != words.end()) return kind;
  }
  return std::nullopt;
}

}  // namespace

// -- Blocks.

Stmt StmtParser::statements() {
  std::vector<Block> open(1);
  for (;;) {
    if (reader_.at("}") && open.size() > 1) {
      reader_.next();
      Stmt closed = open.back().close(body_of(open.back().items));
      open.pop_back();
      open.back().items.push_back(statement(std::move(closed)));
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
    reversed = {i->offset ? make_shuffle(i->var, i->value, i->offset, i->width, std::move(body),
                                         i->location)
                : i->var  ? make_let(i->var, i->value, std::move(body), i->location)
                          : make_allocate(i->buffer, std::move(body), i->location)};
  }
  return make_seq({reversed.rbegin(), reversed.rend()});
}

std::optional<StmtKind> StmtParser::kind_here() const {
  const bool name = reader_.at_name();
  if (reader_.peek().kind == TokenKind::Quoted || (name && reader_.at("[", 1))) {
    return StmtKind::Store;
  }
  return name ? stmt_kind_of(reader_.peek().text) : std::nullopt;
}

StmtParser::Close StmtParser::opening() {
  if (reader_.at("{")) return [](Stmt body) { return body; };
  const std::optional<StmtKind> kind = kind_here();
  if (kind == StmtKind::For) return loop();
  if (kind == StmtKind::If) return condition();
  if (kind == StmtKind::While) return condition();
  if (kind == StmtKind::Nest) return nest();
  if (kind == StmtKind::Pipelined) return pipelined();
  if (kind == StmtKind::AsyncCopies) return async_copies();
  if (kind == StmtKind::LastBlock) return last_block();
  return nullptr;
}

StmtParser::Close StmtParser::loop() {
  const Token first = reader_.next();
  const LoopKind kind = *find_loop_kind(first.text);
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
  const bool repeats = first.text == "while";
  const Expr condition = exprs_.expr();
  exprs_.require(first, "write a comparison", guard_problem(condition->type));
  const SourceLocation location = place(first);
  return [repeats, condition, location](Stmt body) {
    return (repeats ? make_while : make_if)(condition, std::move(body), location);
  };
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
      static_cast<int>(reader_.integer("a number of stages", kMinPipelineStages, kMaxAsyncStages));
  const bool is_async = reader_.accept_word("async");
  const SourceLocation location = place(first);
  return [this, first, buffer, stages, is_async, location](Stmt body) {
    return checked(exprs_, first,
                   make_pipelined(buffer, stages, is_async, std::move(body), location));
  };
}

StmtParser::Close StmtParser::async_copies() {
  const Token first = reader_.next();
  const SourceLocation location = place(first);
  return [this, first, location](Stmt body) {
    return checked(exprs_, first, make_async_copies(std::move(body), location));
  };
}

StmtParser::Close StmtParser::last_block() {
  const Token first = reader_.next();
  const Buffer counters = names_.buffer(reader_, reader_.name("the name of a buffer"));
  reader_.expect("[");
  const Expr index = exprs_.expr();
  reader_.expect("]");
  reader_.expect_word("of");
  const Expr count = exprs_.expr();
  reader_.expect_word("flag");
  reader_.expect("=");
  const Buffer flag = names_.buffer(reader_, reader_.name("the name of a buffer"));
  const SourceLocation location = place(first);
  return [this, first, counters, index, count, flag, location](Stmt body) {
    return checked(exprs_, first,
                   make_last_block(counters, index, count, flag, std::move(body), location));
  };
}

// -- Statements without a block.

StmtParser::Item StmtParser::item() {
  const std::optional<StmtKind> kind = kind_here();
  if (!kind) reader_.fail_expected("a statement");
  switch (*kind) {
    case StmtKind::Store:
      return statement(store());
    case StmtKind::TextureStore:
      return statement(texture_store());
    case StmtKind::Evaluate:
      return statement(evaluate());
    case StmtKind::Prefetch:
      return statement(prefetch());
    case StmtKind::Let:
      return let();
    case StmtKind::Shuffle:
      return shuffle();
    case StmtKind::Allocate:
      return allocate();
    case StmtKind::FragmentStep:
      return statement(fragment_step());
    case StmtKind::Free:
      return statement(free());
    case StmtKind::Barrier:
      return statement(barrier());
    case StmtKind::AwaitCopies:
      return statement(await_copies());
    case StmtKind::Launch:
      return statement(launches_.launch());
    case StmtKind::For:
    case StmtKind::If:
    case StmtKind::While:
    case StmtKind::Nest:
    case StmtKind::Pipelined:
    case StmtKind::AsyncCopies:
    case StmtKind::LastBlock:
    case StmtKind::Seq:
      break;  // handled by opening() and statements()
  }
  TL_UNREACHABLE();
}

Stmt StmtParser::store() {
  const NamedToken name = reader_.name("the name of a buffer");
  const Buffer buffer = names_.buffer(reader_, name);
  reader_.expect("[");
  Exprs indices = exprs_.list_until("]");
  reader_.expect("=");
  Expr value = exprs_.expr();
  exprs_.require(name.token, "give the value and all index vectors the same number of lanes",
                 access_problem(indices, value->type));
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
    reader_.wrong(name.token, "store its elements by A[i] = x", "{} is not a texture",
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

Stmt StmtParser::evaluate() {
  const Token first = reader_.next();
  Expr call = exprs_.expr();
  return checked(exprs_, first, make_evaluate(std::move(call), place(first)));
}

Stmt StmtParser::prefetch() {
  const Token first = reader_.next();
  const NamedToken name = reader_.name("the name of a buffer");
  const Buffer buffer = names_.buffer(reader_, name);
  if (buffer->is_texture() || buffer->memory != MemoryScope::Global) {
    reader_.wrong(name.token, "name a buffer in global memory",
                  "{} is not a buffer in global memory", name.token.text);
  }
  reader_.expect("[");
  Exprs indices = exprs_.list_until("]");
  return checked(exprs_, first, make_prefetch(buffer, std::move(indices), place(first)));
}

Stmt StmtParser::fragment_step() {
  const Token first = reader_.next();
  static constexpr std::array kOps = {FragmentOp::Fill, FragmentOp::Load, FragmentOp::Mma,
                                      FragmentOp::Store};
  const auto* op = std::ranges::find_if(kOps, [&](FragmentOp each) {
    return first.text == fmt::format("fragment.{}", to_string(each));
  });
  reader_.expect("(");
  Exprs operands;
  std::array<bool, 3> transposed = {};
  for (;;) {
    const bool is_factor = *op == FragmentOp::Mma && (operands.size() == 1 || operands.size() == 2);
    // A buffer or a variable may have the name.
    if (is_factor && reader_.at_word("transposed") && !reader_.at("[", 1)) {
      reader_.next();
      transposed[operands.size()] = true;
    }
    operands.push_back(exprs_.expr());
    if (!reader_.accept(",")) break;
  }
  reader_.expect(")");
  return checked(
      exprs_, first,
      make_fragment_step(*op, std::move(operands), transposed[1], transposed[2], place(first)));
}

StmtParser::Bound StmtParser::bound() {
  NamedToken name = reader_.name("the name of a variable");
  reader_.expect(":");
  const Type type = reader_.type();
  reader_.expect("=");
  Expr value = exprs_.expr();
  if (value->type != type) {
    reader_.wrong(name.token, "convert the value, as in float32(i)",
                  "{} is declared {}, but its value is {}", name.token.text, to_string(type),
                  to_string(value->type));
  }
  return {std::move(name), std::move(value)};
}

StmtParser::Item StmtParser::let() {
  const Token first = reader_.next();
  const Bound bound = this->bound();
  const Expr var = names_.bind(reader_, bound.name, bound.value->type);
  return {nullptr, var, bound.value, nullptr, place(first)};
}

StmtParser::Item StmtParser::shuffle() {
  const Token first = reader_.next();
  const Bound bound = this->bound();
  reader_.expect_word("by");
  Expr offset = exprs_.expr();
  reader_.expect_word("of");
  const auto width = static_cast<int>(reader_.integer("a number of threads", 1, kMaxSimdWidth));
  const Expr var = names_.bind(reader_, bound.name, bound.value->type);
  return {nullptr, var, bound.value, nullptr, place(first), std::move(offset), width};
}

std::optional<Buffer> StmtParser::temporary() {
  if (kind_here() != StmtKind::Allocate) return std::nullopt;
  const bool is_global = reader_.at_word("texture2d.alloca") || reader_.at_word("global", 3);
  if (!is_global) return std::nullopt;
  return allocate().buffer;
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
    reader_.wrong(word, "write texture2d for textures, and buffer for all other memory",
                  "{} is {} texture", spell_name(buffer.name), buffer.is_texture() ? "a" : "not a");
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

Stmt StmtParser::await_copies() {
  const Token first = reader_.next();
  reader_.expect_word("pending");
  reader_.expect("=");
  const int64_t pending =
      reader_.integer("a number of groups of copies", 0, std::numeric_limits<int>::max());
  return make_await_copies(static_cast<int>(pending), place(first));
}

}  // namespace texloom::ir
