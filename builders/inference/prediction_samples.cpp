#include "builders/inference/prediction_samples.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "builders/setup/training_setup.h"
#include "sdk/core/error.h"
#include "sdk/data/dataset_info.h"
#include "sdk/data/gzip_idx.h"
#include "sdk/io/npy_file.h"
#include "sdk/io/png_reader.h"
#include "sdk/io/whole_file.h"

namespace frugal {
namespace {

[[noreturn]] void RefuseSamples(const std::string& path, std::string required, std::string given,
                                std::string advice) {
  throw DataError({.where = path,
                   .required = std::move(required),
                   .given = std::move(given),
                   .advice = std::move(advice)});
}

enum class Kind : std::uint8_t { kPng, kIdx, kNpy, kRaw, kOther };

Kind KindOf(const std::string& path) {
  const std::string file = ReadWholeFile(path);
  if (file.starts_with("\x89PNG")) return Kind::kPng;
  if (file.starts_with("\x93NUMPY")) return Kind::kNpy;
  if (file.starts_with("\x1f\x8b") || file.starts_with(std::string("\0\0\x08", 3))) {
    return Kind::kIdx;
  }
  return std::filesystem::path(path).extension() == ".raw" ? Kind::kRaw : Kind::kOther;
}

class SampleReader {
 public:
  SampleReader(const DataLayout& layout, const Normalization& normalization)
      : layout_(layout), normalization_(normalization) {}

  void Read(const std::string& path) {
    const std::int64_t before = samples_.count;
    layout_.vocabulary > 0 ? ReadTokens(path) : ReadValues(path);
    const std::string name = std::filesystem::path(path).filename().string();
    for (std::int64_t i = before; i < samples_.count; ++i) {
      samples_.names.push_back(
          samples_.count - before == 1 ? name : name + " " + std::to_string(i - before));
    }
  }

  PredictionSamples Take() { return std::move(samples_); }

 private:
  std::int64_t each() const { return layout_.sample_shape.ElementCount(); }

  void ReadValues(const std::string& path) {
    switch (KindOf(path)) {
      case Kind::kPng:
        RequireImages(path);
        RequireColours(path);
        return AddBytes(ReadPng(path, layout_.sample_shape));
      case Kind::kIdx:
        RequireImages(path);
        return ReadIdx(path);
      case Kind::kNpy:
        return ReadArray(path);
      case Kind::kRaw:
        return ReadRaw(path);
      case Kind::kOther:
        break;
    }
    RefuseSamples(path, "a PNG image, an IDX file, a .npy array or .raw values",
                  "it is none of them",
                  "the network takes samples " + ToString(layout_.sample_shape));
  }

  void ReadTokens(const std::string& path) {
    if (KindOf(path) == Kind::kNpy) return ReadArray(path);
    if (layout_.vocabulary != kByteValues) {
      RefuseSamples(
          path, "the network takes numbers of " + std::to_string(layout_.vocabulary) + " tokens",
          "it is no .npy array of them", "save token numbers by numpy.save");
    }
    const std::string text = ReadWholeFile(path);
    const auto length = static_cast<std::size_t>(each());
    if (text.size() < length) {
      RefuseSamples(path,
                    "a text of at least the " + std::to_string(length) + " bytes of one sample",
                    "it has " + std::to_string(text.size()),
                    "give a longer text; frugal generate continues shorter ones");
    }
    for (std::size_t at = text.size() % length; at < text.size(); ++at) {
      samples_.tokens.push_back(static_cast<unsigned char>(text[at]));
    }
    samples_.count += static_cast<std::int64_t>(text.size() / length);
  }

  void RequireImages(const std::string& path) const {
    const Shape& shape = layout_.sample_shape;
    if (shape.rank() == 3) return;
    RefuseSamples(path, "the network takes samples " + ToString(shape), "an image was given",
                  "give a .npy array");
  }

  void RequireColours(const std::string& path) const {
    const std::int64_t channels = layout_.sample_shape[2];
    if (channels == 1 || channels == 3) return;
    RefuseSamples(path, "images of " + std::to_string(channels) + " channels",
                  "a PNG image has 1 or 3", "give a .npy array");
  }

