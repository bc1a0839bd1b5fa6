// Opens a GGUF model that may lie in several files. A split model's parts are named
// NAME-00001-of-00003.gguf; each carries split.no (from 0), split.count and split.tensors.count (of
// all parts together), and the first carries the model's keys.
#include <charconv>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "format/gguf.h"
#include "format/limits.h"

namespace wick {

namespace {

constexpr std::size_t kDigits = 5;
constexpr std::string_view kOf = "-of-";
constexpr std::string_view kExtension = ".gguf";

struct PartName {
  std::string prefix = {};  // "m" of "m-00002-of-00003.gguf"
  std::int64_t number = 0;  // from 1
  std::int64_t count = 0;
};

std::optional<std::int64_t> read_digits(std::string_view text) noexcept {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<PartName> part_name(std::string_view file) {
  constexpr std::size_t kTail = 1 + kDigits + kOf.size() + kDigits + kExtension.size();
  if (file.size() < kTail) return std::nullopt;
  const std::string_view tail = file.substr(file.size() - kTail);
  if (tail[0] != '-' || tail.substr(1 + kDigits, kOf.size()) != kOf ||
      tail.substr(kTail - kExtension.size()) != kExtension) {
    return std::nullopt;
  }
  const auto number = read_digits(tail.substr(1, kDigits));
  const auto count = read_digits(tail.substr(1 + kDigits + kOf.size(), kDigits));
  if (!number || !count) return std::nullopt;
  return PartName{std::string(file.substr(0, file.size() - kTail)), *number, *count};
}

std::string five_digits(std::int64_t value) {
  const std::string digits = std::to_string(value);
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

std::string file_name(const PartName& part, std::int64_t number) {
  return cat(part.prefix, "-", five_digits(number), kOf, five_digits(part.count), kExtension);
}

struct Mapped {
  MappedFile file;
  GgufFile gguf;
};

Result<Mapped> map_gguf(const std::filesystem::path& path) {
  WICK_TRY(MappedFile file, MappedFile::open(path));
  WICK_TRY(GgufFile gguf, parse_gguf(file.bytes(), path.string()));
  return Mapped{std::move(file), std::move(gguf)};
}

// Does `gguf`, the content of `path`, say that it is part `number` (from 0) of `count`?
Result<void> check_part(const GgufFile& gguf, const std::filesystem::path& path,
                        std::int64_t number, std::int64_t count) {
  const auto check = [&](std::string_view key, std::int64_t wanted) -> Result<void> {
    const auto seen = gguf.metadata.integer(key);
    if (seen == wanted) return {};
    return corrupt("bad_split",
                   cat(printable(path.string()), ": ", key, " is ",
                       seen ? std::to_string(*seen) : std::string("missing"), ", wanted ", wanted));
  };
  WICK_DO(check("split.no", number));
  return check("split.count", count);
}

void append(ModelParts& parts, Mapped&& part) {
  parts.files.push_back(std::move(part.file));
  parts.tensors.insert(parts.tensors.end(), part.gguf.tensors.begin(), part.gguf.tensors.end());
}

Result<ModelParts> open_split(Mapped opened, const std::filesystem::path& path,
                              std::int64_t count) {
  const auto part = part_name(path.filename().string());
  if (!part || part->count != count || part->number < 1 || part->number > count) {
    return corrupt("bad_split_name",
                   cat(printable(path.string()), ": is a part of a model in ", count,
                       " files, its name must end in -NNNNN-of-", five_digits(count), ".gguf"));
  }
  ModelParts parts;
  for (std::int64_t number = 1; number <= count; ++number) {
    const auto other = path.parent_path() / file_name(*part, number);
    if (number == part->number) {
      WICK_DO(check_part(opened.gguf, path, number - 1, count));
      if (number == 1) parts.metadata = std::move(opened.gguf.metadata);
      append(parts, std::move(opened));
      continue;
    }
    auto mapped = map_gguf(other);
    if (!mapped && mapped.error().code == ErrorCode::kNotFound) {
      return Error{.code = ErrorCode::kNotFound,
                   .id = "missing_part",
                   .message = cat(printable(other.string()), ": is missing, part ", number, " of ",
                                  count, " of the model"),
                   .hint = "fetch the missing part into the same folder"};
    }
    WICK_TRY(Mapped found, std::move(mapped));
    WICK_DO(check_part(found.gguf, other, number - 1, count));
    if (number == 1) parts.metadata = std::move(found.gguf.metadata);
    append(parts, std::move(found));
  }
  return parts;
}

}  // namespace

Result<ModelParts> open_gguf(const std::filesystem::path& path) {
  WICK_TRY(Mapped opened, map_gguf(path));
  constexpr std::string_view kCount = "split.count";
  std::int64_t count = 0;  // 0 and 1 both say: not split
  if (opened.gguf.metadata.has(kCount)) {
    auto claimed = opened.gguf.metadata.need_integer(kCount, 0, kMaxParts);
    if (!claimed) return wrap(std::move(claimed).error(), printable(path.string()));
    count = *claimed;
  }
  if (count <= 1) {
    ModelParts parts;
    parts.metadata = std::move(opened.gguf.metadata);
    append(parts, std::move(opened));
    return parts;
  }
  WICK_TRY(ModelParts parts, open_split(std::move(opened), path, count));
  const auto total = parts.metadata.integer("split.tensors.count");
  if (total && *total != static_cast<std::int64_t>(parts.tensors.size())) {
    return corrupt("bad_split",
                   cat(printable(path.string()), ": the ", count, " parts hold ",
                       parts.tensors.size(), " tensors, split.tensors.count says ", *total));
  }
  return parts;
}

}  // namespace wick
