// The tables of commands, by family. How a row reads: shell/rows.h.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "shell/name_index.h"
#include "shell/rows.h"

namespace wick::shell {

struct RowTable {
  std::span<const Row> rows;
  std::span<const NameSlot> slots;  // of each name of each row
};

// Calls f with each name of a row: "ls|dir" has two.
template <class F>
constexpr void each_name(const Row& row, const F& f) {
  std::string_view names = row.name;
  while (true) {
    const std::size_t bar = names.find('|');
    f(names.substr(0, bar));
    if (bar == std::string_view::npos) return;
    names.remove_prefix(bar + 1);
  }
}

constexpr std::size_t count_names(std::span<const Row> rows) {
  std::size_t out = 0;
  for (const Row& row : rows)
    each_name(row, [&](std::string_view) { ++out; });
  return out;
}

template <std::size_t kNames>
constexpr NameSlots<kNames> index_rows(std::span<const Row> rows) {
  NameSlots<kNames> out{};
  for (std::size_t i = 0; i < rows.size(); ++i)
    each_name(rows[i], [&](std::string_view name) { add_name(out, name, i); });
  return out;
}

// The index of kRows, made by the compiler.
template <const auto& kRows>
inline constexpr auto kRowSlots = index_rows<count_names(kRows)>(kRows);

extern const RowTable kFileRows, kTextRows, kSystemRows, kWrapperRows, kGitRows, kNetworkRows,
    kPackageRows, kCloudRows, kBuiltinRows, kInterpreterRows;

inline const RowTable* const kTables[] = {
    &kFileRows,    &kTextRows,    &kSystemRows, &kWrapperRows, &kGitRows,
    &kNetworkRows, &kPackageRows, &kCloudRows,  &kBuiltinRows, &kInterpreterRows};

}  // namespace wick::shell
