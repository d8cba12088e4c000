#include "ir/verify/verify.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/accesses.h"
#include "ir/analysis/symbolic_extents.h"
#include "ir/analysis/uniform_values.h"
#include "ir/evaluation.h"
#include "ir/verify/verify_accesses.h"
#include "ir/verify/verify_allocations.h"
#include "ir/verify/verify_bounds.h"
#include "ir/verify/verify_kernel.h"
#include "ir/verify/verify_launch.h"
#include "ir/verify/verify_padding.h"
#include "ir/verify/verify_scope.h"
#include "ir/verify/verify_stages.h"
#include "ir/verify/verify_text.h"
#include "ir/verify/verify_types.h"
#include "ir/verify/violations.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

class Verifier {
 public:
  Verifier(const Program& program, VerifyOptions options)
      : program_(program), options_(options), bounds_(program) {}

  std::vector<Violation> run() {
    if (program_.stage == ProgramStage::Te) return {};  // the program is still empty
    const bool has_kernels = program_.stage >= ProgramStage::Kernels;
    enter_code(has_kernels                                 ? CodeKind::Plan
               : program_.stage == ProgramStage::Flattened ? CodeKind::Flattened
                                                           : CodeKind::Loops);
    for (const Expr& symbol : program_.symbols) {
      if (program_.stage >= ProgramStage::Flattened && !is_kernel_scalar(symbol->type)) {
        found_.add(Rule::Types, symbol, "a symbol is not a variable of 32 or 64 bits");
      }
      define(symbol);
    }
    for (const Buffer& param : program_.params) {
      check_global(param, "parameter");
      define_with_origin(param);
    }
    for (const Buffer& temporary : program_.temporaries) {
      check_global(temporary, "temporary");
      allocate(temporary, temporary);
    }
    stmt(program_.body);
    if (!has_kernels && !program_.kernels.empty()) {
      found_.add(Rule::Plan, &program_, program_.name, {}, "it has kernels before stage kernels");
    }
    std::unordered_set<std::string_view> names;
    for (const Kernel& k : program_.kernels) {
      if (!names.insert(k.name).second) {
        found_.add(Rule::Plan, &k, k.name, k.location, "another kernel has the same name");
      }
      kernel(k);
    }
    return found_.take();
  }

 private:
  void check_global(const Buffer& b, std::string_view what) {
    if (b->memory == MemoryScope::Global) return;
    found_.add(Rule::Visibility, b, "a {} of the program is {}", what, to_string(b->memory));
  }

  AccessPlace here() const { return {form_.logical, guards_ > 0}; }

  void enter_code(CodeKind code) {
    code_ = code;
    form_ = {.logical = code == CodeKind::Loops, .widened = code == CodeKind::Legalized};
  }

  // -- Kernels.

  void kernel(const Kernel& k) {
    enter_code(program_.stage == ProgramStage::Legalized ? CodeKind::Legalized : CodeKind::Kernel);
    scope_.leave(0);
    scope_.forget_facts();
    usage_.clear();
    found_.location = k.location;
    kernel_ = &k;
    for (const KernelParam& p : k.params) {
      check_param(k, p, found_);
      if (p.buffer && !p.scalar) define(p.buffer);
      if (p.scalar && !p.buffer) define(p.scalar);
    }
    for (const KernelParam& p : k.params) {
      if (p.buffer) origin_is_defined(p.buffer);
    }
    axes();
    uniform_.emplace(k);
    stmt(k.body);
    check_shared_buffers(k, found_);
    check_fragment_steps(k, found_);
    for (const KernelParam& p : k.params) {
      const auto usage = usage_.find(p.buffer.get());
      if (usage != usage_.end()) check_access(k, p, usage->second, found_);
    }
    const bool has_limits =
        options_.target != nullptr &&
        !(code_ == CodeKind::Legalized && options_.target->runs_blocks_in_one_thread());
    if (has_limits) check_limits(k, program_.stage, *options_.target, found_);
  }

  void origin_is_defined(const Buffer& b) {
    for (const Expr* word : {&b->origin.x, &b->origin.y}) {
      if (*word && !scope_.contains(word->get())) {
        found_.add(Rule::Definitions, b, "its origin {} is not a parameter", text_of(*word));
      }
    }
  }

  void axes() {
    check_axes(*kernel_, found_);
    for (const ThreadAxis& axis : kernel_->axes) {
      if (int_value(axis.extent) == nullptr && !axis.tag.block) continue;
      bounds_.enter(axis);
      define(axis.var, !axis.tag.block);
    }
  }

