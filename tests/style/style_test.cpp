#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/style/check_tree.h"
#include "tests/style/include_rules.h"

namespace frugal::style {
namespace {

namespace fs = std::filesystem;

// A repository of its own for one test, removed at its end.
class TemporaryTree {
 public:
  TemporaryTree()
      : root_(fs::temp_directory_path() / ("frugal_style_test_" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~TemporaryTree() { fs::remove_all(root_); }
  TemporaryTree(const TemporaryTree&) = delete;
  TemporaryTree& operator=(const TemporaryTree&) = delete;

  void Write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::vector<std::string> Findings() const {
    std::vector<std::string> lines;
    for (const Finding& finding : CheckTree(root_)) lines.push_back(ToString(finding));
    return lines;
  }

 private:
  fs::path root_;
};

using Lines = std::vector<std::string>;

bool May(std::string_view path, std::string_view header, bool quoted = true) {
  return !IncludeProblem(path, header, quoted);
}

}  // namespace

TEST_CASE("style: an empty repository and a clean one have no findings") {
  TemporaryTree tree;
  CHECK(tree.Findings().empty());
  tree.Write("sdk/core/a.h", "#pragma once\n");
  tree.Write("sdk/memory/b.cpp", "#include \"sdk/core/a.h\"\n#include <vector>\n");
  tree.Write(".gitignore", "");
  tree.Write("build/junk.h", "\t \n");
  CHECK(tree.Findings().empty());
}

TEST_CASE("style: includes go down the stack only") {
  CHECK(May("layers/dense.cpp", "sdk/ops/linear.h"));
  CHECK(May("builders/run/model.cpp", "presets/config.h"));
  CHECK(May("tests/sdk/ops/linear_test.cpp", "sdk/backend/onednn/cache.h"));
  CHECK(May("sdk/backend/onednn/a.cpp", "sdk/backend/onednn/cache.h"));

  CHECK_FALSE(May("sdk/core/a.h", "sdk/memory/b.h"));
  CHECK_FALSE(May("sdk/backend/a.h", "sdk/autograd/b.h"));
  CHECK_FALSE(May("sdk/data/a.h", "sdk/io/b.h"));
  CHECK_FALSE(May("sdk/train/a.h", "layers/b.h"));
  CHECK_FALSE(May("layers/a.h", "presets/b.h"));
  CHECK_FALSE(May("presets/a.h", "layers/b.h"));
  CHECK_FALSE(May("presets/config/a.h", "presets/b.h"));
  CHECK(May("layers/blocks/a.h", "presets/config/b.h"));
  CHECK_FALSE(May("presets/config/a.h", "layers/types/b.h"));
  CHECK_FALSE(May("builders/config/a.h", "builders/setup/b.h"));
  CHECK_FALSE(May("builders/report/text/a.h", "builders/report/json/b.h"));
  CHECK(May("builders/a.h", "builders/report/html/b.h"));
  CHECK_FALSE(May("builders/a.h", "samples/b.h"));
  CHECK_FALSE(May("samples/010_a/main.cpp", "tests/catch.h"));
  CHECK_FALSE(May("sdk/ops/a.cpp", "sdk/backend/onednn/cache.h"));
  CHECK_FALSE(May("sdk/new_room/a.cpp", "sdk/core/a.h"));
  CHECK_FALSE(May("sdk/core/a.cpp", "a.h"));
}

TEST_CASE("style: each library stays behind its fence") {
  CHECK(May("presets/config/toml_reader.cpp", "toml++/toml.h", false));
  CHECK(May("sdk/backend/eigen/map.h", "Eigen/Core", false));
  CHECK(May("sdk/backend/onednn/a.cpp", "dnnl.hpp", false));
  CHECK(May("sdk/core/log.cpp", "spdlog/spdlog.h", false));
  CHECK(May("sdk/io/json.cpp", "nlohmann/json.hpp", false));
  CHECK(May("tests/catch.h", "catch2/catch.hpp", false));
  CHECK(May("builders/cli/main.cpp", "CLI/CLI.hpp", false));

  CHECK_FALSE(May("builders/config/run_config_reader.cpp", "toml++/toml.h", false));
  CHECK_FALSE(May("sdk/backend/backend.h", "Eigen/Core", false));
  CHECK_FALSE(May("sdk/backend/eigen/map.h", "dnnl.hpp", false));
  CHECK_FALSE(May("sdk/ops/linear.cpp", "oneapi/dnnl/dnnl.hpp", false));
  CHECK_FALSE(May("sdk/core/log.h", "spdlog/spdlog.h", false));
  CHECK_FALSE(May("sdk/io/json.h", "nlohmann/json.hpp", false));
  CHECK_FALSE(May("sdk/data/idx.h", "zlib.h", false));
  CHECK_FALSE(May("tests/sdk/core/a_test.cpp", "catch2/catch.hpp", false));
  CHECK_FALSE(May("builders/plan.cpp", "CLI/CLI.hpp", false));
  CHECK_FALSE(May("sdk/core/threads.cpp", "omp.h", false));
}

TEST_CASE("style: findings name the file and the line") {
  TemporaryTree tree;
  tree.Write("sdk/core/a.h", "int a;\n");
  tree.Write("sdk/core/b.cpp", "#include \"sdk/core/missing.h\"\n\tint b; \nint c;\r\n");
  tree.Write("notes.txt", "");
  CHECK(tree.Findings() == Lines{"notes.txt:1: does not belong in the top directory",
                                 "sdk/core/a.h:1: a header without #pragma once",
                                 "sdk/core/b.cpp:1: \"sdk/core/missing.h\" does not exist",
                                 "sdk/core/b.cpp:2: a tab", "sdk/core/b.cpp:2: a trailing space",
                                 "sdk/core/b.cpp:3: a carriage return"});
}

TEST_CASE("style: texts are matched by a name that all versions of Catch2 have") {
  TemporaryTree tree;
  tree.Write("tests/a_test.cpp", "using Catch::Contains;\nusing Catch::Matchers::Contains;\n");
  CHECK(
      tree.Findings() ==
      Lines{"tests/a_test.cpp:2: a matcher that differs by version; Catch::Contains is for texts"});
}

TEST_CASE("style: of OpenMP's directives only simd is compiled") {
  TemporaryTree tree;
  tree.Write("sdk/core/a.cpp", "#pragma omp simd reduction(+ : sum)\n  #pragma omp parallel for\n");
  CHECK(tree.Findings() ==
        Lines{"sdk/core/a.cpp:2: a directive of OpenMP other than simd; threads come from "
              "sdk/core/threads.h"});
}

TEST_CASE("style: files are written by one interface") {
  TemporaryTree tree;
  tree.Write("sdk/io/file_system.cpp", "std::rename(a, b);\n::open(a, O_RDWR);\n");
  tree.Write("tests/a.cpp", "std::ofstream(a) << b;\n");
  tree.Write("sdk/core/a.cpp",
             "std::ifstream in(a);\n::open(a, O_RDONLY | O_CLOEXEC);\nstd::fopen(a, \"rb\");\n"
             "std::remove(a.begin(), a.end(), 1);\n::write(STDERR_FILENO, a, 1);\n"
             "files.Rename(a, b);  // as std::rename does\n");
  CHECK(tree.Findings().empty());
  for (const char* line : {"std::ofstream out(a);", "  ::rename(a, b);", "fs::remove_all(a);",
                           "fs::create_directory(a);", "std::filesystem::create_directories(a);",
                           "::open(a, O_RDWR);", "std::fopen(a, \"wb\");", "std::fopen(a, \"r+\");",
                           "::fsync(a);", "::pwrite(a, b, 1, 0);", "::write(a, b, 1);"}) {
    INFO(line);
    tree.Write("builders/a.cpp", std::string("int a;\n") + line + "\n");
    const Lines findings = tree.Findings();
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].starts_with("builders/a.cpp:2: \""));
    CHECK(findings[0].ends_with("outside of sdk/io/file_system.cpp: write by CurrentFileSystem()"));
  }
}

TEST_CASE("style: a comment is a sentence") {
  TemporaryTree tree;
  tree.Write("sdk/core/a.cpp",
             "// Returns the bits\n// Of a number.\nint a;  // What is seen\n"
             "  // Often it is none.\nint b;\n");
  tree.Write("sdk/core/b.cmake", "// Of another language.\n");
  tree.Write("sdk/core/c.cpp", "// Of a number.\n// What more.\nint a;\n  // The same again.\n");
  const std::string advice = "\": let it be a sentence, with a subject and a verb";
  CHECK(tree.Findings() ==
        Lines{"sdk/core/c.cpp:1: a comment that begins with \"Of" + advice,
              "sdk/core/c.cpp:4: a comment that begins with \"The same" + advice});
}

TEST_CASE("style: no two units include each other") {
  TemporaryTree tree;
  tree.Write("sdk/core/a.h", "#pragma once\n");
  tree.Write("sdk/core/a.cpp", "#include \"sdk/core/a.h\"\n#include \"sdk/core/b.h\"\n");
  tree.Write("sdk/core/b.h", "#pragma once\n#include \"sdk/core/c.h\"\n");
  tree.Write("sdk/core/c.h", "#pragma once\n");
  CHECK(tree.Findings().empty());
  tree.Write("sdk/core/c.h", "#pragma once\n#include \"sdk/core/a.h\"\n");
  CHECK(tree.Findings() == Lines{"sdk/core/a:1: units include each other around a circle: "
                                 "sdk/core/a, sdk/core/b, sdk/core/c"});
}

TEST_CASE("style: a folder holds 40 files at most") {
  TemporaryTree tree;
  for (int i = 0; i < 40; ++i) {
    tree.Write("sdk/core/a" + std::to_string(i) + ".h", "#pragma once\n");
  }
  tree.Write("sdk/core/notes.cmake", "");
  CHECK(tree.Findings().empty());
  tree.Write("sdk/core/one_more.cpp", "");
  CHECK(tree.Findings() == Lines{"sdk/core:1: 41 files in one folder, more than 40"});
}

TEST_CASE("style: a long file needs a reason") {
  TemporaryTree tree;
  std::string text(400, '\n');
  tree.Write("sdk/core/a.cpp", text);
  CHECK(tree.Findings().empty());
  text += "\n";
  tree.Write("sdk/core/a.cpp", text);
  REQUIRE(tree.Findings().size() == 1);
  CHECK(tree.Findings()[0].find("sdk/core/a.cpp:401: 401 lines") == 0);
  tree.Write("sdk/core/a.cpp", "// long file: a table of constants\n" + text);
  CHECK(tree.Findings().empty());
}

std::string FunctionOf(std::size_t lines, const std::string& indent, const std::string& opening) {
  std::string text = indent + opening + "\n";
  for (std::size_t i = 1; i < lines; ++i) text += i % 9 == 0 ? "\n" : indent + "  F();\n";
  return text + indent + "}\n";
}

TEST_CASE("style: a function has 60 lines at most") {
  TemporaryTree tree;
  const auto finding = [&](const std::string& text) -> std::string {
    tree.Write("sdk/core/a.cpp", text);
    const Lines findings = tree.Findings();
    return findings.empty() ? "" : findings.front();
  };
  const std::string broken = ": a function of 61 lines, more than 60";
  CHECK(finding(FunctionOf(60, "", "void Short() {")).empty());
  CHECK(finding(FunctionOf(61, "", "void Long() {")) == "sdk/core/a.cpp:1" + broken);
  CHECK(finding(FunctionOf(61, "", "void Long() {  // why")) == "sdk/core/a.cpp:1" + broken);
  CHECK(finding("void Long(int a,\n" + FunctionOf(61, "", "          int b) {")) ==
        "sdk/core/a.cpp:2" + broken);
  CHECK(finding("int a;\n" + FunctionOf(61, "", "void Long() {") + "int b;\n") ==
        "sdk/core/a.cpp:2" + broken);
  CHECK(finding("struct A {\n" + FunctionOf(61, "  ", "void Long() {") + "};\n") ==
        "sdk/core/a.cpp:2" + broken);
  CHECK(finding(FunctionOf(30, "", "void A() {") + FunctionOf(50, "", "void B() {")).empty());
  const std::string members(100, '\n');
  CHECK(finding("namespace a {\n" + members + "}  // namespace a\n").empty());
  CHECK(finding("struct A {\n" + members + "};\n").empty());
}

}  // namespace frugal::style
