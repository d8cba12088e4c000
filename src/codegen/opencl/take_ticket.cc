#include "codegen/opencl/take_ticket.h"

namespace texloom::codegen::opencl {

// The barriers order the accesses of the block's threads before and after those of its first
// thread, whose fences order them for the device. The next launch begins after this one, so the
// counter needs no fence.
const std::string& take_ticket(Prelude& prelude) {
  return prelude.use("tl_take_ticket", R"(#if defined(__NV_CL_C_VERSION)
#define TL_DEVICE_FENCE() asm volatile("fence.acq_rel.gpu;" ::: "memory")
#elif defined(__opencl_c_atomic_scope_device) && defined(__opencl_c_atomic_order_acq_rel)
#define TL_DEVICE_FENCE() \
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)
#else
#define TL_DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
int tl_take_ticket(volatile __global int* counter, int count, volatile __local int* is_last) {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0) {
    TL_DEVICE_FENCE();
    const int last = atomic_inc(counter) == count - 1;
    if (last) *counter = 0;
    TL_DEVICE_FENCE();
    *is_last = last;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return *is_last;
}
)");
}

}  // namespace texloom::codegen::opencl
