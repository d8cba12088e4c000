// What this is compiled for.
#pragma once

namespace texloom {

// Under the sanitizer for addresses memory is not recycled, so that it sees what is used too late.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kAddressSanitizer = false;
#endif

}  // namespace texloom
