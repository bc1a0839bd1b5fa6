#include "base/sha256.h"

#include <gtest/gtest.h>

namespace wick {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Sha256, SumsAsFips180Does) {
  ASSERT_TRUE(load_sha256());
  EXPECT_EQ(sha256_text("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_text(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc")[0], 0xba);
}

TEST(Sha256, ACopyGoesOnByItselfAndAnEndedSumStartsAnew) {
  Sha256 sum;
  sum.add(bytes_of("a"));
  Sha256 copy = sum;
  copy.add(bytes_of("bc"));
  sum.add(bytes_of("d"));
  EXPECT_EQ(copy.hex(), sha256_text("abc"));
  EXPECT_EQ(sum.hex(), sha256_text("ad"));
  EXPECT_EQ(sum.hex(), sha256_text(""));
  copy.add(bytes_of("x"));
  sum = copy;
  EXPECT_EQ(sum.hex(), sha256_text("x"));
}

}  // namespace
}  // namespace wick
