#include "sdk/io/weights/safetensors.h"

#include "tests/fuzz/readers/every_tensor.h"
#include "tests/fuzz/readers/file_reader.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

void Read(const std::string& path) { ReadEveryTensor(*OpenSafetensors(path)); }

std::string Entry(const std::string& shape, const std::string& place,
                  const std::string& dtype = "\"F32\"") {
  return "{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + place + "}";
}

// A file of the tensor 'w' alone.
std::string One(const std::string& shape, const std::string& place, std::size_t data_bytes) {
  return Safetensors("{\"w\":" + Entry(shape, place) + "}", data_bytes);
}

// A file whose first 8 bytes say this, and two bytes behind them.
std::string Length(std::uint64_t length) {
  std::string content(reinterpret_cast<const char*>(&length), sizeof length);
  return content + "{}";
}

std::vector<FileCase> LengthCases() {
  return {
      {"valid",
       Safetensors("{\"__metadata__\":{\"k\":\"v\"},\"a.b\":" + Entry("[2,1]", "[0,8]") +
                       ",\"c\":" + Entry("[]", "[8,16]", "\"I64\"") + "}",
                   16),
       ""},
      {"no_tensors", Safetensors("{}", 0), ""},
      {"no_elements", One("[0,3]", "[0,0]", 0), ""},
      {"nul_in_name", Safetensors("{\"a\\u0000b\":" + Entry("[1]", "[0,4]") + "}", 4), ""},
      {"length_zero", Length(0), "the header is a JSON object"},
      {"length_beyond_file", Length(3), "more than the 2 that follow"},
      {"length_beyond_limit", Length(100'000'001), "more than the 2 that follow"},
      {"length_negative", Length(~std::uint64_t{0}), "more than the 2 that follow"},
      {"length_wraps", Length(~std::uint64_t{0} - 7), "more than the 2 that follow"},
      {"length_cut_short", "\x02", "begins with 8 bytes of length"},
      {"header_of_spaces", Safetensors(std::string(100, ' '), 0), "the header is a JSON object"},
      {"header_cut_short", Safetensors("{\"w\":", 0), "the header is a JSON object"},
      {"header_and_more", Safetensors("{}{}", 0), "the header is a JSON object"},
      {"header_of_a_list", Safetensors("[]", 0), "it is a JSON array"},
      {"header_null", Safetensors("null", 0), "it is a JSON null"},
      {"deep_lists", Safetensors(std::string(50'000, '['), 0), "nested more deeply"},
      {"deep_objects", Safetensors(R"({"a":{"a":{"a":{"a":{}}}}})", 0), "nested more deeply"},
  };
}

std::vector<FileCase> PlaceCases() {
  const std::string a = "{\"a\":" + Entry("[2]", "[0,8]");
  return {
      {"overlap", Safetensors(a + ",\"b\":" + Entry("[1]", "[4,8]") + "}", 8), "do not overlap"},
      {"overlap_whole", Safetensors(a + ",\"b\":" + Entry("[2]", "[0,8]") + "}", 8),
       "do not overlap"},
      {"gap", Safetensors(a + ",\"b\":" + Entry("[1]", "[12,16]") + "}", 16), "without gaps"},
      {"gap_in_front", One("[1]", "[4,8]", 8), "without gaps"},
      {"bytes_behind", One("[1]", "[0,4]", 5), "1 bytes follow it"},
      {"data_cut_short", One("[2]", "[0,8]", 7), "reaches past the end"},
      {"place_reversed", One("[1]", "[4,0]", 4), "data_offsets [begin, end]"},
      {"place_beyond_file", One("[1]", "[9223372036854775800,9223372036854775804]", 4),
       "reaches past the end"},
      {"place_beyond_63_bits", One("[1]", "[0,18446744073709551615]", 4), "whole numbers"},
      {"place_of_fractions", One("[1]", "[0.0,4.0]", 4), "whole numbers from 0 on"},
      {"place_of_three", One("[1]", "[0,4,4]", 4), "data_offsets [begin, end]"},
      {"shape_overflow", One("[4294967296,4294967296,4]", "[0,0]", 0), "fits memory"},
      {"shape_overflow_with_zero", One("[0,4611686018427387904,4]", "[0,0]", 0), "fits memory"},
      {"shape_beyond_bytes", One("[281474976710656]", "[0,4]", 4), "its data_offsets span 4"},
      {"shape_negative", One("[-1]", "[0,4]", 4), "whole numbers from 0 on"},
      {"rank_9", One("[1,1,1,1,1,1,1,1,1]", "[0,4]", 4), "at most 8 dimensions"},
  };
}

std::vector<FileCase> NameCases() {
  const std::string entry = Entry("[0]", "[0,0]");
  return {
      {"duplicate_name", Safetensors("{\"w\":" + entry + ",\"w\":" + entry + "}", 0),
       "'w' is there twice"},
      {"duplicate_escaped", Safetensors("{\"w\":" + entry + ",\"\\u0077\":" + entry + "}", 0),
       "'w' is there twice"},
      {"duplicate_member", Safetensors(R"({"w":{"shape":[1],"shape":[2]}})", 0),
       "'shape' is there twice"},
      {"duplicate_metadata", Safetensors(R"({"__metadata__":{"a":"1","a":"2"}})", 0),
       "'a' is there twice"},
      {"metadata_of_numbers", Safetensors(R"({"__metadata__":{"a":1}})", 0), "holds text by name"},
      {"metadata_as_tensor", Safetensors("{\"__metadata__\":" + entry + "}", 0),
       "holds text by name"},
      {"non_utf8_name", Safetensors("{\"\xFF\":" + entry + "}", 0), "the header is a JSON object"},
      {"non_utf8_ignored", Safetensors("{\"w\":{\"x\":\"\xC3\x28\"}}", 0),
       "the header is a JSON object"},
      {"lone_surrogate", Safetensors("{\"\\udc00\":" + entry + "}", 0),
       "the header is a JSON object"},
      {"dtype_unknown", Safetensors("{\"w\":" + Entry("[1]", "[0,1]", "\"F8_E5M2\"") + "}", 1),
       "has a dtype among"},
      {"dtype_number", Safetensors("{\"w\":" + Entry("[1]", "[0,1]", "1") + "}", 1),
       "has a dtype by name"},
      {"members_missing", Safetensors(R"({"w":{}})", 0), "is missing"},
      {"number_beyond_double", Safetensors(R"({"w":{"x":1e999}})", 0),
       "the header is a JSON object"},
  };
}

std::vector<FileCase> Cases() {
  std::vector<FileCase> all = LengthCases();
  for (const auto& more : {PlaceCases(), NameCases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

FileReader SafetensorsFileReader() {
  return {.name = "safetensors",
          .read = Read,
          .cases = Cases,
          .bytes_per_byte = 64,
          .fixed_bytes = std::size_t{1} << 20};
}

}  // namespace frugal::testing
