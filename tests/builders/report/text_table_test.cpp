#include "builders/report/text/text_table.h"

#include "tests/catch.h"

namespace frugal {

TEST_CASE("Columns are aligned, numbers to the right") {
  TextTable table;
  table.columns = {{"name"}, {"bytes", true}};
  table.rows = {{"a", "5"}, {"longer", "1,234"}};
  CHECK(ToText(table) ==
        "  name    bytes\n"
        "  a           5\n"
        "  longer  1,234\n");
}

TEST_CASE("A table without titles has no head, one without rows only that") {
  TextTable table;
  table.columns = {{""}, {""}};
  CHECK(ToText(table).empty());
  table.rows = {{"a", ""}};
  CHECK(ToText(table) == "  a\n");
  table.columns = {{"x"}, {"y"}};
  table.rows.clear();
  CHECK(ToText(table) == "  x  y\n");
}

TEST_CASE("Lines that are too wide are cut in the flexible column, then in the first") {
  TextTable table;
  table.columns = {{"name"}, {"text"}};
  table.flexible = 1;
  table.width = 40;
  table.rows = {{"name", std::string(60, 'x')}};
  CHECK(ToText(table) == "  name  text\n  name  " + std::string(29, 'x') + "...\n");
  table.rows = {{std::string(60, 'n'), std::string(60, 'x')}};
  CHECK(ToText(table).find("\n  " + std::string(25, 'n') + "...  xxxxx...\n") != std::string::npos);
}

TEST_CASE("Characters count, not bytes") {
  CHECK(CharacterCount("na\xC3\xAFve") == 5);
  CHECK(CutTo("na\xC3\xAFve text", 6) == "na\xC3\xAF...");
  CHECK(CutTo("na\xC3\xAFve", 5) == "na\xC3\xAFve");
  CHECK(CutTo("abc", 2) == "..");
  CHECK(CutTo("", 0).empty());
}

TEST_CASE("Nothing in a name drives the terminal") {
  CHECK(Printable("a\nb\x1B[2J\x7F") == "a?b?[2J?");
  CHECK(Printable("na\xC3\xAFve") == "na\xC3\xAFve");
  CHECK(Printable("\xFF\xC3") == "??");
}

}  // namespace frugal
