// Processors this process may use: its affinity mask, limited by the CPU quota of its control group
// and all groups above. Missing or malformed files mean "no limit".
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "base/cgroup.h"
#include "base/strings.h"
#include "base/thread_team.h"

namespace wick {
namespace {

constexpr int kMaxProcessors = 1 << 16;  // where the search for a large enough mask ends

int affinity_count() noexcept {
  for (int processors = 1024; processors <= kMaxProcessors; processors *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(
        CPU_ALLOC(static_cast<std::size_t>(processors)), [](cpu_set_t* set) { CPU_FREE(set); });
    if (mask == nullptr) return 1;
    const std::size_t bytes = CPU_ALLOC_SIZE(processors);
    if (::sched_getaffinity(0, bytes, mask.get()) == 0) return CPU_COUNT_S(bytes, mask.get());
  }
  return 1;
}

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

// The smallest quota of the group `path` (absolute, below `mount`) and those above it.
template <class Quota>
double least_quota(const std::string& mount, std::string path, const Quota& quota) {
  double least = quota(mount);
  while (path.size() > 1) {
    least = std::min(least, quota(mount + path));
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  return least;
}

}  // namespace

double quota_of_v2(std::string_view cpu_max) {
  std::istringstream in{std::string(cpu_max)};
  double quota = 0;
  double period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return HUGE_VAL;
  return quota / period;
}

double quota_of_v1(std::string_view quota_us, std::string_view period_us) {
  return quota_of_v2(std::string(quota_us) + " " + std::string(period_us));
}

double cgroup_quota(const std::string& self_cgroup, const std::string& root) {
  double least = HUGE_VAL;
  std::ifstream file(self_cgroup);
  for (std::string line; std::getline(file, line);) {  // "0::/path" or "4:cpu,cpuacct:/path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kinds = cat(",", line.substr(first + 1, second - first - 1), ",");
    const std::string path = line.substr(second + 1);
    if (kinds == ",,") {
      least = std::min(least, least_quota(root, path, [](const std::string& group) {
                         return quota_of_v2(first_line(group + "/cpu.max"));
                       }));
    } else if (kinds.find(",cpu,") != std::string::npos) {
      least = std::min(least, least_quota(root + "/cpu", path, [](const std::string& group) {
                         return quota_of_v1(first_line(group + "/cpu.cfs_quota_us"),
                                            first_line(group + "/cpu.cfs_period_us"));
                       }));
    }
  }
  return least;
}

int usable_threads() noexcept {
  try {  // reading files may run out of memory
    const double quota = cgroup_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    const int processors = affinity_count();
    return std::max(1, quota < processors ? static_cast<int>(quota) : processors);
  } catch (...) {
    return 1;
  }
}

}  // namespace wick
