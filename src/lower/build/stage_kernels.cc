#include "lower/build/stage_kernels.h"

#include <algorithm>
#include <optional>

#include "ir/accesses.h"
#include "ir/visit.h"
#include "schedule/attach.h"
#include "schedule/operation/kernel_nests.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

class KernelMaker {
 public:
  KernelMaker(const Schedule& schedule, const StageBuffers& buffers, StageId root,
              const std::vector<Buffer>& parts)
      : s_(schedule), buffers_(buffers), root_(root), parts_(parts) {}

  Stmt kernel(const Stmt& given) const {
    const Stmt loops = !has_thread_loop(given) && has_no_axes() ? with_one_thread(given) : given;
    // Loops without threads are not a kernel yet and may use any memory.
    const bool bound = has_thread_loop(loops);
    if (bound) check_memory(loops);
    Stmt body = loops;
    for (const Buffer& part : parts_) {
      if (accesses(loops, part)) body = make_allocate(part, body, part->location);
    }
    const StageId writer = bound ? writer_of(loops) : root_;
    return make_nest(buffers_.of_stage[static_cast<size_t>(writer)].front(), body,
                     s_.stage(writer).op->location);
  }

 private:
  // Whether the root stage computes single elements, so that it has no axis that could be bound.
  bool has_no_axes() const {
    const std::vector<Buffer>& results = buffers_.of_stage[static_cast<size_t>(root_)];
    return std::all_of(results.begin(), results.end(),
                       [](const Buffer& result) { return result->rank() == 0; });
  }

  Stmt with_one_thread(const Stmt& loops) const {
    const SourceLocation& location = s_.stage(root_).op->location;
    return make_thread_for(make_var("one", kInt32), make_int(1), {.block = true, .dim = 0}, loops,
                           location);
  }

  // The only stage in the loops that writes memory visible to other stages.
  StageId writer_of(const Stmt& loops) const {
    std::optional<StageId> writer;
    const auto note = [&](const Buffer& b) {
      if (writer || b->memory != MemoryScope::Global) return;
      writer = buffers_.stage_of(b);
      if (writer && is_divided_among_blocks(s_, *writer)) writer.reset();
    };
    for_each_access(loops, [&](const BufferAccess& n) {
      if (n.writes()) note(n.buffer);
    });
    return writer.value_or(root_);
  }

  void check_memory(const Stmt& loops) const {
    walk(loops, [&](const Allocate& n) {
      if (n.buffer->memory == MemoryScope::Global) refuse(n.buffer);
    });
    // The caller's arrays are not allocated here.
    std::vector<Buffer> written;
    for_each_access(loops, [&](const BufferAccess& n) {
      if (n.writes() && n.buffer->memory == MemoryScope::Global) written.push_back(n.buffer);
    });
    for (const Buffer& buffer : written) {
      const std::optional<StageId> writer = buffers_.stage_of(buffer);
      if (!writer || writer == buffers_.stage_of(written.back())) continue;
      if (is_divided_among_blocks(s_, *writer)) continue;
      const Stage& stage = s_.stage(*writer);
      if (stage.attachment.kind == AttachKind::At && stage.scan < 0) refuse(buffer);
    }
  }

  // Refuses a buffer that one kernel would have to both fill and read.
  [[noreturn]] void refuse(const Buffer& buffer) const {
    const Stage& stage = s_.stage(buffers_.stage_of(buffer).value());
    const std::string& host = s_.stage(stage.attachment.stage).name();
    // The attachment of a stage in the steps of a scan has a line only if the user attached the
    // stage.
    const SourceLocation& where =
        stage.attachment.location.known() ? stage.attachment.location : stage.op->location;
    if (buffer->is_texture()) {
      fail(where, Code::TextureInsideReader,
           "leave the texture stage at the root, or attach it outside of all loops over threads "
           "and bind its own axes, so that it becomes a kernel; or cache into \"local\" or "
           "\"shared\"",
           "the texture '{}' is computed inside '{}': a kernel cannot read a texture it writes",
           stage.name(), host);
    }
    fail(where, Code::ScopeTooWide,
         "set its scope to \"local\" or \"shared\", leave it at the root, or attach it outside of "
         "all loops over threads and bind its own axes, so that it becomes a kernel",
         "'{}' is in global memory, which the whole grid shares, but is computed inside a kernel "
         "of '{}'",
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
  return any_of(loops, [](const Allocate& n) { return n.buffer->memory == MemoryScope::Global; });
}

bool is_kernel_loop(const Stmt& plan, const Expr& var) {
  return any_of(plan, [&](const Nest& kernel) {
    return any_of(kernel.body, [&](const For& loop) { return loop.var.same_as(var); });
  });
}

}  // namespace texloom::lower
