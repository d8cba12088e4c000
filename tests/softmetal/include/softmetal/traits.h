// <metal_type_traits> and <metal_limits>.
#pragma once

#include "keywords.h"

// For programs that name std::initializer_list. Clang creates none from braced lists, since its
// pointer has an unexpected address space in this language.
namespace std {
template <class E>
class initializer_list {
  const __generic E* __data;
  unsigned long __count;

 public:
  constexpr initializer_list() : __data(nullptr), __count(0) {}
  constexpr unsigned long size() const { return __count; }
  thread E* begin() const { return (thread E*)(unsigned long)__data; }
  thread E* end() const { return begin() + __count; }
};
}  // namespace std

namespace metal {

template <class T, T V>
struct integral_constant {
  static constexpr constant T value = V;
  typedef T value_type;
  typedef integral_constant type;
  constexpr operator T() const { return V; }
  constexpr T operator()() const { return V; }
};
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <bool B>
using bool_constant = integral_constant<bool, B>;

template <bool B, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  typedef T type;
};
template <bool B, class T = void>
using enable_if_t = typename enable_if<B, T>::type;

template <bool B, class T, class F>
struct conditional {
  typedef T type;
};
template <class T, class F>
struct conditional<false, T, F> {
  typedef F type;
};
template <bool B, class T, class F>
using conditional_t = typename conditional<B, T, F>::type;

template <class T>
struct type_identity {
  typedef T type;
};

template <class T, class U>
struct is_same : false_type {};
template <class T>
struct is_same<T, T> : true_type {};

template <class T>
struct remove_const {
  typedef T type;
};
template <class T>
struct remove_const<const T> {
  typedef T type;
};
template <class T>
struct remove_volatile {
  typedef T type;
};
template <class T>
struct remove_volatile<volatile T> {
  typedef T type;
};
// Removes the address space, which is a qualifier to clang, since the type of a value has none.
template <class T>
struct __sm_without_space {
  typedef T type;
  static constexpr constant int space = 0;
};
#define SM_SPACE(SPACE, NUMBER)                                \
  template <class T>                                           \
  struct __sm_without_space<SPACE T> : __sm_without_space<T> { \
    static constexpr constant int space = NUMBER;              \
  };
SM_SPACE(device, 1)
SM_SPACE(__global, 2)
SM_SPACE(__local, 3)
SM_SPACE(__private, 4)
SM_SPACE(__generic, 5)
#undef SM_SPACE
template <class T>
struct remove_cv {
  typedef typename remove_const<typename remove_volatile<T>::type>::type type;
};
template <class T>
struct __sm_unqualified : remove_cv<typename __sm_without_space<T>::type> {};
template <class T>
struct remove_reference {
  typedef T type;
};
template <class T>
struct remove_reference<T&> {
  typedef T type;
};
template <class T>
struct remove_reference<T&&> {
  typedef T type;
};
template <class T>
struct remove_pointer {
  typedef T type;
};
template <class T>
struct remove_pointer<T*> {
  typedef T type;
};
template <class T>
struct remove_pointer<T* const> {
  typedef T type;
};
template <class T>
struct remove_extent {
  typedef T type;
};
template <class T, size_t N>
struct remove_extent<T[N]> {
  typedef T type;
};
template <class T>
struct add_const {
  typedef const T type;
};
template <class T>
using remove_const_t = typename remove_const<T>::type;
template <class T>
using remove_volatile_t = typename remove_volatile<T>::type;
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T>
using remove_reference_t = typename remove_reference<T>::type;
template <class T>
using remove_pointer_t = typename remove_pointer<T>::type;
template <class T>
using remove_extent_t = typename remove_extent<T>::type;
template <class T>
using add_const_t = typename add_const<T>::type;
template <class T>
struct remove_addrspace : __sm_without_space<T> {};
template <class T>
using remove_addrspace_t = typename remove_addrspace<T>::type;
template <class T>
struct decay {
  typedef typename __sm_unqualified<remove_reference_t<T>>::type type;
};
template <class T>
using decay_t = typename decay<T>::type;
template <class T>
__generic T&& declval() noexcept;

template <class T>
struct __sm_is_integral : false_type {};
template <class T>
struct __sm_is_floating : false_type {};
#define SM_TRAIT(TRAIT, TYPE) \
  template <>                 \
  struct TRAIT<TYPE> : true_type {};
