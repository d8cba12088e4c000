#include "runtime/drivers/metal/kernels/program.h"

#include <string>
#include <utility>

#include "runtime/drivers/metal/api/error.h"
#include "runtime/drivers/metal/kernels/archive.h"
#include "runtime/drivers/metal/kernels/functions.h"
#include "runtime/drivers/metal/kernels/kernel_check.h"
#include "runtime/hal/internal/submission/exit_handlers.h"

namespace texloom::hal::metal {
namespace {

Status check_simd_width(const Context& context, const BuildOptions& options,
                        id<MTLComputePipelineState> pipeline) {
  const std::uint64_t width = pipeline.threadExecutionWidth;
  if (!options.simd_width || *options.simd_width == width) return {};
  return invalid_argument(
      "the code is built for SIMD-groups of {} threads, but device {} runs this kernel with {}; "
      "help: build it for this device's target, or add -simd_width={} to your target, or "
      "-simd_width=1, which suits every width",
      *options.simd_width, context.info()->name, width, width);
}

// How the pipelines of an executable use a binary archive.
enum class ArchiveUse {
  None,
  Fill,  // functions are added to the archive, then loaded from it
  Only,  // a missing function is an error
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

Handle<MetalPipeline> make_pipeline(const Context& context,
                                    MTLComputePipelineDescriptor* descriptor,
                                    ArchiveOfKernels& archive,
                                    MTLComputePipelineReflection** reflection, NSError** error) {
  if (archive.use == ArchiveUse::Fill &&
      ![objc(archive.archive) addComputePipelineFunctionsWithDescriptor:descriptor error:nullptr])
    archive = {};  // make the pipeline without the archive; if that fails, too, `error` says why
  descriptor.binaryArchives = archive.archive ? @[ objc(archive.archive) ] : nil;
  return adopt<MetalPipeline>([objc(context.device())
      newComputePipelineStateWithDescriptor:descriptor
                                    options:pipeline_options(archive.use)
                                 reflection:reflection
                                      error:error]);
}

// Checks the properties that may differ between pipelines of one function.
Status check_pipeline(const Context& context, const BuildOptions& options,
                      id<MTLComputePipelineState> pipeline, const EntryPoint& entry) {
  TL_RETURN_IF_ERROR(check_simd_width(context, options, pipeline));
  return check_workgroup(context, pipeline, entry);
}

// Replaces the pipeline by one that indirect command buffers can use, if Metal makes one for the
// function, which only an attempt can show. A pipeline with fewer threads than the entry point
// needs is not used. Gets a copy of `archive`, since an archive that refuses this pipeline may
// still take other pipelines.
void make_recordable(const Context& context, MTLComputePipelineDescriptor* descriptor,
                     const BuildOptions& options, const EntryPoint& entry, ArchiveOfKernels archive,
                     Kernel& kernel) {
  if (!kernel.slots.in_argument_buffer || kernel.slots.locals > 0) return;
  descriptor.supportIndirectCommandBuffers = YES;
  auto pipeline = make_pipeline(context, descriptor, archive, nullptr, nullptr);
  if (!pipeline || !check_pipeline(context, options, objc(pipeline), entry).ok()) return;
  kernel.pipeline = std::move(pipeline);
  kernel.is_recordable = true;
}

Result<Kernel> make_kernel(const Context& context, id<MTLFunction> function,
                           const BuildOptions& options, const EntryPoint& entry,
                           ArchiveOfKernels& archive) {
  MTLComputePipelineDescriptor* descriptor =
      [[[MTLComputePipelineDescriptor alloc] init] autorelease];
  descriptor.computeFunction = function;
  descriptor.label = to_ns(entry.name);
  MTLComputePipelineReflection* reflection = nil;
  NSError* error = nil;
  Kernel kernel;
  kernel.pipeline = make_pipeline(context, descriptor, archive, &reflection, &error);
  if (!kernel.pipeline) {
    const Status status = to_error(error, "newComputePipelineState");
    return Status(StatusCode::BuildFailed, status.message())
        .with_context(fmt::format("kernel \"{}\"", entry.name));
  }
  TL_ASSIGN_OR_RETURN(kernel.slots,
                      check_kernel(context, objc(kernel.pipeline), reflection.bindings, entry));
  TL_RETURN_IF_ERROR(check_simd_width(context, options, objc(kernel.pipeline))
                         .with_context(fmt::format("kernel \"{}\"", entry.name)));
  make_recordable(context, descriptor, options, entry, archive, kernel);
  return kernel;
}

Result<std::vector<Kernel>> make_kernels(const Context& context,
                                         NSArray<id<MTLFunction>>* functions,
                                         const BuildOptions& options,
                                         const std::vector<EntryPoint>& entry_points,
                                         ArchiveOfKernels& archive) {
  std::vector<Kernel> kernels;
  for (std::size_t i = 0; i < entry_points.size(); ++i) {
    TL_ASSIGN_OR_RETURN(Kernel kernel, make_kernel(context, [functions objectAtIndex:i], options,
                                                   entry_points[i], archive));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

// Makes the kernels from the archive in the binary cache. A new archive replaces a missing or
// unusable one.
Result<std::vector<Kernel>> make_kernels(const Context& context,
                                         NSArray<id<MTLFunction>>* functions,
                                         const ProgramCode& program,
                                         const std::vector<EntryPoint>& entry_points) {
  const BuildOptions& options = program.options;
  BinaryCache* const cache = context.binary_cache();
  if (cache == nullptr) {
    ArchiveOfKernels none;
    return make_kernels(context, functions, options, entry_points, none);
  }
  const BinaryKey key = archive_key(*context.info(), program, entry_points);
  const ArchiveFolder folder;
  ArchiveOfKernels archive = {find_archive(context, *cache, key, folder), ArchiveUse::Only};
  if (archive.archive) {
    auto kernels = make_kernels(context, functions, options, entry_points, archive);
    if (kernels.ok()) return kernels;
  }
  archive = {new_archive(context), ArchiveUse::Fill};
  if (!archive.archive) archive = {};
  auto kernels = make_kernels(context, functions, options, entry_points, archive);
  if (kernels.ok() && archive.archive) store_archive(*cache, key, archive.archive.get(), folder);
  return kernels;
}

constexpr const char* kMetallibHelp =
    "; help: build the metallib again, for this system, or give the source beside it";

// Whether the next code of the executable may succeed after this failure. A metallib of a newer
// system may fail when it is loaded, or only when its pipelines are made. Errors of the parameters
// are the same for every code.
bool may_be_of_this_code(const Status& failure) {
  return failure.code() == StatusCode::BuildFailed || failure.code() == StatusCode::NotFound;
}

}  // namespace

MetalExecutable::MetalExecutable(std::shared_ptr<const Context> context,
                                 std::vector<EntryPoint> entry_points,
                                 std::vector<ProgramCode> codes)
    : Executable(context->info(), std::move(entry_points)),
      context_(std::move(context)),
      codes_(std::move(codes)) {}

Result<std::shared_ptr<Executable>> MetalExecutable::create(std::shared_ptr<const Context> context,
                                                            const ExecutableDesc& desc) {
  TL_ASSIGN_OR_RETURN(std::vector<ProgramCode> codes, find_codes(desc, *context->info()));
  return std::shared_ptr<Executable>(
      new MetalExecutable(std::move(context), desc.entry_points, std::move(codes)));
}

Status MetalExecutable::build() {
  const HostSpan span(context_->profile(), "build an executable");
  Status status;
  for (const ProgramCode& code : codes_) {
    const std::string before = status.message();
    status = build(code);
    if (!status.ok() && !before.empty()) status = std::move(status).with_context(before);
    if (!may_be_of_this_code(status)) break;
  }
  if (may_be_of_this_code(status) && codes_.back().code.format == KernelFormat::Metallib)
    status = Status(status.code(), status.message() + kMetallibHelp);
  TL_RETURN_IF_ERROR(status);
  move_exit_handlers_up();  // after the compiler's, so that these run first
  codes_ = {};              // no longer needed
  return {};
}

Status MetalExecutable::build(const ProgramCode& code) {
  @autoreleasepool {
    TL_ASSIGN_OR_RETURN(NSArray<id<MTLFunction>>* const functions,
                        make_functions(*context_, code, entry_points()));
    TL_ASSIGN_OR_RETURN(kernels_, make_kernels(*context_, functions, code, entry_points()));
  }
  return {};
}

}  // namespace texloom::hal::metal