  // -- Definitions.

  template <class Node>
  void define(const Ref<Node>& node, bool varying = false) {
    if constexpr (std::is_same_v<Node, BufferNode>) {
      const std::string problem = buffer_problem(*node);
      if (!problem.empty()) found_.add(Rule::Buffers, node, "{}", problem);
    }
    if (!scope_.define(node.get(), varying)) {
      found_.add(Rule::Definitions, node, "it is defined again inside its scope");
    }
  }
  void define_with_origin(const Buffer& buffer) {
    define(buffer);
    for (const Expr& extent : buffer->extents) {
      has_value_here(buffer, extent);
      walk(extent, [&](const Var& v) {
        if (loop_extents_.contains(&v))
          found_.add(Rule::Buffers, buffer, "its size depends on the loop over {}", v.name);
      });
    }
    if (buffer->origin.x) define(buffer->origin.x);
    if (buffer->origin.y) define(buffer->origin.y);
  }
  template <class Node>
  void allocate(const Buffer& b, const Ref<Node>& where) {
    if (b->origin.exact_image) {
      found_.add(Rule::Buffers, where, "{} is not a parameter: its image may be larger", b->name);
    }
    define_with_origin(b);
    allocations_.allocate(b, loop_);
  }
  // Checks that the plan can compute the extent.
  template <class Node>
  void has_value_here(const Ref<Node>& user, const Expr& extent) {
    const bool computed = int_value(extent) != nullptr || is_extent(extent);
    if (!computed) found_.add(Rule::Plan, user, "the plan does not compute {}", text_of(extent));
    walk(extent, [&](const Var& v) {
      if (!scope_.contains(&v))
        found_.add(Rule::Definitions, user, "{} is not defined here", v.name);
    });
  }
  template <class Node>
  void use_buffer(const Buffer& buffer, Access access, const Ref<Node>& user) {
    Usage& usage = usage_[buffer.get()];
    (access == Access::Read ? usage.read : usage.write) = true;
    if (!scope_.use(buffer.get())) {
      if (kernel_ == nullptr) {
        found_.add(Rule::Definitions, user, "{} is not defined here", buffer->name);
      } else {
        found_.add(Rule::Visibility, user,
                   "{} is not a parameter of kernel {}, nor allocated there", buffer->name,
                   kernel_->name);
      }
    }
    if (kernel_ != nullptr || buffer->memory == MemoryScope::Global) return;
    if (nest_of_.try_emplace(buffer.get(), nest_).first->second != nest_) {
      found_.add(Rule::Visibility, user, "the {} buffer {} is used by two kernels",
                 to_string(buffer->memory), buffer->name);
    }
  }

  // -- Expressions.

  Fact expr(const Expr& e) {
    if (const Fact* fact = scope_.known(e, guards_ > 0)) return *fact;
    const Fact outer = scope_.begin(guards_ > 0);
    if (!allows(code_, e->kind)) {
      found_.add(Rule::Nodes, e, "{} is not allowed in {}", name_of(e->kind), to_string(code_));
    }
    if (operands(e)) {
      const std::string problem = type_problem(e, form_);
      if (!problem.empty()) found_.add(Rule::Types, e, "{}", problem);
      access(e);
    }
    return scope_.end(e, outer);
  }

