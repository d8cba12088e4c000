#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/equal.h"
#include "ir/evaluation.h"
#include "ir/limits.h"
#include "ir/verify_bounds.h"
#include "ir/verify_padding.h"
#include "ir/verify_scope.h"
#include "ir/verify_stages.h"
#include "ir/verify_text.h"
#include "ir/verify_types.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

constexpr size_t kMaxViolations = 50;
class Verifier {
 public:
  Verifier(const Program& program, VerifyOptions options)
      : program_(program), options_(options), bounds_(program) {}

  std::vector<Violation> run() {
    if (program_.stage == Stage::Te) return {};  // the program is still empty
    const bool has_kernels = program_.stage >= Stage::Kernels;
    enter_place(has_kernels                          ? Place::Plan
                : program_.stage == Stage::Flattened ? Place::Flattened
                                                     : Place::Loops);
    for (const Expr& symbol : program_.symbols) define(symbol);
    for (const Buffer& param : program_.params) {
      if (param->memory != MemoryScope::Global) {
        broken(Rule::Visibility, param, "a parameter of the program is {}",
               to_string(param->memory));
      }
      define_with_origin(param);
    }
    stmt(program_.body);
    if (!has_kernels && !program_.kernels.empty()) {
      broken(Rule::Plan, &program_, program_.name, {}, "it has kernels before stage kernels");
    }
    std::unordered_set<std::string_view> names;
    for (const Kernel& k : program_.kernels) {
      if (!names.insert(k.name).second) {
        broken(Rule::Plan, &k, k.name, k.location, "two kernels have this name");
      }
      kernel(k);
    }
    return std::move(found_);
  }

 private:
  struct Allocation {
    const Stmt* loop = nullptr;  // the innermost loop around it
    bool freed = false;
  };
  struct Usage {
    bool read = false, write = false;
  };

  void enter_place(Place place) {
    place_ = place;
    form_ = {.logical = place == Place::Loops, .widened = place == Place::Legalised};
  }

  // -- Kernels.

  void kernel(const Kernel& k) {
    enter_place(program_.stage == Stage::Legalised ? Place::Legalised : Place::Kernel);
    scope_.leave(0);
    scope_.forget_facts();
    usage_.clear();
    location_ = k.location;
    kernel_ = &k;
    for (const KernelParam& p : k.params) kernel_param(p);
    for (const KernelParam& p : k.params) {
      if (p.buffer) origin_is_defined(p.buffer);
    }
    axes();
    const Stmt* inner = &k.body;
    while (*inner && as<Allocate>(*inner) != nullptr) {
      outermost_.insert(as<Allocate>(*inner)->buffer.get());
      inner = &as<Allocate>(*inner)->body;
    }
    stmt(k.body);
    for (const KernelParam& p : k.params) {
      if (p.buffer) declared_access(p);
    }
    if (options_.target != nullptr) within_limits();
  }

  void within_limits() {
    for (const Excess& excess : exceeded_limits(*kernel_, *options_.target)) {
      const void* blamed = kernel_;
      if (excess.buffer) blamed = excess.buffer.get();
      broken(Rule::Limits, blamed, kernel_->name, kernel_->location,
             "it needs {} {}, the target has {}", excess.need, to_string(excess.limit),
             excess.have);
    }
  }

  void kernel_param(const KernelParam& p) {
    if (static_cast<bool>(p.buffer) == static_cast<bool>(p.scalar)) {
      return broken(Rule::Definitions, &p, kernel_->name, kernel_->location,
                    "a parameter is a buffer or a scalar, and not both");
    }
    if (p.scalar) {
      if (!is_index_variable(p.scalar)) {
        broken(Rule::Types, p.scalar, "a scalar parameter is no index variable");
      }
      return define(p.scalar);
    }
    if (p.buffer->memory != MemoryScope::Global) {
      broken(Rule::Visibility, p.buffer, "a {} buffer is a parameter of kernel {}",
             to_string(p.buffer->memory), kernel_->name);
    }
    define(p.buffer);
  }

  void origin_is_defined(const Buffer& b) {
    for (const Expr* word : {&b->origin.x, &b->origin.y}) {
      if (*word && !scope_.contains(word->get())) {
        broken(Rule::Definitions, b, "its origin {} is no parameter", text_of(*word));
      }
    }
  }

