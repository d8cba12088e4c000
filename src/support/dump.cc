#include "support/dump.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace texloom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "texloom-error-";
constexpr std::string_view kUnique = "XXXXXX";  // replaced by mkstemps
constexpr std::string_view kSuffix = ".tl";

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::string as_comment(std::string_view text) {
  std::string comment = "// ";
  for (const char c : text) {
    comment += c;
    if (c == '\n') comment += "// ";
  }
  return comment + "\n";
}

// Quotes the path as one word of a shell.
std::string shell_word(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
  if (path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

std::string command(const std::string& path, const std::string& options) {
  return fmt::format("texloom-opt {} {}", shell_word(path), options);
}

bool is_dump_name(std::string_view name) {
  return name.size() == kPrefix.size() + kUnique.size() + kSuffix.size() &&
         name.starts_with(kPrefix) && name.ends_with(kSuffix);
}

// Deletes all of this user's dumps in the folder but the newest ones. Keeps whatever is not a
// regular file, such as a link, and whatever cannot be deleted.
void remove_old_dumps(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> dumps;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    struct stat state = {};
    if (!is_dump_name(each->path().filename().native()) ||
        ::lstat(each->path().c_str(), &state) != 0 || !S_ISREG(state.st_mode) ||
        state.st_uid != ::geteuid())
      continue;
    std::error_code gone;  // another process may delete the same files
    const fs::file_time_type written = each->last_write_time(gone);
    if (!gone) dumps.emplace_back(written, each->path());
  }
  std::sort(dumps.rbegin(), dumps.rend());
  for (size_t i = kKeptDumps; i < dumps.size(); ++i) fs::remove(dumps[i].second, error);
}

// Writes the dump to a new file that only this user can read, and returns its path.
std::optional<std::string> write_dump(const std::exception& error, const std::string& options,
                                      const std::string& text) {
  const fs::path folder = fs::temp_directory_path();
  std::string path = (folder / fmt::format("{}{}{}", kPrefix, kUnique, kSuffix)).string();
  const int file = ::mkstemps(path.data(), static_cast<int>(kSuffix.size()));
  if (file < 0) return std::nullopt;
  const bool written =
      write_all(file, as_comment(error.what()) + as_comment(command(path, options)) + text);
  if (::close(file) != 0 || !written) {
    std::error_code ignored;
    fs::remove(path, ignored);
    return std::nullopt;
  }
  remove_old_dumps(folder);
  return path;
}

}  // namespace

InternalError with_dump(const std::exception& error, const std::string& options,
                        FunctionRef<std::string()> text) {
  // A failure to write the dump must not hide the error.
  const auto path = [&]() -> std::optional<std::string> {
    try {
      return write_dump(error, options, text());
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }();
  if (!path) return InternalError(error.what());
  return InternalError(
      fmt::format("{}\n  note: the program that triggers it is in {}: please attach it\n"
                  "  note: {} reproduces it",
                  error.what(), *path, command(*path, options)));
}

}  // namespace texloom
