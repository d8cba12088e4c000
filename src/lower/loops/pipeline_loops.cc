#include "lower/loops/pipeline_loops.h"

#include <algorithm>

#include "ir/accesses.h"
#include "ir/visit.h"
#include "lower/loops/pipelined_fill.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Buffers in order of appearance, so that messages do not depend on addresses.
using Buffers = std::vector<const BufferNode*>;

bool contains(const Buffers& buffers, const Buffer& buffer) {
  return std::find(buffers.begin(), buffers.end(), buffer.get()) != buffers.end();
}

Buffers read_in(const Stmts& statements) {
  Buffers found;
  const auto note = [&](const Buffer& b) {
    if (!contains(found, b)) found.push_back(b.get());
  };
  for (const Stmt& s : statements) {
    for_each_access(s, [&](const BufferAccess& n) {
      if (n.reads()) note(n.buffer);
    });
  }
  return found;
}

Buffers written_in(const Stmts& statements) {
  Buffers found;
  const auto note = [&](const Buffer& b) {
    if (!contains(found, b)) found.push_back(b.get());
  };
  for (const Stmt& s : statements) {
    for_each_access(s, [&](const BufferAccess& n) {
      if (n.writes()) note(n.buffer);
    });
  }
  return found;
}

const BufferNode* first_common(const Buffers& a, const Buffers& b) {
  const auto found = std::find_first_of(a.begin(), a.end(), b.begin(), b.end());
  return found == a.end() ? nullptr : *found;
}

// Divides the body of a loop into its allocations, the fills of pipelined buffers, and the rest, in
// order.
struct LoopBody {
  std::vector<Buffer> allocated;
  std::vector<const Pipelined*> fills;
  Stmts rest;

  explicit LoopBody(const Stmt& s) {
    add(s);
    for (Stmt& each : rest) each = allocated_outside(each);
  }

 private:
  bool is_allocated(const Buffer& buffer) const {
    return std::any_of(allocated.begin(), allocated.end(),
                       [&](const Buffer& b) { return b.same_as(buffer); });
  }

  // The last iteration of a double-buffered loop follows the loop and uses the same buffers.
  Stmt allocated_outside(const Stmt& s) const {
    const auto* n = as<Allocate>(s);
    if (n != nullptr && is_allocated(n->buffer)) return allocated_outside(n->body);
    return map_children(
        s, [](const Expr& e) { return e; },
        [this](const Stmt& child) { return allocated_outside(child); });
  }

  void add(const Stmt& s) {
    if (const auto* n = as<Allocate>(s)) {
      if (!is_allocated(n->buffer)) allocated.push_back(n->buffer);
      add(n->body);
    } else if (const auto* seq = as<Seq>(s)) {
      for (const Stmt& each : seq->statements) add(each);
    } else if (const auto* fill = as<Pipelined>(s)) {
      fills.push_back(fill);
    } else {
      rest.push_back(s);
    }
  }
};

Stmt allocated_around(const std::vector<Buffer>& buffers, Stmt body) {
  for (auto b = buffers.rbegin(); b != buffers.rend(); ++b) {
    body = make_allocate(*b, std::move(body), (*b)->location);
  }
  return body;
}

void append(Stmts& to, const Stmts& more) { to.insert(to.end(), more.begin(), more.end()); }

// The statements for one iteration of the loop, with each buffer replaced by its copy for that
// iteration.
Stmts of_iteration(const Stmts& statements, const For& loop,
                   const std::vector<PipelinedFill>& fills, const Expr& iteration,
                   const Expr& turn) {
  Stmts result;
  for (const Stmt& s : statements) {
    result.push_back(substitute(s, {{loop.var, iteration}}));
    for (const PipelinedFill& f : fills) result.back() = f.with_copy(result.back(), turn);
  }
  return result;
}

// The parts of a loop, kept apart so that an enclosing loop can run the prologue (`lead`) early.
struct Pieces {
  std::vector<Buffer> buffers;  // allocated around all parts
  Stmts lead;                   // the fills of the first iterations
  Stmts loop;
  Stmts tail;          // the last iterations of an unrolled loop, which fill no buffer
  bool apart = false;  // whether the tail reads no copy that the lead writes

  Stmt whole() const {
    Stmts all = lead;
    append(all, loop);
    append(all, tail);
    return allocated_around(buffers, make_seq(std::move(all)));
  }
};

// The fills of a loop by asynchronous copies: one group of copies fills the copies of all buffers
// for one iteration.
struct AsyncFills {
  std::vector<const PipelinedFill*> fills;

