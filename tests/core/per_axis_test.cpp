#include "sdk/core/per_axis.h"

#include "builders/config/layer_list.h"
#include "presets/config/make_field.h"
#include "tests/catch.h"

namespace frugal {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST_CASE("a number for all axes, or one for each, is written as in a file") {
  CHECK(PerAxis(3).numbers() == Numbers{3});
  CHECK(PerAxis{3}.numbers() == Numbers{3});
  CHECK((PerAxis{3, 5}).numbers() == Numbers{3, 5});
  CHECK(PerAxis().empty());
  CHECK(PerAxis{}.empty());
  const std::int64_t size = 7;
  const Conv2dOptions one{.filters = 2, .kernel = 3, .stride = {2}, .padding = size / 2};
  CHECK(one.kernel == PerAxis{3});
  CHECK(one.stride == PerAxis(2));
  CHECK(one.padding == 3);
  const Conv2dOptions each{.filters = 2, .kernel = {3, 5}};
  CHECK(each.kernel != one.kernel);
  CHECK(Pool2dOptions{.kernel = 2}.stride.empty());
}

TEST_CASE("fields of numbers over axes read and write lists") {
  struct Options {
    PerAxis kernel = 3;
  };
  const Field field = MakeField("kernel", &Options::kernel, "Its size.");
  Options options;
  CHECK(field.kind == ValueKind::kIntList);
  CHECK(field.get(&options) == Value{Numbers{3}});
  field.set(&options, Value{Numbers{1, 2}});
  CHECK(options.kernel == PerAxis{1, 2});
}

}  // namespace
}  // namespace frugal
