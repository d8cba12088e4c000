"""Texts that are not valid programs. The wrong line ends with the comment ``// wrong``."""

from __future__ import annotations

from bad_input import text_case


@text_case("TL6001")
def two_equals_signs() -> str:
    return """program main stage=loops
  param A: global float32[8]
  A[0] == 1.0  // wrong
"""


@text_case("TL6001")
def block_that_is_not_closed() -> str:
    return """program main stage=loops
  param A: global float32[8]
  for i < 8 {
    A[i] = 1.0  // wrong
"""


@text_case("TL6001")
def word_where_a_statement_stands() -> str:
    return """program main stage=loops
  store A[0] = 1.0  // wrong
"""


@text_case("TL6002")
def name_that_is_not_declared() -> str:
    return """program main stage=loops
  param A: global float32[8]
  A[0] = B[0]  // wrong
"""


@text_case("TL6002")
def operands_of_two_types() -> str:
    return """program main stage=loops
  param A: global float32[8]
  A[0] = A[1] + 1  // wrong
"""


@text_case("TL6002")
def texels_that_do_not_follow_from_the_layout() -> str:
    return """program main stage=loops
  param T: texture2d<float32>[2, 4] 4 x 4 texels,  // wrong
    texture[(a, b) -> rows=(a), cols=(b/4), lanes=(b%4)]
"""


@text_case("TL6003")
def constant_index_out_of_range() -> str:
    return """program main stage=loops
  param A: global float32[8]
  A[8] = 1.0  // wrong
"""


@text_case("TL6003")
def barrier_that_some_threads_skip() -> str:
    return """program main stage=kernels
  launch k() grid=(1, 1, 1) block=(4, 1, 1)

kernel k grid=(1, 1, 1) block=(4, 1, 1)
  axis tx = threadIdx.x < 4
  if tx < 2 {
    barrier  // wrong
  }
"""


@text_case("TL3019")
def brackets_inside_one_another() -> str:
    return f"""program main stage=loops
  param A: global float32[8]
  A[0] = {"(" * 1001}1.0{")" * 1001}  // wrong
"""


@text_case("TL3024")
def update_of_a_scan_with_a_scope() -> str:
    return """program main stage=te target="opencl"
  param A
placeholder A: float32[4]
compute I(t < 1): float32 = A[t]
placeholder R: float32[4]
compute U(t < 4): float32 = R[t - 1] + A[t]
  scope local
scan S(S.idx)  // wrong
  state R init=I update=U
  output
"""
