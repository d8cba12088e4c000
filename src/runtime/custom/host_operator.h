// Custom operators that are functions on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/custom/operator.h"
#include "support/status.h"

namespace texloom::runtime {

// A tensor as a host operator sees it: a copy in host memory. A tensor that the operator only reads
// is the memory itself if that is an array on the host.
struct HostTensor {
  const TensorSpec& spec;
  // The elements of spec.layout.shape in row-major order. If takes_places() is true, the contents
  // of all places row by row instead, padding included. Values written here are kept if the
  // argument is declared as written; no other argument may be written. Zero at first if the
  // argument is not read.
  std::span<std::byte> data;
};

struct HostArguments {
  std::span<const HostTensor> tensors;  // by argument
  const Attributes& attributes;
  std::span<const std::byte> payload;
};

// A function over arrays. A submission calls it when all earlier commands are complete, and starts
// later commands when it has returned, so each call costs a round trip to the host.
class HostOperator : public CustomOperator {
 public:
  // Called on a thread of a queue, or on a thread that waits for the queue; concurrently if several
  // queues run the operator. An error fails the submission. Must not wait for a device.
  virtual Status run(const HostArguments& arguments) const = 0;

  // Whether run() takes the places of tensors (plan/tensor_layout.h) instead of their elements.
  virtual bool takes_places() const { return false; }

  Result<std::unique_ptr<PreparedCall>> prepare(PrepareContext& context) const final;
};

}  // namespace texloom::runtime
