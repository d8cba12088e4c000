// The processor that this process runs on, and the features that compiled code may need.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace texloom {

// As LLVM names it: "x86_64" or "aarch64"; "" for others.
std::string_view processor_architecture();

// The features of the table (features.def) that this processor has and the system supports. Those
// of AMX are listed where the system would give tile registers to a process that asks.
const std::vector<std::string_view>& processor_features();

// Asks the system for what these features need beyond the processor: the tile registers of AMX.
// False if it refuses. Thread safe.
bool enable_processor_features(std::span<const std::string_view> features);

// The names in the table, for an architecture by LLVM's name; empty for others.
std::span<const std::string_view> known_processor_features(std::string_view architecture);

}  // namespace texloom
