// Architectures that a program describes (wick/architecture.h). They are added before the first
// model is opened, and then only read; so reading takes no lock.
#pragma once

#include <span>

#include "model/spec.h"

namespace wick {

// The description's own names of tensors, for a file of such an architecture; else empty.
std::span<const NameRule> described_names(const ModelFile& file) noexcept;

// Those that were added so far; none can be added afterwards.
std::span<const Arch> described_archs() noexcept;

// Adds what `json` describes; `known`: the architectures that it may be like.
Result<void> describe_arch(std::string_view json, std::span<const Arch> known);

}  // namespace wick
