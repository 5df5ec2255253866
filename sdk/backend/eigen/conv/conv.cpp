#include "sdk/backend/eigen/conv/conv.h"

#include "sdk/backend/backend.h"
#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/conv/columns.h"
#include "sdk/backend/eigen/conv/conv_plan.h"
#include "sdk/backend/eigen/matmul/column_sums.h"
#include "sdk/backend/eigen/matmul/epilogue.h"
#include "sdk/core/threads.h"

namespace frugal {
namespace eigen {
namespace {

// Scratch: the weight [Cout, ...] in another order, then one tile of columns per thread.
template <class T>
struct Scratch {
  Scratch(const ConvGeometry& g, std::int64_t tile_elements, void* scratch)
      : weight(static_cast<T*>(scratch)),
        tiles(weight + Aligned(WeightSize(g))),
        tile_stride(Aligned(tile_elements)) {}

  static std::int64_t Aligned(std::int64_t elements) {
    return RoundUpToAlignment(elements * SizeOf(DTypeOf<T>())) / SizeOf(DTypeOf<T>());
  }
  T* OwnTile() const { return tiles + ThreadNumber() * tile_stride; }

  T* weight;
  T* tiles;
  std::int64_t tile_stride;
};

std::int64_t ScratchBytes(const ConvGeometry& g, std::int64_t tile_elements, DType dtype) {
  return RoundUpToAlignment(WeightSize(g) * SizeOf(dtype)) +
         ThreadCount() * RoundUpToAlignment(tile_elements * SizeOf(dtype));
}

std::int64_t ForwardTile(const ConvPlan& plan) { return plan.tile * plan.width; }
std::int64_t BackwardDataTile(const ConvPlan& plan) { return plan.tile * plan.taps * plan.width; }

// Returns the offset of the columns of channels [first, first + count) of a group in a weight that
// is ordered by blocks of input channels, [block][Cout / groups][K][channels of the block].
std::int64_t BlockOffset(const ConvPlan& plan, std::int64_t group, std::int64_t first) {
  return plan.group_outputs * plan.taps * (group * plan.group_inputs + first);
}

// From [Cout, Cin / groups, K] to blocks of `block` input channels (see BlockOffset).
template <class T>
void OrderByBlocks(const ConvGeometry& g, const ConvPlan& plan, std::int64_t block, const T* weight,
                   T* ordered) {
  ParallelFor(g.output_channels, RowsPerChunk(plan.GroupColumns()), [&](auto begin, auto end) {
    for (std::int64_t output = begin; output < end; ++output) {
      const T* from = weight + output * plan.GroupColumns();
      const std::int64_t group = output / plan.group_outputs;
      for (std::int64_t first = 0; first < plan.group_inputs; first += block) {
        const std::int64_t count = std::min(block, plan.group_inputs - first);
        T* to = ordered + BlockOffset(plan, group, first) +
                output % plan.group_outputs * plan.taps * count;
        for (std::int64_t k = 0; k < plan.taps; ++k) {
          for (std::int64_t c = 0; c < count; ++c)
            to[k * count + c] = from[(first + c) * plan.taps + k];
        }
      }
    }
  });
}

// From [Cout, K, Cin / groups] back to the public order.
template <class T>
void StoreWeightGradient(const ConvGeometry& g, const ConvPlan& plan, const T* ordered,
                         bool accumulate, T* dweight) {
  ParallelFor(g.output_channels, RowsPerChunk(plan.GroupColumns()), [&](auto begin, auto end) {
    for (std::int64_t output = begin; output < end; ++output) {
      const T* from = ordered + output * plan.GroupColumns();
      T* to = dweight + output * plan.GroupColumns();
      for (std::int64_t c = 0; c < plan.group_inputs; ++c) {
        for (std::int64_t k = 0; k < plan.taps; ++k, ++to) {
          const T value = from[k * plan.group_inputs + c];
          *to = accumulate ? *to + value : value;
        }
      }
    }
  });
}

template <class T>
Matrix<T> Outputs(const ConvGeometry& g, const ConvPlan& plan, T* y, std::int64_t image,
                  std::int64_t tile, std::int64_t group) {
  const std::int64_t position = tile * plan.tile;
  const std::int64_t rows = std::min(plan.tile, g.window.OutputSize() - position);
  T* data = y + (image * g.window.OutputSize() + position) * g.output_channels +
            group * plan.group_outputs;
  return {data, rows, plan.group_outputs, g.output_channels};
}

template <class T>
void Forward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
             const Tensor& y, const LinearEpilogue& epilogue, void* memory) {
  const ConvPlan plan = PlanForward(g, sizeof(T));
  const Scratch<T> scratch(g, ForwardTile(plan), memory);
  OrderByBlocks(g, plan, plan.group_inputs, weight.data<T>(), scratch.weight);
  const T* shift = DataOrNull<T>(bias);
  const auto one_tile = [&](std::int64_t image, std::int64_t tile, std::int64_t group) {
    const Matrix<T> out = Outputs(g, plan, y.data<T>(), image, tile, group);
    T* columns = scratch.OwnTile();
    GatherColumns(g.window, x.data<T>() + image * g.window.InputSize() * g.input_channels,
                  {group * plan.group_inputs, plan.group_inputs, g.input_channels},
                  tile * plan.tile, out.rows, 0, plan.width, columns);
    StartWithBias<T>(shift == nullptr ? nullptr : shift + group * plan.group_outputs, nullptr, out);
    MultiplyTransposedRight<T>(
        {columns, out.rows, plan.width, plan.width},
        {scratch.weight + BlockOffset(plan, group, 0), plan.group_outputs, plan.width, plan.width},
        out, true);
    Activate(epilogue, out);
  };
  ParallelFor(g.window.batch * plan.tiles, 1, [&](std::int64_t piece, std::int64_t) {
    for (std::int64_t group = 0; group < g.groups; ++group) {
      one_tile(piece / plan.tiles, piece % plan.tiles, group);
    }
  });
}

// The gradient of one block of channels of one image, tile by tile in order.
template <class T>
void BackwardBlock(const ConvGeometry& g, const ConvPlan& plan, const Scratch<T>& scratch,
                   const T* dy, T* dx, std::int64_t image, std::int64_t group, std::int64_t first) {
  const std::int64_t count = std::min(plan.width, plan.group_inputs - first);
  const ChannelRange channels = {group * plan.group_inputs + first, count, g.input_channels};
  T* image_dx = dx + image * g.window.InputSize() * g.input_channels;
  for (std::int64_t position = 0; position < g.window.InputSize(); ++position) {
    std::fill_n(image_dx + position * channels.stride + channels.first, count, T{0});
  }
  T* columns = scratch.OwnTile();
  for (std::int64_t tile = 0; tile < plan.tiles; ++tile) {
    const Matrix<const T> in = Outputs(g, plan, dy, image, tile, group);
    Multiply<T>(in,
                {scratch.weight + BlockOffset(plan, group, first), plan.group_outputs,
                 plan.taps * count, plan.taps * count},
                {columns, in.rows, plan.taps * count, plan.taps * count}, false);
    ScatterColumns(g.window, columns, channels, tile * plan.tile, in.rows, image_dx);
  }
}

template <class T>
void BackwardData(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, const Tensor& dx,
                  void* memory) {
  const ConvPlan plan = PlanBackwardData(g, sizeof(T));
  const Scratch<T> scratch(g, BackwardDataTile(plan), memory);
  OrderByBlocks(g, plan, plan.width, weight.data<T>(), scratch.weight);
  const std::int64_t blocks = g.groups * plan.pieces;
  ParallelFor(g.window.batch * blocks, 1, [&](std::int64_t piece, std::int64_t) {
    const std::int64_t block = piece % blocks;
    BackwardBlock<T>(g, plan, scratch, dy.data<T>(), dx.data<T>(), piece / blocks,
                     block / plan.pieces, block % plan.pieces * plan.width);
  });
}

// Columns [first, last) of the weight gradient of one group, summed over images and tiles in order.
template <class T>
void BackwardColumns(const ConvGeometry& g, const ConvPlan& plan, const Scratch<T>& scratch,
                     const T* dy, const T* x, std::int64_t group, std::int64_t first) {
  const std::int64_t last = std::min(first + plan.width, plan.GroupColumns());
  const ChannelRange channels = {group * plan.group_inputs, plan.group_inputs, g.input_channels};
  const Matrix<T> out = {scratch.weight + group * plan.group_outputs * plan.GroupColumns() + first,
                         plan.group_outputs, last - first, plan.GroupColumns()};
  for (std::int64_t row = 0; row < out.rows; ++row) {
    std::fill_n(out.data + row * out.stride, out.columns, T{0});
  }
  T* columns = scratch.OwnTile();
  for (std::int64_t image = 0; image < g.window.batch; ++image) {
    const T* image_x = x + image * g.window.InputSize() * g.input_channels;
    for (std::int64_t tile = 0; tile < plan.tiles; ++tile) {
      const Matrix<const T> in = Outputs(g, plan, dy, image, tile, group);
      GatherColumns(g.window, image_x, channels, tile * plan.tile, in.rows, first, last, columns);
      MultiplyTransposedLeft<T>(in, {columns, in.rows, last - first, last - first}, out, true);
    }
  }
}

template <class T>
void BackwardWeight(const ConvGeometry& g, const Tensor& dy, const Tensor& x, const Tensor& dweight,
                    const Tensor& dbias, bool accumulate, void* memory) {
  const ConvPlan plan = PlanBackwardWeight(g, sizeof(T));
  const Scratch<T> scratch(g, ForwardTile(plan), memory);
  ParallelFor(g.groups * plan.pieces, 1, [&](std::int64_t piece, std::int64_t) {
    BackwardColumns<T>(g, plan, scratch, dy.data<T>(), x.data<T>(), piece / plan.pieces,
                       piece % plan.pieces * plan.width);
  });
  StoreWeightGradient<T>(g, plan, scratch.weight, accumulate, dweight.data<T>());
  if (!dbias) return;
  SumRowsInto<T>(dy.data<T>(), g.window.batch * g.window.OutputSize(), g.output_channels,
                 accumulate, dbias.data<T>());
}

}  // namespace
}  // namespace eigen

