#include "runtime/drivers/opencl/program.h"

#include <string>
#include <string_view>

#include "runtime/drivers/opencl/error.h"
#include "runtime/drivers/opencl/kernel_check.h"

namespace texloom::hal::opencl {
namespace {

std::string join_options(const ExecutableDesc& desc) {
  std::string options = kArgumentInfoOption;
  for (const std::string& option : desc.build_options) options += " " + option;
  return options;
}

std::string names_of_entry_points(const ExecutableDesc& desc) {
  std::string names;
  for (const EntryPoint& entry : desc.entry_points)
    names += (names.empty() ? "\"" : ", \"") + entry.name + "\"";
  return names;
}

std::string build_log(const Context& context, cl_program program) {
  const Api& api = context.api();
  std::size_t size = 0;
  if (api.clGetProgramBuildInfo(program, context.device(), CL_PROGRAM_BUILD_LOG, 0, nullptr,
                                &size) != CL_SUCCESS)
    return "(the driver gave no build log)";
  std::string log(size, '\0');
  api.clGetProgramBuildInfo(program, context.device(), CL_PROGRAM_BUILD_LOG, size, log.data(),
                            nullptr);
  log.resize(log.find_last_not_of(std::string_view("\0\n ", 3)) + 1);
  return log.empty() ? "(the driver gave an empty build log)" : log;
}

Result<ProgramHandle> build(const Context& context, const ExecutableDesc& desc) {
  const Api& api = context.api();
  const char* source = desc.source.data();
  const std::size_t length = desc.source.size();
  cl_int code = CL_SUCCESS;
  ProgramHandle program(context.shared_api(),
                        api.clCreateProgramWithSource(context.get(), 1, &source, &length, &code));
  TL_RETURN_IF_ERROR(to_status(code, "clCreateProgramWithSource"));
  const cl_device_id device = context.device();
  code =
      api.clBuildProgram(program.get(), 1, &device, join_options(desc).c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  const Status status = to_status(code, "clBuildProgram");
  return make_error(status.code(), "{} of kernel {}, build log:\n{}", status.message(),
                    names_of_entry_points(desc), build_log(context, program.get()));
}

Result<std::string> kernel_names(const Context& context, cl_program program) {
  const Api& api = context.api();
  std::size_t size = 0;
  TL_RETURN_IF_ERROR(
      to_status(api.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size),
                "clGetProgramInfo"));
  std::string names(size, '\0');
  TL_RETURN_IF_ERROR(
      to_status(api.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr),
                "clGetProgramInfo"));
  return std::string(names.c_str());
}

// `names` are separated by semicolons.
bool contains_name(std::string_view names, std::string_view name) {
  const std::string separated = fmt::format(";{};", names);
  return separated.find(fmt::format(";{};", name)) != std::string::npos;
}

}  // namespace

OpenClExecutable::OpenClExecutable(std::shared_ptr<const Context> context,
                                   const ExecutableDesc& desc, ProgramHandle program,
                                   std::vector<KernelHandle> kernels)
    : Executable(context->info(), desc.entry_points),
      context_(std::move(context)),
      program_(std::move(program)),
      kernels_(std::move(kernels)) {}

Result<std::shared_ptr<Executable>> OpenClExecutable::create(std::shared_ptr<const Context> context,
                                                             const ExecutableDesc& desc) {
  TL_ASSIGN_OR_RETURN(ProgramHandle program, build(*context, desc));
  TL_ASSIGN_OR_RETURN(const std::string names, kernel_names(*context, program.get()));
  std::vector<KernelHandle> kernels;
  for (const EntryPoint& entry : desc.entry_points) {
    if (!contains_name(names, entry.name))
      return make_error(StatusCode::NotFound, "the source defines no kernel \"{}\"; it has: {}",
                        entry.name, names);
    cl_int code = CL_SUCCESS;
    KernelHandle kernel(context->shared_api(),
                        context->api().clCreateKernel(program.get(), entry.name.c_str(), &code));
    if (code != CL_SUCCESS)
      return to_status(code, "clCreateKernel")
          .with_context(fmt::format("kernel \"{}\"", entry.name));
    TL_RETURN_IF_ERROR(check_kernel(*context, kernel.get(), entry));
    kernels.push_back(std::move(kernel));
  }
  return std::shared_ptr<Executable>(
      new OpenClExecutable(std::move(context), desc, std::move(program), std::move(kernels)));
}

}  // namespace texloom::hal::opencl