  // Begins the groups of the first iterations.
  Stmts lead(const Expr& first) const {
    Stmts result;
    for (int64_t i = 0; !fills.empty() && i < ahead(); ++i) result.push_back(group(first + i));
    return result;
  }
  // Waits for the group of this iteration, then begins another one. Each iteration begins one
  // group, an empty one in the last iterations, so that `pending` is the same number in all.
  Stmts at_start(const Expr& iteration, int64_t extent) const {
    if (fills.empty()) return {};
    Stmts result{make_await_copies(static_cast<int>(ahead() - 1))};
    const Expr later = iteration + ahead();
    result.push_back(
        make_async_copies(make_if(later < make_int(extent, later->type), filled(later))));
    return result;
  }

 private:
  int64_t ahead() const { return fills.front()->ahead(); }
  Stmt filled(const Expr& iteration) const {
    Stmts all;
    for (const PipelinedFill* f : fills) all.push_back(f->filled(iteration));
    return make_seq(std::move(all));
  }
  Stmt group(const Expr& iteration) const { return make_async_copies(filled(iteration)); }
};

class Pipeliner {
 public:
  Stmt run(const Stmt& s) {
    if (const auto* n = as<Pipelined>(s)) {
      refuse(*n, "attach it to a loop that is serial or unrolled",
             "'{}' is not in the body of a sequential loop", n->buffer->name);
    }
    if (const auto* loop = as<For>(s)) return take_apart(*loop).whole();
    return map_children(
        s, [](const Expr& e) { return e; }, [this](const Stmt& child) { return run(child); });
  }

 private:
  template <class... Args>
  [[noreturn]] static void refuse(const Pipelined& fill, std::string help,
                                  fmt::format_string<Args...> format, Args&&... args) {
    fail(fill.location, Code::CannotPipeline, std::move(help), format, std::forward<Args>(args)...);
  }

  Pieces take_apart(const For& loop) {
    const bool in_turn = loop.loop == LoopKind::Serial || loop.loop == LoopKind::Unrolled;
    const LoopBody body(in_turn ? loop.body : make_empty());
    if (body.fills.empty()) return {{}, {}, {with_body(loop, run(loop.body))}, {}};
    const int64_t* extent = int_value(loop.extent);
    if (extent == nullptr || *extent < 1) {
      refuse(*body.fills.front(), "give the loop a constant extent",
             "the number of iterations of the loop '{}' is not constant", as<Var>(loop.var)->name);
    }
    check(body);
    for (const Pipelined* fill : body.fills) refuse_inside(*fill);
    if (*extent == 1) return {{}, {}, {with_body(loop, run(without_pipeline(loop.body)))}, {}};
    return pipelined(loop, *extent, body);
  }

  // Refuses a pipelined fill inside a fill: each iteration of a fill is fetched as a whole, so no
  // part of it can run ahead of the other parts.
  static void refuse_inside(const Pipelined& fill) {
    walk(fill.body, [&](const Pipelined& inner) {
      refuse(inner,
             fmt::format("pipeline '{}' or '{}', not both", inner.buffer->name, fill.buffer->name),
             "'{}' is filled inside the fill of '{}', which itself runs ahead of the loop",
             inner.buffer->name, fill.buffer->name);
    });
  }

  static Stmt with_body(const For& loop, Stmt body) {
    if (loop.loop == LoopKind::Thread) {
      return make_thread_for(loop.var, loop.extent, loop.tag, std::move(body), loop.location);
    }
    return make_for(loop.var, loop.extent, loop.loop, std::move(body), loop.location);
  }

  // A loop of one iteration needs no pipeline: no iteration precedes the iteration that reads.
  static Stmt without_pipeline(const Stmt& body) {
    const LoopBody parts(body);
    return rewrite(body, [&](const Pipelined& n, const Stmt& self) {
      const bool own = std::any_of(parts.fills.begin(), parts.fills.end(),
                                   [&](const Pipelined* f) { return f->buffer.same_as(n.buffer); });
      return own ? n.body : self;
    });
  }

  // A fill that runs an iteration earlier must read the same values.
  static void check(const LoopBody& body) {
    for (const Pipelined* fill : body.fills) {
      if (fill->is_async && fill->buffer->memory != MemoryScope::Shared) {
        refuse(*fill, "give the stage the scope \"shared\", or leave out asynchronous=True",
               "'{}' is filled by asynchronous copies, which are to shared memory alone",
               fill->buffer->name);
      }
    }
    const Buffers written_by_rest = written_in(body.rest);
    Buffers written = written_by_rest;
    for (const Pipelined* fill : body.fills) written.push_back(fill->buffer.get());
    for (const Pipelined* fill : body.fills) {
      if (const BufferNode* b = first_common(read_in({fill->body}), written)) {
        refuse(*fill, fmt::format("pipeline '{}' alone, or compute it outside the loop", b->name),
               "'{}' reads '{}', which the same iteration of the loop computes", fill->buffer->name,
               b->name);
      }
      if (contains(written_by_rest, fill->buffer)) {
        refuse(*fill, "write the buffer in its fill only", "'{}' is also written after its fill",
               fill->buffer->name);
      }
    }
  }

