#include "ir/stmt.h"

#include <algorithm>

#include "ir/buffer.h"
#include "ir/build/type_rules.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::ir {
namespace {

Stmt finish(StmtNode* node, SourceLocation location, std::initializer_list<const Stmt*> children) {
  Stmt result(node);
  int depth = 0;
  for (const Stmt* child : children) {
    depth = std::max<int>(depth, (*child)->depth);
    if (!location.known()) location = (*child)->location;
  }
  node->location = std::move(location);
  if (depth >= kMaxDepth) {
    fail(node->location, Code::ProgramTooDeep,
         "use fewer nested loops, or divide the stages among several functions",
         "loops and allocations are nested more than {} levels deep", kMaxDepth);
  }
  node->depth = static_cast<uint16_t>(depth + 1);
  return result;
}

void require_types(const TypeProblem& problem) { TL_CHECK(!problem, to_string(problem)); }

}  // namespace

Stmt make_store(Buffer buffer, Exprs indices, Expr value, SourceLocation location) {
  require_types(access_problem(indices, value->type));
  auto* node = new Store;
  node->buffer = std::move(buffer);
  node->indices = std::move(indices);
  node->value = std::move(value);
  return finish(node, std::move(location), {});
}

Stmt make_texture_store(Buffer texture, Expr x, Expr y, Expr value, SourceLocation location) {
  TL_CHECK(texture->is_texture());
  require_types(texel_problem(x, y, value->type));
  auto* node = new TextureStore;
  node->texture = std::move(texture);
  node->x = std::move(x);
  node->y = std::move(y);
  node->value = std::move(value);
  return finish(node, std::move(location), {});
}

Stmt make_evaluate(Expr call, SourceLocation location) {
  if (!location.known()) location = call->location;
  auto* node = new Evaluate;
  node->call = std::move(call);
  return finish(node, std::move(location), {});
}

Stmt make_prefetch(Buffer buffer, Exprs indices, SourceLocation location) {
  TL_CHECK(!buffer->is_texture() && buffer->memory == MemoryScope::Global);
  auto* node = new Prefetch;
  node->buffer = std::move(buffer);
  node->indices = std::move(indices);
  return finish(node, std::move(location), {});
}

Stmt make_for(Expr var, Expr extent, LoopKind loop, Stmt body, SourceLocation location) {
  TL_CHECK(as<Var>(var) != nullptr && loop != LoopKind::Thread);
  auto* node = new For;
  node->var = std::move(var);
  node->extent = std::move(extent);
  node->loop = loop;
  node->body = std::move(body);
  return finish(node, std::move(location), {&node->body});
}

Stmt make_thread_for(Expr var, Expr extent, ThreadTag tag, Stmt body, SourceLocation location) {
  auto* node = new For;
  node->var = std::move(var);
  node->extent = std::move(extent);
  node->loop = LoopKind::Thread;
  node->tag = tag;
  node->body = std::move(body);
  return finish(node, std::move(location), {&node->body});
}

Stmt make_if(Expr condition, Stmt then, SourceLocation location) {
  TL_CHECK(condition->type.element().is_bool());
  if (is_true(condition)) return then;
  if (is_false(condition)) return make_empty();
  auto* node = new If;
  node->condition = std::move(condition);
  node->then = std::move(then);
  return finish(node, std::move(location), {&node->then});
}

Stmt make_while(Expr condition, Stmt body, SourceLocation location) {
  require_types(guard_problem(condition->type));
  if (is_false(condition)) return make_empty();
  auto* node = new While;
  node->condition = std::move(condition);
  node->body = std::move(body);
  return finish(node, std::move(location), {&node->body});
}