  void AddBytes(const std::vector<std::uint8_t>& bytes) {
    const std::int64_t count = std::ssize(bytes) / each();
    const std::size_t before = samples_.values.size();
    samples_.values.resize(before + bytes.size());
    const std::vector<std::int64_t> all = FirstSamples(count);
    ImageDecoder<float>(layout_.sample_shape, normalization_)
        .Decode(bytes, all, std::span(samples_.values).subspan(before));
    samples_.count += count;
  }

  void ReadIdx(const std::string& path) {
    const Shape shape = ReadIdxHeader(path).shape;
    const std::int64_t count = shape.rank() == 0 ? 0 : shape[0];
    const Shape expected = ImagesFileShape(layout_.sample_shape, count);
    if (!(shape == expected) || count == 0) {
      RefuseSamples(path, "images " + ToString(expected) + ", as the network takes them",
                    "it holds " + ToString(shape), "give a file of images of that size");
    }
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(expected.ElementCount()));
    ReadIdxInto(path, expected, bytes);
    AddBytes(bytes);
  }

  void ReadArray(const std::string& path) {
    const NpyArray array = ReadNpy(path);
    const std::int64_t count = CountOf(path, array.shape);
    if (const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&array.values)) {
      if (layout_.vocabulary > 0) return AddTokens(path, *bytes, count);
      RequireImages(path);
      return AddBytes(*bytes);
    }
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&array.values)) {
      if (layout_.vocabulary > 0) return AddTokens(path, *numbers, count);
      RefuseSamples(path, "values f4 or f8, or bytes u1 of images", "it holds whole numbers",
                    "save it as float32");
    }
    if (layout_.vocabulary > 0) {
      RefuseSamples(path, "token numbers, i4 or i8", "it holds values", "save it as int64");
    }
    const auto& values = std::get<std::vector<float>>(array.values);
    samples_.values.insert(samples_.values.end(), values.begin(), values.end());
    samples_.count += count;
  }

  // Samples of an array that has the shape of one, or of several.
  std::int64_t CountOf(const std::string& path, const Shape& shape) const {
    const Shape& sample = layout_.sample_shape;
    if (shape == sample) return 1;
    const std::int64_t count = shape.rank() > 0 ? shape[0] : 0;
    if (count > 0 && shape == layout_.BatchShape(count)) return count;
    RefuseSamples(path, "an array " + ToString(sample) + ", or several in front of each other",
                  "it is " + ToString(shape), "reshape it; channels come last");
  }

  template <class T>
  void AddTokens(const std::string& path, const std::vector<T>& tokens, std::int64_t count) {
    for (const T token : tokens) {
      const auto number = static_cast<std::int64_t>(token);
      if (number < 0 || number >= layout_.vocabulary) {
        RefuseSamples(path, "tokens lie in [0, " + std::to_string(layout_.vocabulary) + ")",
                      std::to_string(number) + " is there", "give numbers of the vocabulary");
      }
      samples_.tokens.push_back(number);
    }
    samples_.count += count;
  }

  void ReadRaw(const std::string& path) {
    const std::string file = ReadWholeFile(path);
    const std::size_t bytes = static_cast<std::size_t>(each()) * sizeof(float);
    if (file.size() % bytes != 0) {
      RefuseSamples(path,
                    "whole samples of " + std::to_string(bytes) + " bytes, f4 values " +
                        ToString(layout_.sample_shape),
                    "it has " + std::to_string(file.size()) + " bytes", "save float32 values");
    }
    const std::size_t before = samples_.values.size();
    samples_.values.resize(before + file.size() / sizeof(float));
    std::memcpy(samples_.values.data() + before, file.data(), file.size());
    samples_.count += static_cast<std::int64_t>(file.size() / bytes);
  }

  const DataLayout& layout_;
  const Normalization& normalization_;
  PredictionSamples samples_;
};

}  // namespace

PredictionSamples ReadSamples(std::span<const std::string> paths, const DataLayout& layout,
                              const Normalization& normalization) {
  SampleReader reader(layout, normalization);
  for (const std::string& path : paths) reader.Read(path);
  return reader.Take();
}

}  // namespace frugal
