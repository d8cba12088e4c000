// Properties of the processor and its memory, as the operating system reports them.
#pragma once

#include <cstdint>
#include <string>

namespace texloom::hal::host {

struct Processor {
  std::string name;                // "AMD EPYC 9R14"; the architecture if no name is known
  std::string vendor;              // empty if it is not known
  unsigned threads = 1;            // hardware concurrency
  std::uint64_t memory_bytes = 0;  // machine_memory_bytes()
};

Processor find_processor();

}  // namespace texloom::hal::host
