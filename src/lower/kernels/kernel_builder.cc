#include "lower/kernels/kernel_builder.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/analysis/fragments.h"
#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/kernels/kernel_buffers.h"
#include "lower/kernels/kernel_limits.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

class KernelBuilder {
 public:
  KernelBuilder(std::string name, const PlanVariables& plan, const Target& target)
      : target_(target), plan_(plan) {
    kernel_.name = std::move(name);
  }

  Kernel build(const Nest& nest) {
    kernel_.location = nest.location;
    collect_axes(nest);
    Stmt body = without_threads(nest.body, {}, {});
    for (auto buffer = shared_.rbegin(); buffer != shared_.rend(); ++buffer) {
      body = make_allocate(*buffer, body, (*buffer)->location);
    }
    kernel_.body = body;
    collect_params();
    check_limits(kernel_, block_location_, target_);
    if (const auto problem = fragment_problem(kernel_)) {
      fail(problem->fragment->location, Code::BadFragmentStep, problem->help, "{}", problem->text);
    }
    return std::move(kernel_);
  }

 private:
  using Tags = std::set<ThreadTag>;
  using OwnTags = std::map<const BufferNode*, Tags>;

  void collect_axes(const Nest& nest) {
    std::map<ThreadTag, const For*> first;
    std::map<ThreadTag, Expr> widest;
    walk(nest.body, [&](const For& loop) {
      if (loop.loop != LoopKind::Thread) return;
      check_extent(loop);
      const auto [known, added] = first.try_emplace(loop.tag, &loop);
      Expr& extent = widest.try_emplace(loop.tag, loop.extent).first->second;
      if (added || is_same_number(extent, loop.extent)) return;
      // Symbolic extents may be equal at the launch. If they are not, the shorter loop is guarded.
      const bool open = int_value(extent) == nullptr || int_value(loop.extent) == nullptr;
      if (open && extent->type == loop.extent->type) {
        extent = arith::simplify(max(extent, loop.extent));
        return;
      }
      fail(loop.location, Code::ThreadExtentMismatch,
           "split both axes so that the parts bound to this tag have one extent",
           "{} has the extent {} here, but {} at {}", to_string(loop.tag), to_string(loop.extent),
           to_string(known->second->extent), place(*known->second));
    });
    if (first.empty()) {
      fail(kernel_.location, Code::UnboundStage,
           "bind one of its axes, as s[stage].bind(axis, te.thread_axis(\"blockIdx.x\")), or "
           "compute it where it is read, with compute_at; a vthread is a loop inside a thread, and "
           "needs a blockIdx or threadIdx beside it",
           "'{}' is computed at the root but bound to no thread; did you forget to bind it?",
           nest.result->name);
    }
    // Sorts blockIdx before threadIdx, and x before y.
    for (const bool block : {true, false}) {
      for (uint8_t dim = 0; dim < 3; ++dim) {
        const auto found = first.find(ThreadTag{block, dim});
        if (found != first.end()) add_axis(*found->second, widest.at(found->first));
      }
    }
  }

  static bool is_same_number(const Expr& a, const Expr& b) {
    return a->type == b->type && arith::prove_equal(a, b, {});
  }

  // A kernel is compiled for a fixed number of threads; the number of blocks may be decided at
  // launch.
  void check_extent(const For& loop) const {
    const int64_t* extent = int_value(loop.extent);
    if (extent != nullptr && *extent >= 1) return;
    bool known = extent == nullptr && loop.tag.block && is_extent(loop.extent);
    walk(loop.extent, [&](const Var& v) { known = known && is_known_to_plan(&v); });
    if (known) return;
    fail(loop.location, Code::ThreadExtentMismatch,
         loop.tag.block ? "compute it from constants and int32 symbols, with + - * // % min and max"
                        : "split the axis by a constant and bind the inner part",
         "the extent of {} is not a positive constant: {}", to_string(loop.tag),
         to_string(loop.extent));
  }

  bool is_known_to_plan(const Var* var) const {
    return std::any_of(plan_.symbols.begin(), plan_.symbols.end(),
                       [&](const Expr& symbol) { return symbol.get() == var; }) ||
           std::any_of(plan_.loops.begin(), plan_.loops.end(),
                       [&](const For* loop) { return loop->var.get() == var; });
  }

