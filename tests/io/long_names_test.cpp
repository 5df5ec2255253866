// Names of tensors are the file's, and may be as long as it likes.
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

TEST_CASE("a name of a megabyte does not flood the message about its file", "[io]") {
  const TempDir directory;
  const std::string name(1000000, 'x');
  const auto refusal = [&](const std::string& content) {
    const std::string path = directory.Write("bad", content);
    return MessageOf<WeightFileError>([&] { OpenWeights(path); });
  };
  for (const char* entry : {R"(":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})",
                            R"(":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
                            R"(":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})",
                            R"(":{"dtype":"F32","shape":[2],"data_offsets":[0,80]}})"}) {
    const std::string message = refusal(Safetensors("{\"" + name + entry, 9));
    CheckContains(message, "xxx...'");
    CHECK(message.size() < 1000);
  }
  for (const char* entry : {R"(": 1})", R"(": {"shape": [2], "data": [1]}})", R"(": {}, )"}) {
    const std::string message = refusal("{\"" + name + entry);
    CHECK(message != "no error");
    CHECK(message.size() < 1000);
  }
  WriteWeights(directory.File("good"), WeightsFileFormat::kBinary, {F32(name, {1}, {1})});
  std::string binary = ReadAll(directory.File("good"));
  binary.pop_back();
  CHECK(refusal(binary).size() < 1000);
}

}  // namespace
}  // namespace frugal::testing
