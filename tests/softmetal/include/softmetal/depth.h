// Depth textures, which have one component and can compare it with a reference.
#pragma once

#include "texture.h"

namespace metal {

#undef SM_RESULT
#undef SM_FIRST
#define SM_RESULT T
#define SM_FIRST(x) ((x)[0])
#define SM_DEPTH_ONLY                                                     \
  static_assert(is_same<T, float>::value, "depth textures are of float"); \
  static_assert(!__sm_writes(A), "depth textures are not written");

// sample_compare() without and with options of the level, and gather_compare().
#define SM_COMPARE(COORD, SLICE_ARGS, X, Y, Z, SLICE)                                            \
  template <access B = A>                                                                        \
  __sm_if<B == access::sample, T> sample_compare(sampler s, COORD c SLICE_ARGS, float reference, \
                                                 int2 offset = int2(0)) const {                  \
    return this->__sample(this->__handle, s,                                                     \
                          __sm_sample_at{X, Y, Z, SLICE, SM_NO_LEVEL, offset.__v[0],             \
                                         offset.__v[1], 0, 1, reference})[0];                    \
  }                                                                                              \
  template <class L, access B = A>                                                               \
  __sm_if<B == access::sample && __sm_is_lod<L>::value, T> sample_compare(                       \
      sampler s, COORD c SLICE_ARGS, float reference, L l, int2 offset = int2(0)) const {        \
    return this->__sample(this->__handle, s,                                                     \
                          __sm_sample_at{X, Y, Z, SLICE, this->__lod(l), offset.__v[0],          \
                                         offset.__v[1], 0, 1, reference})[0];                    \
  }                                                                                              \
  template <access B = A>                                                                        \
  __sm_if<B == access::sample, SM_4T> gather_compare(                                            \
      sampler s, COORD c SLICE_ARGS, float reference, int2 offset = int2(0)) const {             \
    return this->__gather(this->__handle, s,                                                     \
                          __sm_sample_at{X, Y, Z, SLICE, SM_NO_LEVEL, offset.__v[0],             \
                                         offset.__v[1], 0, 1, reference},                        \
                          component::x);                                                         \
  }

SM_TEXTURE_CLASS(depth2d, __sm_2d)
SM_DEPTH_ONLY
SM_READ(2, LOD, SM_AT_2(0, 0, lod, 0))
SM_WIDTH SM_HEIGHT SM_SAMPLE(float2, , c.__v[0], c.__v[1], 0, 0, int2, offset.__v[0], offset.__v[1],
                             0) SM_GATHER(float2, , c.__v[0], c.__v[1], 0, 0)
    SM_COMPARE(float2, , c.__v[0], c.__v[1], 0, 0)
};
SM_TEXTURE_CLASS(depth2d_array, __sm_2d_array)
SM_DEPTH_ONLY
SM_READ(2, SLICE_LOD, SM_AT_2(slice, 0, lod, 0))
SM_WIDTH SM_HEIGHT SM_ARRAY_SIZE SM_SAMPLE(float2, SM_COMMA_SLICE, c.__v[0], c.__v[1], 0, slice,
                                           int2, offset.__v[0], offset.__v[1], 0)
    SM_GATHER(float2, SM_COMMA_SLICE, c.__v[0], c.__v[1], 0, slice)
        SM_COMPARE(float2, SM_COMMA_SLICE, c.__v[0], c.__v[1], 0, slice)
}
;
SM_TEXTURE_CLASS(depthcube, __sm_cube)
SM_DEPTH_ONLY
SM_READ(2, FACE_LOD, SM_AT_2(0, face, lod, 0))
SM_WIDTH SM_HEIGHT SM_SAMPLE_CUBE(, 0) SM_GATHER_CUBE(, 0)
    SM_COMPARE(float3, , c.__v[0], c.__v[1], c.__v[2], 0)
}
;
SM_TEXTURE_CLASS(depthcube_array, __sm_cube_array)
SM_DEPTH_ONLY
SM_READ(2, FACE_SLICE_LOD, SM_AT_2(slice, face, lod, 0))
SM_WIDTH SM_HEIGHT SM_ARRAY_SIZE SM_SAMPLE_CUBE(SM_COMMA_SLICE, slice)
    SM_GATHER_CUBE(SM_COMMA_SLICE, slice)
        SM_COMPARE(float3, SM_COMMA_SLICE, c.__v[0], c.__v[1], c.__v[2], slice)
}
;
template <class T, access A = access::read>
struct depth2d_ms : __sm_texture<T, A, __sm_2d_ms> {
  SM_DEPTH_ONLY
  SM_READ(2, SAMPLE, SM_AT_2(0, 0, 0, sample))
  SM_WIDTH SM_HEIGHT SM_SAMPLES
};
template <class T, access A = access::read>
struct depth2d_ms_array : __sm_texture<T, A, __sm_2d_ms_array> {
  SM_DEPTH_ONLY
  SM_READ(2, SLICE_SAMPLE, SM_AT_2(slice, 0, 0, sample))
  SM_WIDTH SM_HEIGHT SM_ARRAY_SIZE SM_SAMPLES
};

SM_IS_TEXTURE(depth2d)
SM_IS_TEXTURE(depth2d_array)
SM_IS_TEXTURE(depthcube)
SM_IS_TEXTURE(depthcube_array)
SM_IS_TEXTURE_MS(depth2d_ms)
SM_IS_TEXTURE_MS(depth2d_ms_array)

}  // namespace metal
