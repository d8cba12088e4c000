// Runs the kernel of a shared object as the host driver does (native_abi.h): reads two arrays from
// the standard input, and writes the third, all of them filled by the kernel, to the standard
// output.
//
//   cc -DKERNEL=name -DBLOCKS=n -DLEFT=bytes -DRIGHT=bytes -DSUMS=bytes run_kernel.c kernels.so
#include <stdint.h>
#include <stdio.h>

extern int32_t KERNEL(const void* const* arguments, const uint32_t* groups, uint64_t begin,
                      uint64_t end);

static _Alignas(64) char left[LEFT], right[RIGHT], sums[SUMS];

int main(void) {
  const void* const arguments[] = {left, right, sums};
  const uint32_t groups[] = {BLOCKS, 1, 1};
  if (fread(left, 1, LEFT, stdin) != LEFT || fread(right, 1, RIGHT, stdin) != RIGHT) return 2;
  const int32_t status = KERNEL(arguments, groups, 0, BLOCKS);
  return fwrite(sums, 1, SUMS, stdout) == SUMS ? status : 2;
}
