// Turns the segments of a command buffer into OpenCL's enqueue calls.
#pragma once

#include "runtime/drivers/opencl/context.h"
#include "runtime/drivers/opencl/handle.h"
#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// Encodes into one in-order queue. Used by one thread at a time.
class Encoder {
 public:
  Encoder(const Context& context, cl_command_queue queue) : context_(context), queue_(queue) {}

  // Enqueues what the segment says without waiting. `done`, when not null, receives the event of
  // the last call, which completes after the others.
  Status encode(const Segment& segment, cl_event* done);

 private:
  Status encode(const DispatchSegment& segment, cl_event* done);
  Status encode(const UpdateSegment& segment, cl_event* done);
  Status encode(const ReadbackSegment& segment, cl_event* done);
  Status encode(const CopyBufferSegment& segment, cl_event* done);
  Status encode(const CopyBufferToTextureSegment& segment, cl_event* done);
  Status encode(const CopyTextureToBufferSegment& segment, cl_event* done);
  Status encode(const CopyTextureSegment& segment, cl_event* done);

  const Context& context_;
  cl_command_queue queue_;
};

}  // namespace texloom::hal::opencl
