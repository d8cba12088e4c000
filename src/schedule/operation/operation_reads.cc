#include "schedule/operation/operation_reads.h"

#include <algorithm>
#include <cstddef>

#include "ir/visit.h"
#include "support/check.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

ReadKind kind_of(const Operation& op, const TensorRead& read) {
  const Exprs& shape = read.tensor->shape;
  std::ptrdiff_t last = -1;  // the axis of the result that is the previous index
  bool is_own = shape.size() == op.axes.size();
  for (size_t d = 0; d < read.indices.size(); ++d) {
    const Expr& index = read.indices[d];
    if (is_int(index, 0) && is_int(shape[d], 1)) {
      is_own = is_own && is_int(op.axes[d]->extent, 1);
      continue;
    }
    const auto axis = std::find_if(op.axes.begin(), op.axes.end(),
                                   [&](const IterVar& each) { return each->var.same_as(index); });
    const std::ptrdiff_t position = axis - op.axes.begin();
    if (axis == op.axes.end() || position <= last) return ReadKind::Other;
    is_own = is_own && position == static_cast<std::ptrdiff_t>(d);
    last = position;
  }
  return is_own ? ReadKind::Own : ReadKind::Broadcast;
}

bool only_moves(const Expr& e) {
  if (const auto* select = as<Select>(e))
    return only_moves(select->if_true) && only_moves(select->if_false);
  return as<TensorRead>(e) != nullptr || as<IntImm>(e) != nullptr || as<FloatImm>(e) != nullptr;
}

bool has_read(const Expr& e) {
  return any_of(e, [](const TensorRead&) { return true; });
}

bool multiplies(const Expr& e) {
  return any_of(
      e, [](const Binary& n) { return n.op == BinaryOp::Mul && has_read(n.a) && has_read(n.b); });
}

class Counter {
 public:
  explicit Counter(const Operation& op) : op_(op) {
    for (const Tensor& input : op.inputs) reads_.inputs.push_back({input});
  }

  OperationReads run() {
    count(op_.body);
    const auto* reduce = as<Reduce>(op_.body);
    reads_.moves = reduce == nullptr && only_moves(op_.body);
    reads_.contracts = reduce != nullptr &&
                       std::any_of(reduce->sources.begin(), reduce->sources.end(), multiplies);
    return std::move(reads_);
  }

 private:
  void count(const Expr& e) {
    if (++reads_.size > kMostCountedNodes) return;
    const auto* read = as<TensorRead>(e);
    if (read != nullptr) note(*read);
    depth_ += read != nullptr ? 1 : 0;
    for_each_child(e, [this](const Expr& child) { count(child); });
    depth_ -= read != nullptr ? 1 : 0;
  }

  void note(const TensorRead& read) {
    const auto found = std::find_if(
        reads_.inputs.begin(), reads_.inputs.end(),
        [&](const InputReads& each) { return each.tensor->same_tensor(*read.tensor); });
    TL_CHECK(found != reads_.inputs.end());
    found->kind =
        std::max(found->kind, op_.reduce_axes.empty() ? kind_of(op_, read) : ReadKind::Other);
    ++found->count;
    found->in_indices |= depth_ > 0;
  }

  const Operation& op_;
  OperationReads reads_;
  int depth_ = 0;  // the number of enclosing reads
};

}  // namespace

OperationReads reads_of(const Operation& op) {
  TL_CHECK(op.is_compute());
  return Counter(op).run();
}

}  // namespace texloom::schedule
