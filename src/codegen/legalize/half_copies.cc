#include "codegen/legalize/half_copies.h"

#include <algorithm>
#include <vector>

#include "ir/accesses.h"
#include "ir/analysis/fragments.h"
#include "ir/visit.h"

namespace texloom::codegen {

using ir::BufferNode;
using ir::Expr;
using ir::Stmt;

namespace {

constexpr ir::Type kHalf = ir::Type::f(16);

class ArrayFinder {
 public:
  HalfArrays find(const Stmt& body) {
    if (!ir::has_fragment_steps(body)) return {};
    stmt(body);
    const auto is_widened = [&](const BufferNode* each) {
      return own_.contains(each) && !found_.of_steps.contains(each) && computed_.contains(each);
    };
    // A copy between an array of float32 and another converts the elements.
    for (size_t before = 0; before != computed_.size();) {
      before = computed_.size();
      for (const auto& copy : copies_) {
        if (std::ranges::any_of(copy, is_widened)) computed_.insert(copy.begin(), copy.end());
      }
    }
    for (const BufferNode* each : own_) {
      if (!found_.of_steps.contains(each) && !computed_.contains(each)) found_.bits.insert(each);
    }
    return std::move(found_);
  }

 private:
  static bool is_own_array(const ir::Buffer& buffer) {
    return buffer->type == kHalf && buffer->memory != ir::MemoryScope::Fragment;
  }

  void stmt(const Stmt& s) {
    if (const auto* n = as<ir::Allocate>(s); n != nullptr && is_own_array(n->buffer)) {
      own_.insert(n->buffer.get());
    }
    if (s->kind == ir::StmtKind::FragmentStep) {
      for_each_access(s, [&](const ir::BufferAccess& access) {
        if (is_own_array(access.buffer)) found_.of_steps.insert(access.buffer.get());
      });
    }
    const auto* store = as<ir::Store>(s);
    if (store != nullptr && store->buffer->type == kHalf && is_copy_of_halves(store->value)) {
      copies_.push_back({store->buffer.get()});
      for (const Expr& index : store->indices) compute(index);
      return copy(store->value);
    }
    if (store != nullptr) computed_.insert(store->buffer.get());
    for_each_child(s, [&](const Expr& e) { compute(e); }, [&](const Stmt& child) { stmt(child); });
  }

  // Adds what a copy reads.
  void copy(const Expr& value) {
    if (const auto* load = as<ir::Load>(value)) {
      copies_.back().push_back(load->buffer.get());
      for (const Expr& index : load->indices) compute(index);
    } else if (const auto* all = as<ir::Broadcast>(value)) {
      copy(all->value);
    } else if (const auto* choice = as<ir::Select>(value)) {
      compute(choice->condition);
      copy(choice->if_true);
      copy(choice->if_false);
    }
  }

  void compute(const Expr& e) {
    for_each_access(e,
                    [&](const ir::BufferAccess& access) { computed_.insert(access.buffer.get()); });
  }

  HalfArrays found_;
  std::unordered_set<const BufferNode*> own_;       // arrays of float16 that the kernel allocates
  std::unordered_set<const BufferNode*> computed_;  // arrays with other accesses than copies
  std::vector<std::vector<const BufferNode*>> copies_;  // where each stores, and what it reads
};

}  // namespace

bool is_copy_of_halves(const Expr& value) {
  if (value->type.element() != kHalf) return false;
  if (const auto* all = as<ir::Broadcast>(value)) return is_copy_of_halves(all->value);
  if (const auto* choice = as<ir::Select>(value)) {
    return is_copy_of_halves(choice->if_true) && is_copy_of_halves(choice->if_false);
  }
  return value->kind == ir::ExprKind::Load || value->kind == ir::ExprKind::FloatImm;
}

HalfArrays half_arrays(const Stmt& body) { return ArrayFinder().find(body); }

}  // namespace texloom::codegen
