#include "sdk/io/weights/json_weights.h"

#include <cmath>
#include <limits>

#include "sdk/core/error.h"
#include "sdk/io/weights/json_number.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

TEST_CASE("JSON weights are read as a person writes them", "[io]") {
  const TempDir directory;
  const std::string path = directory.Write("w", R"( {
    "b": { "data" : [ 1, -2.5e0 ,3E2,0.1, 1e-50, -0.0 ], "shape": [2, 3] },
    "steps": {"dtype": "I64", "shape": [], "data": [9007199254740993]},
    "none": {"shape": [0], "data": [ ]},
    "__metadata__": {"made": "by hand"} } )");
  const auto source = OpenJsonWeights(path);
  CHECK(source->Metadata().at("made") == "by hand");
  std::vector<float> values(6);
  source->ReadAsF32("b", values);
  CHECK(values == std::vector<float>{1, -2.5f, 300, 0.1f, 0, -0.0f});
  CHECK(std::signbit(values[5]));
  std::vector<std::int64_t> steps(1);
  source->ReadAsI64("steps", steps);
  CHECK(steps[0] == 9007199254740993);
  CHECK(ReadBytes(*source, "none").empty());
}

TEST_CASE("JSON weights are written in a fixed form", "[io]") {
  const TempDir directory;
  WriteWeights(
      directory.File("w"), WeightsFileFormat::kJson,
      {F32("b", {2}, {0.1f, -1e-5f}), Named<std::int64_t>("n", {}, StoredDType::kI64, {7})},
      {{"k", "v"}});
  CHECK(ReadAll(directory.File("w")) ==
        "{\n\"__metadata__\": {\"k\": \"v\"},\n\"b\": {\"shape\": [2], \"data\": [0.1, -1e-05]},\n"
        "\"n\": {\"dtype\": \"I64\", \"shape\": [], \"data\": [7]}\n}\n");
  WriteWeights(directory.File("none"), WeightsFileFormat::kJson, {});
  CHECK(ReadAll(directory.File("none")) == "{\n}\n");
}

TEST_CASE("JSON cannot hold NaN: the write is refused and the older file stays", "[io]") {
  const TempDir directory;
  const std::string path = directory.Write("w", "precious");
  const auto weights = {F32("b", {2}, {1, std::numeric_limits<float>::quiet_NaN()})};
  CHECK(MessageOf<WeightFileError>([&] {
          WriteWeights(path, WeightsFileFormat::kJson, weights);
        }) == "[" + path +
                  "] JSON holds finite numbers only; element 1 of tensor 'b' (F32 [2]) is NaN or "
                  "infinite; write safetensors, or find out why the weights are not finite");
  CHECK(ReadAll(path) == "precious");
  CHECK(directory.Count() == 1);
}

struct Wrong {
  std::string content;
  std::string message;  // behind "[path] "
};

std::vector<Wrong> WrongFiles() {
  const std::string give = "; give {\"shape\": [...], \"data\": [...]}";
  const std::string flat = "; flatten nested lists, and write NaN or infinity in another form";
  const std::string data = "tensor 'w' has one flat list of numbers as data, row-major; element ";
  return {
      {R"([1])", "the file holds an object of tensors; a list" + give},
      {R"(3)", "the file holds an object of tensors; 3" + give},
      {R"({"w": [1, 2]})", "tensor 'w' is an object; a list" + give},
      {R"({"w": null})", "tensor 'w' is an object; null" + give},
      {R"({"w": {"shape": [2], "data": [[1], [2]]}})", data + "0 is a nested list" + flat},
      {R"({"w": {"shape": [2], "data": [1, null]}})", data + "1 is null" + flat},
      {R"({"w": {"shape": [2], "data": [1, "2"]}})", data + "1 is \"2\"" + flat},
      {R"({"w": {"shape": [2], "data": [1, {}]}})", data + "1 is an object" + flat},
      {R"({"w": {"shape": [2], "data": [1, 2, 3]}})",
       "tensor 'w' of shape [2] has 2 numbers; its data has 3; correct the shape or the data"},
      {R"({"w": {"shape": [], "data": []}})",
       "tensor 'w' of shape [] has 1 numbers; its data has 0; correct the shape or the data"},
      {R"({"w": {"shape": [4611686018427387904, 4], "data": []}})",
       "tensor 'w' of shape [4611686018427387904, 4] has more than fits memory; its data has 0; "
       "correct the shape or the data"},
      {R"({"w": {"shape": [-2], "data": []}})",
       "tensor 'w' has a shape of whole numbers from 0 on; there is -2" + give},
      {R"({"w": {"shape": [2.0], "data": []}})",
       "tensor 'w' has a shape of whole numbers from 0 on; there is 2.0" + give},
      {R"({"w": {"shape": [1,1,1,1,1,1,1,1,1], "data": [1]}})",
       "tensor 'w' has at most 8 dimensions; 9 are given; merge some of them"},
      {R"({"w": {"data": [1]}})", "tensor 'w' has shape and data; shape is missing; add it"},
      {R"({"w": {"shape": [1]}})", "tensor 'w' has shape and data; data is missing; add it"},
      {R"({"w": {"shape": [1], "values": [1]}})",
       "tensor 'w' has shape, data and maybe dtype; \"values\" is a list" + give},
      {R"({"w": {"dtype": "float", "shape": [1], "data": [1]}})",
       "tensor 'w' has shape, data and maybe dtype; \"dtype\" is \"float\"" + give},
      {R"({"w": {"shape": [1], "data": [1]}, "w": {"shape": [1], "data": [1]}})",
       "every name is there once; \"w\" is there twice; remove one of them"},
      {R"({"w": {"shape": [1], "data": [1], "data": [1]}})",
       "every name is there once; \"data\" is there twice in 'w'; remove one of them"},
      {R"({"__metadata__": {"a": 1}})", "__metadata__ holds text by name; \"a\" is 1; quote it"},
  };
}

