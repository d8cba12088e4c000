// Functions of Metal's libraries, out of the formats of code that the driver takes. For
// Objective-C++ sources alone.
#pragma once

#include <vector>

#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/kernels/build_options.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::hal::metal {

// The codes of an executable that Metal may take, with their options: a metallib, which needs no
// compiler, before source, and the first of each. InvalidArgument for options, Unimplemented if
// there is none.
Result<std::vector<ProgramCode>> find_codes(const ExecutableDesc& desc, const DeviceInfo& device);

// The functions of the entry points, autoreleased. BuildFailed with Metal's text, or NotFound.
Result<NSArray<id<MTLFunction>>*> make_functions(const Context& context, const ProgramCode& program,
                                                 const std::vector<EntryPoint>& entry_points);

}  // namespace texloom::hal::metal