SM_TRAIT(__sm_is_integral, bool)
SM_TRAIT(__sm_is_integral, char)
SM_TRAIT(__sm_is_integral, signed char)
SM_TRAIT(__sm_is_integral, uchar)
SM_TRAIT(__sm_is_integral, short)
SM_TRAIT(__sm_is_integral, ushort)
SM_TRAIT(__sm_is_integral, int)
SM_TRAIT(__sm_is_integral, uint)
SM_TRAIT(__sm_is_integral, long)
SM_TRAIT(__sm_is_integral, ulong)
SM_TRAIT(__sm_is_floating, float)
SM_TRAIT(__sm_is_floating, half)
SM_TRAIT(__sm_is_floating, bfloat)
#undef SM_TRAIT
template <class T>
struct is_integral : bool_constant<__sm_is_integral<remove_cv_t<T>>::value> {};
template <class T>
struct is_floating_point : bool_constant<__sm_is_floating<remove_cv_t<T>>::value> {};
template <class T>
struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T>
struct is_scalar : bool_constant<__is_scalar(T)> {};
template <class T>
struct is_signed : bool_constant<is_arithmetic<T>::value && (T(-1) < T(0))> {};
template <class T>
struct is_unsigned : bool_constant<is_integral<T>::value && !(T(-1) < T(0))> {};
template <class T>
struct is_void : is_same<remove_cv_t<T>, void> {};
template <class T>
struct is_pointer : false_type {};
template <class T>
struct is_pointer<T*> : true_type {};
template <class T>
struct is_pointer<T* const> : true_type {};
template <class T>
struct is_reference : false_type {};
template <class T>
struct is_reference<T&> : true_type {};
template <class T>
struct is_reference<T&&> : true_type {};
template <class T>
struct is_lvalue_reference : false_type {};
template <class T>
struct is_lvalue_reference<T&> : true_type {};
template <class T>
struct is_array : false_type {};
template <class T, size_t N>
struct is_array<T[N]> : true_type {};
template <class T>
struct is_const : false_type {};
template <class T>
struct is_const<const T> : true_type {};
template <class T>
struct is_enum : bool_constant<__is_enum(T)> {};
template <class T>
struct is_class : bool_constant<__is_class(T)> {};
template <class T>
struct is_union : bool_constant<__is_union(T)> {};
template <class T>
struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class B, class D>
struct is_base_of : bool_constant<__is_base_of(B, D)> {};
template <class F, class T>
struct is_convertible : bool_constant<__is_convertible_to(F, T)> {};
template <class T>
struct underlying_type {
  typedef __underlying_type(T) type;
};
template <class T>
using underlying_type_t = typename underlying_type<T>::type;
template <class T>
struct make_unsigned {
  typedef __make_unsigned(T) type;
};
template <class T>
struct make_signed {
  typedef __make_signed(T) type;
};
template <class T>
using make_unsigned_t = typename make_unsigned<T>::type;
template <class T>
using make_signed_t = typename make_signed<T>::type;

template <class... B>
struct conjunction : true_type {};
template <class B, class... R>
struct conjunction<B, R...> : conditional_t<bool(B::value), conjunction<R...>, B> {};
template <class... B>
struct disjunction : false_type {};
template <class B, class... R>
struct disjunction<B, R...> : conditional_t<bool(B::value), B, disjunction<R...>> {};
template <class B>
struct negation : bool_constant<!bool(B::value)> {};
// Names from Apple's header that programs use.
template <class... B>
using _disjunction = disjunction<B...>;
template <class... B>
using _conjunction = conjunction<B...>;

#define SM_TRAIT_V(NAME) \
  template <class T>     \
  constexpr constant bool NAME##_v = NAME<T>::value;
SM_TRAIT_V(is_integral)
SM_TRAIT_V(is_floating_point)
SM_TRAIT_V(is_arithmetic)
SM_TRAIT_V(is_scalar)
SM_TRAIT_V(is_signed)
SM_TRAIT_V(is_unsigned)
SM_TRAIT_V(is_void)
SM_TRAIT_V(is_pointer)
SM_TRAIT_V(is_reference)
SM_TRAIT_V(is_array)
SM_TRAIT_V(is_const)
SM_TRAIT_V(is_enum)
SM_TRAIT_V(is_class)
SM_TRAIT_V(is_trivially_copyable)
#undef SM_TRAIT_V
template <class T, class U>
constexpr constant bool is_same_v = is_same<T, U>::value;
template <class F, class T>
constexpr constant bool is_convertible_v = is_convertible<F, T>::value;
template <class B, class D>
constexpr constant bool is_base_of_v = is_base_of<B, D>::value;
template <class... B>
constexpr constant bool conjunction_v = conjunction<B...>::value;
template <class... B>
constexpr constant bool disjunction_v = disjunction<B...>::value;
template <class B>
constexpr constant bool negation_v = negation<B>::value;

