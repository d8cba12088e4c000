// <metal_texture>: textures. A texture is a handle of 8 bytes, as in an argument buffer; the
// runtime decodes texels and checks accesses.
#pragma once

#include "array.h"
#include "sampler.h"
#include "threads.h"

namespace metal {

enum class access { sample, read, write, read_write };
enum memory_coherence { memory_coherence_threadgroup, memory_coherence_device };
enum class component { x, y, z, w };

}  // namespace metal

// A call's description of the texture's type, which the runtime compares with the texture.
enum __sm_kind {
  __sm_1d,
  __sm_1d_array,
  __sm_2d,
  __sm_2d_array,
  __sm_2d_ms,
  __sm_2d_ms_array,
  __sm_3d,
  __sm_cube,
  __sm_cube_array,
  __sm_buffer
};
struct __sm_texel_at {
  int x, y, z;  // texels
  uint slice, face, lod, sample;
};
struct __sm_sample_at {
  float x, y, z;  // normalized or not, by the sampler
  uint slice;
  float lod;  // below -1e30 if no level is given
  int offset_x, offset_y, offset_z;
  uint compares;  // whether texels become 0 or 1, by comparison with the reference
  float reference;
};
extern "C" {
// `type` is kind | element << 8 | access << 16, where element is 0 for float, 1 for int, 2 for
// uint. Texels have 4 x 32 bits.
void __sm_texture_read(ulong texture, uint type, const __private __sm_texel_at* at,
                       __private uint* texel);
void __sm_texture_write(ulong texture, uint type, const __private __sm_texel_at* at,
                        const __private uint* texel);
void __sm_texture_sample(ulong texture, uint type, ulong sampler,
                         const __private __sm_sample_at* at, __private uint* texel);
void __sm_texture_gather(ulong texture, uint type, ulong sampler,
                         const __private __sm_sample_at* at, uint component,
                         __private uint* texels);
uint __sm_texture_atomic(ulong texture, uint type, const __private __sm_texel_at* at,
                         ulong operation, uint operand);
uint __sm_texture_size(ulong texture, uint type, uint what, uint lod);
}

