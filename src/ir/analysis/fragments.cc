#include "ir/analysis/fragments.h"

#include <fmt/format.h>

#include "ir/accesses.h"
#include "ir/analysis/uniform_values.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

bool is_fragment(const BufferNode& buffer) { return buffer.memory == MemoryScope::Fragment; }

std::string_view name_of(FragmentRole role) {
  switch (role) {
    case FragmentRole::Sums:
      return "sums";
    case FragmentRole::Left:
      return "a left factor";
    case FragmentRole::LeftTransposed:
      return "a transposed left factor";
    case FragmentRole::Right:
      return "a right factor";
    case FragmentRole::RightTransposed:
      return "a transposed right factor";
  }
  TL_UNREACHABLE();
}

// The role that an operand of a product has.
FragmentRole role_of(const FragmentStep& mma, size_t operand) {
  if (operand == 0) return FragmentRole::Sums;
  if (operand == 1) {
    return mma.left_transposed ? FragmentRole::LeftTransposed : FragmentRole::Left;
  }
  return mma.right_transposed ? FragmentRole::RightTransposed : FragmentRole::Right;
}

class ProblemFinder {
 public:
  explicit ProblemFinder(const Kernel& kernel)
      : kernel_(kernel), lanes_(UniformValues::of_lanes(kernel)) {}

  std::optional<FragmentProblem> find() {
    visit(kernel_.body, false);
    return std::move(found_);
  }

 private:
  void visit(const Stmt& s, bool divergent) {
    if (found_) return;
    if (const auto* step = as<FragmentStep>(s)) return check(*step, divergent);
    if (const auto* loop = as<For>(s)) divergent = divergent || lanes_.varies(loop->extent);
    if (const auto* loop = as<While>(s)) divergent = divergent || lanes_.varies(loop->condition);
    if (const auto* guard = as<If>(s)) divergent = divergent || lanes_.varies(guard->condition);
    if (s->kind == StmtKind::Store) {
      see_access(s, [&](const BufferAccess& access) { others(access); });
    }
    for_each_child(
        s,
        [&](const Expr& e) {
          for_each_access(e, [&](const BufferAccess& access) { others(access); });
        },
        [&](const Stmt& child) { visit(child, divergent); });
  }

  // An access that no step makes.
  void others(const BufferAccess& access) {
    if (!is_fragment(*access.buffer)) return;
    others_.try_emplace(access.buffer.get(), access.location);
    meet(access.buffer);
  }

  void meet(const Buffer& fragment) {
    const auto other = others_.find(fragment.get());
    if (other == others_.end() || !roles_.contains(fragment.get())) return;
    report(nullptr, fragment, other->second,
           fmt::format("'{}' is in fragment memory, which SIMD-groups hold, but a statement "
                       "accesses an element of it",
                       fragment->name),
           "store it to shared memory first");
  }

  // Whether the operand points to a fragment, not to memory.
  static bool is_of_fragment(FragmentOp op, size_t operand) {
    if (op == FragmentOp::Load) return operand == 0;
    return op != FragmentOp::Store || operand == 1;
  }

