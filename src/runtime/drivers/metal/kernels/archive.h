// Stores compiled pipelines in the binary cache, as binary archives of Metal, one archive per
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

// A folder for archives, which Metal reads and writes only as files. The folder is private to this
// process, so no other process can read or replace the files. Archives that were read from the
// folder are not used after its removal.
class ArchiveFolder {
 public:
  ArchiveFolder();
  ~ArchiveFolder();
  ArchiveFolder(const ArchiveFolder&) = delete;
  ArchiveFolder& operator=(const ArchiveFolder&) = delete;
  const std::string& path() const { return path_; }  // empty if the folder could not be made

 private:
  std::string path_;
};

// Names the archive of an executable that is built from this code.
BinaryKey archive_key(const DeviceInfo& device, const ProgramCode& program,
                      const std::vector<EntryPoint>& entry_points);

// Makes an empty archive; null if Metal cannot make one.
Handle<MetalArchive> new_archive(const Context& context);
// The archive that the cache has under the key; null if there is none, or if Metal refuses it.
Handle<MetalArchive> find_archive(const Context& context, BinaryCache& cache, const BinaryKey& key,
                                  const ArchiveFolder& folder);
// Failures are not reported: the cache counts its failures, and kernels whose archive Metal cannot
// write are compiled again the next time.
void store_archive(BinaryCache& cache, const BinaryKey& key, MetalArchive* archive,
                   const ArchiveFolder& folder);

}  // namespace texloom::hal::metal
