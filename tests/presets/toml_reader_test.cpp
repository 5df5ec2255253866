#include "presets/config/toml_reader.h"

#include <ctime>
#include <filesystem>
#include <fstream>

#include "sdk/core/error.h"
#include "tests/catch.h"

namespace frugal {
namespace {

std::string ErrorOf(const std::string& text) {
  try {
    ParseTomlText(text, "f.toml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string FileErrorOf(const std::filesystem::path& path) {
  try {
    ParseTomlFile(path);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("A TOML text becomes a tree in the order of the file, with places") {
  const ConfigNode root = ParseTomlText(
      "# \xC3\xA4\n[zoo]\nb = 0x10 # c\na.x = [1, 'two',\n 3]\n[[list]]\nt = 1.50\n[[list]]\n",
      "f.toml");
  REQUIRE(root.children.size() == 2);
  CHECK(ToString(root.location) == "f.toml:1:1");
  const ConfigNode& zoo = root.children[0];
  CHECK(zoo.key == "zoo");
  CHECK(ToString(zoo.location) == "f.toml:2:1");
  REQUIRE(zoo.children.size() == 2);
  CHECK(zoo.children[0].key == "b");
  CHECK(zoo.children[0].value == Value{16});
  CHECK(zoo.children[0].text == "0x10");
  CHECK(ToString(zoo.children[0].location) == "f.toml:3:5");
  CHECK(ToString(zoo.children[0].key_location) == "f.toml:3:1");
  const ConfigNode* list = zoo.Find("a")->Find("x");
  REQUIRE(list);
  CHECK(list->IsArray());
  CHECK(list->text == "[1, 'two', ...");
  REQUIRE(list->children.size() == 3);
  CHECK(list->children[1].value == Value{"two"});
  CHECK(ToString(list->children[2].location) == "f.toml:5:2");
  CHECK(root.Find("list")->children[0].Find("t")->text == "1.50");
  CHECK(root.Find("list")->children[1].IsTable());
  CHECK(root.Find("none") == nullptr);
  CHECK(list->Find("none") == nullptr);
}

TEST_CASE("Columns and quotes count characters, not bytes") {
  const ConfigNode root = ParseTomlText("\"\xC3\xA4\xC3\xB6\" = \"\xE2\x82\xAC\" # x", "f");
  REQUIRE(root.children.size() == 1);
  CHECK(root.children[0].text == "\"\xE2\x82\xAC\"");
  CHECK(root.children[0].location.column == 8);
}

TEST_CASE("Quotes far along a line are what stands there") {
  std::string line = "a = [";
  for (int i = 0; i < 500; ++i) line += "'\xC3\xA4" + std::to_string(i) + "', ";
  const ConfigNode root = ParseTomlText("b = 1\n" + line + "]\nc = 'end'\n", "f");
  const ConfigNode& list = root.children[1];
  REQUIRE(list.children.size() == 500);
  std::int64_t column = 6;
  for (int i = 0; i < 500; ++i) {
    const std::string quote = "'\xC3\xA4" + std::to_string(i) + "'";
    CHECK(list.children[static_cast<std::size_t>(i)].text == quote);
    CHECK(list.children[static_cast<std::size_t>(i)].location.column == column);
    column += std::ssize(quote) + 1;  // one byte more than characters, a comma and a space
  }
  CHECK(root.children[2].text == "'end'");
}

TEST_CASE("A line of many values is read in time that grows with its length") {
  std::string line = "a = [";
  for (int i = 0; i < 100'000; ++i) line += "1, ";
  const std::clock_t began = std::clock();
  CHECK(ParseTomlText(line + "]", "f").children[0].children.size() == 100'000);
  CHECK(std::clock() - began < 5 * CLOCKS_PER_SEC);  // not where each looks from its beginning
}

TEST_CASE("Dates are neither text nor numbers") {
  const ConfigNode root = ParseTomlText("d = 2020-01-01", "f");
  CHECK(root.children[0].kind == NodeKind::kOther);
  CHECK(DescribeGiven(root.children[0]) == "a date or time was given: 2020-01-01");
}

TEST_CASE("Broken TOML is reported with its place") {
  CHECK(ErrorOf("a = 1\nb = \n").find("f.toml:2:5: the file must be TOML; the parser says: ") == 0);
  CHECK(ErrorOf("[a\n").find("f.toml:1:") == 0);
  CHECK(ErrorOf("a = 1\na = 2\n").find("cannot redefine existing integer 'a'") !=
        std::string::npos);
  CHECK(ErrorOf("a = ForConvNets").find("text values stand in double quotes: key = \"text\"") !=
        std::string::npos);
  CHECK_FALSE(ErrorOf("a = \"\xFF\"").empty());
  CHECK_FALSE(ErrorOf("a = 99999999999999999999").empty());
  CHECK_FALSE(ErrorOf("a = \"open").empty());
  CHECK_FALSE(ErrorOf(std::string("a = 1\0", 6)).empty());
  CHECK(ErrorOf("").empty());
  CHECK(ErrorOf("# only a comment").empty());
  CHECK(ErrorOf("\xEF\xBB\xBF"
                "a = 1\r\nb = 2\r\n")
            .empty());
}

TEST_CASE("Absurdly deep files are refused, not crashed on") {
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  const std::string message =
      "f.toml: keys must have at most 32 parts; a longer one was given; is it a configuration?";
  CHECK(ErrorOf(deep + " = 1") == message);
  CHECK(ErrorOf("[" + deep + "]") == message);
  CHECK_FALSE(ErrorOf("a = " + std::string(100'000, '[')).empty());
  std::string nested = "1";  // within the limits of the parser, but 3,100 tables deep
  for (int i = 0; i < 100; ++i) nested = "{" + deep.substr(0, 61) + " = " + nested + "}";
  CHECK(ErrorOf("a = " + nested).find("tables must nest at most 64 deep") != std::string::npos);
  // A text that is long but not deep is taken.
  CHECK(ErrorOf("# " + std::string(1000, '.')).empty());
  std::string numbers = "a = [";
  for (int i = 0; i < 1000; ++i) numbers += "1.5, ";
  CHECK(ErrorOf(numbers + "]").empty());
}

TEST_CASE("Files that are missing, directories or too large are refused with a sentence") {
  const auto folder = std::filesystem::temp_directory_path() / "frugal_toml_reader_test";
  std::filesystem::create_directories(folder);
  const std::string missing = (folder / "missing.toml").string();
  CHECK(FileErrorOf(missing) ==
        missing + ": a TOML file is needed; there is no such file; check the path");
  CHECK(FileErrorOf(folder) ==
        folder.string() + ": a TOML file is needed; this is a directory; name a file in it");
  const auto file = folder / "file.toml";
  std::ofstream(file).close();
  CHECK(ParseTomlFile(file).children.empty());
  std::ofstream(file) << "[memory]\nnum_devices = 1\n";
  CHECK(ToString(ParseTomlFile(file).Find("memory")->children[0].location) ==
        file.string() + ":2:15");
  std::ofstream(file).close();
  std::filesystem::resize_file(file, (std::uintmax_t{2} << 20) + 1);
  CHECK(FileErrorOf(file) ==
        file.string() + ": a TOML file is needed; this one is larger than 2 MB; check the path");
  std::filesystem::remove_all(folder);
  CHECK(ErrorOf("# " + std::string((2 << 20) - 2, 'x')).empty());
  CHECK(ErrorOf("# " + std::string((2 << 20) - 1, 'x')) ==
        "f.toml: a configuration has at most 2 MB; a larger one was given; is it one?");
}

TEST_CASE("One value is read by itself") {
  CHECK(ParseTomlValue("3")->value == Value{3});
  CHECK(ParseTomlValue("\"x\"")->value == Value{"x"});
  CHECK(ParseTomlValue("[1, 2]")->children.size() == 2);
  CHECK(ParseTomlValue("{a = 1}")->IsTable());
  CHECK_FALSE(ParseTomlValue("ForConvNets"));
  CHECK_FALSE(ParseTomlValue(""));
  CHECK_FALSE(ParseTomlValue("1\nw = 2"));
}

}  // namespace frugal