  void axes() {
    std::array<Expr, 3> grid = Kernel().grid;
    std::array<int64_t, 3> block{1, 1, 1};
    const auto rank = [](ThreadTag tag) { return (tag.block ? 0 : 3) + tag.dim; };
    int last_rank = -1;
    for (const ThreadAxis& axis : kernel_->axes) {
      if (rank(axis.tag) <= last_rank) {
        axis_error("{} is there twice or out of order", to_string(axis.tag));
      }
      last_rank = rank(axis.tag);
      const int64_t* extent = int_value(axis.extent);
      if (extent == nullptr && !axis.tag.block) {
        axis_error("the extent of {} is no constant", to_string(axis.tag));
        continue;
      }
      if (extent != nullptr && *extent < 1) {
        axis_error("the extent of {} is less than 1", to_string(axis.tag));
      }
      if (!is_index_variable(axis.var)) {
        broken(Rule::Types, axis.var, "a thread axis is no index variable");
      }
      if (axis.tag.block) {
        grid[axis.tag.dim] = axis.extent;
      } else {
        block[axis.tag.dim] = *extent;
      }
      bounds_.enter(axis);
      define(axis.var, !axis.tag.block);
    }
    const bool same_grid = std::equal(grid.begin(), grid.end(), kernel_->grid.begin(),
                                      [](const Expr& a, const Expr& b) { return equal(a, b); });
    if (!same_grid) axis_error("its grid is not the extents of its blockIdx axes");
    if (block != kernel_->block) axis_error("its block is not the extents of its threadIdx axes");
  }
  template <class... Args>
  void axis_error(fmt::format_string<Args...> format, Args&&... args) {
    broken(Rule::Axes, kernel_, kernel_->name, kernel_->location, format,
           std::forward<Args>(args)...);
  }

  void declared_access(const KernelParam& p) {
    const auto found = usage_.find(p.buffer.get());
    if (found == usage_.end()) return;
    const auto [read, write] = found->second;
    const Access actual = read && write ? Access::ReadWrite : read ? Access::Read : Access::Write;
    if (p.buffer->is_texture() && actual == Access::ReadWrite) {
      broken(Rule::Access, p.buffer, "kernel {} reads and writes this texture", kernel_->name);
    } else if (actual != p.access) {
      broken(Rule::Access, p.buffer, "kernel {} declares {} and does {}", kernel_->name,
             to_string(p.access), to_string(actual));
    }
  }

  // -- Definitions.

  template <class Node>
  void define(const Ref<Node>& node, bool varying = false) {
    if constexpr (std::is_same_v<Node, BufferNode>) {
      const std::string problem = buffer_problem(*node);
      if (!problem.empty()) broken(Rule::Buffers, node, "{}", problem);
    }
    if (!scope_.define(node.get(), varying)) {
      broken(Rule::Definitions, node, "it is defined again inside its scope");
    }
  }
  void define_with_origin(const Buffer& buffer) {
    define(buffer);
    for (const Expr& extent : buffer->extents) has_value_here(buffer, extent);
    if (buffer->origin.x) define(buffer->origin.x);
    if (buffer->origin.y) define(buffer->origin.y);
  }
  // Of what the plan computes at the call.
  template <class Node>
  void has_value_here(const Ref<Node>& user, const Expr& extent) {
    walk(extent, [&](const Var& v) {
      if (!scope_.contains(&v)) broken(Rule::Definitions, user, "{} is not defined here", v.name);
    });
  }
  template <class Node>
  void use_buffer(const Buffer& buffer, Access access, const Ref<Node>& user) {
    Usage& usage = usage_[buffer.get()];
    (access == Access::Read ? usage.read : usage.write) = true;
    if (!scope_.use(buffer.get())) {
      if (kernel_ == nullptr) {
        broken(Rule::Definitions, user, "{} is not defined here", buffer->name);
      } else {
        broken(Rule::Visibility, user, "{} is no parameter of kernel {}, nor allocated there",
               buffer->name, kernel_->name);
      }
    }
    if (kernel_ != nullptr || buffer->memory == MemoryScope::Global) return;
    if (nest_of_.try_emplace(buffer.get(), nest_).first->second != nest_) {
      broken(Rule::Visibility, user, "the {} buffer {} is used by two kernels",
             to_string(buffer->memory), buffer->name);
    }
  }

  // -- Expressions.

  Fact expr(const Expr& e) {
    if (const Fact* fact = scope_.known(e, guards_ > 0)) return *fact;
    const Fact outer = scope_.begin(guards_ > 0);
    if (!allows(place_, e->kind)) {
      broken(Rule::Nodes, e, "{} does not stand in {}", name_of(e->kind), to_string(place_));
    }
    if (operands(e)) {
      const std::string problem = type_problem(e, form_);
      if (!problem.empty()) broken(Rule::Types, e, "{}", problem);
      accesses(e);
    }
    return scope_.end(e, outer);
  }

