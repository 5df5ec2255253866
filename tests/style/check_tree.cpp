#include "tests/style/check_tree.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "tests/style/include_cycles.h"
#include "tests/style/include_rules.h"
#include "tests/style/write_rules.h"

namespace frugal::style {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLines = 400;
constexpr std::size_t kMostFunctionLines = 60;
constexpr std::size_t kMostFilesInFolder = 40;
constexpr std::string_view kLongFileReason = "// long file: ";
constexpr std::array<std::string_view, 6> kRoomNames = {"sdk",      "layers",  "presets",
                                                        "builders", "samples", "tests"};
constexpr std::array<std::string_view, 6> kTopFiles = {"CMakeLists.txt",    "README.md", "run",
                                                       "CMakePresets.json", "LICENSE",   "build"};
constexpr std::array<std::string_view, 6> kNoSentence = {"Of",    "What",  "Whether",
                                                         "Which", "Whose", "The same"};

struct SourceFile {
  std::string path;  // relative to the root, with slashes
  std::vector<std::string> lines;
};

bool IsCode(const fs::path& path) { return path.extension() == ".h" || path.extension() == ".cpp"; }

bool IsChecked(const fs::path& path) {
  return IsCode(path) || path.extension() == ".cmake" || path.filename() == "CMakeLists.txt";
}

SourceFile Read(const fs::path& root, const fs::path& path) {
  SourceFile file{path.lexically_relative(root).generic_string(), {}};
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
  return file;
}

std::vector<SourceFile> ReadTree(const fs::path& root) {
  std::vector<SourceFile> files;
  for (const fs::path name : {"CMakeLists.txt", "README.md", "run", ".ci/run"}) {
    if (fs::exists(root / name)) files.push_back(Read(root, root / name));
  }
  for (const std::string_view room : kRoomNames) {
    if (!fs::exists(root / room)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      if (entry.is_regular_file() && IsChecked(entry.path())) {
        files.push_back(Read(root, entry.path()));
      }
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

struct Include {
  std::string header;
  bool quoted = false;
};

std::optional<Include> ParseInclude(std::string_view line) {
  constexpr std::string_view kDirective = "#include ";
  if (!line.starts_with(kDirective)) return std::nullopt;
  line.remove_prefix(kDirective.size());
  if (line.empty() || (line[0] != '"' && line[0] != '<')) return std::nullopt;
  const bool quoted = line[0] == '"';
  const std::size_t end = line.find(quoted ? '"' : '>', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return Include{std::string(line.substr(1, end - 1)), quoted};
}

std::size_t IndentOf(std::string_view line) { return line.find_first_not_of(' '); }

// Returns the text of a line that is a comment and nothing else.
std::optional<std::string_view> CommentIn(std::string_view line) {
  line.remove_prefix(std::min(IndentOf(line), line.size()));
  if (!line.starts_with("//")) return std::nullopt;
  line.remove_prefix(std::min(line.find_first_not_of("/ "), line.size()));
  return line;
}

// The line with the brace that opens what begins in line `i`, or nothing where that is a statement.
std::optional<std::size_t> OpeningBrace(const std::vector<std::string>& lines, std::size_t i) {
  for (; i < lines.size() && !lines[i].empty(); ++i) {
    std::string_view code = std::string_view(lines[i]).substr(0, lines[i].find("  //"));
    while (code.ends_with(' ')) code.remove_suffix(1);
    if (code.ends_with('{')) return i;
    if (code.ends_with(';') || code.ends_with('}')) return std::nullopt;
  }
  return std::nullopt;
}

// How many lines below its opening brace line `end` closes a function or a block in one; 0 where it
// closes nothing or something else. As clang-format lays it out, such a brace stands alone, as far
// in as the line begins in which the function does.
std::size_t BodyLines(const std::vector<std::string>& lines, std::size_t end) {
  const std::size_t indent = IndentOf(lines[end]);
  if (indent == std::string::npos || std::string_view(lines[end]).substr(indent) != "}") return 0;
  for (std::size_t i = end; i-- > 0;) {
    const std::size_t here = IndentOf(lines[i]);
    if (here == std::string::npos || here > indent || lines[i][0] == '#') continue;
    if (here < indent) return 0;
    if (const auto brace = OpeningBrace(lines, i)) return end - *brace;
  }
  return 0;
}

class Checker {
 public:
  explicit Checker(fs::path root) : root_(std::move(root)) {}

  std::vector<Finding> Check() {
    CheckTopDirectory();
    const std::vector<SourceFile> files = ReadTree(root_);
    for (const SourceFile& file : files) CheckFile(file);
    CheckFolders(files);
    CheckCycles(files);
    return std::move(findings_);
  }

 private:
  void Report(std::string file, std::size_t line, std::string message) {
    findings_.push_back({std::move(file), static_cast<int>(line), std::move(message)});
  }

  void CheckTopDirectory() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const bool known =
          name.starts_with('.') ||
          std::find(kRoomNames.begin(), kRoomNames.end(), name) != kRoomNames.end() ||
          std::find(kTopFiles.begin(), kTopFiles.end(), name) != kTopFiles.end();
      if (!known) Report(name, 1, "does not belong in the top directory");
    }
  }

  void CheckFile(const SourceFile& file) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      CheckText(file.path, i + 1, file.lines[i]);
      if (!IsCode(file.path)) continue;
      CheckInclude(file.path, i + 1, file.lines[i]);
      CheckDirective(file.path, i + 1, file.lines[i]);
      CheckMatcher(file.path, i + 1, file.lines[i]);
      if (auto problem = WriteProblem(file.path, file.lines[i])) {
        Report(file.path, i + 1, std::move(*problem));
      }
    }
    if (!IsCode(file.path)) return;
    CheckLength(file);
    CheckFunctions(file);
    CheckComments(file);
    CheckGuard(file);
  }

  void CheckFolders(const std::vector<SourceFile>& files) {
    std::map<std::string, std::size_t> counts;
    for (const SourceFile& file : files) {
      if (IsCode(file.path)) ++counts[fs::path(file.path).parent_path().generic_string()];
    }
    for (const auto& [folder, count] : counts) {
      if (count <= kMostFilesInFolder) continue;
      Report(folder, 1,
             std::to_string(count) + " files in one folder, more than " +
                 std::to_string(kMostFilesInFolder));
    }
  }

  void CheckCycles(const std::vector<SourceFile>& files) {
    UnitIncludes includes;
    for (const SourceFile& file : files) {
      if (!IsCode(file.path)) continue;
      std::set<std::string>& included = includes[UnitOf(file.path)];
      for (const std::string& line : file.lines) {
        const std::optional<Include> include = ParseInclude(line);
        if (include && include->quoted) included.insert(UnitOf(include->header));
      }
    }
    for (const std::vector<std::string>& cycle : IncludeCycles(includes)) {
      std::string units;
      for (const std::string& unit : cycle) units += (units.empty() ? "" : ", ") + unit;
      Report(cycle.front(), 1, "units include each other around a circle: " + units);
    }
  }

  void CheckText(const std::string& path, std::size_t number, const std::string& line) {
    if (line.find('\t') != std::string::npos) Report(path, number, "a tab");
    if (line.ends_with(' ')) Report(path, number, "a trailing space");
    if (line.ends_with('\r')) Report(path, number, "a carriage return");
  }

  void CheckInclude(const std::string& path, std::size_t number, const std::string& line) {
    const std::optional<Include> include = ParseInclude(line);
    if (!include) return;
    if (auto problem = IncludeProblem(path, include->header, include->quoted)) {
      Report(path, number, std::move(*problem));
    } else if (include->quoted && !fs::exists(root_ / include->header)) {
      Report(path, number, "\"" + include->header + "\" does not exist");
    }
  }

  // Compilers are told to heed `simd` and to pass over the rest.
  void CheckDirective(const std::string& path, std::size_t number, std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.starts_with("#pragma omp ") || line.starts_with("#pragma omp simd")) return;
    Report(path, number,
           "a directive of OpenMP other than simd; threads come from sdk/core/threads.h");
  }

