#include "sdk/io/weights/safetensors.h"

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

TEST_CASE("safetensors are laid out widest dtype first, then by name", "[io]") {
  const TempDir directory;
  const auto a = F32("a", {1}, {1});
  const auto b = F32("b", {2, 1}, {2, 3});
  const auto steps = Named<std::int64_t>("steps", {}, StoredDType::kI64, {5});
  WriteWeights(directory.File("w"), WeightsFileFormat::kSafetensors, {b, steps, a}, {{"k", "v"}});
  const std::string content = ReadAll(directory.File("w"));
  const std::string header =
      R"({"__metadata__":{"k":"v"},"steps":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
      R"("b":{"dtype":"F32","shape":[2,1],"data_offsets":[12,20]}})";
  CHECK(content.substr(8, header.size()) == header);
  CHECK((content.size() - 20) % 8 == 0);  // the header is padded
  float last = 0;
  std::memcpy(&last, content.data() + content.size() - 4, sizeof last);
  CHECK(last == 3);

  WriteWeights(directory.File("v"), WeightsFileFormat::kSafetensors, {a, b, steps}, {{"k", "v"}});
  CHECK(ReadAll(directory.File("v")) == content);
}

TEST_CASE("safetensors of no tensors, of empty ones and of foreign layout open", "[io]") {
  const TempDir directory;
  CHECK(OpenSafetensors(directory.Write("none", Safetensors("{}", 0)))->Entries().empty());

  const std::string header =
      R"({ "e": {"shape":[0, 4],"dtype":"F64","data_offsets":[0,0]},
           "z": {"shape":[3],"dtype":"U8","data_offsets":[0,3]},
           "b": {"shape":[1],"dtype":"F32","data_offsets":[3,7], "extra": [1]} })";
  const auto source = OpenSafetensors(directory.Write("some", Safetensors(header, 7)));
  REQUIRE(source->Entries().size() == 3);
  CHECK(source->Entries()[0].name == "e");
  CHECK(source->Entries()[2].name == "b");  // in the order of the data
  CHECK(ReadBytes(*source, "e").empty());
  CHECK(ReadBytes(*source, "b").size() == 4);
  CHECK(source->Find("missing") == nullptr);
}

struct Damage {
  std::string content;
  std::string message;  // behind "[path] "
};

std::string Entry(const std::string& dtype, const std::string& shape, const std::string& place) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + place + "}";
}

std::vector<Damage> DamagedLengths() {
  std::string huge = Safetensors("{}", 0);
  huge.replace(0, 8, 8, '\xff');
  std::string beyond = Safetensors("{}", 0);
  beyond[0] = 3;
  return {
      {"abc",
       "a safetensors file begins with 8 bytes of length and a header; this one has 3 bytes in "
       "all; the file is cut short or of another kind"},
      {huge,
       "the first 8 bytes give the length of the header; they say 18446744073709551615 bytes, more "
       "than the 2 that follow; the file is cut short or of another kind"},
      {beyond,
       "the first 8 bytes give the length of the header; they say 3 bytes, more than the 2 that "
       "follow; the file is cut short or of another kind"},
  };
}

std::vector<Damage> DamagedHeaders() {
  const std::string again = "; write the file again";
  const std::string good = Entry("F32", "[1]", "[0,4]");
  return {
      {Safetensors("[1,2]   ", 0), "the header is a JSON object; it is a JSON array"},
      {Safetensors("{\"a\":" + good + ",\"a\":" + good + "}", 4),
       "every name in the header is there once; 'a' is there twice" + again},
      {Safetensors(R"({"a":{"dtype":"F32","dtype":"F64"}})", 0),
       "every name in the header is there once; 'dtype' is there twice" + again},
      {Safetensors(R"({"a":{"shape":[[1]]}})", 0),
       "the header is a table of tensors; it is nested more deeply" + again},
      {Safetensors(R"({"a":3})", 0), "tensor 'a' is described by a JSON object; number" + again},
      {Safetensors(R"({"a":{"dtype":"F32","shape":[1]}})", 0),
       "tensor 'a' has dtype, shape and data_offsets; data_offsets is missing" + again},
      {Safetensors("{\"a\":" + Entry("F8_E4M3", "[4]", "[0,4]") + "}", 4),
       "tensor 'a' has a dtype among F64, F32, F16, BF16, I8-I64, U8-U64 and BOOL; \"F8_E4M3\" is "
       "given; convert the file to one of these"},
      {Safetensors("{\"a\":" + Entry("F32", "[-1]", "[0,4]") + "}", 4),
       "tensor 'a' has a shape of whole numbers from 0 on; [-1] is given" + again},
      {Safetensors("{\"a\":" + Entry("F32", "[1.5]", "[0,4]") + "}", 4),
       "tensor 'a' has a shape of whole numbers from 0 on; [1.5] is given" + again},
      {Safetensors("{\"a\":" + Entry("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") + "}", 4),
       "tensor 'a' has at most 8 dimensions; 9 are given" + again},
      {Safetensors("{\"a\":" + Entry("F32", "[4611686018427387904,4]", "[0,4]") + "}", 4),
       "tensor 'a' has a shape that fits memory; [4611686018427387904, 4] is given" + again},
      {Safetensors("{\"a\":" + Entry("F32", "[0,4611686018427387904,4]", "[0,0]") + "}", 0),
       "tensor 'a' has a shape that fits memory; [0, 4611686018427387904, 4] is given" + again},
      {Safetensors("{\"a\":" + Entry("F32", "[1]", "[4,0]") + "}", 4),
       "tensor 'a' has data_offsets [begin, end]; [4,0] is given" + again},
      {Safetensors("{\"a\":" + Entry("F32", "[2]", "[0,4]") + "}", 4),
       "tensor 'a' (F32 [2]) takes 8 bytes; its data_offsets span 4" + again},
      {Safetensors(R"({"__metadata__":{"a":1}})", 0),
       "__metadata__ holds text by name; {\"a\":1} is given" + again},
  };
}

