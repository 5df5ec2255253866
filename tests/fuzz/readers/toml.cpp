#include <stdexcept>

#include "presets/config/toml_reader.h"
#include "sdk/core/utf8.h"
#include "tests/fuzz/readers/file_reader.h"

namespace frugal::testing {
namespace {

constexpr int kMostDepth = 64;  // to which all that reads the tree recurses

void CheckTree(const ConfigNode& node, int depth) {
  if (depth > kMostDepth) throw std::logic_error("trees are at most 64 deep");
  if (!IsUtf8(node.key) || !IsUtf8(node.text)) throw std::logic_error("texts are UTF-8");
  DescribeGiven(node);
  for (const ConfigNode& child : node.children) CheckTree(child, depth + 1);
}

void Read(const std::string& path) { CheckTree(ParseTomlFile(path), 0); }

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string Tables(const std::string& open, const std::string& close) {
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    text.append(open).append(std::to_string(i)).append(close).append("\nk = 1\n");
  }
  return text;
}

const char* const kDeepKey = "keys must have at most 32 parts";
const char* const kNotToml = "the file must be TOML";
const char* const kTwice = "cannot redefine";

std::vector<FileCase> ReadCases() {
  return {
      {"valid", "[memory]\nnum_devices = 2\nbudget = \"70%\"\n[[layers]]\ntype = 'linear'\n", ""},
      {"valid_values",
       "a = [1, -2_000, 0xFF, 0o7, 0b1, 1.5e-3, inf, nan, true]\nb = {c.d = \"\\u00e4\\n\"}\n"
       "t = 1979-05-27T07:32:00.5+01:00\ns = \"\"\"\n x\\\n  y\"\"\"\nl = '''z'''\n",
       ""},
      {"valid_byte_order_mark", "\xEF\xBB\xBF\"\xC3\xA4\" = 1\r\n", ""},
      {"umlaut_behind_continued_line", "a = \"\"\"\\\n \xC3\xA4\"\"\"", ""},
      {"empty", "", ""},
      {"many_values_in_one_line", "a = [" + Repeated("1, ", 40'000) + "]", ""},
      {"many_characters_in_one_line", "a = [" + Repeated("\"\xC3\xA4\", ", 20'000) + "]", ""},
      {"many_keys_in_one_line",
       "a = {z = 1" +
           [] {
             std::string keys;
             for (int i = 0; i < 10'000; ++i) keys += ", k" + std::to_string(i) + " = 1";
             return keys;
           }() +
           "}",
       ""},
      {"many_tables", Tables("[a", ".b]"), ""},
      {"many_arrays_of_tables", Tables("[[a", "]]"), ""},
  };
}

std::vector<FileCase> NestedCases() {
  return {
      {"deep_dotted_key", "a" + Repeated(".a", 20'000) + " = 1", kDeepKey},
      {"deep_header", "[a" + Repeated(".a", 20'000) + "]", kDeepKey},
      {"deep_quoted_key", "\"\"" + Repeated(" . ''", 20'000) + " = 1", kDeepKey},
      {"deep_arrays", "a = " + Repeated("[", 50'000), kNotToml},
      {"deep_inline_tables", "a = " + Repeated("{a = ", 50'000), kNotToml},
      {"deep_arrays_that_close", "a = " + Repeated("[", 100) + Repeated("]", 100),
       "tables must nest at most 64 deep"},
      {"deep_by_headers",
       "[" + Repeated("a.", 30) + "a]\nb = {" + Repeated("c.", 30) + "c = {d.e.f.g = 1}}",
       "tables must nest at most 64 deep"},
  };
}

std::vector<FileCase> RefusedCases() {
  return {
      {"duplicate_key", "a = 1\na = 2\n", kTwice},
      {"duplicate_key_quoted", "a = 1\n\"a\" = 2\n", kTwice},
      {"duplicate_table", "[a]\n[a]\n", kTwice},
      {"table_over_dotted_key", "a.b = 1\n[a]\nb = 2\n", kTwice},
      {"array_over_table", "[a]\n[[a]]\n", kTwice},
      {"extended_inline_table", "a = {b = 1}\na.c = 2\n", kNotToml},
      {"nul_in_key", std::string("a\0b = 1", 7), kNotToml},
      {"nul_in_text", std::string("a = \"b\0c\"", 9), kNotToml},
      {"non_utf8_key", "\"\xFF\" = 1", kNotToml},
      {"non_utf8_comment", "a = 1 # \xC3\x28\n", kNotToml},
      {"overlong_utf8", "a = \"\xC0\xAF\"", kNotToml},
      {"utf8_cut_short", "a = \"\xE2\x82", kNotToml},
      {"escaped_surrogate", "a = \"\\uD800\"", kNotToml},
      {"escaped_beyond_unicode", "a = \"\\U00110000\"", kNotToml},
      {"huge_integer", "a = " + std::string(5000, '9'), kNotToml},
      {"huge_exponent", "a = 1e99999999999", kNotToml},
      {"date_without_time", "a = 1979-05-27T+7:00", kNotToml},
      {"header_open", "[a]\n[\n", kNotToml},
      {"umlaut_outside_of_quotes", "\xC3\xA4 = 1", kNotToml},
      {"no_break_space_outside_of_quotes", "a\xC2\xA0= 1", kNotToml},
      {"impossible_date", "a = 2023-02-30", kNotToml},
      {"too_large", "#" + std::string(2 << 20, 'x'), "larger than 2 MB"},
      {"text_cut_short", "a = \"b", kNotToml},
      {"long_text_cut_short", "a = \"\"\"\nb", kNotToml},
      {"array_cut_short", "a = [1,", kNotToml},
      {"header_cut_short", "[[a]", kNotToml},
      {"lone_carriage_return", "a = 1\rb = 2", kNotToml},
  };
}

std::vector<FileCase> Cases() {
  std::vector<FileCase> all = ReadCases();
  for (const auto& more : {NestedCases(), RefusedCases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

FileReader TomlFileReader() {
  return {.name = "toml",
          .read = Read,
          .cases = Cases,
          .bytes_per_byte = 512,
          .fixed_bytes = std::size_t{1} << 20};
}

}  // namespace frugal::testing
