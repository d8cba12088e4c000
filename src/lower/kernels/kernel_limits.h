// Refuses kernels that exceed the target's limits.
#pragma once

#include <string_view>

#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::lower {

// `block_location` is the location of the loop that determines the block's extent. Fails with
// BlockTooLarge, LocalMemoryTooLarge (arrays in shared or local memory), TextureTooLarge or
// TooManyArguments. `array_note` tells why arrays need more bytes than their types have.
void check_limits(const ir::Kernel& kernel, const SourceLocation& block_location,
                  const ir::Target& target, std::string_view array_note = {});

}  // namespace texloom::lower
