#include "runtime/drivers/metal/commands/staging.h"

#include <algorithm>

#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/memory/memory.h"

namespace texloom::hal::metal {
namespace {

constexpr std::size_t kMostFreeBlocks = 16;

}  // namespace

Result<StagingBlock> Staging::take(std::uint64_t bytes) {
  const std::uint64_t usual = context_.staging_bytes();
  if (bytes <= usual) {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      StagingBlock block = std::move(free_.back());
      free_.pop_back();
      return block;
    }
  }
  StagingBlock block;
  block.bytes = std::max(bytes, usual);
  Result<Handle<MetalMemory>> made = create_memory(context_, block.bytes, MemoryKind::Shared);
  if (!made.ok()) return made.status().with_context("staging memory of a queue");
  block.memory = *std::move(made);
  block.member = context_.residency_set().keep(block.memory.get());
  block.contents = static_cast<std::byte*>(objc(block.memory).contents);
  return block;
}

void Staging::give_back(std::vector<StagingBlock>& blocks) {
  const std::lock_guard lock(mutex_);
  for (StagingBlock& block : blocks) {
    if (block.bytes == context_.staging_bytes() && free_.size() < kMostFreeBlocks)
      free_.push_back(std::move(block));
  }
  blocks.clear();
}

Result<StagingPlace> StagingRanges::take(std::uint64_t bytes, std::uint64_t aligned_like) {
  const std::uint64_t phase = aligned_like % kTransferUnit;
  std::uint64_t offset = (used_ + kTransferUnit - 1) / kTransferUnit * kTransferUnit + phase;
  if (blocks_.empty() || offset > blocks_.back().bytes || bytes > blocks_.back().bytes - offset) {
    TL_ASSIGN_OR_RETURN(StagingBlock block, staging_.take(bytes + phase));
    blocks_.push_back(std::move(block));
    offset = phase;
  }
  used_ = offset + bytes;
  const StagingBlock& block = blocks_.back();
  return StagingPlace{block.memory.get(), offset, block.contents + offset};
}

}  // namespace texloom::hal::metal
