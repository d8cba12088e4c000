#include "tests/softmetal/execute/calls.h"

#include <algorithm>
#include <bit>

#include "tests/softmetal/execute/execution.h"

namespace softmetal {
namespace {

Execution& here() { return *Execution::current(); }

// Runs a program's request. If the request ends the execution, the thread does not continue.
template <class F>
auto guarded(F call) {
  try {
    return call();
  } catch (const Execution::Abandoned&) {
  }
  here().leave();
}

void on_access(const void* address, size_t size, int writes, int aligned) {
  guarded([&] {
    if (writes == 2) here().access(address, size, Access::Read, true, aligned != 0);
    here().access(address, size, writes != 0 ? Access::Write : Access::Read, true, aligned != 0);
  });
}
void on_copy(void* to, const void* from, size_t size) {
  guarded([&] {
    if (size == 0) return;
    here().access(from, size, Access::Read, false, false);
    here().access(to, size, Access::Write, false, false);
  });
}
void on_fill(void* to, size_t size) {
  guarded([&] {
    if (size != 0) here().access(to, size, Access::Write, false, false);
  });
}
void on_barrier(uint32_t flags, const void* site, const void* frame) {
  guarded([&] { here().barrier(flags, site, frame); });
}
void on_simdgroup_barrier(uint32_t flags, const void* site, const void* frame) {
  guarded([&] { here().simdgroup_barrier(flags, site, frame); });
}
const void* on_gather(const void* value, uint32_t size, uint32_t quad, const void* site,
                      const void* frame) {
  return guarded(
      [&]() -> const void* { return here().gather(value, size, quad != 0, site, frame); });
}
uint32_t on_lane(uint32_t quad) { return here().lane(quad != 0); }
uint32_t on_lane_count(uint32_t quad) { return here().lane_count(quad != 0); }
void on_bad_lane(uint32_t lane, uint32_t quad) {
  guarded([&] {
    here().fail(ReportKind::Lane, "shuffles from lane " + std::to_string(lane) + ", but the " +
                                      (quad != 0 ? "quadgroup" : "simdgroup") + " has " +
                                      std::to_string(here().lane_count(quad != 0)) + " threads");
  });
}
void on_atomic(const volatile void* object, uint32_t size, uint32_t writes) {
  guarded([&] {
    here().may_yield();
    static constexpr Access kAccesses[] = {Access::AtomicLoad, Access::AtomicStore,
                                           Access::AtomicUpdate};
    here().access(const_cast<const void*>(object), size, kAccesses[writes], true, true);
  });
}
void on_fence(uint32_t flags) { (void)flags; }
void* on_threadgroup_variable(uint32_t id, uint64_t size, uint64_t alignment) {
  return guarded([&]() -> void* { return here().threadgroup_variable(id, size, alignment); });
}

// Returns whether a texel is inside its texture. Reports a texel outside if the options say so.
bool is_inside_or_noted(const Texture& t, const SmTexelAt& at, const char* verb) {
  if (is_inside(t, at)) return true;
  if (here().options().report_texture_bounds) {
    here().note(ReportKind::TextureBounds,
                std::string(verb) + " texel (" + std::to_string(at.x) + ", " +
                    std::to_string(at.y) + ", " + std::to_string(at.z) + ") of slice " +
                    std::to_string(at.slice) + ", level " + std::to_string(at.lod) +
                    ", outside of a texture of " + std::to_string(t.width) + " x " +
                    std::to_string(t.height) + " x " + std::to_string(t.depth));
  }
  return false;
}

// Returns a function that records the texels that a sampler reads.
TexelReads reads_of(const Texture& t) {
  return [&t](const uint8_t* texel) { here().touch(t, texel, false); };
}

void on_texture_read(uint64_t handle, uint32_t type, const SmTexelAt* at, uint32_t* texel) {
  guarded([&] {
    const Texture& t = here().texture(handle, type, true, false);
    if (is_inside_or_noted(t, *at, "reads")) {
      const uint8_t* const from = texel_address(t, *at);
      here().touch(t, from, false);
      decode_texel(t.format, from, texel);
    } else {
      std::fill(texel, texel + 4, 0U);
    }
  });
}
void on_texture_write(uint64_t handle, uint32_t type, const SmTexelAt* at, const uint32_t* texel) {
  guarded([&] {
    const Texture& t = here().texture(handle, type, false, true);
    if (is_inside_or_noted(t, *at, "writes")) {
      const uint8_t* const to = texel_address(t, *at);
      here().touch(t, to, true);
      encode_texel(t.format, texel, const_cast<uint8_t*>(to));
    }
  });
}
void on_texture_sample(uint64_t handle, uint32_t type, uint64_t sampler, const SmSampleAt* at,
                       uint32_t* texel) {
  guarded([&] {
    const Texture& t = here().texture(handle, type, true, false);
    sample_texture(t, SamplerState{sampler}, *at, texel, reads_of(t));
  });
}
void on_texture_gather(uint64_t handle, uint32_t type, uint64_t sampler, const SmSampleAt* at,
                       uint32_t component, uint32_t* texels) {
  guarded([&] {
    const Texture& t = here().texture(handle, type, true, false);
    gather_texture(t, SamplerState{sampler}, *at, component, texels, reads_of(t));
  });
}

// Operation 8, compare and exchange, has the expected value in its upper half.
uint32_t apply_atomic(uint64_t operation, bool is_signed, uint32_t old, uint32_t x) {
  const auto a = static_cast<int32_t>(old), b = static_cast<int32_t>(x);
  if ((operation & 0xff) == 8) return old == operation >> 32 ? x : old;
  switch (operation) {
    case 0:
      return old + x;
    case 1:
      return old - x;
    case 2:
      return old & x;
    case 3:
      return old | x;
    case 4:
      return old ^ x;
    case 5:
      return is_signed ? static_cast<uint32_t>(std::min(a, b)) : std::min(old, x);
    case 6:
      return is_signed ? static_cast<uint32_t>(std::max(a, b)) : std::max(old, x);
    default:
      return x;
  }
}
uint32_t on_texture_atomic(uint64_t handle, uint32_t type, const SmTexelAt* at, uint64_t operation,
                           uint32_t operand) {
  return guarded([&]() -> uint32_t {
    here().may_yield();
    const Texture& t = here().texture(handle, type, true, true);
    if (format_info(t.format)->bytes != 4 || format_info(t.format)->channels != 1) {
      here().fail(ReportKind::Texture,
                  std::string("atomic operations need the format R32Uint or R32Sint, not ") +
                      format_info(t.format)->name);
    }
    if (!is_inside_or_noted(t, *at, "updates")) return 0;
    const uint8_t* const texel = texel_address(t, *at);
    here().touch(t, texel, false);
    here().touch(t, texel, true);
    auto* word = reinterpret_cast<uint32_t*>(const_cast<uint8_t*>(texel));
    const bool is_signed = format_info(t.format)->kind == TexelKind::Int;
    uint32_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(word, &old,
                                        apply_atomic(operation, is_signed, old, operand), true,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return old;
  });
}
uint32_t on_texture_size(uint64_t handle, uint32_t type, uint32_t what, uint32_t lod) {
  return guarded([&]() -> uint32_t {
    const Texture& t = here().texture(handle, type, false, false);
    switch (what) {
      case 0:
        return t.width_of(lod);
      case 1:
        return t.height_of(lod);
      case 2:
        return t.depth_of(lod);
      case 3:
        return t.layers;
      case 4:
        return static_cast<uint32_t>(t.levels.size());
      default:
        return t.samples;
    }
  });
}

}  // namespace

const SmCalls& program_calls() {
  static constexpr SmCalls kCalls = {on_access,
                                     on_copy,
                                     on_fill,
                                     on_barrier,
                                     on_simdgroup_barrier,
                                     on_gather,
                                     on_lane,
                                     on_lane_count,
                                     on_bad_lane,
                                     on_atomic,
                                     on_fence,
                                     on_threadgroup_variable,
                                     on_texture_read,
                                     on_texture_write,
                                     on_texture_sample,
                                     on_texture_gather,
                                     on_texture_atomic,
                                     on_texture_size};
  return kCalls;
}

}  // namespace softmetal
