// language: metal1.0
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct Body {
    metal::float2 pos;
    metal::float2 vel;
};
struct Settings {
    float dt;
    uint count;
    char _pad2[8];
};
typedef Body type_2[1];
struct type_4 {
    uint inner[2];
};
constant float LIMIT = 10.0;

metal::float2 advance(
    metal::float2 p,
    metal::float2 v,
    float dt
) {
    metal::float2 moved = {};
    moved = p + (v * dt);
    metal::float2 _e6 = moved;
    return metal::clamp(_e6, metal::float2(-(LIMIT)), metal::float2(LIMIT));
}

struct main_Input {
};
kernel void main_(
  metal::uint3 id [[thread_position_in_grid]]
, metal::uint3 __local_invocation_id [[thread_position_in_threadgroup]]
, constant Settings& settings [[buffer(0)]]
, device type_2 const& from [[buffer(1)]]
, device type_2& to [[buffer(2)]]
, threadgroup uint& shared_count
) {
    if (metal::all(__local_invocation_id == metal::uint3(0u))) {
        shared_count = {};
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint i = {};
    type_4 pair = type_4 {{1u, 2u}};
    i = id.x;
    uint _e8 = i;
    if (_e8 >= settings.count) {
        return;
    }
    uint _e12 = i;
    metal::float2 p = from[_e12].pos;
    metal::float2 v = from[_e12].vel;
    metal::float2 _e20 = advance(p, v, settings.dt);
    bool bounced = metal::any(metal::abs(_e20) >= metal::float2(LIMIT));
    to[_e12].pos = _e20;
    to[_e12].vel = bounced ? -v : v * float(pair.inner[0]);
    return;
}
