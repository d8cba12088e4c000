#include "tests/softmetal/programs/run_command.h"

#include <array>
#include <charconv>
#include <functional>

#include "tests/softmetal/programs/options.h"

namespace softmetal {

const char* const kRunUsage =
    "Usage: softmetal-run [OPTION...] FILE.metal KERNEL\n"
    "\n"
    "Compiles a Metal program and runs one of its kernels on this machine. Arrays are .npy files; "
    "those\n"
    "that the kernel changes are written back. What a thread must not do ends the run with a "
    "message\n"
    "and the exit status 1.\n"
    "\n"
    "  --groups X,Y,Z            threadgroups of the grid (default: 1,1,1)\n"
    "  --threads X,Y,Z           threads of a threadgroup (default: 1,1,1)\n"
    "  --grid X,Y,Z              threads of the grid, instead of --groups; the last groups may be "
    "smaller\n"
    "  --buffer N=FILE.npy       binds an array to [[buffer(N)]]\n"
    "  --bytes N=DTYPE:V,V,...   binds numbers to [[buffer(N)]], for example 2=int32:7,8 or\n"
    "                            2=int32:7,float32:0.5 for a struct\n"
    "  --argument-buffer N=A.npy,B.npy,...\n"
    "                            binds a buffer whose members [[id(0)]], [[id(1)]], ... are these "
    "arrays;\n"
    "                            constants among them may be left out, or given as int32:7\n"
    "  --threadgroup N=BYTES     the size of [[threadgroup(N)]]\n"
    "  --texture N=IMAGE.npy     binds a texture: (H, W) or (H, W, CHANNELS) for texture2d, with "
    "the count\n"
    "                            of slices or planes in front for arrays and texture3d; uint8 and "
    "uint16\n"
    "                            are normalized where the kernel takes float\n"
    "  --sampler N=WORD,...      a sampler of words such as linear, nearest, pixel, normalized, "
    "repeat,\n"
    "                            mirrored_repeat, clamp_to_edge, clamp_to_zero\n"
    "  --constant N=VALUE        the value of [[function_constant(N)]]\n"
    "  --simd-width N            threads of a simdgroup: 4, 8, 16, 32 (default) or 64\n"
    "  --seed N                  the order of threads and threadgroups; 0: ascending (default: 1)\n"
    "  --threadgroup-limit N     bytes of threadgroup memory that there are (default: 32768)\n"
    "  --time-limit SECONDS      of computation (default: 60)\n"
    "  --report-texture-bounds   warns of texels outside of textures\n"
    "  -std=, -D, -I, -fmetal-math-mode=   as for softmetal-compile\n";

namespace {

bool parse_number(const std::string& text, uint64_t high, uint64_t& value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return !text.empty() && result.ec == std::errc() && result.ptr == end && value <= high;
}

bool parse_extents(const std::string& option, const std::string& text, std::array<uint32_t, 3>& out,
                   std::string& problem) {
  size_t axis = 0;
  for (size_t at = 0; at <= text.size(); ++axis) {
    const size_t end = std::min(text.find(',', at), text.size());
    uint64_t value = 0;
    if (axis > 2 || !parse_number(text.substr(at, end - at), UINT32_MAX, value) || value == 0) {
      problem = option + " takes up to three numbers from 1 on, as in 4,2,1, not \"" + text + "\"";
      return false;
    }
    out[axis] = static_cast<uint32_t>(value);
    at = end + 1;
  }
  return true;
}

// Reads an option's `N=VALUE` into a map; each N may occur once.
bool parse_indexed(const std::string& option, const std::string& text,
                   std::map<int, std::string>& out, std::string& problem) {
  const size_t equals = text.find('=');
  uint64_t index = 0;
  if (equals == std::string::npos || !parse_number(text.substr(0, equals), 65535, index) ||
      equals + 1 == text.size()) {
    problem = option + " takes INDEX=VALUE, not \"" + text + "\"";
    return false;
  }
  if (!out.emplace(static_cast<int>(index), text.substr(equals + 1)).second) {
    problem = option + " is given twice for index " + std::to_string(index);
    return false;
  }
  return true;
}

bool parse_whole(const std::string& option, const std::string& text, uint64_t high, uint64_t& out,
                 std::string& problem) {
  if (parse_number(text, high, out)) return true;
  problem = option + " takes a number up to " + std::to_string(high) + ", not \"" + text + "\"";
  return false;
}

// Applies an option that takes a value. On an error, returns false and sets `problem`. Sets `known`
// to whether the option exists.
bool apply_option(const std::string& option, const std::string& value, RunCommand& c, bool& known,
                  std::string& problem) {
  uint64_t number = 0;
  known = true;
  if (option == "--groups") return parse_extents(option, value, c.grid.threadgroups, problem);
  if (option == "--threads")
    return parse_extents(option, value, c.grid.threads_per_threadgroup, problem);
  if (option == "--grid") {
    c.grid.threads.emplace(std::array<uint32_t, 3>{1, 1, 1});
    return parse_extents(option, value, *c.grid.threads, problem);
  }
  if (option == "--buffer") return parse_indexed(option, value, c.buffers, problem);
  if (option == "--bytes") return parse_indexed(option, value, c.bytes, problem);
  if (option == "--threadgroup") return parse_indexed(option, value, c.threadgroups, problem);
  if (option == "--texture") return parse_indexed(option, value, c.textures, problem);
  if (option == "--sampler") return parse_indexed(option, value, c.samplers, problem);
  if (option == "--constant") return parse_indexed(option, value, c.compile.constants, problem);
  if (option == "--argument-buffer") {
    std::map<int, std::string> one;
    if (!parse_indexed(option, value, one, problem)) return false;
    const auto& [index, files] = *one.begin();
    if (c.argument_buffers.count(index) != 0) {
      problem = option + " is given twice for index " + std::to_string(index);
      return false;
    }
    for (size_t at = 0; at <= files.size();) {
      const size_t end = std::min(files.find(',', at), files.size());
      c.argument_buffers[index].push_back(files.substr(at, end - at));
      at = end + 1;
    }
    return true;
  }
  if (option == "--simd-width") {
    if (!parse_whole(option, value, 64, number, problem)) return false;
    c.run.simd_width = static_cast<uint32_t>(number);
    if (number < 4 || (number & (number - 1)) != 0) problem = option + " is 4, 8, 16, 32 or 64";
    return problem.empty();
  }
  if (option == "--seed") return parse_whole(option, value, UINT32_MAX, c.run.seed, problem);
  if (option == "--threadgroup-limit") {
    if (!parse_whole(option, value, 1 << 24, number, problem)) return false;
    c.run.threadgroup_memory_limit = number;
    return true;
  }
  if (option == "--time-limit") {
    if (!parse_whole(option, value, 100000, number, problem)) return false;
    c.run.time_limit = static_cast<double>(number);
    return true;
  }
  known = false;
  return true;
}

bool takes_index(const RunCommand& c, std::string& problem) {
  for (const auto& [index, unused] : c.buffers) {
    if (c.bytes.count(index) != 0 || c.argument_buffers.count(index) != 0) {
      problem = "buffer " + std::to_string(index) + " is bound twice";
    }
  }
  for (const auto& [index, unused] : c.bytes) {
    if (c.argument_buffers.count(index) != 0)
      problem = "buffer " + std::to_string(index) + " is bound twice";
  }
  return problem.empty();
}

}  // namespace

bool parse_run_command(const std::vector<std::string>& arguments, RunCommand& c,
                       std::string& problem) {
  std::vector<std::string> names;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string option = arguments[i], value;
    if (option == "--help" || option == "-h") {
      c.help = true;
      return true;
    }
    if (option == "--report-texture-bounds") {
      c.run.report_texture_bounds = true;
      continue;
    }
    if (read_compile_option(option, c.compile, problem)) {
      if (!problem.empty()) return false;
      continue;
    }
    if (option.empty() || option[0] != '-') {
      names.push_back(option);
      continue;
    }
    // An option with a value is one word, `--option=value`, or two words.
    const size_t equals = option.find('=');
    const bool joined = equals != std::string::npos;
    if (joined) {
      value = option.substr(equals + 1);
      option.resize(equals);
    } else if (i + 1 < arguments.size()) {
      value = arguments[i + 1];
    }
    bool known = false;
    const bool applied = apply_option(option, value, c, known, problem);
    if (!known) {
      problem = "there is no option \"" + option + "\"; softmetal-run --help lists them";
      return false;
    }
    if (!joined && i + 1 == arguments.size()) {
      problem = option + " needs a value";
      return false;
    }
    if (!applied) return false;
    if (!joined) ++i;
  }
  if (names.size() != 2) {
    problem = names.size() < 2
                  ? "a source file and the name of a kernel are needed"
                  : "only one source file and one kernel are taken, not also \"" + names[2] + "\"";
    return false;
  }
  c.file = names[0];
  c.kernel = names[1];
  if (c.grid.threads) {
    for (int a = 0; a < 3; ++a) {
      const uint32_t size = c.grid.threads_per_threadgroup[a];
      c.grid.threadgroups[a] = ((*c.grid.threads)[a] - 1) / size + 1;
    }
  }
  return takes_index(c, problem);
}

}  // namespace softmetal