  void add_axis(const For& loop, const Expr& extent) {
    kernel_.axes.push_back({loop.tag, make_var(to_string(loop.tag), loop.var->type), extent});
    if (loop.tag.block) {
      kernel_.grid[loop.tag.dim] = extent;
      return;
    }
    kernel_.block[loop.tag.dim] = *int_value(extent);
    block_location_ = loop.location;
  }

  static std::string place(const For& loop) {
    return loop.location.known() ? fmt::format("{}:{}", *loop.location.file, loop.location.line)
                                 : std::string("another stage");
  }

  const ThreadAxis& axis(ThreadTag tag) const {
    return *std::find_if(kernel_.axes.begin(), kernel_.axes.end(),
                         [&](const ThreadAxis& a) { return a.tag == tag; });
  }

  // `outer` are the tags of all enclosing thread loops; `own` maps each shared buffer to the tags
  // of the thread loops inside its allocation.
  Stmt without_threads(const Stmt& s, const Tags& outer, const OwnTags& own) {
    if (const auto* loop = as<For>(s); loop != nullptr && loop->loop == LoopKind::Thread) {
      Tags inner = outer;
      inner.insert(loop->tag);
      OwnTags inner_own = own;
      for (auto& [buffer, tags] : inner_own) tags.insert(loop->tag);
      const Stmt body = substitute(without_threads(loop->body, inner, inner_own),
                                   {{loop->var, axis(loop->tag).var}});
      const ThreadAxis& thread = axis(loop->tag);
      if (is_same_number(thread.extent, loop->extent)) return body;
      return make_if(thread.var < loop->extent, body, loop->location);
    }
    if (const auto* n = as<Allocate>(s); n != nullptr && n->buffer->memory == MemoryScope::Shared) {
      if (std::none_of(shared_.begin(), shared_.end(),
                       [&](const Buffer& b) { return b.same_as(n->buffer); })) {
        shared_.push_back(n->buffer);
      }
      OwnTags inner = own;
      inner[n->buffer.get()] = {};
      return without_threads(n->body, outer, inner);
    }
    // Its body runs in one block of those that differ in the other tags.
    if (const auto* n = as<LastBlock>(s)) {
      Tags inner = outer;
      for (const ThreadAxis& a : kernel_.axes) {
        if (a.tag.block) inner.insert(a.tag);
      }
      return make_last_block(n->counters, n->index, n->count, n->flag,
                             without_threads(n->body, inner, own), n->location);
    }
    if (const Expr writer = writer_of(s, outer, own)) return make_if(writer, s, s->location);
    return map_children(
        s, [](const Expr& e) { return e; },
        [&](const Stmt& child) { return without_threads(child, outer, own); });
  }

  // The condition for the threads that execute an update: a store, or several stores preceded by
  // the values that they store. Other threads do not compute the values either, because they would
  // read elements that the writer writes. Null for other statements, and for stores that different
  // threads make.
  Expr writer_of(const Stmt& s, const Tags& outer, const OwnTags& own) const {
    if (const auto* n = as<Store>(s)) return first_thread(*n->buffer, outer, own);
    if (const auto* n = as<TextureStore>(s)) return first_thread(*n->texture, outer, own);
    if (const auto* n = as<Evaluate>(s)) return writer_of(*n, outer, own);
    if (const auto* n = as<FragmentStep>(s)) return writer_of(*n, outer, own);
    const auto* let = as<Let>(s);
    if (let == nullptr) return {};
    const auto* stores = as<Seq>(let->body);
    if (stores == nullptr) return writer_of(let->body, outer, own);
    if (stores->statements.empty()) return {};
    const Expr first = writer_of(stores->statements.front(), outer, own);
    const bool agree = first && std::all_of(stores->statements.begin(), stores->statements.end(),
                                            [&](const Stmt& each) {
                                              const Expr writer = writer_of(each, outer, own);
                                              return writer && equal(writer, first);
                                            });
    return agree ? first : Expr();
  }

