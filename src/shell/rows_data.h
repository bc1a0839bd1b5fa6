// The tables of commands, by family. How a row reads: shell/rows.h.
#pragma once

#include <span>

#include "shell/rows.h"

namespace wick::shell {

extern const std::span<const Row> kFileRows, kTextRows, kSystemRows, kWrapperRows, kGitRows,
    kNetworkRows, kPackageRows, kCloudRows, kBuiltinRows, kInterpreterRows;

inline const std::span<const Row>* const kTables[] = {
    &kFileRows,    &kTextRows,    &kSystemRows, &kWrapperRows, &kGitRows,
    &kNetworkRows, &kPackageRows, &kCloudRows,  &kBuiltinRows, &kInterpreterRows};

}  // namespace wick::shell
