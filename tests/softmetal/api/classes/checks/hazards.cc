#include "tests/softmetal/api/classes/checks/hazards.h"

#include <algorithm>
#include <atomic>

namespace softmetal {
namespace {

// The limit of recorded uses of a storage; older uses are forgotten.
constexpr size_t kMostEntries = 256;

std::mutex seen_mutex;
// Never destroyed, since threads of queues may outlive main().
PassSet& seen() {
  static auto* const passes = new PassSet;
  return *passes;
}

// Returns whether the ranges overlap; `where` is the first common byte.
bool overlap(const ByteRanges& a, const ByteRanges& b, size_t& where) {
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    where = std::max(x->first, y->first);
    if (where < std::min(x->second, y->second)) return true;
    x->second < y->second ? ++x : ++y;
  }
  return false;
}

bool covers(const ByteRanges& all, const ByteRanges& part) {
  return std::all_of(part.begin(), part.end(), [&](const auto& range) {
    const auto after =
        std::upper_bound(all.begin(), all.end(), range,
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    return after != all.begin() && std::prev(after)->second >= range.second;
  });
}

}  // namespace

void PassSet::join(PassId begin, PassId end) {
  auto first = std::lower_bound(ranges_.begin(), ranges_.end(), begin,
                                [](const auto& range, PassId id) { return range.second < id; });
  auto last = first;
  for (; last != ranges_.end() && last->first <= end; ++last) {
    begin = std::min(begin, last->first);
    end = std::max(end, last->second);
  }
  ranges_.insert(ranges_.erase(first, last), {begin, end});
}

void PassSet::join(const PassSet& other) {
  for (const auto& [begin, end] : other.ranges_) join(begin, end);
}

bool PassSet::has(PassId id) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), id,
                                      [](PassId i, const auto& range) { return i < range.first; });
  return after != ranges_.begin() && id < std::prev(after)->second;
}

PassId new_pass() {
  static std::atomic<PassId> last = 0;
  return ++last;
}

PassSet seen_by_host() {
  const std::lock_guard lock(seen_mutex);
  return seen();
}

void host_has_seen(const PassSet& passes) {
  const std::lock_guard lock(seen_mutex);
  seen().join(passes);
}

bool UseHistory::is_ordered(const Entry& entry, const Pass& pass, const Use& use) {
  const bool tracked = entry.use.is_tracked && use.is_tracked;
  if (entry.pass != pass.id)
    return (tracked && entry.queue == pass.queue) || pass.known.has(entry.pass);
  if (pass.kind == Pass::Kind::Blit) return tracked;
  // Accesses of one command through two of its arguments need no order.
  if (entry.command == pass.command) return true;
  if (entry.command >= pass.indirect_begin && entry.command < pass.indirect_done) return true;
  if (pass.kind == Pass::Kind::Serial) return entry.command < pass.indirect_begin;
  // A barrier for a scope, or for a resource, orders only accesses to that scope or resource.
  const auto by_scope = [&](bool texture) {
    return entry.command < (texture ? pass.textures_done : pass.buffers_done);
  };
  if (by_scope(entry.use.is_texture) && by_scope(use.is_texture)) return true;
  const auto done = pass.done.find(use.object);
  return entry.use.object == use.object && done != pass.done.end() && entry.command < done->second;
}

std::string UseHistory::add(const Pass& pass, const std::string& what, Use use) {
  const std::lock_guard lock(mutex_);
  std::string hazard;
  std::erase_if(entries_, [&](const Entry& entry) {
    if (is_ordered(entry, pass, use))  // the new use may replace the old one
      return covers(use.written, entry.use.read) && covers(use.written, entry.use.written);
    size_t at = 0;
    const char* before = "writes";
    bool found =
        overlap(entry.use.written, use.read, at) || overlap(entry.use.written, use.written, at);
    if (!found && (found = overlap(entry.use.read, use.written, at))) before = "reads";
    if (found && hazard.empty()) {
      hazard = what + " uses byte " + std::to_string(at) + " of " + use.name + ", which " +
               entry.what + " " + before + (entry.use.object == use.object ? "" : " as ") +
               (entry.use.object == use.object ? "" : entry.use.name) +
               (entry.pass == pass.id ? " in the same encoder" : " in an encoder before") +
               ", and no barrier, fence or event orders the two";
    }
    return false;
  });
  if (entries_.size() >= kMostEntries) entries_.erase(entries_.begin());
  entries_.push_back({pass.id, pass.queue, pass.command, what, std::move(use)});
  return hazard;
}

}  // namespace softmetal
