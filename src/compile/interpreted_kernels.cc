#include "compile/interpreted_kernels.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compile/launch_plan.h"
#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "support/diagnostic.h"

namespace texloom::compile {

namespace {

namespace host = hal::host;

// Converts exceptions to a Status, so that none leaves the compiler.
template <class F>
Status guarded(StatusCode code, const F& run) {
  try {
    return run();
  } catch (const UserError& error) {
    return Status(code, error.what());
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::OutOfMemory, "no host memory for the interpreter");
  } catch (const std::exception& error) {
    return Status(StatusCode::Internal, error.what());
  }
}

// The interpreter's copy, for one launch, of a range of bytes or of rows of bytes.
class Shadow {
 public:
  Shadow(const ir::BufferNode& buffer, const host::BufferArgument& argument)
      : memory_(ir::Memory::array(buffer.type, elements(buffer, argument))),
        first_row_(argument.data),
        row_bytes_(memory_.bytes().size()),
        pitch_(row_bytes_) {
    copy_in();
  }
  Shadow(const ir::BufferNode& texture, const host::Image& image)
      : memory_(ir::Memory::image(texture.type, image.extent().width, image.extent().height)),
        first_row_(image.at(0, 0)),
        row_bytes_(memory_.bytes().size() / image.extent().height),
        pitch_(image.row_pitch()) {
    copy_in();
  }

  // The number of elements of the buffer's type in the bound memory, at most the buffer's.
  static int64_t elements(const ir::BufferNode& buffer, const host::BufferArgument& argument) {
    const auto bound = static_cast<int64_t>(argument.bytes) / buffer.type.bytes();
    return buffer.is_symbolic() ? bound : std::min(bound, buffer.layout.col_count());
  }

  ir::Memory& memory() { return memory_; }

  // Writes back only changed elements: other memory of the same object may be in use elsewhere.
  void copy_out() {
    const auto size = static_cast<size_t>(memory_.type().bytes());
    for (size_t i = 0; i < before_.size(); i += size) {
      const std::byte* now = memory_.bytes().data() + i;
      if (std::memcmp(now, before_.data() + i, size) != 0) std::memcpy(place_of(i), now, size);
    }
  }

 private:
  std::byte* place_of(size_t i) const {
    return first_row_ + i / row_bytes_ * pitch_ + i % row_bytes_;
  }

  void copy_in() {
    std::vector<std::byte>& bytes = memory_.bytes();
    for (size_t i = 0; i < bytes.size(); i += row_bytes_)
      std::memcpy(bytes.data() + i, place_of(i), row_bytes_);
    memory_.define_all();
    before_ = bytes;
  }

  ir::Memory memory_;
  std::vector<std::byte> before_;
  std::byte* first_row_;
  size_t row_bytes_;
  uint64_t pitch_;
};

Status fault_of(const std::vector<ir::Report>& reports) {
  if (reports.empty()) return {};
  std::string text = ir::to_string(reports.front());
  if (reports.size() > 1) text += fmt::format(" (and {} more)", reports.size() - 1);
  return Status(StatusCode::DeviceError, std::move(text));
}

class InterpretedKernel final : public host::Kernel {
 public:
  InterpretedKernel(std::shared_ptr<const ir::Program> program, size_t number,
                    const InterpreterLoaderOptions& options)
      : program_(std::move(program)), number_(number), options_(options) {}

  bool is_divisible() const override { return false; }

  Status run(const host::Launch& launch, host::GroupRange, std::span<std::byte>) const override {
    return guarded(StatusCode::DeviceError, [&] { return interpret(launch); });
  }

 private:
  Status interpret(const host::Launch& launch) const {
    ir::LaunchArguments arguments;
    std::copy(launch.groups.begin(), launch.groups.end(), arguments.blocks.begin());
    std::deque<Shadow> shadows;                               // keeps addresses stable
    std::unordered_map<const std::byte*, Shadow*> of_images;  // an image may hold several tensors
    const std::vector<ir::KernelParam>& params = program_->kernels[number_].params;
    for (size_t i = 0; i < params.size(); ++i) {
      const host::Argument& argument = launch.arguments[i];
      if (const auto* constant = std::get_if<hal::Constant>(&argument)) {
        arguments.scalars.push_back(
            ir::decode(params[i].scalar->type, static_cast<const std::byte*>(constant->data())));
        continue;
      }
      const ir::BufferNode& declared = *params[i].buffer;
      if (const auto* texture = std::get_if<host::TextureArgument>(&argument)) {
        Shadow*& shadow = of_images[texture->image.at(0, 0)];
        if (shadow == nullptr) shadow = &shadows.emplace_back(declared, texture->image);
        arguments.memory.push_back({&shadow->memory(), texture->origin.x, texture->origin.y});
      } else {
        const auto& buffer = std::get<host::BufferArgument>(argument);
        TL_RETURN_IF_ERROR(check_size(declared, buffer));
        arguments.memory.push_back({&shadows.emplace_back(declared, buffer).memory()});
      }
    }
    const ir::InterpretOptions options{.max_steps = options_.max_steps};
    const Status fault = fault_of(ir::interpret_launch(*program_, number_, arguments, options));
    for (Shadow& shadow : shadows) shadow.copy_out();
    return fault;
  }

  static Status check_size(const ir::BufferNode& buffer, const host::BufferArgument& argument) {
    const int64_t wanted = buffer.is_symbolic() ? 1 : buffer.layout.col_count();
    if (Shadow::elements(buffer, argument) >= wanted) return {};
    return invalid_argument("\"{}\" has {} elements of {}, but {} bytes are bound", buffer.name,
                            wanted, ir::to_string(buffer.type), argument.bytes);
  }

