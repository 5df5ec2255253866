#include "sdk/io/weights/json_weights.h"

#include "tests/fuzz/readers/every_tensor.h"
#include "tests/fuzz/readers/file_reader.h"

namespace frugal::testing {
namespace {

void Read(const std::string& path) { ReadEveryTensor(*OpenJsonWeights(path)); }

// A file of one tensor 'w' with these members.
std::string Tensor(const std::string& members) { return "{\"w\": {" + members + "}}"; }

std::vector<FileCase> ReadCases() {
  return {
      {"valid",
       R"({"__metadata__": {"k": "v"}, "a.b": {"shape": [2, 1], "data": [0.5, -1e-05]},)"
       R"( "n": {"dtype": "I64", "shape": [], "data": [12]}})",
       ""},
      {"valid_types",
       R"({"h": {"dtype": "F16", "shape": [1], "data": [65504]}, "o": {"dtype": "BOOL",)"
       R"( "shape": [2], "data": [0, 1]}, "d": {"dtype": "F64", "shape": [1], "data": [1e-320]},)"
       R"( "u": {"dtype": "U64", "shape": [1], "data": [18446744073709551615]}})",
       ""},
      {"no_tensors", "{}", ""},
      {"byte_order_mark", "\xEF\xBB\xBF{\"w\": {\"shape\": [1], \"data\": [3]}}", ""},
      {"nul_in_name", R"({"a\u0000b": {"shape": [0], "data": []}})", ""},
      {"empty_name", R"({"": {"shape": [0], "data": []}})", ""},
  };
}

std::vector<FileCase> ShapeCases() {
  return {
      {"shape_overflow", Tensor(R"("shape": [4294967296, 4294967296, 16], "data": [])"),
       "more than fits memory"},
      {"shape_overflow_with_zero",
       Tensor(R"("shape": [4611686018427387904, 4611686018427387904, 0], "data": [])"),
       "more than fits memory"},
      {"shape_beyond_elements", Tensor(R"("shape": [281474976710657], "data": [])"),
       "its data has 0"},
      {"shape_of_20_digits", Tensor(R"("shape": [99999999999999999999], "data": [])"),
       "whole numbers from 0 on"},
      {"shape_negative", Tensor(R"("shape": [-1], "data": [])"), "whole numbers from 0 on"},
      {"shape_exponent", Tensor(R"("shape": [1e3], "data": [])"), "whole numbers from 0 on"},
      {"rank_9", Tensor(R"("shape": [1,1,1,1,1,1,1,1,1], "data": [1])"), "at most 8 dimensions"},
      {"huge_rank",
       Tensor("\"shape\": [" + std::string(20'000, '1').append(",1") + "], \"data\": []"),
       "the file is JSON"},
      {"duplicate_tensor", R"({"w": {"shape": [0], "data": []}, "w": {"shape": [0], "data": []}})",
       "\"w\" is there twice"},
      {"duplicate_escaped",
       R"({"w": {"shape": [0], "data": []}, "\u0077": {"shape": [0], "data": []}})",
       "\"w\" is there twice"},
      {"duplicate_shape", Tensor(R"("shape": [0], "shape": [1], "data": [])"),
       "\"shape\" is there twice"},
      {"duplicate_metadata", R"({"__metadata__": {"a": "1", "a": "2"}})", "\"a\" is there twice"},
      {"metadata_as_tensor", R"({"__metadata__": {"shape": [0], "data": []}})",
       "holds text by name"},
  };
}

std::vector<FileCase> TextCases() {
  return {
      {"deep_lists", "{\"w\": {\"data\": " + std::string(50'000, '['), "nested list"},
      {"deep_lists_at_root", std::string(50'000, '['), "an object of tensors"},
      {"deep_objects", R"({"w": {"data": {"data": {"data": {}}}}})", "is an object"},
      {"non_utf8_name", "{\"\xFF\xFE\": {\"shape\": [0], \"data\": []}}", "the file is JSON"},
      {"overlong_utf8_name", "{\"\xC0\x80\": {\"shape\": [0], \"data\": []}}", "the file is JSON"},
      {"lone_surrogate", R"({"\ud800": {"shape": [0], "data": []}})", "the file is JSON"},
      {"nul_byte", std::string("{\"w\0\": {}}", 10), "the file is JSON"},
      {"number_beyond_double", Tensor(R"("shape": [1], "data": [1e999])"), "the file is JSON"},
      {"number_beyond_f32", Tensor(R"("shape": [1], "data": [1e39])"), "holds numbers of its"},
      {"number_of_20000_digits",
       Tensor("\"shape\": [1], \"dtype\": \"I64\", \"data\": [" + std::string(20'000, '1') + "]"),
       "the file is JSON"},
      {"nan", Tensor(R"("shape": [1], "data": [NaN])"), "the file is JSON"},
      {"spaces_beyond_the_buffer",
       Tensor("\"shape\": [2], \"data\": [1," + std::string(200'000, ' ') + "2]"), ""},
      {"cut_short", R"({"w": {"shape": [2], "data": [1)", "the file is JSON"},
      {"more_behind", "{}{}", "the file is JSON"},
      {"comment", "{/**/}", "the file is JSON"},
      {"empty", "", "this file is empty"},
  };
}

std::vector<FileCase> Cases() {
  std::vector<FileCase> all = ReadCases();
  for (const auto& more : {ShapeCases(), TextCases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

FileReader JsonWeightsFileReader() {
  return {.name = "json_weights",
          .read = Read,
          .cases = Cases,
          .bytes_per_byte = 64,
          .fixed_bytes = std::size_t{1} << 20};
}

}  // namespace frugal::testing