template <class T, T... I>
struct integer_sequence {
  typedef T value_type;
  static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I>
using index_sequence = integer_sequence<size_t, I...>;
template <class T, T N>
using make_integer_sequence = __make_integer_seq<integer_sequence, T, N>;
template <size_t N>
using make_index_sequence = make_integer_sequence<size_t, N>;

// A template from Apple's header, which programs specialize for their own types.
template <class T>
struct _numeric_limits_impl {
  static constexpr constant bool is_specialized = false;
};
template <class T>
struct numeric_limits : _numeric_limits_impl<remove_cv_t<T>> {};
#define SM_INTEGER_LIMITS(T, LOWEST, HIGHEST, DIGITS, SIGNED) \
  template <>                                                 \
  struct _numeric_limits_impl<T> {                            \
    static constexpr constant bool is_specialized = true;     \
    static constexpr constant bool is_signed = SIGNED;        \
    static constexpr constant bool is_integer = true;         \
    static constexpr constant bool is_exact = true;           \
    static constexpr constant bool has_infinity = false;      \
    static constexpr constant bool has_quiet_NaN = false;     \
    static constexpr constant int digits = DIGITS;            \
    static constexpr constant int digits10 = DIGITS * 3 / 10; \
    static constexpr constant int radix = 2;                  \
    static constexpr T min() { return LOWEST; }               \
    static constexpr T lowest() { return LOWEST; }            \
    static constexpr T max() { return HIGHEST; }              \
    static constexpr T epsilon() { return 0; }                \
    static constexpr T infinity() { return 0; }               \
    static constexpr T quiet_NaN() { return 0; }              \
  };
SM_INTEGER_LIMITS(bool, false, true, 1, false)
SM_INTEGER_LIMITS(char, -128, 127, 7, true)
SM_INTEGER_LIMITS(signed char, -128, 127, 7, true)
SM_INTEGER_LIMITS(uchar, 0, 255, 8, false)
SM_INTEGER_LIMITS(short, -32768, 32767, 15, true)
SM_INTEGER_LIMITS(ushort, 0, 65535, 16, false)
SM_INTEGER_LIMITS(int, -2147483647 - 1, 2147483647, 31, true)
SM_INTEGER_LIMITS(uint, 0, 4294967295u, 32, false)
SM_INTEGER_LIMITS(long, -9223372036854775807l - 1, 9223372036854775807l, 63, true)
SM_INTEGER_LIMITS(ulong, 0, 18446744073709551615ul, 64, false)
#undef SM_INTEGER_LIMITS
#define SM_FLOAT_LIMITS(T, SMALLEST, HIGHEST, EPSILON, DENORMAL, DIGITS, DIGITS10, EMIN, EMAX) \
  template <>                                                                                  \
  struct _numeric_limits_impl<T> {                                                             \
    static constexpr constant bool is_specialized = true;                                      \
    static constexpr constant bool is_signed = true;                                           \
    static constexpr constant bool is_integer = false;                                         \
    static constexpr constant bool is_exact = false;                                           \
    static constexpr constant bool has_infinity = true;                                        \
    static constexpr constant bool has_quiet_NaN = true;                                       \
    static constexpr constant int digits = DIGITS;                                             \
    static constexpr constant int digits10 = DIGITS10;                                         \
    static constexpr constant int radix = 2;                                                   \
    static constexpr constant int min_exponent = EMIN;                                         \
    static constexpr constant int max_exponent = EMAX;                                         \
    static constexpr T min() { return SMALLEST; }                                              \
    static constexpr T lowest() { return -(HIGHEST); }                                         \
    static constexpr T max() { return HIGHEST; }                                               \
    static constexpr T epsilon() { return EPSILON; }                                           \
    static constexpr T denorm_min() { return DENORMAL; }                                       \
    static constexpr T infinity() { return __builtin_inff(); }                                 \
    static constexpr T quiet_NaN() { return __builtin_nanf(""); }                              \
    static constexpr T signaling_NaN() { return __builtin_nanf(""); }                          \
  };
SM_FLOAT_LIMITS(float, 0x1p-126f, 0x1.fffffep127f, 0x1p-23f, 0x1p-149f, 24, 6, -125, 128)
SM_FLOAT_LIMITS(half, 0x1p-14f, 65504.0f, 0x1p-10f, 0x1p-24f, 11, 3, -13, 16)
SM_FLOAT_LIMITS(bfloat, 0x1p-126f, 0x1.fep127f, 0x1p-7f, 0x1p-133f, 8, 2, -125, 128)
#undef SM_FLOAT_LIMITS

}  // namespace metal
