#include "runtime/drivers/host/processor.h"

#include <sys/utsname.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "runtime/hal/internal/memory/file_text.h"
#include "runtime/hal/internal/memory/machine_memory.h"
#include "support/threads/worker_threads.h"

namespace texloom::hal::host {

namespace {

// The value of a line "key   : value"; empty if the line has another key.
std::string_view value_of(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return {};
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  if (line.substr(0, colon).find_last_not_of(" \t") + 1 != key.size()) return {};
  const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

// Only x86 has these lines; on ARM, Linux reports only numeric vendor and part IDs.
void read_cpuinfo(Processor& processor) {
  const std::string text = text_of_file("/proc/cpuinfo");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.empty()) return;  // the end of the first processor
    if (processor.name.empty()) processor.name = value_of(line, "model name");
    if (processor.vendor.empty()) processor.vendor = value_of(line, "vendor_id");
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
}

}  // namespace

Processor find_processor() {
  Processor processor;
  read_cpuinfo(processor);
  utsname system = {};
  if (processor.name.empty() && uname(&system) == 0) processor.name = system.machine;
  processor.threads = machine_threads();
  processor.memory_bytes = machine_memory_bytes();
  return processor;
}

}  // namespace texloom::hal::host