  // Looks at the operands; whether all are there.
  bool operands(const Expr& e) {
    const int outer_guards = guards_;
    bool complete = true;
    int operand = 0;
    for_each_child(e, [&](const Expr& child) {
      complete = complete && child;
      guards_ = outer_guards + (always_evaluates(e, operand++) ? 0 : 1);
      if (child) scope_.depend(expr(child));
    });
    guards_ = outer_guards;
    if (!complete) broken(Rule::Types, e, "an operand is missing");
    return complete;
  }

  void accesses(const Expr& e) {
    if (e->kind == ExprKind::Var && !scope_.use(e.get())) {
      broken(Rule::Definitions, e, "it is not defined here");
    } else if (const auto* lane = as<Lane>(e)) {
      inside(e, lane->index, lane->vector->type.lanes, "a vector");
    } else if (const auto* load = as<Load>(e)) {
      use_buffer(load->buffer, Access::Read, e);
      read(load->buffer, [&] { element(e, load->buffer, load->indices); });
      if (load->buffer->memory == MemoryScope::Local) scope_.set_varying();
    } else if (const auto* texel_load = as<TextureLoad>(e)) {
      use_buffer(texel_load->texture, Access::Read, e);
      read(texel_load->texture,
           [&] { texel(e, texel_load->texture, texel_load->x, texel_load->y); });
    }
  }

  // A texture may be read outside its rectangle, where nobody uses the value: passes read texels
  // before the condition that guards their use, and private copies past the last element.
  template <class Check>
  void read(const Buffer& buffer, const Check& check) {
    guards_ += buffer->is_texture() ? 1 : 0;
    check();
    guards_ -= buffer->is_texture() ? 1 : 0;
  }

  // -- Accesses to memory.

  template <class Node>
  void element(const Ref<Node>& node, const Buffer& buffer, const Exprs& indices) {
    if (buffer->is_texture() && !form_.logical) {
      broken(Rule::Textures, node, "the texture {} is accessed like a buffer", buffer->name);
    }
    // Nothing is asked of an array whose size only the call tells.
    if (buffer->is_symbolic()) return;
    if (form_.logical) {
      const size_t axes = std::min(indices.size(), buffer->shape.size());
      for (size_t i = 0; i < axes; ++i) {
        // A whole texel may be accessed where the last one is only partly filled.
        inside(node, indices[i], buffer->layout.extent_with_lanes(i), buffer->name);
      }
    } else if (!indices.empty()) {
      inside(node, indices.front(), buffer->layout.col_count(), buffer->name);
    }
  }

  template <class Node>
  void texel(const Ref<Node>& node, const Buffer& texture, const Expr& x, const Expr& y) {
    if (!texture->is_texture()) {
      broken(Rule::Textures, node, "the buffer {} is accessed like a texture", texture->name);
    }
    const auto within_rectangle = [&](const Expr& coordinate, const Expr& origin) {
      return origin ? coordinate - make_cast(coordinate->type, origin) : coordinate;
    };
    const TextureOrigin& origin = texture->origin;
    inside(node, within_rectangle(x, origin.x), texture->layout.col_count(), texture->name);
    inside(node, within_rectangle(y, origin.y), texture->layout.row_count(), texture->name);
  }

  template <class Node>
  void inside(const Ref<Node>& node, const Expr& index, int64_t extent, std::string_view what) {
    // What a condition guards may be out of reach of our proofs.
    if (guards_ > 0 || !options_.check_accesses || bounds_.inside(index, extent)) return;
    bool defined = true;  // else that is what is wrong, and it is said already
    walk(index, [&](const Var& v) { defined = defined && scope_.contains(&v); });
    if (defined) {
      broken(Rule::Bounds, node, "{} is not proven to lie in 0..{} of {}", text_of(index), extent,
             what);
    }
  }

  // -- Statements.

  void stmt(const Stmt& s) {
    if (!s) {
      return broken(Rule::Types, &program_, program_.name, location_, "a statement is missing");
    }
    const SourceLocation outer_location = location_;
    if (s->location.known()) location_ = s->location;
    if (!allows(place_, s->kind)) {
      broken(Rule::Nodes, s, "{} does not stand in {}", name_of(s->kind), to_string(place_));
    }
    bool complete = true;
    for_each_child(s, [&](const Expr& child) { complete = complete && child; }, [](const Stmt&) {});
    if (complete) {
      const std::string problem = type_problem(s, form_);
      if (!problem.empty()) broken(Rule::Types, s, "{}", problem);
      visit(s, [&](const auto& node) { check(node, s); });
    } else {
      broken(Rule::Types, s, "an operand is missing");
    }
    location_ = outer_location;
  }

