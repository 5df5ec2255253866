#include <stdexcept>

#include "sdk/io/npy_file.h"
#include "tests/fuzz/readers/file_reader.h"

namespace frugal::testing {
namespace {

void Read(const std::string& path) {
  const NpyArray array = ReadNpy(path);
  const std::size_t count = std::visit([](const auto& all) { return all.size(); }, array.values);
  if (static_cast<std::int64_t>(count) != array.shape.ElementCount()) {
    throw std::logic_error("an array has the elements of its shape");
  }
}

// A file of this header, and of a version that gives its length in two bytes.
std::string File(const std::string& header, const std::string& data = "") {
  std::string file = std::string("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xFF);
  file += static_cast<char>(header.size() >> 8);
  return file + header + data;
}

std::string Array(const std::string& shape, const std::string& data,
                  const std::string& type = "'|u1'", const std::string& order = "False") {
  return File("{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n",
              data);
}

std::vector<FileCase> ReadCases() {
  const std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n";
  std::string version_2 = std::string("\x93NUMPY\x02\x00", 8);
  version_2 += static_cast<char>(header.size());
  version_2 += std::string(3, '\0') + header + std::string(8, '\1');
  return {
      {"valid", Array("(2, 3)", "abcdef"), ""},
      {"valid_f4", Array("(1,)", "abcd", "'<f4'"), ""},
      {"valid_f8", Array("(1,)", "\xFF\xFF\xFF\xFF\xFF\xFF\xEF\x7F", "'<f8'"), ""},
      {"valid_i4", Array("(2,)", "abcdefgh", "'<i4'"), ""},
      {"valid_version_2", version_2, ""},
      {"no_elements", Array("(0, 2147483647, 2147483647)", ""), ""},
  };
}

const char* const kCut = "its header is cut short";
const char* const kShape = "its shape is";

std::vector<FileCase> RefusedCases() {
  std::string beyond = Array("(1,)", "a");
  beyond[9] = '\xFF';
  std::string huge = std::string("\x93NUMPY\x03\x00", 8) + std::string(4, '\xFF') + "{}";
  return {
      {"header_beyond_file", beyond, kCut},
      {"header_of_4_gb", huge, kCut},
      {"header_empty", File(""), "does not begin as one"},
      {"header_of_spaces", File(std::string(54, ' ')), "no 'descr'"},
      {"header_without_shape", File("{'descr': '|u1', 'fortran_order': False}"), "no 'shape'"},
      {"magic_alone", std::string("\x93NUMPY\x01\x00\x00\x00", 10), "does not begin as one"},
      {"shape_open", File("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2"), kCut},
      {"shape_negative", Array("(-1,)", "a"), kShape},
      {"shape_huge", Array("(9223372036854775808,)", "a"), kShape},
      {"shape_beyond_31_bits", Array("(4294967296,)", ""), kShape},
      {"shape_overflow", Array("(2147483647, 2147483647, 2147483647)", "a"), "bytes of data for"},
      {"shape_wraps_to_zero", Array("(1073741824, 1073741824, 16)", "", "'<f8'"),
       "bytes of data for"},
      {"shape_of_fractions", Array("(1.5,)", "abcde"), kShape},
      {"shape_of_letters", Array("(1, 2 x)", "ab"), kShape},
      {"shape_no_tuple", Array("1", "a"), kShape},
      {"shape_a_list", Array("[1]", "a"), kShape},
      {"rank_9", Array("(1, 1, 1, 1, 1, 1, 1, 1, 1)", "a"), "more than 8 dimensions"},
      {"rank_huge",
       [] {
         std::string list = "(";
         for (int i = 0; i < 10'000; ++i) list += "1, ";
         return Array(list + ")", "a");
       }(),
       "more than 8 dimensions"},
      {"data_cut_short", Array("(2, 3)", "abcde"), "5 bytes of data for [2, 3]"},
      {"bytes_behind", Array("(2,)", "abc"), "3 bytes of data for [2]"},
      {"fortran_order", Array("(1,)", "a", "'|u1'", "True"), "Fortran order"},
      {"objects", Array("(1,)", "a", "'|O'"), "its elements are"},
      {"big_endian", Array("(1,)", "abcd", "'>f4'"), "its elements are"},
      {"record", Array("(1,)", "a", "[('x', '|u1')]"), "its elements are"},
      {"nul_and_non_utf8_type", Array("(1,)", "a", std::string("'\0\xFF'", 4)), "its elements are"},
      {"empty", "", "it is empty"},
  };
}

std::vector<FileCase> Cases() {
  std::vector<FileCase> all = ReadCases();
  const std::vector<FileCase> more = RefusedCases();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

FileReader NpyFileReader() {
  return {.name = "npy",
          .read = Read,
          .cases = Cases,
          .bytes_per_byte = 16,
          .fixed_bytes = std::size_t{1} << 20};
}

}  // namespace frugal::testing
