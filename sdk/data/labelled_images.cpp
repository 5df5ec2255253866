#include "sdk/data/labelled_images.h"

#include "sdk/data/class_filter.h"
#include "sdk/data/gzip_idx.h"

namespace frugal {
namespace {

class LabelledImages final : public DataSource {
 public:
  LabelledImages(const Shape& sample_shape, ImageStorage storage,
                 const Normalization& normalization)
      : storage_(std::move(storage)),
        decoder_f32_(sample_shape, normalization),
        decoder_f64_(sample_shape, normalization) {}

  std::int64_t count() const override { return storage_.labels.size(); }

  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    if (inputs) DecodeImages(samples, inputs);
    if (!targets) return;
    DecodeLabels(storage_.labels.values<std::uint8_t>(), samples, targets.values<std::int64_t>());
  }

 private:
  void DecodeImages(std::span<const std::int64_t> samples, const Tensor& inputs) const {
    const auto images = storage_.images.values<std::uint8_t>();
    if (inputs.dtype() == DType::kF64) {
      decoder_f64_.Decode(images, samples, inputs.values<double>());
    } else {
      decoder_f32_.Decode(images, samples, inputs.values<float>());
    }
  }

  ImageStorage storage_;
  ImageDecoder<float> decoder_f32_;
  ImageDecoder<double> decoder_f64_;
};

}  // namespace

ImageStorage TakeImageStorage(Allocator& memory, const DatasetInfo& info, std::int64_t count,
                              bool with_images) {
  const std::int64_t image_bytes = info.sample_shape.ElementCount();
  ImageStorage storage;
  if (with_images) {
    storage.images = Tensor(memory, {count, image_bytes}, DType::kU8, MemoryTag::kData);
  }
  storage.labels = Tensor(memory, {count}, DType::kU8, MemoryTag::kData);
  return storage;
}

DataLayout LayoutOf(const DatasetInfo& info) {
  return {.sample_shape = info.sample_shape,
          .classes = info.uses_all_classes() ? info.classes : std::ssize(info.classes_used),
          .target_shape = {},
          .train_count = info.uses_all_classes() ? info.train_count : info.train_used,
          .test_count = info.uses_all_classes() ? info.test_count : info.test_used};
}

std::unique_ptr<DataSource> OpenImages(const DatasetInfo& info, DatasetPart part,
                                       ImageStorage storage, const Normalization& normalization) {
  const bool train = part == DatasetPart::kTrain;
  const std::int64_t count = train ? info.train_count : info.test_count;
  const std::string& images = train ? info.files.train_images : info.files.test_images;
  const std::string& labels = train ? info.files.train_labels : info.files.test_labels;
  const Shape shape = ImagesFileShape(info.sample_shape, count);
  if (info.uses_all_classes()) {
    if (storage.images) ReadIdxInto(images, shape, storage.images.values<std::uint8_t>());
    ReadIdxInto(labels, {count}, storage.labels.values<std::uint8_t>());
    CheckLabels(labels, storage.labels.values<std::uint8_t>(), info.classes);
  } else {
    const auto keep = ReadUsedLabels(info, part, storage.labels.values<std::uint8_t>());
    if (storage.images) {
      ReadIdxRowsInto(images, shape, keep, storage.images.values<std::uint8_t>());
    }
  }
  return std::make_unique<LabelledImages>(info.sample_shape, std::move(storage), normalization);
}

}  // namespace frugal