  void check(const FragmentStep& n, bool divergent) {
    const Buffer& own = n.pointer(n.op == FragmentOp::Store ? 1 : 0).buffer;
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const auto* pointer = as<Pointer>(n.operands[i]);
      if (pointer == nullptr) continue;
      if (pointer->buffer->memory == MemoryScope::Local && !is_of_fragment(n.op, i)) {
        return report(&n, pointer->buffer, n.location,
                      fmt::format("fragment.{} takes memory that the threads of a SIMD-group "
                                  "share, but each of them has its own '{}'",
                                  to_string(n.op), pointer->buffer->name),
                      "keep it in \"shared\" or \"global\" memory");
      }
      if (is_fragment(*pointer->buffer) == is_of_fragment(n.op, i)) continue;
      const bool wants_fragment = is_of_fragment(n.op, i);
      return report(&n, pointer->buffer, n.location,
                    fmt::format("fragment.{} takes {}, but '{}' is {}", to_string(n.op),
                                wants_fragment ? "a fragment" : "memory", pointer->buffer->name,
                                wants_fragment ? "in memory" : "a fragment"),
                    wants_fragment ? "keep it in \"fragment\"" : "copy it to shared memory");
    }
    if (kernel_.block[0] != kFragmentThreads) {
      return report(&n, own, n.location,
                    fmt::format("'{}' is in fragment memory, which SIMD-groups of {} threads hold, "
                                "but blocks have {} threads along threadIdx.x",
                                own->name, kFragmentThreads, kernel_.block[0]),
                    "bind a loop of 32 iterations to threadIdx.x, and the loops of SIMD-groups to "
                    "threadIdx.y");
    }
    bool varies = divergent;
    for (const Expr& operand : n.operands) varies = varies || lanes_.varies(operand);
    for (const Expr& operand : n.operands) {
      const auto* pointer = as<Pointer>(operand);
      if (pointer == nullptr || is_fragment(*pointer->buffer)) continue;
      for (const Expr& index : pointer->indices) varies = varies || lanes_.varies(index);
    }
    if (varies) {
      return report(&n, own, n.location,
                    fmt::format("the threads of a SIMD-group hold '{}' together, but they do not "
                                "make a step of it together",
                                own->name),
                    "bind no loop around it to threadIdx.x");
    }
    const bool is_mma = n.op == FragmentOp::Mma;
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const auto* pointer = as<Pointer>(n.operands[i]);
      if (pointer != nullptr && is_fragment(*pointer->buffer)) {
        use(n, *pointer, is_mma ? std::optional(role_of(n, i)) : std::nullopt);
      }
    }
  }

  void use(const FragmentStep& n, const Pointer& pointer, std::optional<FragmentRole> role) {
    const Buffer& fragment = pointer.buffer;
    if (!fragment_part(pointer)) {
      return report(&n, fragment, n.location,
                    fmt::format("a step of '{}' is not of {} x {} elements that begin at a "
                                "multiple of {}",
                                fragment->name, kFragmentSide, kFragmentSide, kFragmentSide),
                    "split its axes by 16");
    }
    const auto [known, added] = roles_.try_emplace(fragment.get(), role);
    meet(fragment);
    if (added || !role) return;
    if (!known->second) {
      known->second = role;
    } else if (*known->second != *role) {
      report(&n, fragment, n.location,
             fmt::format("'{}' is {} of a product, and {} of another", fragment->name,
                         name_of(*known->second), name_of(*role)),
             "load it into a second fragment");
    }
  }

  void report(const FragmentStep* step, Buffer fragment, const SourceLocation& where,
              std::string text, std::string help) {
    if (found_) return;
    found_ = {step, std::move(fragment), where, std::move(text), std::move(help)};
  }

  const Kernel& kernel_;
  const UniformValues lanes_;
  std::unordered_map<const BufferNode*, std::optional<FragmentRole>> roles_;
  std::unordered_map<const BufferNode*, SourceLocation> others_;
  std::optional<FragmentProblem> found_;
};

}  // namespace

bool has_fragment_steps(const Stmt& body) {
  bool found = false;
  walk_statements(body, [&](const FragmentStep&) { found = true; });
  return found;
}

std::optional<FragmentProblem> fragment_problem(const Kernel& kernel) {
  if (!has_fragment_steps(kernel.body)) return std::nullopt;
  return ProblemFinder(kernel).find();
}

FragmentRoles fragment_roles(const Stmt& body) {
  FragmentRoles roles;
  walk_statements(body, [&](const FragmentStep& n) {
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const auto* pointer = as<Pointer>(n.operands[i]);
      if (pointer == nullptr || !is_fragment(*pointer->buffer)) continue;
      if (n.op == FragmentOp::Mma) {
        roles.insert_or_assign(pointer->buffer.get(), role_of(n, i));
      } else {
        roles.try_emplace(pointer->buffer.get(), FragmentRole::Sums);
      }
    }
  });
  return roles;
}

std::optional<int64_t> fragment_part(const BufferNode& fragment, int64_t offset) {
  if (fragment.rank() < 2) return std::nullopt;
  const int64_t columns = fragment.shape.back(), rows = fragment.shape[fragment.rank() - 2];
  const int64_t row = offset / columns, column = offset % columns;
  const auto is_whole = [](int64_t n) { return n % kFragmentSide == 0; };
  if (offset < 0 || !is_whole(rows) || !is_whole(columns) || !is_whole(row) || !is_whole(column)) {
    return std::nullopt;
  }
  return row / kFragmentSide * (columns / kFragmentSide) + column / kFragmentSide;
}

std::optional<int64_t> fragment_part(const Pointer& pointer) {
  const int64_t* index = pointer.indices.size() == 1 ? int_value(pointer.indices.front()) : nullptr;
  const int64_t* offset = int_value(pointer.offset);
  if (index == nullptr || offset == nullptr) return std::nullopt;
  return fragment_part(*pointer.buffer, *index + *offset);
}

}  // namespace texloom::ir
