#include "lower/barriers/drop_barriers.h"

#include <array>
#include <unordered_set>

#include "ir/accesses.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

enum class Direction : uint8_t { Forward, Backward };

// Drops barriers while traversing a kernel from its beginning or from its end.
class BarrierDropper {
 public:
  BarrierDropper(const Kernel& kernel, Direction direction) : direction_(direction) {
    if (kernel.block == std::array<int64_t, 3>{1, 1, 1}) return;  // one thread exchanges nothing
    // A kernel does not read a texture that it writes.
    for_each_access(kernel.body, [&](const BufferAccess& n) {
      const bool shared = !is_private(n.buffer->memory) && !n.buffer->is_texture();
      if (n.writes() && shared) exchanged_.insert(n.buffer.get());
    });
  }

  Stmt run(const Stmt& s) {
    if (as<Barrier>(s) != nullptr) return separated_ ? make_empty() : passed(s);
    if (const auto* seq = as<Seq>(s)) return run(*seq);
    if (const auto* loop = as<For>(s)) {
      const int64_t* extent = int_value(loop->extent);
      const Stmt body = repeated(loop->body, {loop->extent}, extent != nullptr && *extent > 0);
      if (is_empty(body)) return body;
      return make_for(loop->var, loop->extent, loop->loop, body, loop->location);
    }
    if (const auto* loop = as<While>(s)) {
      return make_while(loop->condition, repeated(loop->body, {loop->condition}, false),
                        loop->location);
    }
    if (const auto* guard = as<If>(s)) {
      const Stmt then = perhaps(guard->then, guard->condition);
      return is_empty(then) ? then : make_if(guard->condition, then, guard->location);
    }
    if (const auto* n = as<LastBlock>(s)) return run(*n);
    // Other threads see the awaited copies after the next barrier.
    if (as<AwaitCopies>(s) != nullptr) separated_ = separated_ && exchanged_.empty();
    // The expressions of a statement are evaluated before its body.
    const bool forward = direction_ == Direction::Forward;
    if (forward) note_expressions(s);
    const Stmt result = map_children(
        s, [](const Expr& e) { return e; }, [this](const Stmt& child) { return run(child); });
    if (!forward) note_expressions(s);
    return result;
  }

 private:
  Stmt passed(const Stmt& barrier) {
    separated_ = true;
    return barrier;
  }

  // The threads of the block wait for one another before the body.
  Stmt run(const LastBlock& n) {
    if (direction_ == Direction::Forward) separated_ = true;
    const Stmt body = run(n.body);
    if (direction_ == Direction::Backward) separated_ = true;
    return make_last_block(n.counters, n.index, n.count, n.flag, body, n.location);
  }

  Stmt run(const Seq& seq) {
    Stmts statements = seq.statements;
    if (direction_ == Direction::Forward) {
      for (Stmt& each : statements) each = run(each);
    } else {
      for (size_t i = statements.size(); i-- > 0;) statements[i] = run(statements[i]);
    }
    return make_seq(std::move(statements));
  }

  // Rewrites the body of a loop. The expressions in `decides` are evaluated before and after the
  // body.
  Stmt repeated(const Stmt& body, const Exprs& decides, bool runs) {
    for (const Expr& e : decides) note(e);
    const bool outside = separated_;
    Stmt result = run(body);
    for (const Expr& e : decides) note(e);
    // The next iteration begins where this one ends.
    if (outside && !separated_) {
      result = run(body);
      for (const Expr& e : decides) note(e);
    }
    separated_ = separated_ && (runs || outside);
    return result;
  }

  Stmt perhaps(const Stmt& body, const Expr& condition) {
    if (direction_ == Direction::Forward) note(condition);
    const bool outside = separated_;
    Stmt result = run(body);
    separated_ = separated_ && outside;
    if (direction_ == Direction::Backward) note(condition);
    return result;
  }

  void note_expressions(const Stmt& s) {
    see_access(s, [&](const BufferAccess& n) { note(n.buffer); });
    for_each_child(s, [&](const Expr& e) { note(e); }, [](const Stmt&) {});
  }
  void note(const Expr& e) {
    for_each_access(e, [&](const BufferAccess& n) { note(n.buffer); });
  }
  void note(const Buffer& buffer) {
    if (exchanged_.contains(buffer.get())) separated_ = false;
  }

  Direction direction_;
  // Shared or global buffers that the kernel writes.
  std::unordered_set<const BufferNode*> exchanged_;
  // Whether a barrier, or an end of the kernel, follows all accesses so far.
  bool separated_ = true;
};

}  // namespace

void drop_barriers(Lowering& lowering) {
  for (Kernel& kernel : lowering.program.kernels) kernel.body = drop_barriers(kernel);
}

Stmt drop_barriers(const Kernel& kernel) {
  Stmt body = kernel.body;
  for (const Direction direction : {Direction::Backward, Direction::Forward}) {
    body = BarrierDropper(kernel, direction).run(body);
  }
  return body;
}

}  // namespace texloom::lower
