#include <metal_stdlib>
#include <metal_math>
#include <metal_texture>
using namespace metal;
#line 5 "groups.slang"
struct GlobalParams_0
{
    uint count_0;
};
struct KernelContext_0
{
    float device* input_0;
    float device* output_0;
    GlobalParams_0 constant* params_0;
    threadgroup array<float, int(8)> * sums_0;
};
float load_0(uint i_0, KernelContext_0 thread* context_0)
{
    float _S1;
    if(i_0 < (context_0->params_0->count_0))
    {
        _S1 = *(context_0->input_0+i_0);
    }
    else
    {
        _S1 = 0.0;
    }
    return _S1;
}
[[kernel]] void computeMain(uint3 thread_0 [[thread_position_in_grid]], uint3 local_0 [[thread_position_in_threadgroup]], uint3 group_0 [[threadgroup_position_in_grid]], float device* input_1 [[buffer(0)]], float device* output_1 [[buffer(1)]], GlobalParams_0 constant* params_1 [[buffer(2)]])
{
    thread KernelContext_0 context_1;
    (&context_1)->input_0 = input_1;
    (&context_1)->output_0 = output_1;
    (&context_1)->params_0 = params_1;
    threadgroup array<float, int(8)> sums_1;
    (&context_1)->sums_0 = &sums_1;
    float _S2 = load_0(thread_0.x, &context_1);
    (*(&context_1)->sums_0)[local_0.x] = _S2;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int i_1 = int(0);
    float total_0 = 0.0;
    for(;;)
    {
        if(i_1 < int(8))
        {
        }
        else
        {
            break;
        }
        total_0 = total_0 + (*(&context_1)->sums_0)[i_1];
        i_1 = i_1 + int(1);
    }
    if((local_0.x) == 0U)
    {
        *((&context_1)->output_0+group_0.x) = total_0;
    }
    return;
}