  // Checks the operands; returns whether all are present.
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
    if (!complete) found_.add(Rule::Types, e, "an operand is missing");
    return complete;
  }

  void access(const Expr& e) {
    fragment(e);
    if (e->kind == ExprKind::Var && !scope_.use(e.get())) {
      found_.add(Rule::Definitions, e, "it is not defined here");
    } else if (const auto* lane = as<Lane>(e)) {
      accesses_.inside(e, lane->index, lane->vector->type.lanes, "a vector", here());
    } else if (const auto* load = as<Load>(e)) {
      use_buffer(load->buffer, Access::Read, e);
      read(load->buffer, [&] { accesses_.element(e, load->buffer, load->indices, here()); });
      if (uniform_ && uniform_->varies(load->buffer)) scope_.set_varying();
    } else if (const auto* call = as<ForeignCall>(e)) {
      const std::string problem = signature_problem(*call, program_);
      if (!problem.empty()) found_.add(Rule::Types, e, "{}", problem);
      scope_.set_varying();  // a foreign function may ask for the index of its thread
    } else if (const auto* pointer = as<Pointer>(e)) {
      // The function is trusted to stay inside the box.
      if (reads(pointer->access)) use_buffer(pointer->buffer, Access::Read, e);
      if (writes(pointer->access)) use_buffer(pointer->buffer, Access::Write, e);
    } else if (const auto* texel_load = as<TextureLoad>(e)) {
      use_buffer(texel_load->texture, Access::Read, e);
      read(texel_load->texture,
           [&] { accesses_.texel(e, texel_load->texture, texel_load->x, texel_load->y, here()); });
    }
  }

  // A texture may be read outside its rectangle if the value is not used: passes read texels before
  // the condition that guards their use, and private copies read past the last element.
  template <class Check>
  void read(const Buffer& buffer, const Check& check) {
    guards_ += buffer->is_texture() ? 1 : 0;
    check();
    guards_ -= buffer->is_texture() ? 1 : 0;
  }

  // -- Statements.

  void stmt(const Stmt& s) {
    if (!s) {
      return found_.add(Rule::Types, &program_, program_.name, found_.location,
                        "a statement is missing");
    }
    const SourceLocation outer_location = found_.location;
    if (s->location.known()) found_.location = s->location;
    if (!allows(code_, s->kind)) {
      found_.add(Rule::Nodes, s, "{} is not allowed in {}", name_of(s->kind), to_string(code_));
    }
    bool complete = true;
    for_each_child(s, [&](const Expr& child) { complete = complete && child; }, [](const Stmt&) {});
    if (complete) {
      const std::string problem = type_problem(s, form_);
      if (!problem.empty()) found_.add(Rule::Types, s, "{}", problem);
      visit(s, [&](const auto& node) { check(node, s); });
    } else {
      found_.add(Rule::Types, s, "an operand is missing");
    }
    found_.location = outer_location;
  }

  // Statements and expressions of a kernel.
  template <class Node>
  void fragment(const Ref<Node>& node) {
    if (kernel_ == nullptr) return;
    see_access(node, [&](const BufferAccess& access) {
      if (access.buffer->memory != MemoryScope::Fragment || has_known_place(access)) return;
      found_.add(Rule::Fragments, node, "the element of the fragment {} is not known",
                 access.buffer->name);
    });
  }

  void check(const Store& n, const Stmt& s) {
    for (const Expr& index : n.indices) expr(index);
    expr(n.value);
    use_buffer(n.buffer, Access::Write, s);
    fragment(s);
    accesses_.element(s, n.buffer, n.indices, here());
  }
  void check(const TextureStore& n, const Stmt& s) {
    expr(n.x);
    expr(n.y);
    expr(n.value);
    use_buffer(n.texture, Access::Write, s);
    accesses_.texel(s, n.texture, n.x, n.y, here());
  }
  void check(const Evaluate& n, const Stmt&) { expr(n.call); }
  // The element may be outside of the buffer.
  void check(const Prefetch& n, const Stmt& s) {
    for (const Expr& index : n.indices) expr(index);
    use_buffer(n.buffer, Access::Read, s);
  }
  void check(const For& n, const Stmt& s) {
    const Fact extent = expr(n.extent);
    if (!allows(code_, n.loop)) {
      found_.add(Rule::Nodes, s, "a loop of this kind is not allowed in {}", to_string(code_));
    }
    if (n.loop == LoopKind::Thread) return thread_loop(n, s);
    if (code_ == CodeKind::Plan) has_value_here(s, n.extent);
    const Stmt* outer_loop = std::exchange(loop_, &n.body);
    bounds_.enter(n);
    loop_extents_[n.var.get()] = n.extent;
    divergent_ += extent.varying ? 1 : 0;
    body(n.body, n.var, extent.varying);
    divergent_ -= extent.varying ? 1 : 0;
    loop_ = outer_loop;
  }
  // A stage attached inside a thread loop may have its own loop over the same tag, for cooperative
  // fetching. Both loops have the same index.
  void thread_loop(const For& n, const Stmt& s) {
    if (kernel_ == nullptr && nest_ == 0) {
      found_.add(Rule::Nodes, s, "a loop over {} is outside a nest", to_string(n.tag));
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
  // A future kernel has its own local memory, so facts about loads outside the nest do not hold
  // inside the nest.
  void check(const Nest& n, const Stmt& s) {
    uniform_.emplace(n);
    if (nest_ != 0) found_.add(Rule::Nodes, s, "it is inside another nest");
    if (!scope_.contains(n.result.get())) {
      found_.add(Rule::Definitions, s, "{} is not defined here", n.result->name);
    }
    const int outer = std::exchange(nest_, ++nests_);
    scope_.forget_facts();
    stmt(n.body);
    scope_.forget_facts();
    nest_ = outer;
  }
  void check(const Pipelined& n, const Stmt& s) {
    allocations_.check_pipelined(n, s, loop_);
    stmt(n.body);
  }
  void check(const Allocate& n, const Stmt& s) {
    const bool global = n.buffer->memory == MemoryScope::Global;
    if (code_ == CodeKind::Plan && !global) {
      found_.add(Rule::Visibility, s, "a {} buffer is allocated outside a kernel",
                 to_string(n.buffer->memory));
    }
    if (kernel_ != nullptr && global) {
      found_.add(Rule::Visibility, s, "global memory is allocated inside a kernel");
    }
    const size_t depth = scope_.depth();
    allocate(n.buffer, s);
    stmt(n.body);
    scope_.leave(depth);
  }
  void check(const Free& n, const Stmt& s) { allocations_.free(n, s, loop_); }
  void check(const Barrier&, const Stmt& s) { all_reach(s); }
  void check(const AsyncCopies& n, const Stmt&) { stmt(n.body); }
  void check(const AwaitCopies&, const Stmt&) {}
  void check(const Shuffle& n, const Stmt& s) {
    all_reach(s);
    expr(n.value);
    expr(n.offset);
    body(n.body, n.var, true);
  }
  void check(const FragmentStep& n, const Stmt&) {
    for (const Expr& each : n.operands) expr(each);
  }
  // A block takes one ticket in a launch, so no loop may repeat it, and no condition leave it out.
  void check(const LastBlock& n, const Stmt& s) {
    all_reach(s);
    const bool uniform = !expr(n.index).varying && !expr(n.count).varying;
    if (!uniform) found_.add(Rule::Barriers, s, "threads of a block take tickets of two groups");
    if (loop_ != nullptr || guards_ > 0) {
      found_.add(Rule::Barriers, s, "a block may take several tickets, or none");
    }
    use_buffer(n.counters, Access::Read, s);
    use_buffer(n.counters, Access::Write, s);
    accesses_.element(s, n.counters, {n.index}, here());
    if (!scope_.contains(n.flag.get())) {
      found_.add(Rule::Definitions, s, "{} is not defined here", n.flag->name);
    }
    ++guards_;
    stmt(n.body);
    --guards_;
  }
  void check(const Launch& n, const Stmt& s) {
    if (n.kernel < 0 || static_cast<size_t>(n.kernel) >= program_.kernels.size()) {
      return found_.add(Rule::Plan, s, "there is no kernel with this number");
    }
    const Kernel& launched = program_.kernels[static_cast<size_t>(n.kernel)];
    for (const Expr& extent : launched.grid) has_value_here(s, extent);
    check_launch(launched, s, {scope_, allocations_, loop_extents_}, found_);
  }

  void all_reach(const Stmt& s) {
    if (divergent_ > 0) found_.add(Rule::Barriers, s, "not all threads of a block reach it");
  }

  void body(const Stmt& s, const Expr& var, bool varying) {
    const size_t depth = scope_.depth();
    define(var, varying);
    stmt(s);
    scope_.leave(depth);
  }

  const Program& program_;
  const VerifyOptions options_;
  CodeKind code_ = CodeKind::Loops;
  AccessForm form_;
  const Kernel* kernel_ = nullptr;

  VerifyScope scope_;
  BoundsProof bounds_;
  int guards_ = 0;                        // the number of enclosing conditions
  std::optional<UniformValues> uniform_;  // the uniform values of the kernel or the nest
  int divergent_ = 0;                     // enclosing conditions and extents that vary in a block

  const Stmt* loop_ = nullptr;  // the body of the innermost loop that is not a thread loop
  LoopExtents loop_extents_;
  int nest_ = 0;  // the enclosing Nest, counted from 1; 0: none
  int nests_ = 0;
  // The nest of the first access to each buffer.
  std::unordered_map<const BufferNode*, int> nest_of_;
  std::unordered_map<const BufferNode*, Usage> usage_;  // how the kernel uses each parameter

  Violations found_;
  Allocations allocations_{scope_, found_};
  AccessChecks accesses_{bounds_, scope_, options_.check_accesses, found_};
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
      "report it with the script that reproduces it",
      program.name, to_string(program.stage));
  for (const Violation& v : violations) {
    const std::string where =
        v.location.known() ? fmt::format(" ({}:{})", *v.location.file, v.location.line) : "";
    text += fmt::format("\n  [{}] {}: {}{}", to_string(v.rule), v.node, v.problem, where);
  }
  throw InternalError(text);
}

}  // namespace texloom::ir
