// A queue's memory between the host and the device, for updates and readbacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/platform/context.h"
#include "support/status.h"

namespace texloom::hal::metal {

struct StagingBlock {
  Handle<MetalMemory> memory;
  SetMember member;  // destroyed before the memory
  std::byte* contents = nullptr;
  std::uint64_t bytes = 0;
};

// Blocks that batches use and give back when they are complete. If no block is free, another one is
// allocated, so that nothing waits for the device. Thread safe.
class Staging {
 public:
  explicit Staging(const Context& context) : context_(context) {}

  // At least `bytes` bytes. OutOfMemory if there is no memory.
  Result<StagingBlock> take(std::uint64_t bytes);
  // Keeps some blocks of the usual size, and frees the others. Empties the list.
  void give_back(std::vector<StagingBlock>& blocks);

 private:
  const Context& context_;
  std::mutex mutex_;
  std::vector<StagingBlock> free_;  // guarded by mutex_; of the usual size
};

// A range of a staging block.
struct StagingPlace {
  MetalMemory* memory = nullptr;
  std::uint64_t offset = 0;
  std::byte* contents = nullptr;  // of the range
};

// Divides blocks for the commands of one batch. Each range is used by one command.
class StagingRanges {
 public:
  explicit StagingRanges(Staging& staging) : staging_(staging) {}
  ~StagingRanges() { staging_.give_back(blocks_); }
  StagingRanges(const StagingRanges&) = delete;
  StagingRanges& operator=(const StagingRanges&) = delete;

  // A range whose offset is congruent to `aligned_like` modulo kTransferUnit.
  Result<StagingPlace> take(std::uint64_t bytes, std::uint64_t aligned_like = 0);
  // The blocks, which must be given back when the batch is complete.
  std::vector<StagingBlock> release() { return std::move(blocks_); }

 private:
  Staging& staging_;
  std::vector<StagingBlock> blocks_;  // the last one is being divided
  std::uint64_t used_ = 0;            // of the last block
};

}  // namespace texloom::hal::metal
