#include "runtime/drivers/metal/kernels/archive.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "runtime/hal/internal/executables/entry_point_key.h"

namespace texloom::hal::metal {
namespace {

namespace fs = std::filesystem;

// Must change if the contents of archives or the way to find them change.
constexpr std::string_view kFormat = "metal archive 2";

bool write_file(const std::string& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  return file.good();
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

NSURL* url_of(const std::string& path) { return [NSURL fileURLWithPath:to_ns(path)]; }

// Opens the archive at `url`; an empty archive if `url` is nil.
Handle<MetalArchive> make_archive(const Context& context, NSURL* url) {
  MTLBinaryArchiveDescriptor* descriptor = [[[MTLBinaryArchiveDescriptor alloc] init] autorelease];
  descriptor.url = url;
  return adopt<MetalArchive>([objc(context.device()) newBinaryArchiveWithDescriptor:descriptor
                                                                              error:nullptr]);
}

}  // namespace

ArchiveFolder::ArchiveFolder() {
  std::string name = to_string(NSTemporaryDirectory()) + "/texloom-archive-XXXXXX";
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

ArchiveFolder::~ArchiveFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

BinaryKey archive_key(const DeviceInfo& device, const ProgramCode& program,
                      const std::vector<EntryPoint>& entry_points) {
  const KernelCode& code = program.code;
  BinaryKey key;
  key.add(kFormat).add(device.vendor).add(device.name).add(device.api_version);
  key.add(device.driver_version).add(device.language_version);
  key.add(traits_of(code.format).name)
      .add(code.code)
      .add(fmt::format("{}", static_cast<int>(program.options.math)));
  for (const std::string& option : code.build_options) key.add(option);
  add_entry_points(key, entry_points);
  return key;
}

Handle<MetalArchive> new_archive(const Context& context) { return make_archive(context, nil); }

Handle<MetalArchive> find_archive(const Context& context, BinaryCache& cache, const BinaryKey& key,
                                  const ArchiveFolder& folder) {
  const std::optional<std::string> stored = cache.find(key);
  const std::string path = folder.path() + "/stored.metallib";
  if (!stored || folder.path().empty() || !write_file(path, *stored)) return {};
  return make_archive(context, url_of(path));
}

void store_archive(BinaryCache& cache, const BinaryKey& key, MetalArchive* archive,
                   const ArchiveFolder& folder) {
  const std::string path = folder.path() + "/new.metallib";
  if (folder.path().empty() || ![objc(archive) serializeToURL:url_of(path) error:nullptr]) return;
  static_cast<void>(cache.store(key, read_file(path)));
}

}  // namespace texloom::hal::metal