  void check(const Store& n, const Stmt& s) {
    for (const Expr& index : n.indices) expr(index);
    expr(n.value);
    use_buffer(n.buffer, Access::Write, s);
    element(s, n.buffer, n.indices);
  }
  void check(const TextureStore& n, const Stmt& s) {
    expr(n.x);
    expr(n.y);
    expr(n.value);
    use_buffer(n.texture, Access::Write, s);
    texel(s, n.texture, n.x, n.y);
  }
  void check(const For& n, const Stmt& s) {
    const Fact extent = expr(n.extent);
    if (!allows(place_, n.loop)) {
      broken(Rule::Nodes, s, "a loop of this kind does not stand in {}", to_string(place_));
    }
    if (n.loop == LoopKind::Thread) return thread_loop(n, s);
    const Stmt* outer_loop = std::exchange(loop_, &n.body);
    bounds_.enter(n);
    divergent_ += extent.varying ? 1 : 0;
    body(n.body, n.var, extent.varying);
    divergent_ -= extent.varying ? 1 : 0;
    loop_ = outer_loop;
  }
  // A stage attached below a thread loop may have one over the same tag of its own: cooperative
  // fetching. Both are one index.
  void thread_loop(const For& n, const Stmt& s) {
    if (kernel_ == nullptr && nest_ == 0) {
      broken(Rule::Nodes, s, "a loop over {} stands outside a nest", to_string(n.tag));
    }
    bounds_.enter(n);
    body(n.body, n.var, !n.tag.block);
  }
  void check(const If& n, const Stmt&) {
    const bool varying = expr(n.condition).varying;
    ++guards_;
    divergent_ += varying ? 1 : 0;
    stmt(n.then);
    divergent_ -= varying ? 1 : 0;
    --guards_;
  }
  void check(const While& n, const Stmt&) {
    const bool varying = expr(n.condition).varying;
    const Stmt* outer_loop = std::exchange(loop_, &n.body);
    ++guards_;
    divergent_ += varying ? 1 : 0;
    stmt(n.body);
    divergent_ -= varying ? 1 : 0;
    --guards_;
    loop_ = outer_loop;
  }
  void check(const Seq& n, const Stmt&) {
    for (const Stmt& each : n.statements) stmt(each);
  }
  void check(const Let& n, const Stmt&) {
    const bool varying = expr(n.value).varying;
    bounds_.enter(n);
    body(n.body, n.var, varying);
  }
  // A kernel to be, with local memory of its own: what was found of loads elsewhere does not hold
  // in it.
  void check(const Nest& n, const Stmt& s) {
    if (nest_ != 0) broken(Rule::Nodes, s, "it stands inside another nest");
    if (!scope_.contains(n.result.get())) {
      broken(Rule::Definitions, s, "{} is not defined here", n.result->name);
    }
    const int outer = std::exchange(nest_, ++nests_);
    scope_.forget_facts();
    stmt(n.body);
    scope_.forget_facts();
    nest_ = outer;
  }
  void check(const Pipelined& n, const Stmt& s) {
    const auto found = allocations_.find(n.buffer.get());
    if (found == allocations_.end() || !scope_.contains(n.buffer.get()) ||
        n.buffer->memory == MemoryScope::Global) {
      return broken(Rule::Definitions, s, "{} is no shared or local buffer allocated here",
                    n.buffer->name);
    }
    if (loop_ == nullptr || found->second.loop != loop_) {
      broken(Rule::Nodes, s, "{} is not allocated in the innermost loop around", n.buffer->name);
    }
    stmt(n.body);
  }
  void check(const Allocate& n, const Stmt& s) {
    const bool global = n.buffer->memory == MemoryScope::Global;
    if (place_ == Place::Plan && !global) {
      broken(Rule::Visibility, s, "a {} buffer is allocated outside a kernel",
             to_string(n.buffer->memory));
    }
    if (kernel_ != nullptr && global) {
      broken(Rule::Visibility, s, "global memory is allocated inside a kernel");
    }
    if (kernel_ != nullptr && n.buffer->memory == MemoryScope::Shared &&
        !outermost_.contains(n.buffer.get())) {
      broken(Rule::Visibility, s, "a shared buffer is not allocated around the whole kernel");
    }
    const size_t depth = scope_.depth();
    define_with_origin(n.buffer);
    allocations_[n.buffer.get()] = {.loop = loop_};
    stmt(n.body);
    scope_.leave(depth);
  }
  void check(const Free& n, const Stmt& s) {
    const auto found = allocations_.find(n.buffer.get());
    if (found == allocations_.end() || !scope_.contains(n.buffer.get())) {
      return broken(Rule::Plan, s, "{} is not allocated here", n.buffer->name);
    }
    Allocation& allocation = found->second;
    if (allocation.freed) broken(Rule::Plan, s, "{} is freed already", n.buffer->name);
    if (allocation.loop != loop_) {
      broken(Rule::Plan, s, "{} is allocated outside this loop", n.buffer->name);
    }
    allocation.freed = true;
  }
  void check(const Barrier&, const Stmt& s) {
    if (divergent_ > 0) broken(Rule::Barriers, s, "not all threads of a block come here");
  }
  void check(const Launch& n, const Stmt& s) {
    if (n.kernel < 0 || static_cast<size_t>(n.kernel) >= program_.kernels.size()) {
      return broken(Rule::Plan, s, "there is no kernel of this number");
    }
    const Kernel& launched = program_.kernels[static_cast<size_t>(n.kernel)];
    for (const Expr& extent : launched.grid) has_value_here(s, extent);
    for (const KernelParam& p : launched.params) {
      if (p.scalar && !scope_.contains(p.scalar.get())) {
        broken(Rule::Plan, s, "the plan does not define {} of kernel {}", text_of(p.scalar),
               launched.name);
      }
      if (p.buffer && !scope_.contains(p.buffer.get())) {
        broken(Rule::Plan, s, "the plan does not define {} of kernel {}", p.buffer->name,
               launched.name);
      }
      const auto allocation = allocations_.find(p.buffer.get());
      if (allocation != allocations_.end() && allocation->second.freed) {
        broken(Rule::Plan, s, "{} of kernel {} is freed already", p.buffer->name, launched.name);
      }
    }
  }

