"""The faults that `seeded_faults.py` seeds; each changes one place in the Metal driver."""

from __future__ import annotations

from tree_copy import Fault

DRIVER = "src/runtime/drivers/metal/"  # the folder of their sources

PASSES, QUEUE, WORK = "commands/passes.mm", "commands/command_queue.mm", "commands/work.mm"
SAMPLES, CLOCK = "commands/samples.mm", "commands/device_clock.cc"
RESIDENCY, HEAPS = "platform/residency_set.mm", "platform/heaps.mm"
TABLE, ENCODER = "commands/argument_table.mm", "commands/encoder.mm"
KERNELS, STAGING = "commands/transfer_kernels.mm", "commands/staging.mm"
SEMAPHORE, MEMORY, MAPPING = "commands/semaphore.mm", "memory/memory.mm", "memory/map_queue.mm"
CHECK, PROGRAM = "kernels/kernel_check.mm", "kernels/program.mm"
FUNCTIONS = "kernels/functions.mm"
RUN, RUNS = "commands/indirect_run.mm", "commands/indirect_runs.mm"

FAULTS = (
    Fault(
        "barriers are dropped",
        PASSES,
        "  if (!has_barrier_) return;\n  has_barrier_ = false;\n",
        "  has_barrier_ = false;\n  return;\n",
    ),
    Fault(
        "a barrier orders buffers alone",
        PASSES,
        "if ((scope | BarrierScope::Textures) == scope) made |= MTLBarrierScopeTextures;",
        "",
    ),
    Fault(
        "a barrier of resources is dropped",
        PASSES,
        "    [objc(compute_) memoryBarrierWithResources:resources "
        "count:barrier_resources_.size()];",
        "    static_cast<void>(resources);",
    ),
    Fault(
        "memory with views is ordered as a buffer",
        PASSES,
        "    if (root.has_views())\n      barrier_scope_ = BarrierScope::All;\n    else\n",
        "",
    ),
    Fault(
        "compute encoders do not wait for the fence",
        PASSES,
        "[objc(compute_) waitForFence:objc(fence_)];",
        "{}",
    ),
    Fault(
        "blit encoders do not wait for the fence",
        PASSES,
        "[objc(blit_) waitForFence:objc(fence_)];",
        "{}",
    ),
    Fault(
        "compute encoders do not update the fence",
        PASSES,
        "    [objc(compute_) updateFence:objc(fence_)];\n",
        "",
    ),
    Fault(
        "blit encoders do not update the fence",
        PASSES,
        "    [objc(blit_) updateFence:objc(fence_)];\n",
        "",
    ),
    Fault(
        "a blit encoder goes on after a barrier",
        PASSES,
        "  if (!blit_ || has_barrier_) {\n",
        "  if (!blit_) {\n",
    ),
    Fault(
        "an encoder stays open at the end",
        PASSES,
        "  end_encoder();\n  has_barrier_ = false;  // the fence orders later commands\n",
        "  has_barrier_ = false;\n",
    ),
    Fault(
        "the fence does not know what a stranger encoded last",
        PASSES,
        "  if (is_lent_) TL_RETURN_IF_ERROR(blit().status());\n",
        "  end_loan();\n",
    ),
    Fault(
        "commands that are sampled share an encoder",
        PASSES,
        "  if (sampling_point_ == SamplingPoint::Encoders)\n    end_encoder();\n"
        "  else if (compute_)",
        "  if (sampling_point_ == SamplingPoint::Encoders) {\n  } else if (compute_)",
    ),
    Fault(
        "a second encoder samples the beginning of a command again",
        PASSES,
        "has_begin ? MTLCounterDontSample : samples.begin",
        "(static_cast<void>(has_begin), samples.begin)",
    ),
    Fault(
        "two commands have the same samples",
        SAMPLES,
        "  used_ += 2;\n",
        "",
    ),
    Fault(
        "samples that an earlier batch left are taken",
        SAMPLES,
        " && static_cast<std::int64_t>(time - first) >= 0;",
        " && first != 1;",
    ),
    Fault(
        "a metallib that fails does not leave its place to the source",
        PROGRAM,
        "if (!may_be_of_this_code(status)) break;",
        "break;",
    ),
    Fault(
        "the device's clock is taken for that of the host",
        CLOCK,
        "from_to(before.host, after.host) / ticks",
        "1",
    ),
    Fault(
        "the first moment of the clocks is missing",
        QUEUE,
        "submitted.before = memory_->samples.now();",
        "{}",
    ),
    Fault(
        "the event does not order what a stranger encoded",
        PASSES,
        "  if (is_lent_) fence_off();\n",
        "",
    ),
    Fault(
        "command buffers of a batch are not ordered",
        QUEUE,
        "    passes_.barrier();  // command buffers run one after another\n",
        "",
    ),
    Fault(
        "waits of the device are dropped",
        QUEUE,
        "      [objc(passes_.commands()) encodeWaitForEvent:objc(event) value:point.value];",
        "      static_cast<void>(event);",
    ),
    Fault(
        "signals of the device are dropped",
        QUEUE,
        "    [objc(passes_.commands()) encodeSignalEvent:objc(event) value:point.value];\n",
        "",
    ),
    Fault(
        "a failure is not reported",
        WORK,
        "    if (status.ok()) status = status_of(objc(each.commands));\n",
        "",
    ),
    Fault(
        "staging memory is reused before its batch is complete",
        QUEUE,
        "  submitted.staging = encoding.kept.staging.release();\n",
        "  auto early = encoding.staging.release();\n  memory_->staging.give_back(early);\n",
    ),
    Fault(
        "readbacks are not copied",
        WORK,
        "      std::copy_n(each.from, each.to.size(), each.to.begin());",
        "        static_cast<void>(each);",
    ),
    Fault(
        "the arguments of the previous encoder count",
        TABLE,
        "    slot.memory = nullptr;\n    slot.bytes.clear();\n",
        "    static_cast<void>(slot);\n",
    ),
    Fault(
        "a changed offset is not set",
        TABLE,
        "    [objc(encoder_) setBufferOffset:offset atIndex:index];",
        "    {}",
    ),
    Fault(
        "offsets of buffers are dropped",
        TABLE,
        "[objc(encoder_) setBuffer:objc(memory) offset:offset atIndex:index];",
        "[objc(encoder_) setBuffer:objc(memory) offset:0 atIndex:index];",
    ),
    Fault(
        "a changed texture is not set",
        TABLE,
        "  if (images_[index] == image) return;",
        "  if (images_[index] != nullptr) return;",
    ),
    Fault(
        "changed constants are not set",
        TABLE,
        "  if (std::equal(bytes.begin(), bytes.end(), slot.bytes.begin(), "
        "slot.bytes.end())) return;",
        "  if (!slot.bytes.empty()) return;",
    ),
    Fault(
        "the offsets of a copy are swapped",
        ENCODER,
        "                   sourceOffset:source.offset\n"
        "                       toBuffer:objc(target.memory)\n"
        "              destinationOffset:target.offset\n",
        "                   sourceOffset:target.offset\n"
        "                       toBuffer:objc(target.memory)\n"
        "              destinationOffset:source.offset\n",
    ),
    Fault(
        "unaligned copies are blits",
        ENCODER,
        "  if (source.offset % alignment != 0 || target.offset % alignment != 0 || "
        "bytes % alignment != 0 ||\n      prefers_kernel(bytes))\n",
        "  if (alignment == 0 || prefers_kernel(bytes))\n",
    ),
    Fault(
        "rows of a texture begin at its first one",
        ENCODER,
        "  return MTLOriginMake(offset.x, offset.y + row, 0);",
        "  return MTLOriginMake(offset.x, row, 0);",
    ),
    Fault(
        "threads and groups are swapped",
        ENCODER,
        "  [objc(encoder) dispatchThreadgroups:size_of(segment.groups)\n"
        "                threadsPerThreadgroup:size_of(segment.call.entry().workgroup_size)];",
        "  [objc(encoder) dispatchThreadgroups:size_of(segment.call.entry().workgroup_size)\n"
        "                threadsPerThreadgroup:size_of(segment.groups)];",
    ),
    Fault(
        "the last bytes of a copy are lost",
        KERNELS,
        "    if (item < ends.tail) to[end + item] = from[end + item];" + 29 * " " + "\\\n",
        "",
    ),
    Fault(
        "the first bytes of a fill are lost",
        KERNELS,
        "  if (item < ends.head) to[item] = uchar(fill.pattern >> 8 * uint(item % 4));\n",
        "",
    ),
    Fault(
        "words are read where bytes have to be",
        KERNELS,
        "    return apart % kernel.word == 0 && pitches % kernel.word == 0;",
        "    return apart % kernel.word == 0 || pitches % kernel.word == 0;",
    ),
    Fault(
        "a fill begins its pattern anew in each unit",
        KERNELS,
        "  const uint turn = 8 * uint(ends.head % 4);",
        "  const uint turn = 0;",
    ),
    Fault(
        "two pieces of staging memory overlap",
        STAGING,
        "  used_ = offset + bytes;\n",
        "  used_ = offset;\n",
    ),
    Fault(
        "an event goes backwards",
        SEMAPHORE,
        "  if (objc(event_).signaledValue < value) objc(event_).signaledValue = value;",
        "  objc(event_).signaledValue = value;",
    ),
    Fault(
        "the host's signal does not reach the event",
        SEMAPHORE,
        "  @autoreleasepool {\n    raise(value);\n  }\n",
        "",
    ),
    Fault(
        "what the host wrote is not told",
        MEMORY,
        "      [objc(get()) didModifyRange:NSMakeRange(offset, bytes)];",
        "      {}",
    ),
    Fault(
        "half of what the host wrote is told",
        MEMORY,
        "didModifyRange:NSMakeRange(offset, bytes)]",
        "didModifyRange:NSMakeRange(offset, bytes / 2)]",
    ),
    Fault(
        "managed memory is not synchronized",
        MEMORY,
        "  if (bytes == this->bytes()) return map_queue_->synchronize(get());",
        "  if (bytes == this->bytes()) return {};",
    ),
    Fault(
        "a part of managed memory is read elsewhere",
        MAPPING,
        ".contents) + (offset - begin);",
        ".contents);",
    ),
    Fault(
        "textures are never written by kernels",
        MEMORY,
        "usage |= MTLTextureUsageShaderWrite;",
        "{}",
    ),
    Fault(
        "device memory is shared memory",
        MEMORY,
        "      return MTLResourceStorageModePrivate;",
        "      return MTLResourceStorageModeShared;",
        "it is right, and slow where memory is not unified",
    ),
    Fault(
        "additions to the residency set do not count",
        RESIDENCY,
        "if (has_additions_ || removed_bytes_ > 0) commit();",
        "if (removed_bytes_ > 0) commit();",
    ),
    Fault(
        "the residency set keeps memory that is released",
        RESIDENCY,
        "    if (removed_bytes_ > kMostRemoved) commit();\n",
        "",
    ),
    Fault(
        "heaps are not resident",
        HEAPS,
        "residency_set_.keep(heap.get())",
        "(static_cast<void>(residency_set_), SetMember())",
    ),
    Fault(
        "a queue has no residency set",
        QUEUE,
        "  context->residency_set().add_to(queue.get());\n",
        "",
    ),
    Fault(
        "arithmetic is relaxed",
        FUNCTIONS,
        "  const bool is_fast = allows(math, MathMode::Fast);",
        "  const bool is_fast = allows(math, MathMode::Fast) || true;",
    ),
    Fault(
        "resources of argument buffers are not named",
        TABLE,
        "  [objc(encoder_) useResource:(id<MTLResource>)resource usage:usage];\n",
        "  static_cast<void>(usage);\n",
    ),
    Fault(
        "what argument buffers write is named as read",
        TABLE,
        "if (writes(all)) usage |= MTLResourceUsageWrite;",
        "",
    ),
    Fault(
        "a resource keeps its first use",
        "commands/references.mm",
        "if (known->second == access || known->second == Access::ReadWrite) return false;",
        "return false;",
    ),
    Fault(
        "addresses lose their offsets",
        "commands/references.mm",
        "objc(memory).gpuAddress + bound.offset",
        "objc(memory).gpuAddress",
    ),
    Fault(
        "constants follow the argument buffer's resources",
        "kernels/kernel_slots.h",
        "return in_argument_buffer ? 1 : buffers;",
        "return buffers;",
    ),
    Fault(
        "recorded dispatches lose the barriers between them",
        RUN,
        "if (is_after_barrier) [command setBarrier];",
        "static_cast<void>(is_after_barrier);",
    ),
    Fault(
        "recorded barriers do not order what comes after the recorded dispatches",
        RUN,
        "  arguments.forget();\n  if (has_barriers_) passes.barrier();\n",
        "  arguments.forget();\n",
    ),
    Fault(
        "the memory for recorded arguments is not named",
        RUN,
        "used_ = {{arguments_.get(), Access::Read}};",
        "used_.clear();",
    ),
    Fault(
        "recorded arguments are those of the first table",
        RUN,
        "(!has_slots_ || table_number_ == range.table_number())",
        "(!has_slots_ || table_number_ <= range.table_number())",
    ),
    Fault(
        "recorded arguments change while a batch uses them",
        RUNS,
        "return each.use_count() == 1;",
        "return each.use_count() >= 1;",
    ),
    Fault(
        "what is read and written is named for reading",
        "commands/references.mm",
        "known->second = Access::ReadWrite;",
        "known->second = Access::Read;",
    ),
    Fault(
        "the arguments from before recorded dispatches count as set",
        RUN,
        "  arguments.forget();\n",
        "",
    ),
    Fault(
        "pipelines of recorded dispatches are not used before",
        RUN,
        "if (needs_pipelines &&",
        "if (false && needs_pipelines &&",
    ),
    Fault(
        "a pipeline for recorded dispatches may have too few threads",
        PROGRAM,
        "!check_pipeline(context, options, objc(pipeline), entry).ok()",
        "(false && !check_pipeline(context, options, objc(pipeline), entry).ok())",
    ),
    Fault(
        "recorded constants begin where their addresses do",
        RUN,
        "places.push_back({addresses, take(bytes, slots.constant_bytes)});",
        "places.push_back({addresses, addresses});",
    ),
    Fault(
        "an archive that lacks a kernel stays",
        PROGRAM,
        "reflection | MTLPipelineOptionFailOnBinaryArchiveMiss",
        "reflection",
    ),
    Fault(
        "constants of another size are accepted",
        CHECK,
        "  if (*bytes == slots.constant_bytes) return {};",
        "  return {};",
    ),
    Fault(
        "what a kernel only reads may be written",
        CHECK,
        "  const bool can_write = has != MTLBindingAccessReadOnly;",
        "  const bool can_write = has != MTLBindingAccessWriteOnly;",
    ),
)
