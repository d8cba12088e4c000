#include "lower/stage_kernels.h"

#include <algorithm>
#include <optional>

#include "ir/visit.h"
#include "schedule/kernel_nests.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;        // the whole file speaks of IR nodes
using namespace schedule;  // and of a schedule's stages

namespace {

class KernelMaker {
 public:
  KernelMaker(const Schedule& schedule, const StageBuffers& buffers, StageId root,
              const std::vector<Buffer>& parts)
      : s_(schedule), buffers_(buffers), root_(root), parts_(parts) {}

  Stmt kernel(const Stmt& loops) const {
    // Loops without threads are no kernel yet, and may keep what they compute where they like.
    const bool bound = has_thread_loop(loops);
    if (bound) check_memory(loops);
    Stmt body = loops;
    for (const Buffer& part : parts_) {
      if (uses(loops, part)) body = make_allocate(part, body, part->location);
    }
    const StageId writer = bound ? writer_of(loops) : root_;
    return make_nest(buffers_.of_stage[static_cast<size_t>(writer)].front(), body,
                     s_.stage(writer).op->location);
  }

 private:
  // One stage alone writes what others see.
  StageId writer_of(const Stmt& loops) const {
    std::optional<StageId> writer;
    const auto note = [&](const Buffer& b) {
      if (!writer && b->memory == MemoryScope::Global) writer = buffers_.stage_of(b);
    };
    walk(
        loops, [&](const Store& n) { note(n.buffer); },
        [&](const Pointer& n) {
          if (writes(n.access)) note(n.buffer);
        });
    return writer.value_or(root_);
  }

  static bool uses(const Stmt& loops, const Buffer& buffer) {
    bool found = false;
    walk(
        loops, [&](const Load& n) { found = found || n.buffer.same_as(buffer); },
        [&](const Store& n) { found = found || n.buffer.same_as(buffer); },
        [&](const Pointer& n) { found = found || n.buffer.same_as(buffer); });
    return found;
  }

  void check_memory(const Stmt& loops) const {
    walk(loops, [&](const Allocate& n) {
      if (n.buffer->memory == MemoryScope::Global) refuse(n.buffer);
    });
    // What lies in the caller's array is allocated nowhere.
    std::vector<Buffer> written;
    const auto note = [&](const Buffer& b) {
      if (b->memory == MemoryScope::Global) written.push_back(b);
    };
    walk(
        loops, [&](const Store& n) { note(n.buffer); },
        [&](const TextureStore& n) { note(n.texture); },
        [&](const Pointer& n) {
          if (writes(n.access)) note(n.buffer);
        });
    for (const Buffer& buffer : written) {
      const std::optional<StageId> writer = buffers_.stage_of(buffer);
      if (!writer || writer == buffers_.stage_of(written.back())) continue;
      const Stage& stage = s_.stage(*writer);
      if (stage.attachment.kind == AttachKind::At && stage.scan < 0) refuse(buffer);
    }
  }

  // A buffer that its own kernel would have to fill.
  [[noreturn]] void refuse(const Buffer& buffer) const {
    const Stage& stage = s_.stage(buffers_.stage_of(buffer).value());
    const std::string& host = s_.stage(stage.attachment.stage).name();
    // One that the steps of a scan compute has no line of its own, unless it was attached.
    const SourceLocation& where =
        stage.attachment.location.known() ? stage.attachment.location : stage.op->location;
    if (buffer->is_texture()) {
      fail(where, Code::TextureInsideReader,
           "leave the texture stage at the root, or attach it outside of all loops over threads "
           "and bind its own axes, where it becomes a kernel; or cache into \"local\" or "
           "\"shared\"",
           "the texture '{}' is computed inside '{}': a kernel cannot read a texture it writes",
           stage.name(), host);
    }
    fail(where, Code::ScopeTooWide,
         "set its scope to \"local\" or \"shared\", leave it at the root, or attach it outside of "
         "all loops over threads and bind its own axes, where it becomes a kernel",
         "'{}' lies in global memory, which the whole grid shares, but is computed inside a "
         "kernel of '{}'",
         stage.name(), host);
  }

  const Schedule& s_;
  const StageBuffers& buffers_;
  StageId root_;
  const std::vector<Buffer>& parts_;
};

}  // namespace

Stmt stage_kernels(const Schedule& schedule, const StageBuffers& buffers, StageId root,
                   const Stmt& loops, const std::vector<Buffer>& parts) {
  const KernelMaker maker(schedule, buffers, root, parts);
  const auto kernel = [&](const Stmt& s) { return maker.kernel(s); };
  return has_threads_throughout(loops) ? divided_into_kernels(loops, kernel) : kernel(loops);
}

Stmt one_kernel(const Schedule& schedule, const StageBuffers& buffers, StageId root,
                const Stmt& loops, const std::vector<Buffer>& parts) {
  return KernelMaker(schedule, buffers, root, parts).kernel(loops);
}

bool allocates_global_memory(const Stmt& loops) {
  bool found = false;
  walk(loops, [&](const Allocate& n) { found = found || n.buffer->memory == MemoryScope::Global; });
  return found;
}

bool is_kernel_loop(const Stmt& plan, const Expr& var) {
  bool found = false;
  walk(plan, [&](const Nest& kernel) {
    walk(kernel.body, [&](const For& loop) { found = found || loop.var.same_as(var); });
  });
  return found;
}

}  // namespace texloom::lower
