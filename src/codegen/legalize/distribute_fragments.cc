#include "codegen/legalize/distribute_fragments.h"

#include <unordered_map>

#include "ir/analysis/fragments.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::codegen {

using ir::Buffer;
using ir::Expr;
using ir::FragmentOp;
using ir::FragmentRole;
using ir::FragmentStep;
using ir::Stmt;

namespace {

constexpr int64_t kSide = ir::kFragmentSide;
constexpr int64_t kOwnColumns = ir::kFragmentElements / ir::kFragmentThreads;
constexpr int64_t kThreadsOfRow = kSide / kOwnColumns;

// The elements of a part that a thread has.
int64_t own_elements(FragmentRole role) {
  switch (role) {
    case FragmentRole::Sums:
      return kOwnColumns;
    case FragmentRole::Left:
    case FragmentRole::LeftTransposed:
      return kSide;
    case FragmentRole::Right:
    case FragmentRole::RightTransposed:
      return kSide * kOwnColumns;
  }
  TL_UNREACHABLE();
}

class Distributor {
 public:
  explicit Distributor(const ir::Kernel& kernel) : roles_(ir::fragment_roles(kernel.body)) {
    for (const ir::ThreadAxis& axis : kernel.axes) {
      if (axis.tag.block || axis.tag.dim != 0) continue;
      row_ = floordiv(axis.var, ir::make_int(kThreadsOfRow, axis.var->type));
      column_ = floormod(axis.var, ir::make_int(kThreadsOfRow, axis.var->type)) *
                ir::make_int(kOwnColumns, axis.var->type);
    }
  }

  Stmt stmt(const Stmt& s) {
    if (const auto* n = as<FragmentStep>(s)) return loops(*n);
    if (const auto* n = as<ir::Allocate>(s); n != nullptr && roles_.contains(n->buffer.get())) {
      const ir::BufferNode& whole = *n->buffer;
      const int64_t parts = whole.layout.col_count() / ir::kFragmentElements;
      const Buffer own =
          make_buffer(whole.name, whole.type, {parts * own_elements(roles_.at(&whole))},
                      ir::MemoryScope::Local, whole.location);
      own_.emplace(&whole, own);
      return make_allocate(own, stmt(n->body), n->location);
    }
    return map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  // A loop whose body is made of its variable.
  template <class Body>
  static Stmt loop(const std::string& name, int64_t extent, const Body& body) {
    const Expr var = ir::make_var(name, ir::kInt32);
    return make_for(var, ir::make_int(extent), ir::LoopKind::Serial, body(var));
  }

  Stmt loops(const FragmentStep& n) const {
    switch (n.op) {
      case FragmentOp::Fill:
        return loop("element", own_elements(role(n, 0)),
                    [&](const Expr& i) { return store(n, 0, i, n.operands[1]); });
      case FragmentOp::Load:
        return elements(n, 0, 1, [&](const Expr& i, const Expr& at) {
          return store(n, 0, i, make_load(n.pointer(1).buffer, {at}, n.location));
        });
      case FragmentOp::Store:
        return elements(n, 1, 0, [&](const Expr& i, const Expr& at) {
          return make_store(n.pointer(0).buffer, {at}, load(n, 1, i), n.location);
        });
      case FragmentOp::Mma:
        break;
    }
    return loop("k", kSide, [&](const Expr& k) {
      return loop("column", kOwnColumns, [&](const Expr& j) {
        const ir::Type type = n.operands[0]->type;
        const Expr left = make_cast(type, load(n, 1, k));
        const Expr right = make_cast(type, load(n, 2, k * kOwnColumns + j));
        return store(n, 0, j, load(n, 0, j) + left * right);
      });
    });
  }

  // The loops over a thread's elements of a part and their places in memory.
  template <class Body>
  Stmt elements(const FragmentStep& n, size_t fragment, size_t memory, const Body& body) const {
    const ir::Pointer& pointer = n.pointer(memory);
    const auto at = [&](const Expr& row, const Expr& column) {
      const ir::Type type = pointer.indices.front()->type;
      return pointer.indices.front() + make_cast(type, pointer.offset) +
             make_cast(type, row) * make_cast(type, n.operands[2]) + make_cast(type, column);
    };
    const FragmentRole own = role(n, fragment);
    if (own == FragmentRole::Sums) {
      return loop("column", kOwnColumns,
                  [&](const Expr& j) { return body(j, at(row_, column_ + j)); });
    }
    return loop("k", kSide, [&](const Expr& k) {
      if (own == FragmentRole::Left) return body(k, at(row_, k));
      if (own == FragmentRole::LeftTransposed) return body(k, at(k, row_));
      return loop("column", kOwnColumns, [&](const Expr& j) {
        const Expr column = column_ + j;
        return body(k * kOwnColumns + j,
                    own == FragmentRole::Right ? at(k, column) : at(column, k));
      });
    });
  }

  FragmentRole role(const FragmentStep& n, size_t operand) const {
    return roles_.at(n.pointer(operand).buffer.get());
  }
  // The place of a thread's element of the part that an operand points to.
  Expr place(const FragmentStep& n, size_t operand, const Expr& element) const {
    const auto part = ir::fragment_part(n.pointer(operand));
    TL_CHECK(part.has_value());
    return element + ir::make_int(*part * own_elements(role(n, operand)));
  }
  Expr load(const FragmentStep& n, size_t operand, const Expr& element) const {
    const Buffer& own = own_.at(n.pointer(operand).buffer.get());
    return make_load(own, {place(n, operand, element)}, n.location);
  }
  Stmt store(const FragmentStep& n, size_t operand, const Expr& element, Expr value) const {
    const Buffer& own = own_.at(n.pointer(operand).buffer.get());
    return make_store(own, {place(n, operand, element)}, std::move(value), n.location);
  }

  const ir::FragmentRoles roles_;
  Expr row_, column_;                                      // of a thread's first element of sums
  std::unordered_map<const ir::BufferNode*, Buffer> own_;  // a thread's part of each fragment
};

}  // namespace

void distribute_fragments(ir::Kernel& kernel) {
  if (!ir::has_fragment_steps(kernel.body)) return;
  kernel.body = Distributor(kernel).stmt(kernel.body);
}

}  // namespace texloom::codegen
