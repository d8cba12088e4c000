// Calls that stand for parts of a graph that run on the host.
//
// A graph may be compiled for two devices: some nodes run as native code on the processor, the rest
// on a device such as a GPU. In the plan for the device, each part for the host is a call whose
// payload is the package of the part (package/package_file.h). Its reading copies the tensors that
// the part reads to the host, and its end copies the results back.
#pragma once

#include <string_view>

#include "runtime/plan/plan.h"

namespace texloom::runtime {

// No user may declare operators of this domain.
inline constexpr std::string_view kHostPartDomain = "texloom.host::";
// The name of the call's attribute that has the target of the part, as text.
inline constexpr std::string_view kHostPartTarget = "target";

inline bool is_host_part(const OperatorCall& call) { return call.op.starts_with(kHostPartDomain); }
bool has_host_parts(const LaunchPlan& plan);

}  // namespace texloom::runtime
