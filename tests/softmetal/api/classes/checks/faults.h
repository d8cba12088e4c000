// Makes calls of the API fail on purpose, for tests of the API's users.
#pragma once

#include <cstdint>
#include <string>

namespace softmetal {

// Makes the n-th fallible call from now fail; 1 is the next one. A fallible call is one that can
// fail although it is used correctly. 0, the default, makes none fail. Calls of all threads count.
void fail_call(uint64_t n);
// Returns the number of fallible calls since fail_call().
uint64_t calls_that_may_fail();
// Returns the name of the call that was made to fail, or an empty string.
std::string failed_call();

// Counts a fallible call, and returns whether it must fail.
bool must_fail(const char* call);
// The text of the NSError of a call that is made to fail.
inline constexpr const char* kFaultText = "a fault that a test injected";

// If `drop` is true, commands write no counter samples from now on, as on some devices that claim
// to support them.
void drop_samples(bool drop);
bool drops_samples();

}  // namespace softmetal