std::vector<Damage> DamagedPlaces() {
  const std::string a = "{\"a\":" + Entry("F32", "[2]", "[0,8]");
  return {
      {Safetensors(a + "}", 7),
       "all tensors lie inside the file; tensor 'a' at bytes 0 to 8 reaches past the end of the "
       "data at byte 7; the file is cut short; fetch or write it again"},
      {Safetensors(a + ",\"b\":" + Entry("F32", "[1]", "[4,8]") + "}", 8),
       "tensors do not overlap; tensor 'b' at bytes 4 to 8 overlaps tensor 'a' at bytes 0 to 8; "
       "write the file again"},
      {Safetensors(a + ",\"b\":" + Entry("F32", "[1]", "[12,16]") + "}", 16),
       "tensors follow each other without gaps; bytes 8 to 12 before tensor 'b' belong to no "
       "tensor; write the file again"},
      {Safetensors(a + "}", 9),
       "the file ends with its last tensor; 1 bytes follow it; write the file again"},
  };
}

TEST_CASE("damaged safetensors are refused, saying what is wrong", "[io]") {
  const TempDir directory;
  for (const auto& damages : {DamagedLengths(), DamagedHeaders(), DamagedPlaces()}) {
    for (const auto& [content, message] : damages) {
      const std::string path = directory.Write("w", content);
      CHECK(MessageOf<WeightFileError>([&] { OpenSafetensors(path); }) ==
            "[" + path + "] " + message);
    }
  }
}

TEST_CASE("a safetensors header that is not JSON is shown by line and column", "[io]") {
  const TempDir directory;
  const std::string path = directory.Write("w", Safetensors("{\"a\": nope}", 0));
  const std::string message = MessageOf<WeightFileError>([&] { OpenSafetensors(path); });
  CheckContains(message, "the header is a JSON object; parse error at line 1, column");
  const std::string deep = Safetensors(std::string(200'000, '['), 0);
  CHECK_THROWS_AS(OpenSafetensors(directory.Write("deep", deep)), WeightFileError);
}

TEST_CASE("every shortened safetensors file is refused", "[io]") {
  const TempDir directory;
  WriteWeights(directory.File("w"), WeightsFileFormat::kSafetensors,
               {F32("a", {3}, {1, 2, 3}), F32("b", {2}, {4, 5})});
  const std::string whole = ReadAll(directory.File("w"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string path = directory.Write("cut", whole.substr(0, length));
    CHECK_THROWS_AS(OpenSafetensors(path), WeightFileError);
    CHECK_THROWS_AS(OpenWeights(path), WeightFileError);
  }
}

TEST_CASE("a file that shrinks while it is open is an error, not a crash", "[io]") {
  const TempDir directory;
  WriteWeights(directory.File("w"), WeightsFileFormat::kSafetensors, {F32("a", {2}, {1, 2})});
  const auto source = OpenSafetensors(directory.File("w"));
  std::filesystem::resize_file(directory.File("w"), 20);
  std::vector<float> values(2);
  CHECK_THROWS_AS(source->ReadAsF32("a", values), WeightFileError);
}

}  // namespace
}  // namespace frugal::testing