  // A call without visible writes is made in every iteration of the loops, like a global write.
  Expr writer_of(const Evaluate& n, const Tags& outer, const OwnTags& own) const {
    std::vector<Expr> writers;
    walk(n.call, [&](const Pointer& p) {
      if (writes(p.access)) writers.push_back(first_thread(*p.buffer, outer, own));
    });
    if (writers.empty()) writers.push_back(first_thread(outer, false));
    for (const Expr& writer : writers) {
      if (equal(writer, writers.front())) continue;
      fail(n.location, Code::BadForeignCall,
           "call one function for each buffer, or bind the same threads around the stages that "
           "fill them",
           "a foreign call writes two buffers, but different threads have to write them");
    }
    return writers.front();
  }

  // All threads of a SIMD-group make a step of fragments.
  Expr writer_of(const FragmentStep& n, Tags outer, OwnTags own) const {
    constexpr ThreadTag kLanes{false, 0};
    outer.insert(kLanes);
    for (auto& [buffer, tags] : own) tags.insert(kLanes);
    return first_thread(*n.pointer(0).buffer, outer, own);
  }

  // The condition for the first thread along each axis that is not among the store's own loops.
  Expr first_thread(const BufferNode& buffer, const Tags& outer, const OwnTags& own) const {
    if (is_private(buffer.memory)) return make_bool(true);
    if (buffer.memory == MemoryScope::Shared) return first_thread(own.at(&buffer), true);
    return first_thread(outer, false);
  }
  Expr first_thread(const Tags& covered, bool shared) const {
    Expr first = make_bool(true);
    for (const ThreadAxis& a : kernel_.axes) {
      const bool repeated =
          !is_int(a.extent, 1) && !covered.contains(a.tag) && !(shared && a.tag.block);
      if (repeated) first = first && make_binary(BinaryOp::Eq, a.var, make_int(0, a.var->type));
    }
    return first;
  }

  // Adds parameters: buffers that are read, in order of appearance, then buffers that are only
  // written, and scalars last.
  void collect_params() {
    for (const auto& [buffer, access] : buffers_of(kernel_.body)) {
      kernel_.params.push_back({buffer, access, {}});
    }
    std::vector<KernelParam> words;
    for (const KernelParam& p : kernel_.params) {
      if (!p.buffer->is_texture()) continue;
      if (p.access == Access::ReadWrite) {
        fail(p.buffer->location, Code::TextureReadWrite,
             "write to another tensor, or keep this one in a buffer",
             "the kernel '{}' would read and write the texture '{}'", kernel_.name, p.buffer->name);
      }
      if (p.buffer->origin.is_zero()) continue;
      words.push_back({{}, Access::Read, p.buffer->origin.x});
      words.push_back({{}, Access::Read, p.buffer->origin.y});
    }
    kernel_.params.insert(kernel_.params.end(), words.begin(), words.end());
    add_numbers();
  }

  // Adds symbols, then variables of loops from the outermost inwards, because the extent of a loop
  // may use the variables before it.
  void add_numbers() {
    std::set<const Var*> used;
    const auto note = [&](const Var& v) { used.insert(&v); };
    walk(kernel_.body, note);
    for (size_t i = plan_.loops.size(); i-- > 0;) {
      if (used.contains(as<Var>(plan_.loops[i]->var))) walk(plan_.loops[i]->extent, note);
    }
    for (const Expr& symbol : plan_.symbols) {
      if (used.contains(as<Var>(symbol))) kernel_.params.push_back({{}, Access::Read, symbol});
    }
    for (const For* loop : plan_.loops) {
      if (!used.contains(as<Var>(loop->var))) continue;
      kernel_.params.push_back({{}, Access::Read, loop->var, loop->extent});
    }
  }

  const Target& target_;
  const PlanVariables& plan_;
  Kernel kernel_;
  std::vector<Buffer> shared_;
  SourceLocation block_location_;
};

}  // namespace

Kernel build_kernel(std::string name, const Nest& nest, const PlanVariables& plan,
                    const Target& target) {
  return KernelBuilder(std::move(name), plan, target).build(nest);
}

}  // namespace texloom::lower