Stmt make_seq(Stmts statements) {
  auto* node = new Seq;
  Stmt result(node);
  int depth = 0;
  for (Stmt& s : statements) {
    if (const Seq* inner = as<Seq>(s)) {
      node->statements.insert(node->statements.end(), inner->statements.begin(),
                              inner->statements.end());
    } else {
      node->statements.push_back(std::move(s));
    }
  }
  if (node->statements.size() == 1) return node->statements.front();
  for (const Stmt& s : node->statements) depth = std::max<int>(depth, s->depth);
  if (!node->statements.empty()) node->location = node->statements.front()->location;
  node->depth = static_cast<uint16_t>(depth + 1);
  return result;
}

Stmt make_let(Expr var, Expr value, Stmt body, SourceLocation location) {
  TL_CHECK(var->type == value->type);
  auto* node = new Let;
  node->var = std::move(var);
  node->value = std::move(value);
  node->body = std::move(body);
  return finish(node, std::move(location), {&node->body});
}

Stmt make_nest(Buffer result, Stmt body, SourceLocation location) {
  auto* node = new Nest;
  node->result = std::move(result);
  node->body = std::move(body);
  return finish(node, std::move(location), {&node->body});
}

Stmt make_pipelined(Buffer buffer, int stages, bool is_async, Stmt body, SourceLocation location) {
  auto* node = new Pipelined;
  node->buffer = std::move(buffer);
  node->stages = stages;
  node->is_async = is_async;
  node->body = std::move(body);
  return finish(node, std::move(location), {&node->body});
}

Stmt make_allocate(Buffer buffer, Stmt body, SourceLocation location) {
  auto* node = new Allocate;
  node->buffer = std::move(buffer);
  node->body = std::move(body);
  return finish(node, std::move(location), {&node->body});
}

Stmt make_free(Buffer buffer, SourceLocation location) {
  auto* node = new Free;
  node->buffer = std::move(buffer);
  return finish(node, std::move(location), {});
}

Stmt make_barrier(SourceLocation location) { return finish(new Barrier, std::move(location), {}); }

Stmt make_async_copies(Stmt body, SourceLocation location) {
  auto* node = new AsyncCopies;
  node->body = std::move(body);
  return finish(node, std::move(location), {&node->body});
}

Stmt make_await_copies(int pending, SourceLocation location) {
  auto* node = new AwaitCopies;
  node->pending = pending;
  return finish(node, std::move(location), {});
}

Stmt make_shuffle(Expr var, Expr value, Expr offset, int width, Stmt body,
                  SourceLocation location) {
  TL_CHECK(var->type == value->type);
  auto* node = new Shuffle;
  node->var = std::move(var);
  node->value = std::move(value);
  node->offset = std::move(offset);
  node->width = width;
  node->body = std::move(body);
  return finish(node, std::move(location), {&node->body});
}

std::string_view to_string(FragmentOp op) {
  switch (op) {
    case FragmentOp::Fill:
      return "fill";
    case FragmentOp::Load:
      return "load";
    case FragmentOp::Mma:
      return "mma";
    case FragmentOp::Store:
      return "store";
  }
  TL_UNREACHABLE();
}

Stmt make_fragment_step(FragmentOp op, Exprs operands, bool left_transposed, bool right_transposed,
                        SourceLocation location) {
  auto* node = new FragmentStep;
  node->op = op;
  node->operands = std::move(operands);
  node->left_transposed = left_transposed;
  node->right_transposed = right_transposed;
  return finish(node, std::move(location), {});
}

Stmt make_last_block(Buffer counters, Expr index, Expr count, Buffer flag, Stmt body,
                     SourceLocation location) {
  auto* node = new LastBlock;
  node->counters = std::move(counters);
  node->index = std::move(index);
  node->count = std::move(count);
  node->flag = std::move(flag);
  node->body = std::move(body);
  return finish(node, std::move(location), {&node->body});
}

Stmt make_launch(int kernel, SourceLocation location) {
  auto* node = new Launch;
  node->kernel = kernel;
  return finish(node, std::move(location), {});
}

Stmt make_empty() { return make_seq({}); }
bool is_empty(const Stmt& s) {
  const Seq* seq = as<Seq>(s);
  return seq != nullptr && seq->statements.empty();
}

}  // namespace texloom::ir