  // Catch2 2 has that name for texts, 3 for the elements of a range.
  void CheckMatcher(const std::string& path, std::size_t number, std::string_view line) {
    if (path.starts_with("tests/style/")) return;  // which writes the name in its own text
    if (line.find("Catch::Matchers::Contains") == std::string_view::npos) return;
    Report(path, number, "a matcher that differs by version; Catch::Contains is for texts");
  }

  void CheckLength(const SourceFile& file) {
    if (file.lines.size() <= kMostLines) return;
    const bool excused =
        std::any_of(file.lines.begin(), file.lines.end(), [](const std::string& line) {
          return line.starts_with(kLongFileReason) && line.size() > kLongFileReason.size();
        });
    if (excused) return;
    Report(file.path, kMostLines + 1,
           std::to_string(file.lines.size()) + " lines, more than " + std::to_string(kMostLines) +
               ", without a line \"" + std::string(kLongFileReason) + "<reason>\"");
  }

  void CheckFunctions(const SourceFile& file) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::size_t count = BodyLines(file.lines, i);
      if (count <= kMostFunctionLines) continue;
      Report(file.path, i + 1 - count,
             "a function of " + std::to_string(count) + " lines, more than " +
                 std::to_string(kMostFunctionLines));
    }
  }

  void CheckComments(const SourceFile& file) {
    bool inside = false;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::optional<std::string_view> text = CommentIn(file.lines[i]);
      const bool begins = text && !inside;
      inside = text.has_value();
      if (!begins) continue;
      for (const std::string_view word : kNoSentence) {
        const std::string first(word);
        if (!text->starts_with(first + " ")) continue;
        Report(file.path, i + 1,
               "a comment that begins with \"" + first +
                   "\": let it be a sentence, with a subject and a verb");
      }
    }
  }

  void CheckGuard(const SourceFile& file) {
    if (!file.path.ends_with(".h")) return;
    if (std::find(file.lines.begin(), file.lines.end(), "#pragma once") == file.lines.end()) {
      Report(file.path, 1, "a header without #pragma once");
    }
  }

  fs::path root_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string ToString(const Finding& finding) {
  return finding.file + ":" + std::to_string(finding.line) + ": " + finding.message;
}

std::vector<Finding> CheckTree(const fs::path& root) { return Checker(root).Check(); }

}  // namespace frugal::style
