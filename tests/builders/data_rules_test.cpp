#include "builders/config/data_rules.h"

#include "builders/config/run_config_reader.h"
#include "builders/plan/planner.h"
#include "tests/builders/plan_refusal.h"

namespace frugal::testing {
namespace {

// Plans the file and returns the refusal.
TEST_CASE("a misspelt data set is reported together with all other errors") {
  const std::string text =
      "[data]\ndataset = \"fashion-mnits\"\n[training]\nepochs = 0\nbatchsize = 3\n"
      "[[model.layers]]\ntype = \"dense\"\nunits = 10\n";
  const std::string message = PlanRefusal(text);
  CheckContains(message, "run.toml:2:1: [data] 'dataset' must be built in");
  CheckContains(message, "did you mean 'fashion-mnist'?");
  CheckContains(message, "'epochs' must be");
  CheckContains(message, "unknown key 'batchsize'");
  // Not where the keys beside it could not be read: they may say that it is the user's own.
  const std::string own = PlanRefusal(
      "[data]\ndataset = \"mine\"\ntrain_image = \"a\"\n"
      "[[model.layers]]\ntype = \"dense\"\nunits = 10\n");
  CheckContains(own, "unknown key 'train_image'");
  CHECK(own.find("must be built in") == std::string::npos);
}

TEST_CASE("counts that are not those of built-in data are refused by the plan") {
  const std::string layers = "[[model.layers]]\ntype = \"dense\"\nunits = 10\n";
  CHECK(PlanRefusal("[data]\ntrain_count = 100\n" + layers) ==
        "run.toml:2:1: [data] \"fashion-mnist\" has 60,000 train samples; train_count = 100; leave "
        "it out; train_limit takes fewer of them");
  CheckContains(PlanRefusal("[data]\ntest_count = 100\n" + layers), "has 10,000 test samples");
  CHECK(PlanRefusal("[data]\ntrain_count = 60000\ntest_count = 10000\n[[model.layers]]\n"
                    "type = \"flatten\"\n" +
                    layers) == "no error");
}

}  // namespace
}  // namespace frugal::testing
