// The implementation of {fmt}, compiled once, so that programs need no library of it: distributions
// have it as a shared one, which a program on a phone would have to bring along. Instantiated is
// what the headers of version 9 declare and do not define; with a later version FMT_HEADER_ONLY is
// defined, and every source has what it needs.
#ifndef FMT_HEADER_ONLY

#include <fmt/format.h>

// Weak, as what is instantiated below is: a program that links the same version of its own has two.
#undef FMT_FUNC
#define FMT_FUNC __attribute__((weak))
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;

template locale_ref::locale_ref(const std::locale&);
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;

template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, format_args, locale_ref);

}  // namespace detail
FMT_END_NAMESPACE

#endif
