// Whether this is compiled under the sanitizer for addresses.
#pragma once

namespace texloom {

// Pools then recycle nothing, so that the sanitizer sees what is used too late.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kAddressSanitizer = false;
#endif

}  // namespace texloom
