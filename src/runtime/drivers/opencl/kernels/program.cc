#include "runtime/drivers/opencl/kernels/program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/api/error.h"
#include "runtime/drivers/opencl/kernels/builtin_declarations.h"
#include "runtime/drivers/opencl/kernels/kernel_check.h"
#include "runtime/drivers/opencl/platform/quirks.h"
#include "runtime/drivers/opencl/platform/words.h"
#include "runtime/hal/internal/executables/entry_point_key.h"
#include "runtime/hal/internal/submission/exit_handlers.h"
#include "runtime/hal/profile.h"

namespace texloom::hal::opencl {
namespace {

// The math mode that an option of OpenCL's compilers allows (OpenCL 1.2, 5.6.4.3).
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
    TL_RETURN_IF_ERROR(check_made(error, program.get(), "clCreateProgramWithSource"));
    return program;
  }
  const cl_device_id device = context.device();
  const auto* binary = reinterpret_cast<const unsigned char*>(code.code.data());
  ProgramHandle program(
      context.shared_api(),
      api.clCreateProgramWithBinary(context.get(), 1, &device, &length, &binary, nullptr, &error));
  const Status status = check_made(error, program.get(), "clCreateProgramWithBinary");
  // An invalid binary, or one for another device, is the user's mistake, like source with errors.
  if (error == CL_INVALID_BINARY) return Status(StatusCode::BuildFailed, status.message());
  TL_RETURN_IF_ERROR(status);
  return program;
}

Result<ProgramHandle> build_once(const Context& context, const KernelCode& code,
                                 const std::string& options) {
  TL_ASSIGN_OR_RETURN(ProgramHandle program, create_program(context, code));
  const cl_device_id device = context.device();
  const cl_int error =
      context.api().clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (error == CL_SUCCESS) return program;
  const Status status = to_error(error, "clBuildProgram");
  return make_error(error == CL_INVALID_BINARY ? StatusCode::BuildFailed : status.code(),
                    "{}, build log:\n{}", status.message(), build_log(context, program.get()));
}

// Builds OpenCL C without the compiler's header of built-in functions.
Result<ProgramHandle> build_without_header(const Context& context, const KernelCode& code,
                                           const std::string& options) {
  const std::optional<std::string> declarations = builtin_declarations(code.code);
  if (!declarations)
    return make_error(StatusCode::BuildFailed,
                      "the program needs the header of built-in functions");
  const KernelCode declared{.format = code.format, .code = *declarations + code.code};
  return build_once(context, declared, fmt::format("{} {}", options, kNoBuiltinHeader));
}