TEST_CASE("JSON of another form is refused, saying what is wrong", "[io]") {
  const TempDir directory;
  for (const auto& [content, message] : WrongFiles()) {
    const std::string path = directory.Write("w", content);
    CHECK(MessageOf<WeightFileError>([&] { OpenJsonWeights(path); }) ==
          "[" + path + "] " + message);
  }
}

TEST_CASE("a long text where numbers belong does not flood the message", "[io]") {
  const TempDir directory;
  std::string letters;
  for (int i = 0; i < 50000; ++i) letters += "\xC3\xA9";
  for (const std::string end : {"\"}}", ""}) {
    const std::string path =
        directory.Write("w.json", "{\"w\": {\"shape\": [2], \"data\": \"" + letters + end);
    const std::string message = MessageOf<WeightFileError>([&] { OpenJsonWeights(path); });
    CheckContains(message, "\xC3\xA9...");
    CHECK(message.size() < path.size() + 500);
  }
}

TEST_CASE("every shortened JSON file is refused with its place", "[io]") {
  const TempDir directory;
  const std::string whole = R"({"w": {"shape": [2], "data": [1.5, 2]}})";
  for (std::size_t length = 1; length < whole.size(); ++length) {
    const std::string path = directory.Write("w", whole.substr(0, length));
    CheckContains(MessageOf<WeightFileError>([&] { OpenJsonWeights(path); }),
                  "the file is JSON; parse error at line 1, column");
  }
  CHECK_NOTHROW(OpenJsonWeights(directory.Write("w", whole)));
  CHECK_THROWS_AS(OpenJsonWeights(directory.Write("w", whole + "x")), WeightFileError);
}

TEST_CASE("JSON numbers that the dtype cannot hold are refused on reading", "[io]") {
  const TempDir directory;
  const auto message = [&](const std::string& dtype, const std::string& number) {
    const std::string path =
        directory.Write("w", "{\"w\": {\"dtype\": \"" + dtype +
                                 "\", \"shape\": [2], \"data\": [0, " + number + "]}}");
    const auto source = OpenJsonWeights(path);
    return MessageOf<WeightFileError>([&] { ReadBytes(*source, "w"); });
  };
  const std::string path = directory.File("w");
  CHECK(message("F32", "1e39") ==
        "[" + path +
            "] tensor 'w' (F32 [2]) holds numbers of its dtype; element 1 is 1e39; correct it, or "
            "give another dtype");
  for (const auto& [dtype, number] :
       std::vector<std::pair<std::string, std::string>>{{"F16", "65520"},
                                                        {"BF16", "3.4e38"},
                                                        {"I64", "0.5"},
                                                        {"I64", "9223372036854775808"},
                                                        {"U8", "256"},
                                                        {"U8", "-1"},
                                                        {"I8", "128"},
                                                        {"BOOL", "2"},
                                                        {"U64", "-1"}}) {
    INFO(dtype << " " << number);
    CheckContains(message(dtype, number), "element 1 is " + number);
  }
  CHECK(message("F32", "3.4028235e38") == "no error");
  CHECK(message("F32", "1e-46") == "no error");
  CHECK(message("F64", "1e-320") == "no error");
  CHECK(message("U64", "18446744073709551615") == "no error");
}

}  // namespace
}  // namespace frugal::testing
