// The search for hazards: two commands access the same memory, one of them writes, and nothing
// orders them. The software Metal runs commands sequentially, so each command is compared with
// earlier ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace softmetal {

using PassId = uint64_t;  // identifies an encoder's commands; 0 is none

// A set of passes, such as those complete before a pass begins.
class PassSet {
 public:
  void add(PassId id) { join(id, id + 1); }
  void join(const PassSet& other);
  bool has(PassId id) const;

 private:
  void join(PassId begin, PassId end);
  std::vector<std::pair<PassId, PassId>> ranges_;  // sorted and disjoint
};

// The commands of one encoder while they run.
struct Pass {
  // Only barriers order the commands of a concurrent pass; the commands of a blit pass are ordered
  // only if Metal tracks the resources that they use.
  enum class Kind { Serial, Concurrent, Blit };

  Kind kind = Kind::Serial;
  PassId id = 0;
  const void* queue = nullptr;
  PassSet known;
  uint32_t command = 0;  // the number of the running command
  // Barriers: commands before these numbers have completed their accesses to buffers, to textures,
  // and to each object.
  uint32_t buffers_done = 0, textures_done = 0;
  std::map<const void*, uint32_t> done;
  // While indirect commands are executed: the first command, and the last one with a barrier.
  // Indirect commands are concurrent, also in a serial pass; their barriers order only the commands
  // of one execution.
  uint32_t indirect_begin = UINT32_MAX, indirect_done = 0;
};
PassId new_pass();

// The passes that the host knows to be complete. Work committed later runs after these passes.
PassSet seen_by_host();
void host_has_seen(const PassSet& passes);

using ByteRanges = std::vector<std::pair<size_t, size_t>>;  // sorted: begin and end

// A command's accesses to memory through one resource.
struct Use {
  const void* object = nullptr;
  std::string name;  // of the object
  bool is_texture = false;
  bool is_tracked = false;  // by Metal
  ByteRanges read, written;
};

// The past uses of a storage.
class UseHistory {
 public:
  // Adds a use by the running command, which `what` names. Returns the message about a hazard with
  // an earlier use, or an empty string.
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
  std::vector<Entry> entries_;  // in the order of execution
};

}  // namespace softmetal