  static AsyncFills async_fills(const LoopBody& body, const std::vector<PipelinedFill>& fills) {
    AsyncFills found;
    for (size_t i = 0; i < fills.size(); ++i) {
      if (fills[i].is_async()) found.fills.push_back(&fills[i]);
    }
    for (size_t i = 0; !found.fills.empty() && i < fills.size(); ++i) {
      const PipelinedFill& first = *found.fills.front();
      if (!fills[i].is_shared()) continue;
      if (fills[i].is_async() && fills[i].ahead() == first.ahead()) continue;
      refuse(*body.fills[i], "give them equal stages, and asynchronous=True to all or none",
             "'{}' and other shared buffers of the loop are not filled in the same way",
             body.fills[i]->buffer->name);
    }
    return found;
  }

  Pieces pipelined(const For& loop, int64_t extent, const LoopBody& body) {
    std::vector<PipelinedFill> fills;
    for (const Pipelined* fill : body.fills) fills.emplace_back(*fill, loop, extent);
    const bool any_shared = std::any_of(fills.begin(), fills.end(),
                                        [](const PipelinedFill& f) { return f.is_shared(); });
    const AsyncFills copies = async_fills(body, fills);
    Stmts rest;
    // What the next iteration reads is not awaited before its start.
    const Pieces inner = take_rest(body, any_shared && copies.fills.empty(), rest);
    std::vector<Buffer> allocated = body.allocated;
    std::erase_if(allocated, [&](const Buffer& b) {
      return std::any_of(body.fills.begin(), body.fills.end(),
                         [&](const Pipelined* f) { return f->buffer.same_as(b); });
    });

    const auto reading = [&](const Stmts& statements, const Expr& i, const Expr& turn) {
      return of_iteration(statements, loop, fills, i, turn);
    };
    const auto iteration = [&](const Expr& i) {
      Stmts all = copies.at_start(i, extent);
      for (const PipelinedFill& f : fills) {
        const int64_t* known = int_value(i);
        if (known == nullptr || *known + f.ahead() < extent) append(all, f.at_start(i));
      }
      append(all, reading(rest, i, i));
      append(all, reading(inner.loop, i, i));
      for (const PipelinedFill& f : fills) {
        append(all, f.at_end(i));
      }
      const Expr next = make_binary(BinaryOp::Min, i + 1, make_int(extent - 1, i->type));
      append(all, reading(inner.lead, next, i + 1));
      append(all, reading(inner.tail, i, i));
      return allocated_around(allocated, make_seq(std::move(all)));
    };

    Pieces result;
    int64_t ahead = 0;
    const Expr first = make_int(0, loop.var->type);
    append(result.lead, copies.lead(first));
    for (const PipelinedFill& f : fills) {
      append(result.lead, f.lead());
      ahead = std::max(ahead, f.ahead());
      for (const Buffer& b : f.buffers()) result.buffers.push_back(b);
    }
    append(result.lead, reading(inner.lead, first, first));
    for (const Buffer& b : inner.buffers) result.buffers.push_back(b);

    const bool peeled = loop.loop == LoopKind::Unrolled && !any_shared;
    const int64_t in_loop = peeled ? extent - ahead : extent;
    result.loop = {make_for(loop.var, make_int(in_loop, loop.extent->type), loop.loop,
                            iteration(loop.var), loop.location)};
    for (int64_t i = in_loop; i < extent; ++i) {
      result.tail.push_back(iteration(make_int(i, loop.var->type)));
    }
    result.apart = peeled && ahead == 1 && extent % 2 == 0;
    return result;
  }

  // Rewrites the rest of the body. If `apart` is set and the lead of the last loop may run between
  // iterations, returns the parts of that loop instead of adding it to `rest`.
  Pieces take_rest(const LoopBody& body, bool apart, Stmts& rest) {
    for (const Stmt& s : body.rest) {
      const auto* loop = as<For>(s);
      if (!apart || loop == nullptr || &s != &body.rest.back()) {
        rest.push_back(run(s));
        continue;
      }
      Pieces inner = take_apart(*loop);
      const Stmt whole = inner.whole();
      rest.push_back(whole);
      if (!inner.apart || first_common(read_in(inner.lead), written_in(rest)) != nullptr) continue;
      rest.pop_back();
      return inner;
    }
    return {};
  }
};

}  // namespace

void pipeline_loops(Lowering& lowering) {
  lowering.program.body = Pipeliner().run(lowering.program.body);
}

}  // namespace texloom::lower
