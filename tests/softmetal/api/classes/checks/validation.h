// Reports of calls that break the API's rules.
#pragma once

#include <functional>
#include <string>

namespace softmetal {

using MisuseHook = std::function<void(const std::string&)>;

// Sets the function that gets the message of each misuse; a call that misuses the API then has no
// effect. With null, the default, the message is printed and the program aborts. Returns the
// previous hook.
MisuseHook set_misuse_hook(MisuseHook hook);
void report_misuse(const std::string& text);

}  // namespace softmetal
