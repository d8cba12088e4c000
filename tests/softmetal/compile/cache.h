// The cache of compiled code: files named by what they are made from, which processes share.
#pragma once

#include <string>

namespace softmetal {

// A file of the build folder of the software Metal.
std::string build_file(const char* name);

// Tells toolchains apart: what one has compiled does not fit another.
const std::string& toolchain_key();
// Names what this toolchain makes of a text.
std::string code_key(const std::string& text);

// Where the cache has a file, or would have it.
std::string cached_path(const std::string& key, const char* extension);
// Puts a file there, all of it at a time. Returns what went wrong, or nothing.
std::string put_in_cache(const std::string& file, const std::string& path);

// For tests: from now on the cache is in this folder; "" is that of the build folder.
void set_cache_folder(const std::string& folder);

}  // namespace softmetal
