// The CPU quota of a Linux control group, in processors (fractions included); HUGE_VAL = no limit.
// Used by usable_threads(); separate so that tests can pass files. Any thread; cold.
#pragma once

#include <string>
#include <string_view>

namespace wick {

// "200000 100000" (version 2, cpu.max) → 2; "max 100000" or anything odd → HUGE_VAL.
double quota_of_v2(std::string_view cpu_max);
// cpu.cfs_quota_us and cpu.cfs_period_us of version 1; -1 = no limit.
double quota_of_v1(std::string_view quota_us, std::string_view period_us);
// The smallest quota on the way from this process's groups (a file like /proc/self/cgroup) to the
// root; `root` is where the groups are mounted, usually /sys/fs/cgroup.
double cgroup_quota(const std::string& self_cgroup, const std::string& root);

}  // namespace wick