bool EigenConvKernels::FusesActivation(Activation activation) const {
  return DerivesFromOutput(activation);
}

std::int64_t EigenConvKernels::ForwardScratch(const ConvGeometry& g, DType dtype) const {
  return eigen::ScratchBytes(g, eigen::ForwardTile(eigen::PlanForward(g, SizeOf(dtype))), dtype);
}

void EigenConvKernels::Forward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                               const Tensor& bias, const Tensor& y, LinearEpilogue epilogue,
                               void* scratch) {
  eigen::WithFloating("convolution forward", x.dtype(), [&]<class T>() {
    eigen::Forward<T>(g, x, weight, bias, y, epilogue, scratch);
  });
}

std::int64_t EigenConvKernels::BackwardDataScratch(const ConvGeometry& g, DType dtype) const {
  const eigen::ConvPlan plan = eigen::PlanBackwardData(g, SizeOf(dtype));
  return eigen::ScratchBytes(g, eigen::BackwardDataTile(plan), dtype);
}

void EigenConvKernels::BackwardData(const ConvGeometry& g, const Tensor& dy, const Tensor& weight,
                                    const Tensor& dx, void* scratch) {
  eigen::WithFloating("convolution backward data", dy.dtype(),
                      [&]<class T>() { eigen::BackwardData<T>(g, dy, weight, dx, scratch); });
}

std::int64_t EigenConvKernels::BackwardWeightScratch(const ConvGeometry& g, DType dtype,
                                                     bool /*has_bias*/, bool /*accumulate*/) const {
  const eigen::ConvPlan plan = eigen::PlanBackwardWeight(g, SizeOf(dtype));
  return eigen::ScratchBytes(g, eigen::ForwardTile(plan), dtype);
}

void EigenConvKernels::BackwardWeight(const ConvGeometry& g, const Tensor& dy, const Tensor& x,
                                      const Tensor& dweight, const Tensor& dbias, bool accumulate,
                                      void* scratch) {
  eigen::WithFloating("convolution backward weight", dy.dtype(), [&]<class T>() {
    eigen::BackwardWeight<T>(g, dy, x, dweight, dbias, accumulate, scratch);
  });
}

}  // namespace frugal
