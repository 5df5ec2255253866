#include "sdk/backend/onednn/operation/operation_key.h"

#include <bit>

namespace frugal::onednn {
namespace {

// FNV-1a over 64-bit words.
class Mixer {
 public:
  void Add(std::int64_t number) {
    value_ = (value_ ^ static_cast<std::uint64_t>(number)) * 1099511628211u;
  }
  void Add(const Spatial& numbers) {
    for (const std::int64_t number : numbers) Add(number);
  }
  void Add(const LinearEpilogue& epilogue) {
    Add(static_cast<std::int64_t>(epilogue.activation));
    Add(std::bit_cast<std::int64_t>(epilogue.parameter));
  }
  void Add(const WindowGeometry& g) {
    Add(g.batch);
    for (const Spatial* numbers : {&g.input, &g.output, &g.kernel, &g.stride, &g.padding_begin,
                                   &g.padding_end, &g.dilation}) {
      Add(*numbers);
    }
  }
  void Add(const LinearDescription& d) {
    for (const std::int64_t number : {d.rows, d.inputs, d.outputs}) Add(number);
    Add(static_cast<std::int64_t>(d.layout) * 8 + d.packed * 4 + d.bias * 2 + d.residual);
    Add(d.epilogue);
  }
  void Add(const PackedLinearDescription& d) {
    for (const std::int64_t number : {d.rows, d.inputs, d.outputs}) Add(number);
    Add(static_cast<std::int64_t>(d.pass) * 16 + static_cast<std::int64_t>(d.layout) * 8 +
        d.accumulate * 4 + d.bias * 2 + d.residual);
    Add(d.epilogue);
  }
  void Add(const PackDescription& d) {
    for (const std::int64_t number : {d.inputs, d.outputs}) Add(number);
    Add(static_cast<std::int64_t>(d.layout));
  }
  void Add(const GemmDescription& d) {
    for (const std::int64_t number : {d.m, d.n, d.k}) Add(number);
    Add((d.transpose_a == 'T') * 4 + (d.transpose_b == 'T') * 2 + d.accumulate);
  }
  void Add(const ConvDescription& d) {
    Add(d.geometry.window);
    for (const std::int64_t number :
         {d.geometry.input_channels, d.geometry.output_channels, d.geometry.groups}) {
      Add(number);
    }
    Add(static_cast<std::int64_t>(d.pass) * 4 + d.bias * 2 + d.accumulate);
    Add(static_cast<std::int64_t>(d.dtype));
    Add(d.epilogue);
  }
  void Add(const PoolDescription& d) {
    Add(d.geometry.window);
    Add(d.geometry.channels);
    Add(d.geometry.count_padding * 2 + d.backward);
  }
  void Add(const EltwiseDescription& d) {
    Add(LinearEpilogue{d.kind, d.parameter});
    Add(d.size * 2 + d.backward);
    Add(static_cast<std::int64_t>(d.dtype));
  }
  void Add(const SoftmaxDescription& d) {
    Add(d.rows);
    Add(d.columns);
    Add(std::int64_t{d.logarithm} * 2 + d.backward);
    Add(static_cast<std::int64_t>(d.dtype));
  }
  std::size_t value() const { return value_ ^ (value_ >> 29); }

 private:
  std::uint64_t value_ = 14695981039346656037u;
};

bool Same(const LinearEpilogue& a, const LinearEpilogue& b) {
  return a.activation == b.activation && a.parameter == b.parameter;
}

}  // namespace

bool LinearDescription::operator==(const LinearDescription& other) const {
  return rows == other.rows && inputs == other.inputs && outputs == other.outputs &&
         layout == other.layout && packed == other.packed && bias == other.bias &&
         residual == other.residual && Same(epilogue, other.epilogue);
}

bool PackedLinearDescription::operator==(const PackedLinearDescription& other) const {
  return rows == other.rows && inputs == other.inputs && outputs == other.outputs &&
         pass == other.pass && layout == other.layout && accumulate == other.accumulate &&
         bias == other.bias && residual == other.residual && Same(epilogue, other.epilogue);
}

bool ConvDescription::operator==(const ConvDescription& other) const {
  return geometry == other.geometry && pass == other.pass && dtype == other.dtype &&
         bias == other.bias && accumulate == other.accumulate && Same(epilogue, other.epilogue);
}

std::size_t OperationKeyHash::operator()(const OperationKey& key) const {
  Mixer mixer;
  mixer.Add(static_cast<std::int64_t>(key.description.index()));
  mixer.Add(std::int64_t{key.threads});
  std::visit([&mixer](const auto& description) { mixer.Add(description); }, key.description);
  return mixer.value();
}

}  // namespace frugal::onednn
