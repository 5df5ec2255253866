// Files become samples as networks take them.
#include "builders/inference/prediction_samples.h"

#include "sdk/core/error.h"
#include "sdk/io/npy_file.h"
#include "sdk/io/png_writer.h"
#include "tests/io/temp_dir.h"
#include "tests/samples/tiny_config.h"

namespace frugal::testing {
namespace {

const Normalization kHalf = {{0.5}, {0.25}};

DataLayout Images() {
  DataLayout layout;
  layout.sample_shape = {4, 4, 1};
  layout.classes = 3;
  return layout;
}

PredictionSamples Read(const std::vector<std::string>& paths, const DataLayout& layout) {
  return ReadSamples(paths, layout, kHalf);
}

std::string Message(const std::string& path, const DataLayout& layout) {
  return MessageOf<DataError>([&] { Read({path}, layout); });
}

std::string ArrayOfBytes(const std::string& shape, const std::string& data) {
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header +
         data;
}

TEST_CASE("images of all forms become the same values, normalized") {
  const TempDir directory;
  std::vector<std::uint8_t> pixels(16);
  for (std::size_t i = 0; i < 16; ++i) pixels[i] = static_cast<std::uint8_t>(i * 17);
  WritePng(directory.File("a.png"), {.height = 4, .width = 4, .channels = 1, .bytes = pixels});
  const std::string bytes(pixels.begin(), pixels.end());
  std::string idx = IdxFile({2, 4, 4});
  idx.replace(idx.size() - 32, 32, bytes + bytes);
  directory.Write("b.idx", idx);
  directory.Write("c.npy", ArrayOfBytes("(4, 4, 1)", bytes));
  const PredictionSamples samples =
      Read({directory.File("a.png"), directory.File("b.idx"), directory.File("c.npy")}, Images());
  CHECK(samples.count == 4);
  CHECK(samples.names == std::vector<std::string>{"a.png", "b.idx 0", "b.idx 1", "c.npy"});
  REQUIRE(samples.values.size() == 64);
  for (std::size_t i = 0; i < 64; ++i) {
    const double byte = pixels[i % 16];
    CHECK(samples.values[i] == static_cast<float>((byte / 255 - 0.5) / 0.25));
  }
}

TEST_CASE("values are taken as they are, one sample or several") {
  const TempDir directory;
  std::vector<float> values(48);
  for (std::size_t i = 0; i < 48; ++i) values[i] = static_cast<float>(i) / 7;
  WriteNpy(directory.File("a.npy"), {3, 4, 4, 1}, values);
  WriteNpy(directory.File("b.npy"), {4, 4, 1}, std::span(values).first(16));
  directory.Write("c.raw", {reinterpret_cast<const char*>(values.data()), 32 * sizeof(float)});
  CHECK(Read({directory.File("a.npy")}, Images()).values == values);
  CHECK(Read({directory.File("b.npy")}, Images()).count == 1);
  CHECK(Read({directory.File("c.raw")}, Images()).count == 2);
  CHECK(Read({directory.File("c.raw")}, Images()).values ==
        std::vector<float>(values.begin(), values.begin() + 32));
}

TEST_CASE("texts are cut into samples that end with them") {
  const TempDir directory;
  DataLayout layout;
  layout.sample_shape = {4};
  layout.vocabulary = 256;
  layout.classes = 256;
  layout.label_shape = {4};
  const std::string path = directory.Write("a.txt", "0123456789\xff");
  const PredictionSamples samples = Read({path}, layout);
  CHECK(samples.count == 2);
  CHECK(samples.tokens == std::vector<std::int64_t>{'3', '4', '5', '6', '7', '8', '9', 255});
  CheckContains(Message(directory.Write("b.txt", "012"), layout),
                "b.txt] a text of at least the 4 bytes of one sample; it has 3");
  layout.vocabulary = 40;
  CheckContains(Message(path, layout), "the network takes numbers of 40 tokens");
  CheckContains(Message(directory.Write("c.npy", ArrayOfBytes("(4,)", "\x01\x02\x28\x03")), layout),
                "c.npy] tokens lie in [0, 40); 40 is there");
  CHECK(
      Read({directory.Write("d.npy", ArrayOfBytes("(1, 4)", "\x01\x02\x27\x03"))}, layout).tokens ==
      std::vector<std::int64_t>{1, 2, 39, 3});
}

TEST_CASE("files that do not fit the network are named") {
  const TempDir directory;
  WriteNpy(directory.File("a.npy"), {4, 4}, std::vector<float>(16));
  CheckContains(Message(directory.File("a.npy"), Images()),
                "a.npy] an array [4, 4, 1], or several in front of each other; it is [4, 4]");
  CheckContains(Message(directory.Write("b.idx", IdxFile({2, 5, 4})), Images()),
                "b.idx] images [2, 4, 4], as the network takes them; it holds [2, 5, 4]");
  CheckContains(Message(directory.Write("c.raw", "1234"), Images()), "c.raw] whole samples of 64");
  CheckContains(Message(directory.Write("d.txt", "some text"), Images()), "d.txt] a PNG image");
  CheckContains(Message(directory.File("e.png"), Images()), "e.png] a file to read");
  CheckContains(Message(directory.Write("f.gz", "\x1f\x8b and no more"), Images()), "f.gz");
  DataLayout deep = Images();
  deep.sample_shape = {4, 4, 2};
  WritePng(directory.File("g.png"),
           {.height = 4, .width = 4, .channels = 1, .bytes = std::vector<std::uint8_t>(16)});
  CheckContains(Message(directory.File("g.png"), deep), "g.png] images of 2 channels");
  deep.sample_shape = {16};
  CheckContains(Message(directory.File("g.png"), deep), "g.png] the network takes samples [16]");
}

}  // namespace
}  // namespace frugal::testing