Result<ProgramHandle> build_program(const Context& context, const KernelCode& code,
                                    const std::string& options) {
  const std::unique_lock building = context.lock_build();
  if (code.format == KernelFormat::OpenClC && has_quirk(*context.info(), kSlowBuiltinHeader)) {
    Result<ProgramHandle> program = build_without_header(context, code, options);
    if (program.status().code() != StatusCode::BuildFailed) return program;
  }
  Result<ProgramHandle> program = build_once(context, code, options);
  const std::size_t place = options.find(kArgumentInfoOption);
  if (program.status().code() != StatusCode::BuildFailed || place == std::string::npos ||
      !has_quirk(*context.info(), kUndescribableKernels))
    return program;
  std::string fewer = options;
  return build_once(context, code, fewer.erase(place, std::strlen(kArgumentInfoOption)));
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

Result<KernelHandle> create_kernel(const Context& context, cl_program program,
                                   const EntryPoint& entry) {
  cl_int error = CL_SUCCESS;
  KernelHandle kernel(context.shared_api(),
                      context.api().clCreateKernel(program, entry.name.c_str(), &error));
  const Status created = check_made(error, kernel.get(), "clCreateKernel");
  if (!created.ok()) return created.with_context(fmt::format("kernel \"{}\"", entry.name));
  return kernel;
}

// Returns the kernels of a built program, by entry point, whose parameters are checked.
Result<std::vector<KernelHandle>> create_kernels(const Context& context, cl_program program,
                                                 const std::vector<EntryPoint>& entry_points) {
  const std::unique_lock building = context.lock_build();
  TL_ASSIGN_OR_RETURN(const std::string names, kernel_names(context, program));
  std::vector<KernelHandle> kernels;
  for (const EntryPoint& entry : entry_points) {
    if (!contains_name(names, entry.name))
      return make_error(StatusCode::NotFound, "the code defines no kernel \"{}\"; it has: {}",
                        entry.name, names);
    TL_ASSIGN_OR_RETURN(KernelHandle kernel, create_kernel(context, program, entry));
    TL_RETURN_IF_ERROR(check_kernel(context, kernel.get(), entry));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

// Makes a program, and checks that it has the kernels.
Result<ProgramHandle> make_program(const Context& context, const KernelCode& code,
                                   const std::string& options,
                                   const std::vector<EntryPoint>& entry_points) {
  Result<ProgramHandle> program = build_program(context, code, options);
  if (!program.ok())
    return program.status().with_context(fmt::format("kernel {}", names_of(entry_points)));
  TL_RETURN_IF_ERROR(create_kernels(context, program->get(), entry_points).status());
  return program;
}

BinaryKey key_of(const BinaryMaker& maker, const KernelCode& code, const std::string& options,
                 const std::vector<EntryPoint>& entry_points) {
  BinaryKey key;
  key.add(maker).add(code.code).add(options);
  add_entry_points(key, entry_points);
  return key;
}

// The first of the codes that this driver made of a source; null if there is none.
const KernelCode* made_code(const std::vector<KernelCode>& codes, const BinaryMaker& maker) {
  const auto found = std::ranges::find_if(codes, [&](const KernelCode& code) {
    return code.format == KernelFormat::OpenClBinary && code.origin && code.origin->maker == maker;
  });
  return found == codes.end() ? nullptr : &*found;
}

// Loads a program from a binary. On any error, including a driver that rejects its own binary, the
// caller builds the program from source.
Result<ProgramHandle> load(const Context& context, std::optional<std::string> binary,
                           const std::string& options,
                           const std::vector<EntryPoint>& entry_points) {
  if (!binary) return make_error(StatusCode::NotFound, "no stored binary");
  const KernelCode code{.format = KernelFormat::OpenClBinary, .code = *std::move(binary)};
  return make_program(context, code, options, entry_points);
}

// Returns the devices of the program: those of its context. Only an application's context may have
// several.
std::vector<cl_device_id> devices_of(const Context& context, cl_program program) {
  if (!context.is_shared()) return {context.device()};
  cl_uint count = 0;
  if (context.api().clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count,
                                     nullptr) != CL_SUCCESS)
    return {};
  std::vector<cl_device_id> devices(count);
  if (context.api().clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id),
                                     devices.data(), nullptr) != CL_SUCCESS)
    return {};
  return devices;
}

// Returns the program's binary; empty if the driver provides none.
std::string binary_of(const Context& context, cl_program program) {
  const Api& api = context.api();
  const std::vector<cl_device_id> devices = devices_of(context, program);
  const auto own = std::ranges::find(devices, context.device());
  if (own == devices.end()) return {};
  const auto place = static_cast<std::size_t>(own - devices.begin());
  std::vector<std::size_t> sizes(devices.size());
  if (api.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizes.size() * sizeof sizes[0],
                           sizes.data(), nullptr) != CL_SUCCESS)
    return {};
  std::string binary(sizes[place], '\0');
  std::vector<unsigned char*> places(devices.size());  // null: not wanted
  places[place] = reinterpret_cast<unsigned char*>(binary.data());
  if (binary.empty() ||
      api.clGetProgramInfo(program, CL_PROGRAM_BINARIES, places.size() * sizeof places[0],
                           places.data(), nullptr) != CL_SUCCESS)
    return {};
  return binary;
}

// Stores the program's binary. A failure does not affect the program; the cache counts it.
void store(const Context& context, BinaryCache& cache, const BinaryKey& key, cl_program program) {
  const std::string binary = binary_of(context, program);
  if (!binary.empty()) static_cast<void>(cache.store(key, binary));
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
            "the build option \"{}\" relaxes arithmetic, which the math mode does not allow",
            each.option);
    }
    add(option);
  }
  return options;
}

OpenClExecutable::OpenClExecutable(std::shared_ptr<const Context> context,
                                   std::vector<EntryPoint> entry_points, Codes codes)
    : Executable(context->info(), std::move(entry_points)),
      context_(std::move(context)),
      codes_(std::move(codes)) {}

