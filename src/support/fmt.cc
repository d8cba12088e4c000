// Compiles the implementation of {fmt} once, so that programs need no {fmt} library: distributions
// ship a shared one, which a program on a phone would have to bring along. Instantiates the
// functions that the headers of version 9 declare but do not define. With later versions, the build
// defines FMT_HEADER_ONLY, and every source file contains the functions that it needs.
// No message has a locale's separators of thousands ("{:L}"): locales would be a third of a static
// program.
#ifndef FMT_HEADER_ONLY

#define FMT_STATIC_THOUSANDS_SEPARATOR ','
#include <fmt/format.h>

// The definitions are weak, since a program may link its own {fmt} of the same version.
#undef FMT_FUNC
#define FMT_FUNC __attribute__((weak))
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;

template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;

template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, format_args, locale_ref);

}  // namespace detail
FMT_END_NAMESPACE

#endif
