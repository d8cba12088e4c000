// Included by all headers of the software Metal. Names and signatures are Apple's.
#pragma once

#import <Foundation/Foundation.h>
#include <dispatch/dispatch.h>

#ifdef __cplusplus
#define MTL_EXTERN extern "C" __attribute__((visibility("default")))
#else
#define MTL_EXTERN extern __attribute__((visibility("default")))
#endif

// GNUstep's NS_ENUM defines no enumeration type in C++.
#undef NS_ENUM
#undef NS_OPTIONS
#define NS_ENUM(type, name) \
  enum name : type name;    \
  enum name : type
#ifdef __cplusplus
#define NS_OPTIONS(type, name) \
  type name;                   \
  enum : type
#else
#define NS_OPTIONS(type, name) NS_ENUM(type, name)
#endif

// Macros that GNUstep's Foundation lacks.
#ifndef API_UNAVAILABLE
#define API_UNAVAILABLE(platform) __attribute__((availability(platform, unavailable)))
#endif
#ifndef NS_RETURNS_INNER_POINTER
#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#endif
#ifndef NS_INLINE
#define NS_INLINE static inline
#endif
typedef NSTimeInterval CFTimeInterval;

#ifndef NS_ASSUME_NONNULL_BEGIN
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#endif
