#include <limits>

#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

std::string Refusal(const DataLayout& layout, const DataSources& sources) {
  return MessageOf<ConfigError>([&] { AiModelBuilder().Data(layout, sources); });
}

TEST_CASE("own data that are not as announced are refused at once") {
  const DataLayout layout = SyntheticLayout();
  const DataSources sources = SyntheticSources(layout);
  CHECK(Refusal(layout, sources) == "no error");
  CHECK(Refusal(layout, {}) == "no error");
  DataLayout wrong = layout;
  wrong.train_count = 65;
  CheckContains(Refusal(wrong, sources), "the 65 samples that are announced; it has 64");
  wrong.train_count = -1;
  CheckContains(Refusal(wrong, {}), "-1 are announced");
  wrong.train_count = std::numeric_limits<std::int64_t>::max();
  CheckContains(Refusal(wrong, {}), "from 0 to 2^40 samples");
  wrong = layout;
  wrong.test_count = 21;
  CheckContains(Refusal(wrong, sources), "the test part");
  wrong = layout;
  wrong.sample_shape = {0, 8, 2};
  CheckContains(Refusal(wrong, sources), "[0, 8, 2] is announced");
}

}  // namespace
}  // namespace frugal::testing
