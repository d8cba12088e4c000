// Refuses kernels that exceed the target's limits.
#pragma once

#include <string_view>

#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::lower {

// `block_location` is the location of the loop that determines the block's extent. Fails with
// BlockTooLarge, LocalMemoryTooLarge (arrays in shared or local memory), TextureTooLarge or
// TooManyArguments.
void check_limits(const ir::Kernel& kernel, const SourceLocation& block_location,
                  const ir::Target& target);

// Refuses only arrays in shared or local memory (LocalMemoryTooLarge). `note` tells why they need
// more bytes than the types of the user's program have.
void check_array_limits(const ir::Kernel& kernel, const ir::Target& target, std::string_view note);

}  // namespace texloom::lower
