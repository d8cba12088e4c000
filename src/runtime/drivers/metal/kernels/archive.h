// Pipelines that were compiled before: Metal's binary archives in the binary cache, one in an
// entry. For Objective-C++ sources alone.
#pragma once

#include <string>
#include <vector>

#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/kernels/build_options.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/binary_cache.h"
#include "runtime/hal/executable.h"

namespace texloom::hal::metal {

// A place for the files of archives, which Metal reads and writes as files alone. No one else can
// read or replace them, as the folder is this process's own. Archives that were read from it are
// not used after it is gone.
class ArchiveFolder {
 public:
  ArchiveFolder();
  ~ArchiveFolder();
  ArchiveFolder(const ArchiveFolder&) = delete;
  ArchiveFolder& operator=(const ArchiveFolder&) = delete;
  const std::string& path() const { return path_; }  // empty if none could be made

 private:
  std::string path_;
};

// Names the archive of an executable that is built from this code.
BinaryKey archive_key(const DeviceInfo& device, const ProgramCode& program,
                      const std::vector<EntryPoint>& entry_points);

// An archive with nothing in it; null if Metal makes none.
Handle<MetalArchive> new_archive(const Context& context);
// The archive that the cache has under the key; null if there is none, or if Metal refuses it.
Handle<MetalArchive> find_archive(const Context& context, BinaryCache& cache, const BinaryKey& key,
                                  const ArchiveFolder& folder);
// Failures are not reported: the cache counts its own, and code that Metal does not write is
// compiled again the next time.
void store_archive(BinaryCache& cache, const BinaryKey& key, MetalArchive* archive,
                   const ArchiveFolder& folder);

}  // namespace texloom::hal::metal
