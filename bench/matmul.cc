// Gigabytes of weights per second of the one-token product, against a plain read of the same memory
// in the same run; and operations per second of the many-token product, against the ISA's widest
// multiply of bytes.
//
//   bench_matmul [--isa NAME] [--types Q4_1,Q8_0] [--widths 576,1536] [--kib 196608] [--tokens 1]
//   [--json]
//
// One line a case: the median of the rounds and their spread (MAD). The reading and the product
// take turns inside a round, so a busy neighbor meets both. One thread, pinned; processor time.
// Weights lie in memory unless --kib is less than a cache.
#include "kernels/cpu/matmul.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/read_streams.h"
#include "bench/measure.h"
#include "kernels/cpu/isa.h"

namespace {

using namespace wick;

struct Options {
  std::string isa;
  std::vector<std::string> types = {"Q4_1", "Q8_0",   "Q4_0",   "Q5_0", "Q5_1", "Q2_K",
                                    "Q3_K", "Q4_K",   "Q5_K",   "Q6_K", "F16",  "BF16",
                                    "F32",  "IQ4_NL", "IQ4_XS", "MXFP4"};
  std::vector<std::string> widths = {"576", "1536"};
  std::size_t kib = 192 * 1024;
  int tokens = 1;
  int rounds = 7;
  bool is_json = false;
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view key = argv[i];
    if (key == "--json") {
      options.is_json = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const std::string value = argv[++i];
    if (key == "--isa") {
      options.isa = value;
    } else if (key == "--types") {
      options.types = split(value);
    } else if (key == "--widths") {
      options.widths = split(value);
    } else if (key == "--kib") {
      options.kib = std::stoul(value);
    } else if (key == "--tokens") {
      options.tokens = std::stoi(value);
    } else if (key == "--rounds") {
      options.rounds = std::stoi(value);
    } else {
      return false;
    }
  }
  return true;
}

volatile std::uint64_t sink;

// In pieces that a thread of the engine reads, too.
std::uint64_t read_all(std::span<const std::byte> bytes, std::size_t streams) {
  constexpr std::size_t kChunk = 512 << 10;
  std::uint64_t sum = 0;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kChunk, bytes.size())))
    sum += read_streams(bytes.first(std::min(kChunk, bytes.size())), streams);
  return sum;
}

// With the number of streams that is fastest.
double seconds_of_reads(std::span<const std::byte> bytes, int repeats) {
  double best = std::numeric_limits<double>::infinity();
  for (const std::size_t streams : kReadStreams) {
    const double start = seconds();
    for (int i = 0; i < repeats; ++i)
      sink = read_all(bytes, streams);
    best = std::min(best, seconds() - start);
  }
  return best;
}

class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    data_ = static_cast<std::byte*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(data_, bytes, MADV_HUGEPAGE);
    // Bytes 0x11..0x2f: as halves they are small and finite.
    std::mt19937 random(1);
    for (std::size_t i = 0; i < bytes; i += 4) {
      const std::uint32_t word = (static_cast<std::uint32_t>(random()) & 0x1e1e1e1eu) | 0x11111111u;
      std::memcpy(data_ + i, &word, 4);
    }
  }

  ~Memory() { munmap(data_, bytes_); }

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

