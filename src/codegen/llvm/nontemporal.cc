#include "codegen/llvm/nontemporal.h"

#include "codegen/legalize/kernel_ranges.h"
#include "ir/arith/simplify.h"
#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::codegen::native {

namespace {

constexpr std::string_view kVectorize =
    "split the innermost axis by a factor that divides it and makes vectors of 16 bytes or a "
    "multiple, and vectorize the inner loop";

[[noreturn]] void refuse(const ir::Store& n, std::string_view why, std::string_view help) {
  fail(n.location, Code::BadPragma, std::string(help), "'{}' cannot be stored past the caches: {}",
       n.buffer->name, why);
}

void check(const ir::Store& n, const ir::arith::Ranges& ranges) {
  const auto* ramp = as<ir::Ramp>(n.indices.front());
  const bool consecutive = ramp != nullptr && is_int(ramp->stride, 1);
  if (!consecutive) refuse(n, "no vector of consecutive elements is stored", kVectorize);
  const int64_t bytes = n.buffer->type.bytes();
  if (ramp->type.lanes * bytes % kNontemporalBytes != 0)
    refuse(n, "its vectors have no multiple of 16 bytes", kVectorize);
  const ir::Expr past =
      ir::arith::simplify(floormod(ramp->base, kNontemporalBytes / bytes), ranges);
  if (is_int(past, 0)) return;
  refuse(n, "its vectors are not known to be aligned to 16 bytes",
         "choose factors that divide their axes, and an innermost extent that is a multiple of 16 "
         "bytes");
}

}  // namespace

void check_nontemporal_stores(const ir::Kernel& kernel) {
  const ir::arith::Ranges ranges = ranges_of(kernel);
  walk(kernel.body, [&](const ir::Store& n) {
    if (n.buffer->nontemporal) check(n, ranges);
  });
}

}  // namespace texloom::codegen::native
