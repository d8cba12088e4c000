// The amount of the machine's memory that this process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace texloom::hal {

// The machine's memory in bytes, or less if the process may not use all of this memory: the limits
// of its control groups (containers), and three quarters of the address space that is left below
// its limit (ulimit -v), because code, compilers and the caller's data need address space, too.
// Memory of other processes is not subtracted, because it changes and can be moved to swap.
// kNoLimit64 if the system reports nothing.
std::uint64_t machine_memory_bytes();

// The smallest memory limit of the control groups that `membership`, the text of /proc/self/cgroup,
// names, and of their ancestors. `root` is the folder in which they are mounted, usually
// /sys/fs/cgroup. kNoLimit64 if none of them has a limit.
std::uint64_t control_group_memory(const std::filesystem::path& root, std::string_view membership);

}  // namespace texloom::hal