  void body(const Stmt& s, const Expr& var, bool varying) {
    const size_t depth = scope_.depth();
    define(var, varying);
    stmt(s);
    scope_.leave(depth);
  }

  // -- Reports: each rule once for each node.

  template <class... Args>
  void broken(Rule rule, const void* node, std::string text, const SourceLocation& location,
              fmt::format_string<Args...> format, Args&&... args) {
    if (found_.size() >= kMaxViolations || !reported_.emplace(node, rule).second) return;
    found_.push_back({rule, std::move(text), fmt::format(format, std::forward<Args>(args)...),
                      location.known() ? location : location_});
  }
  template <class Node, class... Args>
  void broken(Rule rule, const Ref<Node>& node, fmt::format_string<Args...> format,
              Args&&... args) {
    if (found_.size() >= kMaxViolations) return;
    broken(rule, node.get(), text_of(node), node->location, format, std::forward<Args>(args)...);
  }

  const Program& program_;
  const VerifyOptions options_;
  Place place_ = Place::Loops;
  AccessForm form_;
  const Kernel* kernel_ = nullptr;

  VerifyScope scope_;
  BoundsProof bounds_;
  SourceLocation location_;  // of the innermost statement that has one
  int guards_ = 0;           // conditions that decide whether we come here
  int divergent_ = 0;        // conditions and extents around that vary within a block
  std::unordered_set<const BufferNode*> outermost_;  // allocated around the kernel's whole body

  const Stmt* loop_ = nullptr;  // the body of the innermost one that is no thread loop
  std::unordered_map<const BufferNode*, Allocation> allocations_;
  int nest_ = 0;  // the Nest around, counted from 1; 0: none
  int nests_ = 0;
  std::unordered_map<const BufferNode*, int> nest_of_;  // of the first access
  std::unordered_map<const BufferNode*, Usage> usage_;  // by the kernel

  std::vector<Violation> found_;
  std::set<std::pair<const void*, Rule>> reported_;
};

}  // namespace

std::vector<Violation> find_violations(const Program& program, VerifyOptions options) {
  std::vector<Violation> found = Verifier(program, options).run();
  return found.empty() && options.check_accesses ? find_padding_violations(program) : found;
}

void verify(const Program& program, VerifyOptions options) {
  const std::vector<Violation> violations = find_violations(program, options);
  if (violations.empty()) return;
  std::string text = fmt::format(
      "internal error: program {} breaks the rules of stage {}; this is a bug in Texloom, please "
      "report it with the script that shows it",
      program.name, to_string(program.stage));
  for (const Violation& v : violations) {
    const std::string where =
        v.location.known() ? fmt::format(" ({}:{})", *v.location.file, v.location.line) : "";
    text += fmt::format("\n  [{}] {}: {}{}", to_string(v.rule), v.node, v.problem, where);
  }
  throw InternalError(text);
}

}  // namespace texloom::ir
