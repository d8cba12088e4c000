#include "tests/softmetal/execute/dispatch.h"

#include <algorithm>

#include "tests/softmetal/execute/execution.h"

namespace softmetal {
namespace {

// Threadgroups are numbered from 1.
constexpr uint64_t kMaxThreadgroups = UINT32_MAX;

// Compares the arguments with the function's parameters before the dispatch runs.
class Checker {
 public:
  Checker(const Function& f, const Arguments& a, const Grid& g, const RunOptions& o)
      : function_(f), arguments_(a), grid_(g), options_(o) {}

  std::vector<Report> run() {
    grid();
    for (const ArgumentInfo& a : function_.arguments) {
      if (a.present && a.parameter.binding) argument(a);
    }
    memory();
    return std::move(reports_);
  }

 private:
  void error(ReportKind kind, std::string text) {
    reports_.push_back({kind, true, std::move(text)});
  }
  static std::string named(const char* kind, const Parameter& p) {
    return std::string(kind) + " " + std::to_string(p.index) + ", \"" + p.name + "\"";
  }

  void grid() {
    uint64_t threads = 1, threadgroups = 1;
    for (int a = 0; a < 3; ++a) {
      const uint32_t size = grid_.threads_per_threadgroup[a], groups = grid_.threadgroups[a];
      threads *= size;
      if (size == 0 || groups == 0) {
        error(ReportKind::Limit,
              "a grid has at least one threadgroup of one thread in each dimension");
        return;
      }
      threadgroups = std::min(threadgroups, kMaxThreadgroups + 1) * groups;
      if (grid_.threads && ((*grid_.threads)[a] > uint64_t{size} * groups ||
                            (*grid_.threads)[a] <= uint64_t{size} * (groups - 1))) {
        error(ReportKind::Limit, "a grid of " + std::to_string((*grid_.threads)[a]) +
                                     " threads does not have " + std::to_string(groups) +
                                     " threadgroups of " + std::to_string(size));
      }
    }
    if (threadgroups > kMaxThreadgroups) {
      error(ReportKind::Limit,
            "the threadgroups of a grid are over the limit of " + std::to_string(kMaxThreadgroups));
    }
    const uint32_t limit = function_.max_threads == 0
                               ? options_.max_threads
                               : std::min(options_.max_threads, function_.max_threads);
    if (threads > limit) {
      error(ReportKind::Limit, "a threadgroup of " + std::to_string(threads) +
                                   " threads is over the limit of " + std::to_string(limit) +
                                   " of kernel \"" + function_.name + "\"");
    }
  }

  void argument(const ArgumentInfo& a) {
    const Parameter& p = a.parameter;
    switch (*p.binding) {
      case BindingKind::Buffer:
        buffer(a);
        break;
      case BindingKind::Texture:
        textures(a);
        break;
      case BindingKind::Sampler: {
        const auto found = arguments_.samplers.find(p.index);
        if (found == arguments_.samplers.end() || found->second.size() < a.description.count) {
          error(ReportKind::Binding, named("sampler", p) + ", is not bound");
        }
        break;
      }
      case BindingKind::Threadgroup:
        if (arguments_.threadgroup_sizes.count(p.index) == 0) {
          error(ReportKind::Binding, named("threadgroup memory", p) + ", has no size");
        }
        break;
      case BindingKind::Builtin:
        break;
    }
  }

  void buffer(const ArgumentInfo& a) {
    const Parameter& p = a.parameter;
    const auto found = arguments_.buffers.find(p.index);
    const auto bytes = arguments_.bytes.find(p.index);
    if (found == arguments_.buffers.end() && bytes == arguments_.bytes.end()) {
      error(ReportKind::Binding, named("buffer", p) + ", is not bound");
      return;
    }
    const bool is_buffer = found != arguments_.buffers.end();
    const size_t size = is_buffer ? found->second.size : bytes->second.size();
    // A reference needs a whole object; a pointer may refer to a smaller part of an array.
    if (p.type.find('&') != std::string::npos && size < a.description.size) {
      error(ReportKind::Binding, named("buffer", p) + ", has " + std::to_string(size) +
                                     " bytes, but \"" + p.type + "\" refers to " +
                                     std::to_string(a.description.size));
    }
    const auto address =
        reinterpret_cast<uintptr_t>(is_buffer ? found->second.begin : bytes->second.data());
    if (a.description.alignment != 0 && address % a.description.alignment != 0) {
      error(ReportKind::Binding, named("buffer", p) +
                                     ", is bound at an address that is no multiple of " +
                                     std::to_string(a.description.alignment));
    }
  }

