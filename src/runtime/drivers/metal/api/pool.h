// The scope in which a thread calls Metal: an autorelease pool.
#pragma once

#include <memory>

#include "runtime/hal/queue.h"

namespace texloom::hal::metal {

// A thread's pools must end in the reverse order of their creation.
std::unique_ptr<QueueBackend::Scope> enter_pool();

}  // namespace texloom::hal::metal
