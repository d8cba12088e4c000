// Makes functions of Metal's libraries from the formats of code that the driver accepts. For
// Objective-C++ sources alone.
#pragma once

#include <vector>

#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/kernels/build_options.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::hal::metal {

// The codes of an executable that Metal may accept, with their options: the first metallib, which
// needs no compiler, then the first source. InvalidArgument for a wrong option; Unimplemented if
// the executable has neither.
Result<std::vector<ProgramCode>> find_codes(const ExecutableDesc& desc, const DeviceInfo& device);

// The functions of the entry points, autoreleased. BuildFailed with Metal's text, or NotFound.
Result<NSArray<id<MTLFunction>>*> make_functions(const Context& context, const ProgramCode& program,
                                                 const std::vector<EntryPoint>& entry_points);

}  // namespace texloom::hal::metal
