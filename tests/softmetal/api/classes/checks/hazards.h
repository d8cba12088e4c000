// The search for hazards: commands that use the same memory in a way in which their order matters,
// although nothing orders them. Commands are run one after the other, so that each is held against
// what ran before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace softmetal {

using PassId = uint64_t;  // of an encoder's commands; 0 is none

// Passes that are complete before something begins.
class PassSet {
 public:
  void add(PassId id) { join(id, id + 1); }
  void join(const PassSet& other);
  bool has(PassId id) const;

 private:
  void join(PassId begin, PassId end);
  std::vector<std::pair<PassId, PassId>> ranges_;  // sorted, apart from each other
};

// The commands of one encoder while they run.
struct Pass {
  // The commands of a concurrent pass are ordered by its barriers alone, those of a blit pass
  // only if Metal tracks what they use.
  enum class Kind { Serial, Concurrent, Blit };

  Kind kind = Kind::Serial;
  PassId id = 0;
  const void* queue = nullptr;
  PassSet known;
  uint32_t command = 0;  // the running one
  // By barriers: what commands before these numbers did to buffers and textures, and to objects, is
  // complete.
  uint32_t buffers_done = 0, textures_done = 0;
  std::map<const void*, uint32_t> done;
  // While indirect commands are executed: the first one, and the last one that has a barrier. The
  // barriers are known to order only those of one execution. They are concurrent, also in a serial
  // pass.
  uint32_t indirect_begin = UINT32_MAX, indirect_done = 0;
};
PassId new_pass();

// What the host has seen complete. Whatever is committed later runs after it.
PassSet seen_by_host();
void host_has_seen(const PassSet& passes);

using ByteRanges = std::vector<std::pair<size_t, size_t>>;  // sorted: begin and end

// What a command does to memory, through one resource.
struct Use {
  const void* object = nullptr;
  std::string name;  // of the object
  bool is_texture = false;
  bool is_tracked = false;  // by Metal
  ByteRanges read, written;
};

// What was done to a piece of memory.
class UseHistory {
 public:
  // Adds a use by the running command, `what`. Returns the hazard with an earlier one in words, or
  // nothing.
  std::string add(const Pass& pass, const std::string& what, Use use);

 private:
  struct Entry {
    PassId pass;
    const void* queue;
    uint32_t command;
    std::string what;
    Use use;
  };
  static bool is_ordered(const Entry& entry, const Pass& pass, const Use& use);

  std::mutex mutex_;
  std::vector<Entry> entries_;  // in the order of their runs
};

}  // namespace softmetal
