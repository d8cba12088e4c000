#include "schedule/attach.h"

#include <algorithm>
#include <utility>

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

void refuse_inlined_host(const Schedule& schedule, const Stage& stage) {
  const Stage& host = schedule.stage(stage.attachment.stage);
  if (host.attachment.kind != AttachKind::Inline) return;
  fail(stage.attachment.location, Code::AttachNotFound, "attach it to a stage that is not inlined",
       "'{}' is computed at a loop of '{}', which is inlined and has no loops", stage.name(),
       host.name());
}

// The loops of the host that enclose the stage.
void append_loops(const Schedule& schedule, const Stage& stage, LoopPath& path) {
  const Attachment& at = stage.attachment;
  const Stage& host = schedule.stage(at.stage);
  const IterVar target = leaf_of(host, at.axis);
  for (const IterVar& leaf : host.leaves) {
    path.push_back({at.stage, leaf});
    if (leaf.same_as(target)) return;
  }
  fail(at.location, Code::AttachNotFound,
       fmt::format("attach it to one of the final loops of '{}': {}", host.name(),
                   host.leaf_names()),
       "'{}' is computed at the loop '{}' of '{}', which {}", stage.name(), at.axis->name(),
       host.name(), schedule.fate_of(host, target));
}

}  // namespace

IterVar leaf_of(const Stage& stage, IterVar axis) {
  for (const Relation& r : stage.relations) {
    const auto* split = std::get_if<SplitRelation>(&r);
    if (split != nullptr && split->parent.same_as(axis)) axis = split->inner;
    const auto* fuse = std::get_if<FuseRelation>(&r);
    if (fuse != nullptr && fuse->inner.same_as(axis)) axis = fuse->fused;
  }
  return axis;
}

// Without recursion: chains of attached stages may be long.
LoopPath enclosing_loops(const Schedule& schedule, StageId id) {
  std::vector<StageId> chain;  // the chain of attached stages, innermost first
  for (StageId at = id; schedule.stage(at).attachment.kind == AttachKind::At;) {
    const Stage& stage = schedule.stage(at);
    if (chain.size() > schedule.order().size()) {
      fail(stage.attachment.location, Code::AttachCycle, "attach each stage to one that reads it",
           "'{}' is computed inside itself, via '{}'", stage.name(),
           schedule.stage(stage.attachment.stage).name());
    }
    refuse_inlined_host(schedule, stage);
    chain.push_back(at);
    at = stage.attachment.stage;
  }
  LoopPath path;
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    append_loops(schedule, schedule.stage(*at), path);
  }
  return path;
}

void check_encloses(const Schedule& schedule, StageId attached, StageId reader) {
  const LoopPath around = enclosing_loops(schedule, attached);
  const LoopPath path = all_loops(schedule, reader);
  if (around.size() <= path.size() && std::equal(around.begin(), around.end(), path.begin())) {
    return;
  }
  const Stage& stage = schedule.stage(attached);
  fail(stage.attachment.location, Code::AttachNotFound,
       "attach it to a loop that encloses all stages that read it",
       "'{}' is computed at the loop '{}' of '{}', but its reader '{}' runs outside that loop",
       stage.name(), stage.attachment.axis->name(), schedule.stage(stage.attachment.stage).name(),
       schedule.stage(reader).name());
}

LoopPath all_loops(const Schedule& schedule, StageId id) {
  LoopPath path = enclosing_loops(schedule, id);
  for (const IterVar& leaf : schedule.stage(id).leaves) path.push_back({id, leaf});
  return path;
}

bool is_one_thread_axis(const IterVar& a, const IterVar& b) {
  return a.same_as(b) ||
         (a->kind == IterKind::Thread && b->kind == IterKind::Thread && a->tag == b->tag);
}

bool share_buffer(MemoryScope memory, const IterVar& thread) {
  if (is_private(memory)) return false;
  return memory == MemoryScope::Global || !thread->tag.block;
}

IterVar thread_of(const Schedule& schedule, const LoopRef& loop) {
  const AxisAttributes* attributes = schedule.stage(loop.stage).attributes_of(loop.leaf);
  if (attributes == nullptr || !attributes->thread) return {};
  const bool dealt_out = loop.leaf->kind == IterKind::Reduction ||
                         share_buffer(scope_of(schedule, loop.stage).memory, attributes->thread);
  return dealt_out ? attributes->thread : IterVar();
}

