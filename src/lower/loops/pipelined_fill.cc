#include "lower/loops/pipelined_fill.h"

#include <algorithm>

#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

constexpr int64_t kSharedCopies = 2;  // the copy being read, and the next copy

Buffer with_copies(const Buffer& b, int64_t copies) {
  Layout layout = b->layout;
  layout.shape.insert(layout.shape.begin(), copies);
  for (LayoutParts* parts : {&layout.rows, &layout.cols, &layout.lanes}) {
    for (LayoutPart& part : *parts) ++part.axis;
  }
  layout.cols.insert(layout.cols.begin(), {0, 1, copies});
  return make_buffer_with_layout(b->name, b->type, layout, b->memory, b->location);
}

// Splits loops and guards around one store in two: one part computes the value, the other stores
// it.
class FillSplitter {
 public:
  explicit FillSplitter(const Pipelined& fill) : fill_(fill) {
    note_loops(fill.body);
    Shape shape;
    for (const For* loop : loops_) {
      shape.push_back(*int_value(loop->extent));
      place_.push_back(loop->var);
    }
    registers_ = make_buffer(fill.buffer->name + ".next", fill.buffer->type, shape,
                             MemoryScope::Local, fill.buffer->location);
  }

  const Buffer& registers() const { return registers_; }
  Stmt fetch() const {
    return with_store(
        [&](const Store& n) { return make_store(registers_, place_, n.value, n.location); });
  }
  Stmt store() const {
    return with_store([&](const Store& n) {
      return make_store(n.buffer, n.indices, make_load(registers_, place_, n.location), n.location);
    });
  }

 private:
  void note_loops(const Stmt& s) {
    if (const auto* guard = as<If>(s)) return note_loops(guard->then);
    if (as<Store>(s) != nullptr) return;
    const auto* loop = as<For>(s);
    if (loop == nullptr || int_value(loop->extent) == nullptr) {
      fail(fill_.location, Code::CannotPipeline,
           "pipeline a stage that only copies, and attach no stage to its loops",
           "the fill of '{}' is not a single store in loops of constant extent, so it cannot {}",
           fill_.buffer->name,
           fill_.is_async ? "be copied asynchronously" : "be fetched into registers first");
    }
    if (loop->loop != LoopKind::Thread) loops_.push_back(loop);
    note_loops(loop->body);
  }

  template <class F>
  Stmt with_store(F replacement) const {
    return rewrite(fill_.body, [&](const Store& n, const Stmt&) { return replacement(n); });
  }

  const Pipelined& fill_;
  std::vector<const For*> loops_;  // the loops that one thread runs
  Exprs place_;
  Buffer registers_;
};

// A fill past the last iteration loads the values of the last iteration again; no code reads them.
void refuse_effects(const Pipelined& fill) {
  walk(fill.body, [&](const ForeignCall& n) {
    if (n.pure) return;
    fail(
        fill.location, Code::CannotPipeline,
        "use call_pure_extern if the function only returns a value, or call it in a stage that is "
        "not pipelined",
        "the fill of '{}' calls '{}', which is not pure: running ahead of its iteration would call "
        "it more often",
        fill.buffer->name, n.function);
  });
}

}  // namespace

PipelinedFill::PipelinedFill(const Pipelined& fill, const For& loop, int64_t extent)
    : var_(loop.var), extent_(extent), from_(fill.buffer), fill_(fill.body) {
  refuse_effects(fill);
  is_async_ = fill.is_async && is_shared();
  ahead_ = std::min<int64_t>(fill.stages, extent) - 1;
  copies_ = is_shared() && !is_async_ ? kSharedCopies : ahead_ + 1;
  to_ = with_copies(from_, copies_);
  if (!is_shared()) return;
  const FillSplitter splitter(fill);
  if (is_async_) return;  // the copies need no registers
  registers_ = splitter.registers();
  fetch_ = splitter.fetch();
  store_ = splitter.store();
}

std::vector<Buffer> PipelinedFill::buffers() const {
  return registers_ ? std::vector<Buffer>{to_, registers_} : std::vector<Buffer>{to_};
}

Stmts PipelinedFill::lead() const {
  if (is_async_) return {};
  Stmts result;
  const int64_t filled_first = is_shared() ? 1 : ahead_;
  for (int64_t i = 0; i < filled_first; ++i) result.push_back(filled(make_int(i, var_->type)));
  if (is_shared() && ahead_ > 1) result.push_back(fetched(make_int(1, var_->type)));
  return result;
}

Stmts PipelinedFill::at_start(const Expr& iteration) const {
  if (is_async_) return {};
  if (!is_shared()) return {filled(iteration + ahead_)};
  if (ahead_ == 1) return {fetched(iteration + 1)};
  return {stored(iteration + 1), fetched(iteration + ahead_)};
}

Stmts PipelinedFill::at_end(const Expr& iteration) const {
  if (!is_shared() || is_async_ || ahead_ > 1) return {};
  return {stored(iteration + 1)};
}

Stmt PipelinedFill::with_copy(const Stmt& s, const Expr& turn) const {
  const auto indices = [&](const Exprs& of_one) {
    const Expr copy = floormod(turn, make_int(copies_, turn->type));
    Exprs all{copy->type == kInt32 ? copy : make_cast(kInt32, copy)};
    all.insert(all.end(), of_one.begin(), of_one.end());
    return all;
  };
  return rewrite(
      s,
      [&](const Load& n, const Expr& self) {
        if (!n.buffer.same_as(from_)) return self;
        return make_load(to_, indices(n.indices), n.location);
      },
      [&](const Pointer& n, const Expr& self) {
        if (!n.buffer.same_as(from_)) return self;
        Exprs extents{make_int(1)};
        extents.insert(extents.end(), n.extents.begin(), n.extents.end());
        return make_pointer(n.access, to_, indices(n.indices), std::move(extents), n.offset,
                            n.location);
      },
      [&](const Store& n, const Stmt& self) {
        if (!n.buffer.same_as(from_)) return self;
        return make_store(to_, indices(n.indices), n.value, n.location);
      });
}

Expr PipelinedFill::clamped(const Expr& iteration) const {
  return make_binary(BinaryOp::Min, iteration, make_int(extent_ - 1, var_->type));
}

Stmt PipelinedFill::of_iteration(const Stmt& s, const Expr& iteration) const {
  return substitute(s, {{var_, clamped(iteration)}});
}

Stmt PipelinedFill::filled(const Expr& iteration) const {
  const Stmt fill =
      is_async_ ? substitute(fill_, {{var_, iteration}}) : of_iteration(fill_, iteration);
  return with_copy(fill, iteration);
}

Stmt PipelinedFill::fetched(const Expr& iteration) const { return of_iteration(fetch_, iteration); }

Stmt PipelinedFill::stored(const Expr& iteration) const {
  return with_copy(of_iteration(store_, iteration), iteration);
}

}  // namespace texloom::lower
