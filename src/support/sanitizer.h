// Whether this build uses AddressSanitizer.
#pragma once

namespace texloom {

// With AddressSanitizer, pools recycle nothing, so that the sanitizer detects uses after free.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kAddressSanitizer = false;
#endif

}  // namespace texloom
