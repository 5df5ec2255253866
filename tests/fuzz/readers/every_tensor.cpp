#include "tests/fuzz/readers/every_tensor.h"

#include <functional>
#include <stdexcept>

#include "sdk/core/error.h"
#include "sdk/core/utf8.h"

namespace frugal::testing {
namespace {

void Require(bool holds, const char* promise) {
  if (!holds) throw std::logic_error(promise);
}

void MayRefuse(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

void ReadTensor(const WeightSource& source, const StoredTensor& tensor) {
  Require(IsUtf8(tensor.name), "names of tensors are UTF-8");
  Require(source.Find(tensor.name) == &tensor, "each name is there once");
  const auto count = static_cast<std::size_t>(tensor.shape.ElementCount());
  {
    std::vector<std::byte> bytes(static_cast<std::size_t>(ByteCount(tensor)));
    source.Read(tensor, bytes);
  }
  {
    std::vector<float> values(count);
    MayRefuse([&] { source.ReadAsF32(tensor.name, values); });
  }
  std::vector<double> values(count);
  MayRefuse([&] { source.ReadAsF64(tensor.name, values); });
  std::vector<std::int64_t> numbers(count);
  MayRefuse([&] { source.ReadAsI64(tensor.name, numbers); });
}

}  // namespace

void ReadEveryTensor(const WeightSource& source) {
  for (const auto& [key, text] : source.Metadata()) {
    Require(IsUtf8(key) && IsUtf8(text), "metadata are UTF-8");
  }
  for (const StoredTensor& tensor : source.Entries()) ReadTensor(source, tensor);
  source.FindBelow("weight");
}

}  // namespace frugal::testing
