#include "lower/schedule/check_symbols.h"

#include <algorithm>

#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

bool contains(const Exprs& list, const Expr& symbol) {
  return std::any_of(list.begin(), list.end(), [&](const Expr& s) { return s.same_as(symbol); });
}

void add_symbols(const Expr& extent, Exprs& symbols) {
  walk(extent, [&](const Var& v) {
    if (!contains(symbols, Expr(&v))) symbols.emplace_back(&v);
  });
}

// The only unknown symbol of the extent, if the extent consists of sums, differences and products
// (the rule of runtime/plan/symbols.h); otherwise null.
Expr symbol_given_by(const Expr& extent, const Exprs& known) {
  Expr symbol;
  bool solvable = true;
  walk(
      extent,
      [&](const Var& v) {
        if (contains(known, Expr(&v))) return;
        solvable = solvable && !symbol;
        symbol = Expr(&v);
      },
      [&](const Binary& n) {
        solvable =
            solvable && (n.op == BinaryOp::Add || n.op == BinaryOp::Sub || n.op == BinaryOp::Mul);
      });
  return solvable ? symbol : Expr();
}

}  // namespace

Exprs symbols_of(const Lowering& lowering) {
  Exprs symbols;
  for (const SymbolArgument& argument : lowering.symbol_arguments) {
    add_symbols(argument.symbol, symbols);
  }
  for (const Argument& argument : lowering.arguments) {
    for (const Expr& extent : argument.tensor->shape) add_symbols(extent, symbols);
  }
  for (const StageId id : lowering.schedule.order()) {
    const Operation& op = *lowering.schedule.stage(id).op;
    for (size_t i = 0; i < op.types.size(); ++i) {
      for (const Expr& extent : output_shape(op, i)) add_symbols(extent, symbols);
    }
    for (const IterVar& axis : op.reduce_axes) {
      add_symbols(axis->min, symbols);
      add_symbols(axis->extent, symbols);
    }
  }
  return symbols;
}

void check_symbols(const Lowering& lowering) {
  Exprs known, extents;
  for (const SymbolArgument& argument : lowering.symbol_arguments) known.push_back(argument.symbol);
  for (const Argument& argument : lowering.arguments) {
    const Exprs& shape = argument.tensor->shape;
    extents.insert(extents.end(), shape.begin(), shape.end());
  }
  for (size_t before = known.size() + 1; before != known.size();) {
    before = known.size();
    for (const Expr& extent : extents) {
      if (const Expr symbol = symbol_given_by(extent, known)) known.push_back(symbol);
    }
  }
  for (const Expr& symbol : symbols_of(lowering)) {
    if (contains(known, symbol)) continue;
    fail(lowering.location, Code::BadShape,
         "pass it as an argument, or pass a tensor with this extent",
         "extents depend on '{}', which is neither an argument nor known from an argument's shape",
         as<Var>(symbol)->name);
  }
}

void check_scalars(Lowering& lowering) {
  const Exprs symbols = symbols_of(lowering);
  for (const StageId id : lowering.schedule.order()) {
    const Operation& op = *lowering.schedule.stage(id).op;
    for (const Expr& scalar : scalars_in(op)) {
      if (contains(symbols, scalar)) continue;
      const std::string& name = as<Var>(scalar)->name;
      if (op.is_extern()) {
        fail(op.location, Code::BadExtern,
             fmt::format("if '{}' is a te.var, add it to args; else use it where it is defined",
                         name),
             "the statement of '{}' uses '{}', which is neither defined in it nor an extent nor an "
             "argument",
             op.name, name);
      }
      fail(
          op.location, Code::BadComputeBody,
          fmt::format("if '{}' is a te.var, add it to args; else use the axes of the function's "
                      "own parameters and of its reduction",
                      name),
          "the expression of '{}' uses '{}', which is neither one of its axes nor an extent nor an "
          "argument",
          op.name, name);
    }
  }
}

}  // namespace texloom::lower
