#include "sdk/memory/control_groups.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace frugal {
namespace {

// Version 1 writes "no limit" as 2^63 less a page; nothing that has a limit comes near this.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

// The names that one version gives its files.
struct Files {
  std::vector<std::string> limits;
  std::string usage;
  std::vector<std::string> file_pages;  // entries of memory.stat that the kernel can drop
};
const Files kVersion1 = {{"memory.limit_in_bytes"},
                         "memory.usage_in_bytes",
                         {"total_inactive_file", "total_active_file"}};
// Beyond memory.high a group is slowed down until it hardly moves, so that is a limit too.
const Files kVersion2 = {
    {"memory.max", "memory.high"}, "memory.current", {"inactive_file", "active_file"}};

// One mount of a hierarchy: `mounted` is the group that appears at `directory`.
struct Mount {
  std::string mounted;
  std::string directory;
};

bool IsOctal(char digit) { return digit >= '0' && digit <= '7'; }

// Undoes the octal escapes of mountinfo: "\040" is a space (proc(5)).
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 3);
    if (text[i] == '\\' && digits.size() == 3 && std::ranges::all_of(digits, IsOctal)) {
      plain += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + digits[2] - '0');
      i += digits.size();
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool HasWord(const std::string& list, std::string_view word) {
  std::istringstream words(list);
  for (std::string one; std::getline(words, one, ',');) {
    if (one == word) return true;
  }
  return false;
}

// The fields before " - " are: id, parent, device, root, mount point, ...; behind it: type, source
// and options.
std::optional<Mount> FindMount(const std::string& root, bool version2) {
  std::ifstream in(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash));
    std::istringstream behind(line.substr(dash + 3));
    std::string skipped, mounted, directory, type, source, options;
    before >> skipped >> skipped >> skipped >> mounted >> directory;
    behind >> type >> source >> options;
    const bool is_wanted =
        version2 ? type == "cgroup2" : type == "cgroup" && HasWord(options, "memory");
    if (is_wanted) return Mount{Unescaped(mounted), Unescaped(directory)};
  }
  return std::nullopt;
}

// The group of this process: "0::/a" in version 2, "4:cpu,memory:/a" in version 1.
std::optional<std::string> FindGroup(const std::string& root, bool version2) {
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_wanted = version2 ? controllers.empty() : HasWord(controllers, "memory");
    if (is_wanted) return line.substr(second + 1);
  }
  return std::nullopt;
}

// A limit file holds a number of bytes or "max".
std::optional<std::int64_t> ReadNumber(const std::string& file) {
  std::ifstream in(file);
  std::int64_t number = 0;
  if (!(in >> number)) return std::nullopt;
  return number;
}

std::int64_t DroppableBytes(const std::string& directory, const Files& files) {
  std::ifstream in(directory + "/memory.stat");
  std::int64_t sum = 0;
  std::string name;
  for (std::int64_t bytes = 0; in >> name >> bytes;) {
    if (std::ranges::find(files.file_pages, name) != files.file_pages.end()) sum += bytes;
  }
  return sum;
}

void TakeGroup(const std::string& directory, const std::string& group, const Files& files,
               ControlGroupMemory& least) {
  std::int64_t limit = kNoLimit;
  for (const std::string& file : files.limits) {
    limit = std::min(limit, ReadNumber(directory + "/" + file).value_or(kNoLimit));
  }
  if (limit >= kNoLimit) return;
  const std::int64_t used = ReadNumber(directory + "/" + files.usage).value_or(0);
  const std::int64_t held = std::max<std::int64_t>(0, used - DroppableBytes(directory, files));
  const std::int64_t left = std::max<std::int64_t>(0, limit - held);
  const bool is_first = least.limit_bytes == 0;
  least.available_bytes = is_first ? left : std::min(least.available_bytes, left);
  if (!is_first && least.limit_bytes <= limit) return;
  least.limit_bytes = limit;
  least.group = group;
}

// From the group itself up to the one that is mounted. In a container the path may name groups that
// are not visible here; then only the mounted one can be read.
void TakeHierarchy(const std::string& root, bool version2, ControlGroupMemory& least) {
  const auto mount = FindMount(root, version2);
  const auto group = FindGroup(root, version2);
  if (!mount || !group) return;
  std::string below = *group == "/" ? "" : *group;
  if (mount->mounted != "/" && below.starts_with(mount->mounted)) {
    below = below.substr(mount->mounted.size());
  }
  const Files& files = version2 ? kVersion2 : kVersion1;
  while (true) {
    TakeGroup(root + mount->directory + below, below.empty() ? "/" : below, files, least);
    if (below.empty()) return;
    below.resize(below.rfind('/') == std::string::npos ? 0 : below.rfind('/'));
  }
}

}  // namespace

ControlGroupMemory ReadControlGroups(const std::string& root) {
  ControlGroupMemory least;
  TakeHierarchy(root, true, least);
  TakeHierarchy(root, false, least);
  return least;
}

}  // namespace frugal
