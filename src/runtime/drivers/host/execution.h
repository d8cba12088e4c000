// Executes the commands of a submission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/drivers/host/workers.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal::host {

// Runs all commands in order and returns when they are complete; after an error no further command
// is started. `scratch` belongs to the calling thread. Spans of commands are added to `track` of
// the profile, unless the profile is null.
Status run_commands(const CommandRange& commands, Workers& workers, std::span<std::byte> scratch,
                    Profile* profile, std::uint32_t track);

}  // namespace texloom::hal::host