Result<std::shared_ptr<Executable>> OpenClExecutable::create(std::shared_ptr<const Context> context,
                                                             const ExecutableDesc& desc) {
  TL_ASSIGN_OR_RETURN(const KernelCode* code, select_code(desc, *context->info()));
  Codes codes;
  codes.code = *code;
  TL_ASSIGN_OR_RETURN(codes.options, build_options(*code, desc.math));
  const KernelCode* const binary = made_code(desc.codes, maker_of(*context->info()));
  codes.builds_anew = desc.builds_anew;
  if (binary != nullptr && code->format == KernelFormat::OpenClC && !desc.builds_anew)
    codes.binary = *binary;
  return std::shared_ptr<Executable>(
      new OpenClExecutable(std::move(context), desc.entry_points, std::move(codes)));
}

Result<KernelHandle> OpenClExecutable::make_kernel(std::uint32_t entry_point) const {
  return create_kernel(*context_, program_->get(), entry_points()[entry_point]);
}

Result<cl_kernel> OpenClExecutable::kernel(std::uint32_t entry_point,
                                           const AddressedParams& addressed) const {
  if (std::ranges::find(addressed, true) == addressed.end()) return kernels_[entry_point].get();
  KernelHandle& kernel = addressed_kernels_[{entry_point, addressed}];
  if (!kernel) {
    TL_ASSIGN_OR_RETURN(kernel, make_kernel(entry_point));
  }
  return kernel.get();
}

Result<ProgramHandle> OpenClExecutable::load_or_build(const BinaryKey& key) const {
  const auto& [code, options, binary, builds_anew] = codes_;
  if (binary && binary->origin->key == key.digest()) {
    Result<ProgramHandle> loaded = load(*context_, binary->code, options, entry_points());
    if (loaded.ok()) return loaded;
  }
  BinaryCache* const cache = may_share() ? context_->binary_cache() : nullptr;
  if (cache != nullptr) {
    Result<ProgramHandle> loaded = load(*context_, cache->find(key), options, entry_points());
    if (loaded.ok()) return loaded;
  }
  TL_ASSIGN_OR_RETURN(ProgramHandle program,
                      make_program(*context_, code, options, entry_points()));
  if (cache != nullptr) store(*context_, *cache, key, program.get());
  return program;
}

Status OpenClExecutable::build() {
  const HostSpan span(context_->profile(), "build an executable");
  const BinaryMaker maker = maker_of(*context_->info());
  const BinaryKey key =
      has_source() ? key_of(maker, codes_.code, codes_.options, entry_points()) : BinaryKey();
  const auto make = [&]() -> Result<ProgramHandle> {
    TL_ASSIGN_OR_RETURN(ProgramHandle program, load_or_build(key));
    move_exit_handlers_up();  // after the compiler's, so that these run first
    return program;
  };
  if (may_share()) {
    TL_ASSIGN_OR_RETURN(program_, context_->programs().get(key.digest(), make));
  } else {
    TL_ASSIGN_OR_RETURN(ProgramHandle own, make());
    program_ = std::make_shared<const ProgramHandle>(std::move(own));
  }
  TL_ASSIGN_OR_RETURN(kernels_, create_kernels(*context_, program_->get(), entry_points()));
  if (has_source()) origin_ = BinaryOrigin{.maker = maker, .key = key.digest()};
  codes_.code.code.clear();
  codes_.binary.reset();
  return {};
}

Result<KernelCode> OpenClExecutable::built_binary() const {
  if (!origin_)
    return make_error(StatusCode::Unimplemented, "the kernels have no source to make binaries of");
  std::string binary = binary_of(*context_, program_->get());
  if (binary.empty())
    return make_error(StatusCode::Unimplemented,
                      "the driver of {} gives no binaries back; help: leave out the binaries: the "
                      "source is compiled at the first run",
                      origin_->maker.device);
  // PTX is a binary, too, which stays without machine code that the driver loads.
  const ProfileClock::time_point begin = ProfileClock::now();
  const Result<std::string> code = context_->assembler().machine_code_of(binary);
  if (code.ok() && !code->empty() && load(*context_, *code, codes_.options, entry_points()).ok())
    binary = *code;
  if (Profile* profile = context_->profile(); profile != nullptr && !code.ok())
    profile->add({.name = code.status().message(),
                  .track = profile->host_track(),
                  .begin = begin,
                  .end = ProfileClock::now()});
  return KernelCode{.format = KernelFormat::OpenClBinary,
                    .code = std::move(binary),
                    .build_options = codes_.code.build_options,
                    .origin = origin_};
}

}  // namespace texloom::hal::opencl
