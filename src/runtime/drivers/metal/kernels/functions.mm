#include "runtime/drivers/metal/kernels/functions.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/drivers/metal/api/error.h"

namespace texloom::hal::metal {
namespace {

// The best first.

// Converts text to a string of Metal; InvalidArgument if the text is not UTF-8.
Result<NSString*> text_of(std::string_view text, std::string_view what) {
  NSString* const made = to_ns(text);
  if (made == nil) return invalid_argument("{} is not UTF-8", what);
  return made;
}

// The MTLLanguageVersion for a version.
unsigned long language_number(std::pair<unsigned, unsigned> version) {
  return (static_cast<unsigned long>(version.first) << 16) + version.second;
}

// Metal's compiler relaxes arithmetic by default. Its modes allow all relaxations or none, so any
// are allowed only if `math` permits all.
void set_math_mode(MTLCompileOptions* options, MathMode math) {
  const bool is_fast = allows(math, MathMode::Fast);
  if (@available(macOS 15, iOS 18, *)) {
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
    // A new MTLCompileOptions has the newest version.
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
    for (const auto& [name, value] : given.macros) {
      TL_ASSIGN_OR_RETURN(NSString* const key, text_of(name, "the name of a macro"));
      TL_ASSIGN_OR_RETURN(NSString* const object, text_of(value, "the value of a macro"));
      [macros setObject:object forKey:key];
    }
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

id<MTLLibrary> load_library(const Context& context, const std::string& metallib, NSError** error) {
  const dispatch_data_t data = dispatch_data_create(metallib.data(), metallib.size(), nullptr,
                                                    DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  id<MTLLibrary> library = [objc(context.device()) newLibraryWithData:data error:error];
  dispatch_release(data);
  return [library autorelease];
}

Result<id<MTLLibrary>> make_library(const Context& context, const ProgramCode& program) {
  const bool is_source = program.code.format == KernelFormat::Msl;
  id<MTLLibrary> library = nil;
  NSError* error = nil;
  if (is_source) {
    TL_ASSIGN_OR_RETURN(MTLCompileOptions* const options, compile_options(program.options));
    TL_ASSIGN_OR_RETURN(NSString* const source, text_of(program.code.code, "the code"));
    library = [[objc(context.device()) newLibraryWithSource:source options:options
                                                      error:&error] autorelease];
  } else {
    library = load_library(context, program.code.code, &error);
  }
  if (library != nil) return library;
  const Status status = to_error(error, is_source ? "newLibraryWithSource" : "newLibraryWithData");
  if (is_source) return Status(StatusCode::BuildFailed, status.message());
  return make_error(StatusCode::BuildFailed, "the metallib cannot be loaded: {}", status.message());
}

}  // namespace

Result<std::vector<ProgramCode>> find_codes(const ExecutableDesc& desc, const DeviceInfo& device) {
  std::vector<ProgramCode> found;
  for (const KernelFormat format : device.formats) {
    const auto code = std::ranges::find(desc.codes, format, &KernelCode::format);
    if (code == desc.codes.end()) continue;
    TL_ASSIGN_OR_RETURN(BuildOptions options, parse_build_options(code->build_options, desc.math));
    found.push_back({*code, std::move(options)});
  }
  if (found.empty()) return select_code(desc, device).status();
  return found;
}

Result<NSArray<id<MTLFunction>>*> make_functions(const Context& context, const ProgramCode& program,
                                                 const std::vector<EntryPoint>& entry_points) {
  const Result<id<MTLLibrary>> library = make_library(context, program);
  if (!library.ok())
    return library.status().with_context(fmt::format("kernel {}", names_of(entry_points)));
  NSMutableArray<id<MTLFunction>>* functions = [NSMutableArray array];
  for (const EntryPoint& entry : entry_points) {
    TL_ASSIGN_OR_RETURN(NSString* const name, text_of(entry.name, "the name of a kernel"));
    id<MTLFunction> function = [[*library newFunctionWithName:name] autorelease];
    if (function == nil) {
      const bool is_source = program.code.format == KernelFormat::Msl;
      return make_error(StatusCode::NotFound, "the {} defines no kernel \"{}\"; it has: {}",
                        is_source ? "code" : "metallib", entry.name,
                        joined([*library functionNames]));
    }
    [functions addObject:function];
  }
  return functions;
}

}  // namespace texloom::hal::metal
