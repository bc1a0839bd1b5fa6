// Prefix affinity: requests whose prompts begin alike go to the same replica, whose prefix cache
// then has their tokens. Each replica gets a number from the prompt's prefix and its name, and the
// lowest is asked first (rendezvous hashing): when a replica comes or goes, only its own prefixes
// move. A replica with more than its share of the running requests is asked after the others
// (bounded load). Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "provider/provider.h"

namespace wick::route {

// Of the first kAffinityBytes of the prompt: tools, then messages with their roles.
inline constexpr std::size_t kAffinityBytes = 1024;
std::uint64_t prefix_hash(const Request& request);

// 64 mixed bits for one replica.
std::uint64_t affinity(std::uint64_t prefix, std::string_view replica);

// How many requests a replica may run, of `running` of all: 1.25 of the average with the new one,
// rounded up. At least one replica is below it.
int bounded_load(std::span<const int> running);

}  // namespace wick::route