void measure(const Options& options, Isa isa, DType type, int width, const Memory& memory) {
  const std::size_t row = *row_bytes(type, width);
  // Rows of y lie on lines of the cache, as the engine's do.
  const int rows = static_cast<int>((options.kib << 10) / row) / 16 * 16;
  const std::size_t bytes = row * static_cast<std::size_t>(rows);
  const double macs = static_cast<double>(rows) * width * options.tokens;
  const auto tokens = static_cast<std::size_t>(options.tokens);
  const MatmulKernels& kernels = matmul_kernels(isa);
  std::size_t stride = static_cast<std::size_t>(width) * sizeof(float);
  if (needs_quantized(type)) stride = activation_layout(width).bytes;
  std::vector<std::byte> storage(stride * tokens + 64);
  std::byte* x = storage.data() + (64 - reinterpret_cast<std::uintptr_t>(storage.data()) % 64);
  std::vector<float> values(static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i));
  for (std::size_t t = 0; t < tokens; ++t) {
    if (needs_quantized(type)) {
      kernels.quantize(values.data(), activation_layout(width), x + t * stride);
    } else {
      std::memcpy(x + t * stride, values.data(), stride);
    }
  }
  std::vector<float> results(static_cast<std::size_t>(rows) * tokens + 16);
  float* y = results.data() + (64 - reinterpret_cast<std::uintptr_t>(results.data()) % 64) / 4;
  std::vector<double> speeds, shares, of_multiplies;
  for (int round = 0; round < options.rounds; ++round) {
    const int repeats = static_cast<int>((64u << 20) / bytes) + 1;
    const double read = seconds_of_reads({memory.data(), bytes}, repeats);
    const double t1 = seconds();
    for (int i = 0; i < repeats; ++i) {
      kernels.matmul[static_cast<int>(type)]({.w = memory.data(),
                                              .row_bytes = row,
                                              .width = width,
                                              .row_begin = 0,
                                              .row_end = rows,
                                              .x = x,
                                              .x_stride = stride,
                                              .n_tokens = options.tokens,
                                              .y = y,
                                              .y_stride = rows});
    }
    const double t2 = seconds();
    constexpr std::uint64_t kPeakRounds = 200'000;
    const double products =
        kernels.peak == nullptr ? 0 : static_cast<double>(kernels.peak(kPeakRounds));
    const double t3 = seconds();
    speeds.push_back(static_cast<double>(bytes) * repeats / (t2 - t1) * 1e-9);
    shares.push_back(read / (t2 - t1));
    of_multiplies.push_back(products > 0 ? macs * repeats / (t2 - t1) / (products / (t3 - t2)) : 0);
  }
  const Spread gb = spread(speeds);
  const Spread share = spread(shares);
  const double of_multiply = spread(of_multiplies).median;
  const double gmacs = macs / (static_cast<double>(bytes) / gb.median);
  const char* format =
      options.is_json
          ? "{\"type\":\"%s\",\"isa\":\"%s\",\"width\":%d,\"tokens\":%d,\"gb_per_s\":%.2f,"
            "\"mad\":%.2f,\"read_gb_per_s\":%.2f,\"share\":%.3f,\"gmac_per_s\":%.1f,"
            "\"share_of_multiply_peak\":%.3f}\n"
          : "%-5s %-6s width %5d, %3d tokens: %6.2f GB/s ± %.2f, read %6.2f GB/s, share %.3f, "
            "%6.1f GMAC/s, %.3f of the multiplies\n";
  std::printf(format, std::string(dtype_info(type).name).c_str(), std::string(name(isa)).c_str(),
              width, options.tokens, gb.median, gb.mad, gb.median / share.median, share.median,
              gmacs, of_multiply);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: bench_matmul [--isa NAME] [--types A,B] [--widths N,M] [--kib N] "
                 "[--tokens N] [--rounds N] [--json]\n");
    return 2;
  }
  Result<Isa> isa = options.isa.empty() ? choose_isa() : choose_isa(options.isa);
  if (!isa) {
    std::fprintf(stderr, "%s\n", to_string(isa.error()).c_str());
    return 1;
  }
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(sched_getcpu(), &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
  const Memory memory(options.kib << 10);
  for (const std::string& name : options.types) {
    const std::optional<DType> type = dtype_from_name(name);
    if (!type) {
      std::fprintf(stderr, "'%s' is no number format\n", name.c_str());
      return 1;
    }
    for (const std::string& width : options.widths) {
      const int n = std::stoi(width);
      if (row_bytes(*type, n)) measure(options, *isa, *type, n, memory);
    }
  }
  return 0;
}
