// Arrays as numpy.save writes them.
#include "sdk/io/npy_file.h"

#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

// A file of version 1.
std::string File(const std::string& type, const std::string& shape, const std::string& data,
                 const std::string& order = "False") {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  std::string file = std::string("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size());
  file += '\0';
  return file + header + data;
}

template <class T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST_CASE("arrays are read in their element types") {
  const TempDir directory;
  const auto read = [&](const std::string& type, const std::string& shape,
                        const std::string& data) {
    return ReadNpy(directory.Write("a.npy", File(type, shape, data)));
  };
  const NpyArray floats = read("<f4", "(2, 3)", BytesOf<float>({1, 2, 3, 4, 5, 6.5}));
  CHECK(floats.shape == Shape{2, 3});
  CHECK(std::get<std::vector<float>>(floats.values) == std::vector<float>{1, 2, 3, 4, 5, 6.5});
  CHECK(std::get<std::vector<float>>(read("<f8", "(2,)", BytesOf<double>({-1, 0.5})).values) ==
        std::vector<float>{-1, 0.5});
  CHECK(std::get<1>(read("<i8", "(2,)", BytesOf<std::int64_t>({-1, 1LL << 40})).values) ==
        std::vector<std::int64_t>{-1, 1LL << 40});
  CHECK(std::get<1>(read("<i4", "(1, 2)", BytesOf<std::int32_t>({-1, 7})).values) ==
        std::vector<std::int64_t>{-1, 7});
  CHECK(std::get<0>(read("|u1", "(3,)", "\x01\x02\xff").values) ==
        std::vector<std::uint8_t>{1, 2, 255});
  CHECK(read("<f4", "()", BytesOf<float>({3})).shape.rank() == 0);
}

TEST_CASE("arrays that were written come back") {
  const TempDir directory;
  const std::vector<float> values = {1, -2.5, 3e-9F, 4};
  WriteNpy(directory.File("a.npy"), {2, 2}, values);
  const NpyArray array = ReadNpy(directory.File("a.npy"));
  CHECK(array.shape == Shape{2, 2});
  CHECK(std::get<2>(array.values) == values);
  CHECK((ReadAll(directory.File("a.npy")).size() - 16) % 64 == 0);
}

TEST_CASE("a shape is a tuple of whole numbers and nothing else") {
  const TempDir directory;
  const auto message = [&](const std::string& shape, std::size_t bytes) {
    const std::string path = directory.Write("a.npy", File("|u1", shape, std::string(bytes, '\1')));
    return MessageOf<DataError>([&] { ReadNpy(path); });
  };
  for (const std::string shape : {"(6,)", "(2, 3)", "(2,3,)", "( 2 , 3 )"}) {
    INFO(shape);
    CHECK(message(shape, 6) == "no error");
  }
  CHECK(message("()", 1) == "no error");
  for (const std::string shape :
       {"(2.3,)", "(2 x 3)", "(2 3)", "(2,, 3)", "(+6,)", "(,)", "6", "[6]", "(0x6,)"}) {
    INFO(shape);
    CheckContains(message(shape, 6), "its shape is");
  }
}

TEST_CASE("damaged arrays are refused with the file in front") {
  const TempDir directory;
  const std::string data = BytesOf<float>({1, 2, 3, 4});
  const auto message = [&](const std::string& content) {
    const std::string text =
        MessageOf<DataError>([&] { ReadNpy(directory.Write("a.npy", content)); });
    CheckContains(text, "a.npy] ");
    return text;
  };
  CheckContains(message("no array at all"), "it does not begin as one");
  CheckContains(message(File("<f4", "(2, 3)", data)), "16 bytes of data for [2, 3]");
  CheckContains(message(File("<f4", "(2147483647, 2147483647, 2147483647)", data)), "16 bytes");
  CheckContains(message(File("<f4", "(-4,)", data)), "its shape is");
  CheckContains(message(File("<f4", "(2, 2)", data, "True")), "Fortran order");
  CheckContains(message(File("<c8", "(2,)", data)), "its elements are");
  CheckContains(message(File("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 4)", data)), "8 dimensions");
  const std::string good = File("<f4", "(2, 2)", data);
  for (std::size_t size = 1; size < good.size(); ++size) message(good.substr(0, size));
}

}  // namespace
}  // namespace frugal::testing