std::vector<IterVar> reduction_threads(const Schedule& schedule, StageId id) {
  std::vector<IterVar> threads;
  for (const IterVar& leaf : schedule.stage(id).leaves) {
    if (leaf->kind != IterKind::Reduction) continue;
    if (IterVar thread = thread_of(schedule, {id, leaf})) threads.push_back(std::move(thread));
  }
  return threads;
}

bool threads_share_reduction(const Schedule& schedule, StageId id) {
  return !reduction_threads(schedule, id).empty();
}

std::vector<IterVar> leaves_over_blocks(const Schedule& schedule, StageId id) {
  std::vector<IterVar> leaves;
  for (const IterVar& leaf : schedule.stage(id).leaves) {
    const IterVar thread = thread_of(schedule, {id, leaf});
    if (thread && thread->kind == IterKind::Thread && thread->tag.block) leaves.push_back(leaf);
  }
  return leaves;
}

bool is_divided_among_blocks(const Schedule& schedule, StageId id) {
  const Stage& stage = schedule.stage(id);
  const bool is_global = stage.scope && stage.scope->memory == MemoryScope::Global;
  if (stage.attachment.kind != AttachKind::At || !is_global || stage.scope->texture) return false;
  std::vector<IterVar> around;
  for (const LoopRef& loop : enclosing_loops(schedule, id)) {
    const AxisAttributes* attributes = schedule.stage(loop.stage).attributes_of(loop.leaf);
    if (attributes != nullptr && attributes->thread) around.push_back(attributes->thread);
  }
  const bool in_blocks = std::ranges::any_of(around, [](const IterVar& thread) {
    return thread->kind == IterKind::Thread && thread->tag.block;
  });
  return in_blocks &&
         std::ranges::any_of(leaves_over_blocks(schedule, id), [&](const IterVar& leaf) {
           const IterVar own = stage.attributes_of(leaf)->thread;
           return std::ranges::none_of(
               around, [&](const IterVar& thread) { return is_one_thread_axis(own, thread); });
         });
}

bool binds_threads(const Schedule& schedule) {
  return std::ranges::any_of(schedule.order(), [&](StageId id) {
    return std::ranges::any_of(schedule.stage(id).attributes, [](const auto& each) {
      return static_cast<bool>(each.second.thread);
    });
  });
}

// Works from the outermost loop inwards, so that each host's own scope is known before its loops.
StorageScope scope_of(const Schedule& schedule, StageId id) {
  const Stage& own = schedule.stage(id);
  if (own.scope) return *own.scope;
  MemoryScope inferred = MemoryScope::Global;
  StageId host = -1;
  MemoryScope of_host = MemoryScope::Global;
  for (const LoopRef& loop : enclosing_loops(schedule, id)) {
    const Stage& stage = schedule.stage(loop.stage);
    if (std::exchange(host, loop.stage) != loop.stage) {
      of_host = stage.scope ? stage.scope->memory : inferred;
    }
    const AxisAttributes* attributes = stage.attributes_of(loop.leaf);
    const bool is_parallel = attributes != nullptr && attributes->loop == ir::LoopKind::Parallel;
    if (is_parallel && inferred == MemoryScope::Global && !binds_threads(schedule)) {
      inferred = MemoryScope::Shared;
    }
    if (attributes == nullptr || !attributes->thread) continue;
    const IterVar& thread = attributes->thread;
    if (loop.leaf->kind != IterKind::Reduction && !share_buffer(of_host, thread)) continue;
    if (!is_private(inferred)) {
      inferred = thread->tag.block ? MemoryScope::Shared : MemoryScope::Local;
    }
    if (thread->tag.block) continue;
    // Threads that share a reduction do not have elements of their own.
    for (const IterVar& sharing : reduction_threads(schedule, id)) {
      if (is_one_thread_axis(sharing, thread)) return {MemoryScope::Shared, {}};
    }
  }
  return {inferred, {}};
}

}  // namespace texloom::schedule
