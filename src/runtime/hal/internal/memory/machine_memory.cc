#include "runtime/hal/internal/memory/machine_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "runtime/hal/device_info.h"
#include "runtime/hal/internal/memory/file_text.h"

namespace texloom::hal {
namespace {

namespace fs = std::filesystem;

// The number that a file begins with; kNoLimit64 if there is no file, or for the word "max".
std::uint64_t number_in(const fs::path& path) {
  const std::string text = text_of_file(path.c_str());
  std::uint64_t number = kNoLimit64;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return kNoLimit64;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

std::uint64_t address_space_left() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit64;
  // The first number of statm is the address space in use, in pages (proc(5)).
  const std::uint64_t pages = number_in("/proc/self/statm");
  if (pages == kNoLimit64) return limit.rlim_cur;
  const std::uint64_t used = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

// The smallest limit in `file` of a control group and of its ancestors.
std::uint64_t limit_of_group(const fs::path& root, fs::path group, const char* file) {
  std::uint64_t least = kNoLimit64;
  for (;; group = group.parent_path()) {
    least = std::min(least, number_in(root / group / file));
    if (group.empty()) return least;
  }
}

}  // namespace

// A line is "number:controllers:path", with no controllers for groups of version 2 (cgroups(7)).
std::uint64_t control_group_memory(const fs::path& root, std::string_view membership) {
  std::uint64_t least = kNoLimit64;
  while (!membership.empty()) {
    const std::string_view line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(line.size() + 1, membership.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string controllers =
        "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const fs::path group = fs::path(line.substr(second + 1)).relative_path();
    if (controllers == ",,")
      least = std::min(least, limit_of_group(root, group, "memory.max"));
    else if (controllers.find(",memory,") != std::string::npos)
      least = std::min(least, limit_of_group(root / "memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

std::uint64_t machine_memory_bytes() {
  const std::uint64_t groups =
      control_group_memory("/sys/fs/cgroup", text_of_file("/proc/self/cgroup"));
  const std::uint64_t room = address_space_left();
  return std::min({physical_memory(), groups, room == kNoLimit64 ? room : room / 4 * 3});
}

}  // namespace texloom::hal
