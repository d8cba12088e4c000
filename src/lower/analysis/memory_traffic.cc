#include "lower/analysis/memory_traffic.h"

#include <algorithm>

#include "ir/accesses.h"
#include "ir/visit.h"

namespace texloom::lower {

using ir::as;
using ir::Expr;
using ir::Stmt;

namespace {

int64_t sum(int64_t a, int64_t b) { return b > Count::kUnbounded - a ? Count::kUnbounded : a + b; }

void add(Count& total, const Count& times, int64_t each) {
  for (int64_t i = 0; i < each; ++i) total.value = sum(total.value, times.value);
  total.exact &= times.exact;
}

class Counter {
 public:
  explicit Counter(const ir::Kernel& kernel) {
    Iterations all(tried_);
    for (const ir::ThreadAxis& axis : kernel.axes) {
      all = all.inside_loop(axis.var, axis.extent);
    }
    stmt(kernel.body, all);
  }

  std::vector<Traffic> take() { return std::move(found_); }

 private:
  void stmt(const Stmt& s, const Iterations& here) {
    for_each_child(s, [&](const Expr& e) { expr(e, here); }, [](const Stmt&) {});
    // A ticket is no access that the text makes.
    if (as<ir::LastBlock>(s) == nullptr) {
      see_access(s, [&](const ir::BufferAccess& access) { note(access, here); });
    }
    const auto body = [&](const Iterations& inner) {
      for_each_child(s, [](const Expr&) {}, [&](const Stmt& child) { stmt(child, inner); });
    };
    if (const auto* loop = as<ir::For>(s)) {
      body(here.inside_loop(loop->var, loop->extent));
    } else if (const auto* guard = as<ir::If>(s)) {
      body(here.under(guard->condition));
    } else if (as<ir::While>(s) != nullptr) {
      // The number of iterations is not known.
      body(here.inside_loop(ir::make_var("turn"), ir::make_var("turns")));
    } else if (const auto* let = as<ir::Let>(s)) {
      body(here.with(let->var, let->value));
    } else if (const auto* last = as<ir::LastBlock>(s)) {
      // Which block is the last one is not known.
      const Expr flag = make_load(last->flag, {ir::make_int(0)});
      body(here.under(make_binary(ir::BinaryOp::Ne, flag, ir::make_int(0))));
    } else {
      body(here);
    }
  }

  void expr(const Expr& e, const Iterations& here) {
    see_access(e, [&](const ir::BufferAccess& access) { note(access, here); });
    const auto* logical = as<ir::Binary>(e);
    const bool may_skip =
        logical != nullptr && is_logical(logical->op) && logical->type.is_scalar();
    if (may_skip && accesses_memory(logical->b)) {
      expr(logical->a, here);
      expr(logical->b, here.under(logical->a, logical->op == ir::BinaryOp::And));
      return;
    }
    if (const auto* choice = as<ir::Select>(e)) {
      expr(choice->condition, here);
      if (accesses_memory(choice->if_true)) {
        expr(choice->if_true, here.under(choice->condition));
      }
      if (accesses_memory(choice->if_false)) {
        expr(choice->if_false, here.under(choice->condition, false));
      }
      return;
    }
    for_each_child(e, [&](const Expr& child) { expr(child, here); });
  }

  // The accesses of foreign code, which are not known.
  static Movement unknown() {
    const Count any{Count::kUnbounded, false};
    return {any, any};
  }

  void note(const ir::BufferAccess& access, const Iterations& here) {
    Traffic& traffic = of(access.buffer);
    const auto move = [&](Movement& movement) {
      if (access.foreign) {
        movement = unknown();
        return;
      }
      add(movement.accesses, here.count(), 1);
      add(movement.bytes, here.count(), access.type.lanes * access.buffer->type.bytes());
    };
    if (access.reads()) move(traffic.read);
    if (access.writes()) move(traffic.written);
  }

  Traffic& of(const ir::Buffer& buffer) {
    const auto found = std::find_if(found_.begin(), found_.end(), [&](const Traffic& traffic) {
      return traffic.buffer.same_as(buffer);
    });
    return found != found_.end() ? *found : found_.emplace_back(Traffic{buffer, {}, {}});
  }

  int64_t tried_ = 0;
  std::vector<Traffic> found_;
};

}  // namespace

std::vector<Traffic> traffic_of(const ir::Kernel& kernel) { return Counter(kernel).take(); }

}  // namespace texloom::lower
