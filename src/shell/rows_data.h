// The tables of commands, by family. How a row reads: shell/rows.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "shell/name_index.h"
#include "shell/rows.h"

namespace wick::shell {

// A row as the tables write it.
struct RowText {
  std::string_view name, operands, options, effects;
};

struct RowTable {
  std::span<const Row> rows;
  std::string_view text;            // of all rows
  std::span<const NameSlot> slots;  // of each name of each row
};

// Calls f with each name of a row: "ls|dir" has two.
template <class F>
constexpr void each_name(std::string_view names, const F& f) {
  while (true) {
    const std::size_t bar = names.find('|');
    f(names.substr(0, bar));
    if (bar == std::string_view::npos) return;
    names.remove_prefix(bar + 1);
  }
}

constexpr std::size_t count_names(std::span<const RowText> rows) {
  std::size_t out = 0;
  for (const RowText& row : rows)
    each_name(row.name, [&](std::string_view) { ++out; });
  return out;
}

template <std::size_t kNames>
constexpr NameSlots<kNames> index_rows(std::span<const RowText> rows) {
  NameSlots<kNames> out{};
  for (std::size_t i = 0; i < rows.size(); ++i)
    each_name(rows[i].name, [&](std::string_view name) { add_name(out, name, i); });
  return out;
}

constexpr std::size_t count_bytes(std::span<const RowText> rows) {
  std::size_t out = 0;
  for (const RowText& row : rows)
    out += row.name.size() + row.operands.size() + row.options.size() + row.effects.size();
  return out;
}

template <std::size_t kRows, std::size_t kBytes>
struct Packed {
  std::array<Row, kRows> rows = {};
  std::array<char, kBytes> text = {};
};

template <std::size_t kRows, std::size_t kBytes>
constexpr Packed<kRows, kBytes> pack_rows(std::span<const RowText> rows, std::size_t table) {
  Packed<kRows, kBytes> out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string_view texts[] = {rows[i].name, rows[i].operands, rows[i].options,
                                      rows[i].effects};
    std::array<std::uint16_t, 4> sizes = {};
    const std::size_t begin = at;
    for (std::size_t k = 0; k < 4; ++k) {
      sizes[k] = static_cast<std::uint16_t>(texts[k].size());
      for (const char c : texts[k])
        out.text[at++] = c;
    }
    out.rows[i] = Row(table, begin, sizes);
  }
  return out;
}

// Made by the compiler: the rows of kTexts, and the index of their names.
template <const auto& kTexts, std::size_t kTable>
inline constexpr auto kPackedRows =
    pack_rows<std::size(kTexts), count_bytes(kTexts)>(kTexts, kTable);

template <const auto& kTexts>
inline constexpr auto kRowSlots = index_rows<count_names(kTexts)>(kTexts);

template <const auto& kTexts, std::size_t kTable>
constexpr RowTable table_of() {
  const auto& packed = kPackedRows<kTexts, kTable>;
  return {packed.rows, {packed.text.data(), packed.text.size()}, kRowSlots<kTexts>};
}

extern const RowTable kFileRows, kTextRows, kSystemRows, kWrapperRows, kGitRows, kNetworkRows,
    kPackageRows, kCloudRows, kBuiltinRows, kInterpreterRows;

// By number.
inline const RowTable* const kTables[] = {
    &kFileRows,    &kTextRows,    &kSystemRows, &kWrapperRows, &kGitRows,
    &kNetworkRows, &kPackageRows, &kCloudRows,  &kBuiltinRows, &kInterpreterRows};

}  // namespace wick::shell