  std::shared_ptr<const ir::Program> program_;
  size_t number_;
  InterpreterLoaderOptions options_;
};

// Checks a parameter of the entry point against the kernel's parameter. The size of a buffer is
// checked when the buffer is bound.
Status check_param(const hal::KernelParam& stated, const ir::KernelParam& param) {
  const hal::KernelParam actual = kernel_param(param);
  bool agree = stated.index() == actual.index();
  if (const auto* buffer = std::get_if<hal::BufferParam>(&stated); agree && buffer != nullptr) {
    agree = buffer->access == std::get<hal::BufferParam>(actual).access;
  }
  if (const auto* texture = std::get_if<hal::TextureParam>(&stated); agree && texture != nullptr) {
    const auto& other = std::get<hal::TextureParam>(actual);
    agree = texture->access == other.access && texture->format == other.format &&
            texture->origin == other.origin && texture->min_extent == other.min_extent;
  }
  if (const auto* constant = std::get_if<hal::ConstantParam>(&stated); agree && constant != nullptr)
    agree = constant->type == std::get<hal::ConstantParam>(actual).type;
  if (agree) return {};
  return invalid_argument("\"{}\" does not match the kernel's parameter, {} \"{}\"",
                          hal::name_of(stated), hal::describe(actual), hal::name_of(actual));
}

Status check_entry(const hal::EntryPoint& entry, const ir::Kernel& kernel) {
  if (!std::equal(kernel.block.begin(), kernel.block.end(), entry.workgroup_size.begin())) {
    return invalid_argument(
        "the kernel's workgroup is {} x {} x {}, but the entry point says {} x {} x {}",
        kernel.block[0], kernel.block[1], kernel.block[2], entry.workgroup_size[0],
        entry.workgroup_size[1], entry.workgroup_size[2]);
  }
  if (kernel.params.size() != entry.params.size()) {
    return invalid_argument("the kernel has {} parameters, but the entry point lists {}",
                            kernel.params.size(), entry.params.size());
  }
  for (size_t i = 0; i < kernel.params.size(); ++i)
    TL_RETURN_IF_ERROR(check_param(entry.params[i], kernel.params[i]));
  return {};
}

class InterpreterLoader final : public host::KernelLoader {
 public:
  explicit InterpreterLoader(const InterpreterLoaderOptions& options) : options_(options) {}

  KernelFormat format() const override { return KernelFormat::Ir; }

  Result<std::vector<std::shared_ptr<const host::Kernel>>> load(
      std::string_view code, std::span<const hal::EntryPoint> entries) const override {
    std::vector<std::shared_ptr<const host::Kernel>> kernels;
    TL_RETURN_IF_ERROR(
        guarded(StatusCode::BuildFailed, [&] { return load(code, entries, kernels); }));
    return kernels;
  }

 private:
  Status load(std::string_view code, std::span<const hal::EntryPoint> entries,
              std::vector<std::shared_ptr<const host::Kernel>>& kernels) const {
    const auto program = std::make_shared<const ir::Program>(
        ir::parse_program(code, "kernels.tl", {.check_accesses = false}));
    if (program->stage < ir::ProgramStage::Kernels) {
      return make_error(StatusCode::BuildFailed, "a program at stage {} has no kernels",
                        ir::to_string(program->stage));
    }
    for (const hal::EntryPoint& entry : entries) {
      const auto found =
          std::find_if(program->kernels.begin(), program->kernels.end(),
                       [&](const ir::Kernel& kernel) { return kernel.name == entry.name; });
      if (found == program->kernels.end()) {
        return make_error(StatusCode::NotFound, "the program has no kernel \"{}\"", entry.name);
      }
      TL_RETURN_IF_ERROR(
          check_entry(entry, *found).with_context(fmt::format("kernel \"{}\"", entry.name)));
      kernels.push_back(std::make_shared<InterpretedKernel>(
          program, static_cast<size_t>(found - program->kernels.begin()), options_));
    }
    return {};
  }

  InterpreterLoaderOptions options_;
};

// The text of a program that has only the kernels of this code.
std::string text_of(const CompiledModule& module, const codegen::CompiledCode& code,
                    CodeLocations locations) {
  std::vector<ir::Kernel> kernels;
  for (const codegen::CodeEntry& entry : code.entries) {
    kernels.push_back(module.program.kernels[entry.kernel]);
    kernels.back().name = entry.name;
  }
  const ir::Program program = codegen::kernels_alone(module.program, std::move(kernels));
  return ir::to_string(program, {.locations = locations == CodeLocations::Keep});
}

}  // namespace

std::shared_ptr<const host::KernelLoader> make_interpreter_loader(
    const InterpreterLoaderOptions& options) {
  return std::make_shared<InterpreterLoader>(options);
}

void add_interpreted_code(const CompiledModule& module, runtime::LaunchPlan& plan,
                          CodeLocations locations) {
  for (size_t i = 0; i < module.kernels.size(); ++i) {
    const codegen::CompiledCode& code = *module.kernels[i].code;
    if (code.entries.front().kernel != i) continue;  // the code was added for an earlier kernel
    std::vector<hal::KernelCode>& codes = plan.modules[plan.kernels[i].module].codes;
    if (traits_of(codes.front().format).is_native) continue;
    codes.push_back({.format = KernelFormat::Ir, .code = text_of(module, code, locations)});
  }
}

}  // namespace texloom::compile
