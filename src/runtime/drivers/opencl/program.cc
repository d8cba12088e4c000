#include "runtime/drivers/opencl/program.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/drivers/opencl/error.h"
#include "runtime/drivers/opencl/kernel_check.h"

namespace texloom::hal::opencl {
namespace {

constexpr std::array kFormats = {KernelFormat::OpenClC, KernelFormat::OpenClBinary};

// What an option of OpenCL's compilers allows (OpenCL 1.2, 5.6.4.3).
struct MathOption {
  MathMode allows;
  std::string_view option;
};
constexpr std::array<MathOption, 6> kMathOptions = {{
    {MathMode::Contract, "-cl-mad-enable"},
    {MathMode::IgnoreSignedZeros, "-cl-no-signed-zeros"},
    {MathMode::FlushDenormals, "-cl-denorms-are-zero"},
    {MathMode::AssumeFinite, "-cl-finite-math-only"},
    {MathMode::Reassociate, "-cl-unsafe-math-optimizations"},
    {MathMode::Reassociate | MathMode::AssumeFinite, "-cl-fast-relaxed-math"},
}};

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos;
       at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || words[at - 1] == ' ';
    if (begins && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

std::string names_of(const std::vector<EntryPoint>& entry_points) {
  std::string names;
  for (const EntryPoint& entry : entry_points)
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

Result<ProgramHandle> create_program(const Context& context, const KernelCode& code) {
  const Api& api = context.api();
  const std::size_t length = code.code.size();
  cl_int error = CL_SUCCESS;
  if (code.format == KernelFormat::OpenClC) {
    const char* source = code.code.data();
    ProgramHandle program(context.shared_api(), api.clCreateProgramWithSource(
                                                    context.get(), 1, &source, &length, &error));
    TL_RETURN_IF_ERROR(to_status(error, "clCreateProgramWithSource"));
    return program;
  }
  const cl_device_id device = context.device();
  const auto* binary = reinterpret_cast<const unsigned char*>(code.code.data());
  ProgramHandle program(
      context.shared_api(),
      api.clCreateProgramWithBinary(context.get(), 1, &device, &length, &binary, nullptr, &error));
  const Status status = to_status(error, "clCreateProgramWithBinary");
  // A binary that is none, or another device's, is the user's mistake like a source with errors.
  if (error == CL_INVALID_BINARY) return Status(StatusCode::BuildFailed, status.message());
  TL_RETURN_IF_ERROR(status);
  return program;
}

Result<ProgramHandle> build_program(const Context& context, const KernelCode& code,
                                    const std::string& options) {
  TL_ASSIGN_OR_RETURN(ProgramHandle program, create_program(context, code));
  const cl_device_id device = context.device();
  const cl_int error =
      context.api().clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (error == CL_SUCCESS) return program;
  const Status status = to_status(error, "clBuildProgram");
  return make_error(status.code(), "{}, build log:\n{}", status.message(),
                    build_log(context, program.get()));
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

Result<std::string> build_options(const KernelCode& code, MathMode math) {
  std::string options;
  const auto add = [&](std::string_view option) {
    options += options.empty() ? "" : " ";
    options += option;
  };
  const bool is_source = code.format == KernelFormat::OpenClC;
  if (is_source) add(kArgumentInfoOption);
  for (const MathOption& each : kMathOptions) {
    if (is_source && allows(math, each.allows)) add(each.option);
  }
  for (const std::string& option : code.build_options) {
    for (const MathOption& each : kMathOptions) {
      if (has_word(option, each.option) && !allows(math, each.allows))
        return invalid_argument(
            "the build option \"{}\" relaxes arithmetic, and the math mode does not allow it",
            each.option);
    }
    add(option);
  }
  return options;
}

OpenClExecutable::OpenClExecutable(std::shared_ptr<const Context> context,
                                   std::vector<EntryPoint> entry_points, KernelCode code,
                                   std::string options)
    : Executable(context->info(), std::move(entry_points)),
      context_(std::move(context)),
      code_(std::move(code)),
      options_(std::move(options)) {}

Result<std::shared_ptr<Executable>> OpenClExecutable::create(std::shared_ptr<const Context> context,
                                                             const ExecutableDesc& desc) {
  TL_ASSIGN_OR_RETURN(const KernelCode* code, select_code(desc, kFormats, "opencl"));
  TL_ASSIGN_OR_RETURN(std::string options, build_options(*code, desc.math));
  return std::shared_ptr<Executable>(
      new OpenClExecutable(std::move(context), desc.entry_points, *code, std::move(options)));
}

Status OpenClExecutable::build() {
  Result<ProgramHandle> program = build_program(*context_, code_, options_);
  if (!program.ok())
    return program.status().with_context(fmt::format("kernel {}", names_of(entry_points())));
  TL_ASSIGN_OR_RETURN(const std::string names, kernel_names(*context_, program->get()));
  std::vector<KernelHandle> kernels;
  for (const EntryPoint& entry : entry_points()) {
    if (!contains_name(names, entry.name))
      return make_error(StatusCode::NotFound, "the code defines no kernel \"{}\"; it has: {}",
                        entry.name, names);
    cl_int code = CL_SUCCESS;
    KernelHandle kernel(context_->shared_api(),
                        context_->api().clCreateKernel(program->get(), entry.name.c_str(), &code));
    if (code != CL_SUCCESS)
      return to_status(code, "clCreateKernel")
          .with_context(fmt::format("kernel \"{}\"", entry.name));
    TL_RETURN_IF_ERROR(check_kernel(*context_, kernel.get(), entry));
    kernels.push_back(std::move(kernel));
  }
  program_ = *std::move(program);
  kernels_ = std::move(kernels);
  code_ = {};  // nobody reads it again
  return {};
}

}  // namespace texloom::hal::opencl
