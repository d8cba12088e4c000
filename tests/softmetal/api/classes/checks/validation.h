// What the API layer says about calls that break its rules.
#pragma once

#include <functional>
#include <string>

namespace softmetal {

using MisuseHook = std::function<void(const std::string&)>;

// Gets each misuse as a sentence; the call that misused the API has no effect then. Null, as at
// first: it is printed, and the program aborts. Returns the hook before.
MisuseHook set_misuse_hook(MisuseHook hook);
void report_misuse(const std::string& text);

}  // namespace softmetal
