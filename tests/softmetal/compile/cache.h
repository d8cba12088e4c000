// The cache of compiled code, which processes share: files named by a hash of their source.
#pragma once

#include <string>

namespace softmetal {

// Returns the path of a file in the software Metal's build folder.
std::string build_file(const char* name);

// Identifies the toolchain, since code of one toolchain does not fit another.
const std::string& toolchain_key();
// Returns the key of the code that this toolchain generates from a text.
std::string code_key(const std::string& text);

// Returns the path of a key's file in the cache, whether or not the file exists.
std::string cached_path(const std::string& key, const char* extension);
// Moves a file into the cache atomically. Returns the error, or an empty string.
std::string put_in_cache(const std::string& file, const std::string& path);

// For tests: uses this folder as the cache from now on; "" is the cache in the build folder.
void set_cache_folder(const std::string& folder);

}  // namespace softmetal
