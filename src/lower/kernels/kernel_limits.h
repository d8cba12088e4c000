// Refuses kernels that need more than the target has.
#pragma once

#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::lower {

// `block_location` is that of the loop that gives the block its extent. Fails with BlockTooLarge,
// LocalMemoryTooLarge (arrays in shared or in local memory), TextureTooLarge or TooManyArguments.
void check_limits(const ir::Kernel& kernel, const SourceLocation& block_location,
                  const ir::Target& target);

}  // namespace texloom::lower