namespace metal {

template <class T>
struct __sm_texel {
  static_assert(is_same<T, float>::value || is_same<T, half>::value || is_same<T, bfloat>::value ||
                    is_same<T, int>::value || is_same<T, uint>::value || is_same<T, short>::value ||
                    is_same<T, ushort>::value,
                "a texture's elements are float, half, int, uint, short or ushort");
  typedef conditional_t<is_floating_point<T>::value, float,
                        conditional_t<is_signed<T>::value, int, uint>>
      wide;
  static constexpr uint element() {
    return is_floating_point<T>::value ? 0 : (is_signed<T>::value ? 1 : 2);
  }
  static vec<T, 4> value(const __private uint* texel) {
    vec<wide, 4> w(as_type<wide>(texel[0]), as_type<wide>(texel[1]), as_type<wide>(texel[2]),
                   as_type<wide>(texel[3]));
    if constexpr (is_same<wide, T>::value) {
      return w;
    } else {
      return vec<T, 4>(w);
    }
  }
  static void bits(vec<T, 4> v, __private uint* texel) {
    for (int i = 0; i < 4; ++i) texel[i] = as_type<uint>((wide)(T)v.__v[i]);
  }
};

#define SM_NO_LEVEL -2e30f
struct __sm_texture_base {
  ulong __handle;
};
constexpr bool __sm_reads(access a) { return a != access::write; }
constexpr bool __sm_writes(access a) { return a == access::write || a == access::read_write; }
// The result type of an operation, if the texture's access allows the operation.
template <bool Allowed, class R>
using __sm_if = enable_if_t<Allowed, R>;

// A texture of kind KIND. Reads and writes are members of every class; SAMPLED classes also sample.
template <class T, access A, uint KIND>
struct __sm_texture : __sm_texture_base {
  typedef vec<T, 4> texel_type;
  static constexpr uint __type() { return KIND | __sm_texel<T>::element() << 8 | uint(A) << 16; }
  static vec<T, 4> __read(ulong handle, __sm_texel_at at) {
    uint texel[4];
    __sm_texel_at where = at;
    __sm_texture_read(handle, __type(), &where, texel);
    return __sm_texel<T>::value(texel);
  }
  static void __write(ulong handle, __sm_texel_at at, vec<T, 4> v) {
    uint texel[4];
    __sm_texel_at where = at;
    __sm_texel<T>::bits(v, texel);
    __sm_texture_write(handle, __type(), &where, texel);
  }
  static vec<T, 4> __sample(ulong handle, sampler s, __sm_sample_at at) {
    uint texel[4];
    __sm_sample_at where = at;
    __sm_texture_sample(handle, __type(), s.__bits, &where, texel);
    return __sm_texel<T>::value(texel);
  }
  static vec<T, 4> __gather(ulong handle, sampler s, __sm_sample_at at, component c) {
    uint texels[4];
    __sm_sample_at where = at;
    __sm_texture_gather(handle, __type(), s.__bits, &where, uint(c), texels);
    return __sm_texel<T>::value(texels);
  }
  static uint __atomic(ulong handle, __sm_texel_at at, ulong operation, uint operand) {
    __sm_texel_at where = at;
    return __sm_texture_atomic(handle, __type(), &where, operation, operand);
  }
  uint __size(uint what, uint lod) const {
    return __sm_texture_size(__handle, __type(), what, lod);
  }
  uint get_num_mip_levels() const { return __size(4, 0); }
  // The level for sample(). A bias has no effect, since kernels have no derivatives.
  float __lod(level l) const { return l.value; }
  float __lod(bias) const { return SM_NO_LEVEL; }
  float __lod(min_lod_clamp c) const { return c.value; }
  float __lod(gradient2d g) const {
    return __lod_of(vec<float, 3>(g.dx, 0), vec<float, 3>(g.dy, 0));
  }
  float __lod(gradient3d g) const { return __lod_of(g.dx, g.dy); }
  float __lod(gradientcube g) const { return __lod_of(g.dx * 0.5f, g.dy * 0.5f); }
  float __lod_of(vec<float, 3> dx, vec<float, 3> dy) const {
    const bool is_3d = KIND == __sm_3d, is_cube = KIND == __sm_cube || KIND == __sm_cube_array;
    const float width = __size(0, 0), depth = is_3d ? __size(2, 0) : (is_cube ? width : 0.0f);
    const vec<float, 3> size(width, __size(1, 0), depth);
    return 0.5f * log2(max(length_squared(dx * size), length_squared(dy * size)));
  }
};

// Coordinates may have 32 or 16 bits. COORD2 is a function of `c` and further arguments.
#define SM_READ(COORD, ARGS, AT)                                                      \
  template <access B = A>                                                             \
  __sm_if<__sm_reads(B), SM_RESULT> read SM_ARGS(uint##COORD, uint, ARGS) const {     \
    return SM_FIRST(this->__read(this->__handle, AT));                                \
  }                                                                                   \
  template <access B = A>                                                             \
  __sm_if<__sm_reads(B), SM_RESULT> read SM_ARGS(ushort##COORD, ushort, ARGS) const { \
    return SM_FIRST(this->__read(this->__handle, AT));                                \
  }
#define SM_WRITE(COORD, ARGS, AT)                                                        \
  template <access B = A>                                                                \
  __sm_if<__sm_writes(B), void> write SM_VALUE_ARGS(uint##COORD, uint, ARGS) const {     \
    this->__write(this->__handle, AT, v);                                                \
  }                                                                                      \
  template <access B = A>                                                                \
  __sm_if<__sm_writes(B), void> write SM_VALUE_ARGS(ushort##COORD, ushort, ARGS) const { \
    this->__write(this->__handle, AT, v);                                                \
  }
#define SM_ARGS(C, I, ARGS) (C c SM_ARGS_##ARGS(I))
#define SM_VALUE_ARGS(C, I, ARGS) (vec<T, 4> v, C c SM_ARGS_##ARGS(I))
#define SM_ARGS_LOD(I) , I lod = 0
#define SM_ARGS_NONE(I)
#define SM_ARGS_SLICE(I) , I slice
#define SM_ARGS_SLICE_LOD(I) , I slice, I lod = 0
#define SM_ARGS_FACE(I) , I face
#define SM_ARGS_FACE_SLICE(I) , I face, I slice
#define SM_ARGS_FACE_LOD(I) , I face, I lod = 0
#define SM_ARGS_FACE_SLICE_LOD(I) , I face, I slice, I lod = 0
#define SM_ARGS_SAMPLE(I) , I sample
#define SM_ARGS_SLICE_SAMPLE(I) , I slice, I sample
#define SM_AT_1(SLICE, FACE, LOD, SAMPLE) \
  (__sm_texel_at{(int)c, 0, 0, (uint)(SLICE), (uint)(FACE), (uint)(LOD), (uint)(SAMPLE)})
#define SM_AT_2(SLICE, FACE, LOD, SAMPLE)                                                   \
  (__sm_texel_at{(int)c.__v[0], (int)c.__v[1], 0, (uint)(SLICE), (uint)(FACE), (uint)(LOD), \
                 (uint)(SAMPLE)})
#define SM_AT_3(SLICE, FACE, LOD, SAMPLE)                                                  \
  (__sm_texel_at{(int)c.__v[0], (int)c.__v[1], (int)c.__v[2], (uint)(SLICE), (uint)(FACE), \
                 (uint)(LOD), (uint)(SAMPLE)})
#define SM_WIDTH \
  uint get_width(uint lod = 0) const { return this->__size(0, lod); }
#define SM_HEIGHT \
  uint get_height(uint lod = 0) const { return this->__size(1, lod); }
#define SM_DEPTH \
  uint get_depth(uint lod = 0) const { return this->__size(2, lod); }
#define SM_ARRAY_SIZE \
  uint get_array_size() const { return this->__size(3, 0); }
#define SM_SAMPLES \
  uint get_num_samples() const { return this->__size(5, 0); }
#define SM_FENCE \
  void fence() const { __sm_fence(4); }

#define SM_RESULT SM_4T
#define SM_FIRST(x) (x)
#define SM_TEXTURE_CLASS(NAME, KIND)                                                               \
  template <class T, access A = access::sample, memory_coherence C = memory_coherence_threadgroup> \
  struct NAME : __sm_texture<T, A, KIND> {                                                         \
    typedef vec<T, 4> SM_4T;
#define SM_SAMPLE(COORD, SLICE_ARGS, X, Y, Z, SLICE, OFFSET, OX, OY, OZ)                         \
  template <access B = A>                                                                        \
  __sm_if<B == access::sample, SM_RESULT> sample(sampler s, COORD c SLICE_ARGS,                  \
                                                 OFFSET offset = OFFSET(0)) const {              \
    return SM_FIRST(this->__sample(this->__handle, s,                                            \
                                   __sm_sample_at{X, Y, Z, SLICE, SM_NO_LEVEL, OX, OY, OZ}));    \
  }                                                                                              \
  template <class L, access B = A>                                                               \
  __sm_if<B == access::sample && __sm_is_lod<L>::value, SM_RESULT> sample(                       \
      sampler s, COORD c SLICE_ARGS, L l, OFFSET offset = OFFSET(0)) const {                     \
    return SM_FIRST(this->__sample(this->__handle, s,                                            \
                                   __sm_sample_at{X, Y, Z, SLICE, this->__lod(l), OX, OY, OZ})); \
  }                                                                                              \
  template <class L, access B = A>                                                               \
  __sm_if<B == access::sample && __sm_is_lod<L>::value, SM_RESULT> sample(                       \
      sampler s, COORD c SLICE_ARGS, L l, min_lod_clamp low, OFFSET offset = OFFSET(0)) const {  \
    return SM_FIRST(this->__sample(                                                              \
        this->__handle, s,                                                                       \
        __sm_sample_at{X, Y, Z, SLICE, max(this->__lod(l), low.value), OX, OY, OZ}));            \
  }
#define SM_GATHER(COORD, SLICE_ARGS, X, Y, Z, SLICE)                                               \
  template <access B = A>                                                                          \
  __sm_if<B == access::sample, SM_4T> gather(sampler s, COORD c SLICE_ARGS, int2 offset = int2(0), \
                                             component channel = component::x) const {             \
    return this->__gather(                                                                         \
        this->__handle, s,                                                                         \
        __sm_sample_at{X, Y, Z, SLICE, SM_NO_LEVEL, offset.__v[0], offset.__v[1], 0}, channel);    \
  }
// sample() of cubes takes no offset.
#define SM_SAMPLE_CUBE(SLICE_ARGS, SLICE)                                                \
  template <access B = A>                                                                \
  __sm_if<B == access::sample, SM_RESULT> sample(sampler s, float3 c SLICE_ARGS) const { \
    return SM_FIRST(this->__sample(                                                      \
        this->__handle, s,                                                               \
        __sm_sample_at{c.__v[0], c.__v[1], c.__v[2], SLICE, SM_NO_LEVEL, 0, 0, 0}));     \
  }                                                                                      \
  template <class L, access B = A>                                                       \
  __sm_if<B == access::sample && __sm_is_lod<L>::value, SM_RESULT> sample(               \
      sampler s, float3 c SLICE_ARGS, L l) const {                                       \
    return SM_FIRST(this->__sample(                                                      \
        this->__handle, s,                                                               \
        __sm_sample_at{c.__v[0], c.__v[1], c.__v[2], SLICE, this->__lod(l), 0, 0, 0}));  \
  }
#define SM_GATHER_CUBE(SLICE_ARGS, SLICE)                                                    \
  template <access B = A>                                                                    \
  __sm_if<B == access::sample, SM_4T> gather(sampler s, float3 c SLICE_ARGS,                 \
                                             component channel = component::x) const {       \
    return this->__gather(                                                                   \
        this->__handle, s,                                                                   \
        __sm_sample_at{c.__v[0], c.__v[1], c.__v[2], SLICE, SM_NO_LEVEL, 0, 0, 0}, channel); \
  }
#define SM_COMMA_SLICE , uint slice

// Atomic operations on textures of int and uint (from MSL 3.1).
#define SM_TEXTURE_ATOMIC(NAME, OPERATION, COORD, ARGS, AT)                                \
  template <access B = A>                                                                  \
  __sm_if<__sm_writes(B) && __sm_reads(B), SM_4T> NAME SM_ATOMIC_ARGS(COORD, ARGS) const { \
    return SM_4T((T)this->__atomic(this->__handle, AT, OPERATION, (uint)v.__v[0]));        \
  }
// Replaces the texel if it has the expected value; otherwise returns the current value.
#define SM_TEXTURE_EXCHANGE(COORD, ARGS, AT)                                                      \
  template <access B = A>                                                                         \
  __sm_if<__sm_writes(B) && __sm_reads(B), bool> atomic_compare_exchange_weak(                    \
      uint##COORD c SM_ARGS_##ARGS(uint), thread SM_4T* expected, SM_4T desired) const {          \
    const T old = (T)this->__atomic(this->__handle, AT, 8 | (ulong)(uint)expected->__v[0] << 32,  \
                                    (uint)desired.__v[0]);                                        \
    const bool same = old == (T)expected->__v[0];                                                 \
    expected->__v[0] = old;                                                                       \
    return same;                                                                                  \
  }                                                                                               \
  template <access B = A>                                                                         \
  __sm_if<__sm_writes(B) && __sm_reads(B), SM_4T> atomic_load(uint##COORD c SM_ARGS_##ARGS(uint)) \
      const {                                                                                     \
    return SM_4T((T)this->__atomic(this->__handle, AT, 3, 0));                                    \
  }                                                                                               \
  template <access B = A>                                                                         \
  __sm_if<__sm_writes(B) && __sm_reads(B), void> atomic_store(                                    \
      SM_4T v, uint##COORD c SM_ARGS_##ARGS(uint)) const {                                        \
    this->__atomic(this->__handle, AT, 7, (uint)v.__v[0]);                                        \
  }
#define SM_ATOMIC_ARGS(COORD, ARGS) (uint##COORD c SM_ARGS_##ARGS(uint), SM_4T v)
#define SM_TEXTURE_ATOMICS(COORD, ARGS, AT)               \
  SM_TEXTURE_ATOMIC(atomic_fetch_add, 0, COORD, ARGS, AT) \
  SM_TEXTURE_ATOMIC(atomic_fetch_sub, 1, COORD, ARGS, AT) \
  SM_TEXTURE_ATOMIC(atomic_fetch_and, 2, COORD, ARGS, AT) \
  SM_TEXTURE_ATOMIC(atomic_fetch_or, 3, COORD, ARGS, AT)  \
  SM_TEXTURE_ATOMIC(atomic_fetch_xor, 4, COORD, ARGS, AT) \
  SM_TEXTURE_ATOMIC(atomic_fetch_min, 5, COORD, ARGS, AT) \
  SM_TEXTURE_ATOMIC(atomic_fetch_max, 6, COORD, ARGS, AT) \
  SM_TEXTURE_ATOMIC(atomic_exchange, 7, COORD, ARGS, AT)  \
  SM_TEXTURE_EXCHANGE(COORD, ARGS, AT)
SM_TEXTURE_CLASS(texture1d, __sm_1d)
SM_READ(, LOD, SM_AT_1(0, 0, lod, 0))
SM_WRITE(, LOD, SM_AT_1(0, 0, lod, 0))
SM_WIDTH SM_FENCE template <access B = A>
__sm_if<B == access::sample, SM_4T> sample(sampler s, float c) const {
  return this->__sample(this->__handle, s, __sm_sample_at{c, 0, 0, 0, SM_NO_LEVEL, 0, 0, 0});
}
SM_TEXTURE_ATOMICS(, NONE, SM_AT_1(0, 0, 0, 0))
};
SM_TEXTURE_CLASS(texture1d_array, __sm_1d_array)
SM_READ(, SLICE_LOD, SM_AT_1(slice, 0, lod, 0))
SM_WRITE(, SLICE_LOD, SM_AT_1(slice, 0, lod, 0))
SM_WIDTH SM_ARRAY_SIZE SM_FENCE template <access B = A>
__sm_if<B == access::sample, SM_4T> sample(sampler s, float c, uint slice) const {
  return this->__sample(this->__handle, s, __sm_sample_at{c, 0, 0, slice, SM_NO_LEVEL, 0, 0, 0});
}
SM_TEXTURE_ATOMICS(, SLICE, SM_AT_1(slice, 0, 0, 0))
}
;
SM_TEXTURE_CLASS(texture2d, __sm_2d)
SM_READ(2, LOD, SM_AT_2(0, 0, lod, 0))
SM_WRITE(2, LOD, SM_AT_2(0, 0, lod, 0))
SM_WIDTH SM_HEIGHT SM_FENCE SM_SAMPLE(float2, , c.__v[0], c.__v[1], 0, 0, int2, offset.__v[0],
                                      offset.__v[1], 0)
    SM_GATHER(float2, , c.__v[0], c.__v[1], 0, 0) SM_TEXTURE_ATOMICS(2, NONE, SM_AT_2(0, 0, 0, 0))
}
;
SM_TEXTURE_CLASS(texture2d_array, __sm_2d_array)
SM_READ(2, SLICE_LOD, SM_AT_2(slice, 0, lod, 0))
SM_WRITE(2, SLICE_LOD, SM_AT_2(slice, 0, lod, 0))
SM_WIDTH SM_HEIGHT SM_ARRAY_SIZE SM_FENCE SM_SAMPLE(float2, SM_COMMA_SLICE, c.__v[0], c.__v[1], 0,
                                                    slice, int2, offset.__v[0], offset.__v[1], 0)
    SM_GATHER(float2, SM_COMMA_SLICE, c.__v[0], c.__v[1], 0, slice)
        SM_TEXTURE_ATOMICS(2, SLICE, SM_AT_2(slice, 0, 0, 0))
}
;
SM_TEXTURE_CLASS(texture3d, __sm_3d)
SM_READ(3, LOD, SM_AT_3(0, 0, lod, 0))
SM_WRITE(3, LOD, SM_AT_3(0, 0, lod, 0))
SM_WIDTH SM_HEIGHT SM_DEPTH SM_FENCE SM_SAMPLE(float3, , c.__v[0], c.__v[1], c.__v[2], 0, int3,
                                               offset.__v[0], offset.__v[1], offset.__v[2])
    SM_TEXTURE_ATOMICS(3, NONE, SM_AT_3(0, 0, 0, 0))
}
;
SM_TEXTURE_CLASS(texturecube, __sm_cube)
SM_READ(2, FACE_LOD, SM_AT_2(0, face, lod, 0))
SM_WRITE(2, FACE_LOD, SM_AT_2(0, face, lod, 0))
SM_WIDTH SM_HEIGHT SM_FENCE SM_SAMPLE_CUBE(, 0) SM_GATHER_CUBE(, 0)
    SM_TEXTURE_ATOMICS(2, FACE, SM_AT_2(0, face, 0, 0))
}
;
SM_TEXTURE_CLASS(texturecube_array, __sm_cube_array)
SM_READ(2, FACE_SLICE_LOD, SM_AT_2(slice, face, lod, 0))
SM_WRITE(2, FACE_SLICE_LOD, SM_AT_2(slice, face, lod, 0))
SM_WIDTH SM_HEIGHT SM_ARRAY_SIZE SM_FENCE SM_SAMPLE_CUBE(SM_COMMA_SLICE, slice)
    SM_GATHER_CUBE(SM_COMMA_SLICE, slice)
        SM_TEXTURE_ATOMICS(2, FACE_SLICE, SM_AT_2(slice, face, 0, 0))
}
;
template <class T, access A = access::read>
struct texture2d_ms : __sm_texture<T, A, __sm_2d_ms> {
  static_assert(A == access::read, "texture2d_ms has access::read only");
  typedef vec<T, 4> SM_4T;
  SM_READ(2, SAMPLE, SM_AT_2(0, 0, 0, sample))
  SM_WIDTH SM_HEIGHT SM_SAMPLES
};
template <class T, access A = access::read>
struct texture2d_ms_array : __sm_texture<T, A, __sm_2d_ms_array> {
  static_assert(A == access::read, "texture2d_ms_array has access::read only");
  typedef vec<T, 4> SM_4T;
  SM_READ(2, SLICE_SAMPLE, SM_AT_2(slice, 0, 0, sample))
  SM_WIDTH SM_HEIGHT SM_ARRAY_SIZE SM_SAMPLES
};
template <class T, access A = access::read, memory_coherence C = memory_coherence_threadgroup>
struct texture_buffer : __sm_texture<T, A, __sm_buffer> {
  static_assert(A != access::sample, "texture_buffer is read and written, not sampled");
  typedef vec<T, 4> SM_4T;
  template <access B = A>
  __sm_if<__sm_reads(B), SM_4T> read(uint c) const {
    return this->__read(this->__handle, SM_AT_1(0, 0, 0, 0));
  }
  template <access B = A>
  __sm_if<__sm_writes(B), void> write(vec<T, 4> v, uint c) const {
    this->__write(this->__handle, SM_AT_1(0, 0, 0, 0), v);
  }
  SM_WIDTH SM_FENCE SM_TEXTURE_ATOMICS(, NONE, SM_AT_1(0, 0, 0, 0))
};

