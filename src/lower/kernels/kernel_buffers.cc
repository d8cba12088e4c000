#include "lower/kernels/kernel_buffers.h"

#include <algorithm>

#include "ir/accesses.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

bool among(const std::vector<Buffer>& list, const Buffer& b) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Buffer& other) { return other.same_as(b); });
}

}  // namespace

std::vector<std::pair<Buffer, Access>> buffers_of(const Stmt& body) {
  std::vector<Buffer> read, written;
  const auto note = [](std::vector<Buffer>& list, const Buffer& b) {
    if (b->memory == MemoryScope::Global && !among(list, b)) list.push_back(b);
  };
  for_each_access(body, [&](const BufferAccess& n) {
    if (n.reads()) note(read, n.buffer);
    if (n.writes()) note(written, n.buffer);
  });
  std::vector<std::pair<Buffer, Access>> buffers;
  for (const Buffer& b : read) {
    buffers.emplace_back(b, among(written, b) ? Access::ReadWrite : Access::Read);
  }
  for (const Buffer& b : written) {
    if (!among(read, b)) buffers.emplace_back(b, Access::Write);
  }
  return buffers;
}

void update_access(Kernel& kernel) {
  for (const auto& [buffer, access] : buffers_of(kernel.body)) {
    for (KernelParam& p : kernel.params) {
      if (p.buffer && p.buffer.same_as(buffer)) p.access = access;
    }
  }
}

}  // namespace texloom::lower
