// Calls of the API that fail on purpose, for tests of those who call it.
#pragma once

#include <cstdint>
#include <string>

namespace softmetal {

// Lets the n-th call from now fail that may fail without being misused (1 is the next one). 0, as
// at first, lets none fail. Calls of all threads count.
void fail_call(uint64_t n);
// How many such calls there were since.
uint64_t calls_that_may_fail();
// The name of the one that failed, or nothing.
std::string failed_call();

// For such calls: counts it, and tells whether it must fail.
bool must_fail(const char* call);
// The text of the NSError of a call that fails so.
inline constexpr const char* kFaultText = "a fault that a test injected";

// Whether commands write no samples of counters from now on, as devices do that say they would.
void drop_samples(bool drop);
bool drops_samples();

}  // namespace softmetal