template <class T>
inline bool is_null_texture(T t) {
  return t.__handle == 0;
}

template <class T>
struct __sm_texture_traits : false_type {};
#define SM_IS_TEXTURE(NAME)                                          \
  template <class T, access A, memory_coherence C>                   \
  struct __sm_texture_traits<NAME<T, A, C>> : true_type {            \
    typedef T element;                                               \
    static constexpr uint type() { return NAME<T, A, C>::__type(); } \
  };
SM_IS_TEXTURE(texture1d)
SM_IS_TEXTURE(texture1d_array)
SM_IS_TEXTURE(texture2d)
SM_IS_TEXTURE(texture2d_array)
SM_IS_TEXTURE(texture3d)
SM_IS_TEXTURE(texturecube)
SM_IS_TEXTURE(texturecube_array)
#define SM_IS_TEXTURE_MS(NAME)                                    \
  template <class T, access A>                                    \
  struct __sm_texture_traits<NAME<T, A>> : true_type {            \
    typedef T element;                                            \
    static constexpr uint type() { return NAME<T, A>::__type(); } \
  };
SM_IS_TEXTURE_MS(texture2d_ms)
SM_IS_TEXTURE_MS(texture2d_ms_array)
SM_IS_TEXTURE(texture_buffer)

}  // namespace metal
