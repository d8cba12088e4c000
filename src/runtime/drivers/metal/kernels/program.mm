#include "runtime/drivers/metal/kernels/program.h"

#include <array>
#include <string>
#include <utility>

#include "runtime/drivers/metal/api/error.h"
#include "runtime/drivers/metal/kernels/archive.h"
#include "runtime/drivers/metal/kernels/kernel_check.h"
#include "runtime/hal/internal/submission/exit_handlers.h"

namespace texloom::hal::metal {
namespace {

constexpr std::array kFormats = {KernelFormat::Msl};

// MTLLanguageVersion of a version.
unsigned long language_number(std::pair<unsigned, unsigned> version) {
  return (static_cast<unsigned long>(version.first) << 16) + version.second;
}

// Metal's compiler relaxes arithmetic unless it is told not to. Its modes are all or nothing, so
// anything less than all permissions means none.
void set_math_mode(MTLCompileOptions* options, MathMode math) {
  const bool is_fast = allows(math, MathMode::Fast);
  if ([options respondsToSelector:@selector(setMathMode:)]) {
    options.mathMode = is_fast ? MTLMathModeFast : MTLMathModeSafe;
    options.mathFloatingPointFunctions =
        is_fast ? MTLMathFloatingPointFunctionsFast : MTLMathFloatingPointFunctionsPrecise;
  } else {
    options.fastMathEnabled = is_fast ? YES : NO;
  }
}

Result<MTLCompileOptions*> compile_options(const BuildOptions& given) {
  MTLCompileOptions* options = [[[MTLCompileOptions alloc] init] autorelease];
  if (given.language) {
    // The newest version is what new options have.
    const auto newest = static_cast<unsigned long>(options.languageVersion);
    if (language_number(*given.language) > newest)
      return invalid_argument(
          "the code needs version {}.{} of Metal's language, and this system has {}.{}: build it "
          "for \"metal -msl={}.{}\"",
          given.language->first, given.language->second, newest >> 16, newest & 0xffff,
          newest >> 16, newest & 0xffff);
    options.languageVersion = static_cast<MTLLanguageVersion>(language_number(*given.language));
  }
  if (!given.macros.empty()) {
    NSMutableDictionary* macros = [NSMutableDictionary dictionary];
    for (const auto& [name, value] : given.macros)
      [macros setObject:to_ns(value) forKey:to_ns(name)];
    options.preprocessorMacros = macros;
  }
  set_math_mode(options, given.math);
  return options;
}

std::string names_of(const std::vector<EntryPoint>& entry_points) {
  std::string names;
  for (const EntryPoint& entry : entry_points)
    names += (names.empty() ? "\"" : ", \"") + entry.name + "\"";
  return names;
}

std::string joined(NSArray<NSString*>* names) {
  return to_string([names componentsJoinedByString:@", "]);
}

// The library is the caller's, who releases it.
Result<id<MTLLibrary>> build_library(const Context& context, const KernelCode& code,
                                     const BuildOptions& options) {
  TL_ASSIGN_OR_RETURN(MTLCompileOptions* const compile, compile_options(options));
  NSError* error = nil;
  id<MTLLibrary> library = [objc(context.device()) newLibraryWithSource:to_ns(code.code)
                                                                options:compile
                                                                  error:&error];
  if (library != nil) return [library autorelease];
  const Status status = to_error(error, "newLibraryWithSource");
  return Status(StatusCode::BuildFailed, status.message());
}

Status check_simd_width(const Context& context, const BuildOptions& options,
                        id<MTLComputePipelineState> pipeline) {
  const std::uint64_t width = pipeline.threadExecutionWidth;
  if (!options.simd_width || *options.simd_width == width) return {};
  return invalid_argument(
      "the code relies on SIMD-groups of {} threads, device {} runs this kernel with {}: build it "
      "for \"metal -simd_width={}\", or with -simd_width=1 for any",
      *options.simd_width, context.info()->name, width, width);
}

// How the pipelines of an executable use a binary archive.
enum class ArchiveUse {
  None,
  Fill,  // their functions are added, and taken out of it
  Only,  // one that is not there is an error
};
struct ArchiveOfKernels {
  Handle<MetalArchive> archive;
  ArchiveUse use = ArchiveUse::None;
};

MTLPipelineOption pipeline_options(ArchiveUse use) {
  const MTLPipelineOption reflection =
      MTLPipelineOptionArgumentInfo | MTLPipelineOptionBufferTypeInfo;
  return use == ArchiveUse::Only ? reflection | MTLPipelineOptionFailOnBinaryArchiveMiss
                                 : reflection;
}

Result<Kernel> make_kernel(const Context& context, id<MTLLibrary> library,
                           const BuildOptions& options, const EntryPoint& entry,
                           ArchiveOfKernels& archive) {
  id<MTLFunction> function = [[library newFunctionWithName:to_ns(entry.name)] autorelease];
  if (function == nil)
    return make_error(StatusCode::NotFound, "the code defines no kernel \"{}\"; it has: {}",
                      entry.name, joined(library.functionNames));
  MTLComputePipelineDescriptor* descriptor =
      [[[MTLComputePipelineDescriptor alloc] init] autorelease];
  descriptor.computeFunction = function;
  descriptor.label = to_ns(entry.name);
  if (archive.use == ArchiveUse::Fill &&
      ![objc(archive.archive) addComputePipelineFunctionsWithDescriptor:descriptor error:nullptr])
    archive = {};  // the pipeline will tell why, or need none
  if (archive.archive) descriptor.binaryArchives = @[ objc(archive.archive) ];
  MTLComputePipelineReflection* reflection = nil;
  NSError* error = nil;
  Kernel kernel;
  kernel.pipeline = adopt<MetalPipeline>([objc(context.device())
      newComputePipelineStateWithDescriptor:descriptor
                                    options:pipeline_options(archive.use)
                                 reflection:&reflection
                                      error:&error]);
  if (!kernel.pipeline) {
    const Status status = to_error(error, "newComputePipelineState");
    return Status(StatusCode::BuildFailed, status.message())
        .with_context(fmt::format("kernel \"{}\"", entry.name));
  }
  TL_ASSIGN_OR_RETURN(kernel.slots,
                      check_kernel(context, objc(kernel.pipeline), reflection.bindings, entry));
  TL_RETURN_IF_ERROR(check_simd_width(context, options, objc(kernel.pipeline))
                         .with_context(fmt::format("kernel \"{}\"", entry.name)));
  return kernel;
}

Result<std::vector<Kernel>> make_kernels(const Context& context, id<MTLLibrary> library,
                                         const BuildOptions& options,
                                         const std::vector<EntryPoint>& entry_points,
                                         ArchiveOfKernels& archive) {
  std::vector<Kernel> kernels;
  for (const EntryPoint& entry : entry_points) {
    TL_ASSIGN_OR_RETURN(Kernel kernel, make_kernel(context, library, options, entry, archive));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

// From the archive that the binary cache has. Whatever is wrong with that one, and if there is
// none, from a new one, which replaces it.
Result<std::vector<Kernel>> make_kernels(const Context& context, id<MTLLibrary> library,
                                         const KernelCode& code, const BuildOptions& options,
                                         const std::vector<EntryPoint>& entry_points) {
  BinaryCache* const cache = context.binary_cache();
  ArchiveOfKernels archive;
  if (cache == nullptr) return make_kernels(context, library, options, entry_points, archive);
  const BinaryKey key = archive_key(*context.info(), code, options.math, entry_points);
  const ArchiveFolder folder;
  archive = {find_archive(context, *cache, key, folder), ArchiveUse::Only};
  if (archive.archive) {
    auto kernels = make_kernels(context, library, options, entry_points, archive);
    if (kernels.ok()) return kernels;
  }
  archive = {new_archive(context), ArchiveUse::Fill};
  if (!archive.archive) archive = {};
  auto kernels = make_kernels(context, library, options, entry_points, archive);
  if (kernels.ok() && archive.archive) store_archive(*cache, key, archive.archive.get(), folder);
  return kernels;
}

}  // namespace

MetalExecutable::MetalExecutable(std::shared_ptr<const Context> context,
                                 std::vector<EntryPoint> entry_points, KernelCode code,
                                 BuildOptions options)
    : Executable(context->info(), std::move(entry_points)),
      context_(std::move(context)),
      code_(std::move(code)),
      options_(std::move(options)) {}

Result<std::shared_ptr<Executable>> MetalExecutable::create(std::shared_ptr<const Context> context,
                                                            const ExecutableDesc& desc) {
  TL_ASSIGN_OR_RETURN(const KernelCode* code, select_code(desc, kFormats, "metal"));
  TL_ASSIGN_OR_RETURN(BuildOptions options, parse_build_options(code->build_options, desc.math));
  return std::shared_ptr<Executable>(
      new MetalExecutable(std::move(context), desc.entry_points, *code, std::move(options)));
}

Status MetalExecutable::build() {
  const HostSpan span(context_->profile(), "build an executable");
  @autoreleasepool {
    const auto library = build_library(*context_, code_, options_);
    if (!library.ok())
      return library.status().with_context(fmt::format("kernel {}", names_of(entry_points())));
    TL_ASSIGN_OR_RETURN(kernels_,
                        make_kernels(*context_, *library, code_, options_, entry_points()));
  }
  move_exit_handlers_up();  // registered after the compiler's, so that they run first
  code_ = {};               // no longer needed
  return {};
}

}  // namespace texloom::hal::metal