  void textures(const ArgumentInfo& a) {
    const Parameter& p = a.parameter;
    const auto found = arguments_.textures.find(p.index);
    if (found == arguments_.textures.end() || found->second.size() < a.description.count) {
      error(ReportKind::Binding, named("texture", p) + ", is not bound");
      return;
    }
    const auto kind = static_cast<TextureKind>(a.description.type & 255);
    const uint32_t element = a.description.type >> 8 & 255;
    for (const Texture* t : found->second) {
      const FormatInfo* format = t == nullptr ? nullptr : format_info(t->format);
      if (t == nullptr) continue;
      if (t->kind != kind) {
        error(ReportKind::Texture, named("texture", p) + ", is a " + texture_kind_name(t->kind) +
                                       ", but the kernel takes a " + texture_kind_name(kind));
      } else if (static_cast<uint32_t>(format->kind) != element) {
        static constexpr const char* kElements[] = {"float", "int", "uint"};
        error(ReportKind::Texture, named("texture", p) + ", has the format " + format->name +
                                       ", but the kernel takes texels of " + kElements[element]);
      } else {
        usage(p, *t, texture_access(a.description));
      }
    }
  }

  void usage(const Parameter& p, const Texture& t, TextureAccess access) {
    const bool writes = access == TextureAccess::Write || access == TextureAccess::ReadWrite;
    if (access != TextureAccess::Write && !t.readable)
      error(ReportKind::Texture, named("texture", p) + ", is one that was not made to be read");
    if (writes && !t.writable)
      error(ReportKind::Texture, named("texture", p) + ", is one that was not made to be written");
  }

  // Checks the threadgroup memory of the arguments; variables are added when threads reach them.
  void memory() {
    size_t bytes = 0;
    for (const auto& [index, size] : arguments_.threadgroup_sizes) {
      if (size % 16 != 0) {
        error(ReportKind::Limit, "the size of threadgroup memory " + std::to_string(index) +
                                     " must be a multiple of 16, not " + std::to_string(size));
      }
      bytes += (size + 15) / 16 * 16;
    }
    if (bytes > options_.threadgroup_memory_limit) {
      error(ReportKind::Limit, std::to_string(bytes) +
                                   " bytes of threadgroup memory are over the limit of " +
                                   std::to_string(options_.threadgroup_memory_limit));
    }
  }

  const Function& function_;
  const Arguments& arguments_;
  const Grid& grid_;
  const RunOptions& options_;
  std::vector<Report> reports_;
};

}  // namespace

std::string print_reports(const std::vector<Report>& reports) {
  std::string out;
  const auto place = [](const std::array<uint32_t, 3>& p) {
    return "(" + std::to_string(p[0]) + ", " + std::to_string(p[1]) + ", " + std::to_string(p[2]) +
           ")";
  };
  for (const Report& r : reports) {
    out += r.is_error ? "error: " : "warning: ";
    if (r.kind != ReportKind::Binding && r.kind != ReportKind::Limit) {
      out += "thread " + place(r.thread) + " of threadgroup " + place(r.group) + ": ";
    }
    out += r.text;
    if (r.count > 1) out += " (" + std::to_string(r.count) + " times)";
    out += "\n";
  }
  return out;
}

std::vector<Report> check_arguments(const Function& function, const Arguments& arguments,
                                    const Grid& grid, const RunOptions& options) {
  return Checker(function, arguments, grid, options).run();
}

std::vector<Report> dispatch(const Function& function, const Arguments& arguments, const Grid& grid,
                             const RunOptions& options) {
  std::vector<Report> reports = check_arguments(function, arguments, grid, options);
  if (has_errors(reports)) return reports;
  Execution execution(function, arguments, grid, options);
  reports = execution.run();
  if (options.on_touched) {
    for (const auto& region : execution.memory().regions()) {
      if (region->marks == nullptr || region->kind == RegionKind::Threadgroup) continue;
      options.on_touched(
          {region->begin, nullptr, region->marks->touched(false), region->marks->touched(true)});
    }
    for (const auto& [texture, marks] : execution.texel_marks()) {
      options.on_touched({texture->levels[0].data, texture, marks.touched(*texture, false),
                          marks.touched(*texture, true)});
    }
  }
  return reports;
}

}  // namespace softmetal
