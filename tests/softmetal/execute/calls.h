// The table of calls that programs make into the execution of their dispatch.
#pragma once

#include "tests/softmetal/abi.h"

namespace softmetal {

const SmCalls& program_calls();

}  // namespace softmetal
