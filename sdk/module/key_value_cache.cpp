#include "sdk/module/key_value_cache.h"

#include "sdk/backend/array_kernels.h"
#include "sdk/core/error.h"

namespace frugal {

Tensor KeyValueCache::Append(Context& context, const std::string& name, const Tensor& source,
                             std::int64_t offset, std::int64_t width) {
  const std::int64_t count = source.shape()[1];
  const std::int64_t total = length_ + count;
  if (source.shape()[0] != 1 || total > capacity_) {
    throw UsageError(
        {.where = name,
         .required = "one sequence of at most " + std::to_string(capacity_) +
                     " positions, as the cache was made for",
         .given = ToString(source.shape()) + " behind " + std::to_string(length_) + " positions",
         .advice = "make a larger cache, or generate less"});
  }
  Tensor& rows = rows_[name];
  if (!rows) rows = context.Allocate({capacity_, width}, source.dtype());
  StridedView from{.offset = offset, .strides = {source.shape()[2], 1}};
  StridedView to{.offset = length_ * width, .strides = {width, 1}};
  context.Launch({OperationKind::kCopy, 2 * count * width * SizeOf(source.dtype())},
                 [&](Backend& backend, void*) {
                   backend.array().CopyStrided({count, width}, source, from, rows, to, false);
                 });
  return rows.Narrow(0, total).Reshape({1, total, width});
}

}  // namespace frugal
