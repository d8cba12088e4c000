#include "validation/counted_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/visit.h"
#include "lower/analysis/memory_traffic.h"

namespace texloom::validation {

namespace {

// How often the plan launches each kernel, not counting launches in loops of the plan.
std::vector<int> launches_of(const ir::Program& program) {
  std::vector<int> launches(program.kernels.size());
  walk(program.body, [&](const ir::Launch& n) { ++launches[static_cast<size_t>(n.kernel)]; });
  walk(program.body, [&](const ir::For& loop) {
    walk(loop.body, [&](const ir::Launch& n) { launches[static_cast<size_t>(n.kernel)] = 0; });
  });
  return launches;
}

bool agrees(const lower::Count& said, int64_t counted) {
  return said.exact ? said.value == counted : said.value >= counted;
}

}  // namespace

std::string wrong_traffic(const ir::Program& program, const ir::AccessCounts& counted) {
  const std::vector<int> launches = launches_of(program);
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    const ir::Kernel& kernel = program.kernels[i];
    if (launches[i] != 1) continue;
    const auto of_kernel = counted.find(kernel.name);
    for (const lower::Traffic& traffic : lower::traffic_of(kernel)) {
      ir::AccessCount count;
      if (of_kernel != counted.end()) {
        const auto found = of_kernel->second.find(traffic.buffer.get());
        if (found != of_kernel->second.end()) count = found->second;
      }
      const auto difference = [&](const lower::Movement& said, int64_t times, const char* what) {
        if (agrees(said.accesses, times)) return std::string();
        return fmt::format("{}: '{}' is {} {} times, not {}{}", kernel.name, traffic.buffer->name,
                           what, times, said.accesses.exact ? "" : "at most ", said.accesses.value);
      };
      for (const std::string& text : {difference(traffic.read, count.reads, "read"),
                                      difference(traffic.written, count.writes, "written")}) {
        if (!text.empty()) return text;
      }
    }
  }
  return {};
}

}  // namespace texloom::validation
