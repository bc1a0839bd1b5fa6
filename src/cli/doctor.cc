// wick doctor: devices, ISA, memory, paths and configuration on this machine.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "assist/machine.h"
#include "assist/propose.h"
#include "assist/sandbox.h"
#include "backend/device_registry.h"
#include "base/aligned.h"
#include "base/machine_memory.h"
#include "base/strings.h"
#include "base/thread_team.h"
#include "cli/bandwidth.h"
#include "cli/flags.h"
#include "cli/option_flags.h"
#include "cli/out.h"
#include "cli/report.h"
#include "config/routing.h"
#include "hub/pull.h"
#include "hub/store.h"
#include "kernels/cpu/isa.h"
#include "net/http.h"
#include "remote/secret.h"

namespace wick {

namespace {

constexpr std::size_t kMemoryProbeBytes = std::size_t{256} << 20;

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name"))
      return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "unknown";
}

std::string isas() {
  std::string list;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (is_supported(isa)) list += cat(list.empty() ? "" : " ", name(isa));
  }
  return list;
}

// A failed check has a hint.
struct Row {
  std::string key, value, advice = {};
  bool is_needed = true;  // a failure makes the exit code kExitUsage
};

// What wick ask finds.
void add_shell_rows(std::vector<Row>& rows) {
  const assist::Machine machine = assist::probe(assist::process_sources());
  rows.push_back({"shell", machine.shell_path.empty() ? machine.shell : machine.shell_path});
  rows.push_back({"shell_dialect", !machine.is_shell_known ? "not known: sh, and nothing is safe"
                                   : assist::is_parsed(machine.dialect)
                                       ? machine.shell
                                       : cat(machine.shell, ", never safe")});
  std::string tools = cat(assist::name(machine.family), ":");
  for (const std::string& tool : machine.tools)
    tools += cat(" ", tool);
  rows.push_back({"shell_tools", tools});
  const std::string problem = assist::sandbox_problem();
  rows.push_back({"sandbox", problem.empty() ? "works" : problem});
}

// The config files that are read, whether their settings are right, and for each provider whether
// its key is there.
void add_config_rows(const OptionFlags& settings, std::vector<Row>& rows) {
  std::string files;
  for (const std::filesystem::path& file : settings.files()) {
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored))
      files += cat(files.empty() ? "" : ", ", file.string());
  }
  rows.push_back({"config", files.empty() ? "no file: all settings are defaults" : files});
  const auto config = settings.resolve();
  const auto routing =
      config ? routing_settings(config->tables()) : Result<RoutingSettings>(config.error());
  if (!routing) {
    const Error& error = routing.error();
    rows.back().value = to_string(error);
    rows.back().advice =
        error.hint.empty() ? "docs/config.md and docs/providers.md list the settings" : error.hint;
    return;
  }
  for (const ProviderSetting& one : routing->providers) {
    Row row{cat("provider_", one.endpoint.name), cat(one.endpoint.url, ", no key is needed")};
    if (one.needs_key) {
      const auto key = remote::read_secret(one.key);
      row.value = cat(one.endpoint.url, ", ", key ? "the key is there" : to_string(key.error()));
      if (!key) row.advice = key.error().hint;
      row.is_needed = false;  // the rules may have others
    }
    rows.push_back(std::move(row));
  }
}

Result<int> run_doctor(const OptionFlags& settings, bool is_json) {
  std::vector<Row> rows;
  const auto isa = choose_isa();
  rows.push_back({"version", WICK_VERSION});
  rows.push_back({"processor", processor()});
  rows.push_back({"instruction_sets", isas()});
  rows.push_back({"kernels", isa ? std::string(name(*isa)) : to_string(isa.error()),
                  isa ? "" : "unset WICK_ISA, or set it to one of the instruction sets above"});
  std::string devices;
  for (const DeviceInfo& device : process_devices().devices())
    devices += cat(devices.empty() ? "" : ", ", device.name);
  rows.push_back({"devices", devices});
  const auto open = process_devices().open("auto");
  rows.push_back({"device", open ? open->device->info().description : to_string(open.error()),
                  open ? open->warning : open.error().hint});
  rows.push_back({"threads", std::to_string(usable_threads())});
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  rows.push_back({"memory", human_bytes(machine_memory_bytes())});
  rows.push_back(
      {"memory_free", human_bytes(static_cast<std::uint64_t>(::sysconf(_SC_AVPHYS_PAGES)) * page)});
  if (const auto buffer = AlignedBuffer::create(kMemoryProbeBytes, AlignedBuffer::Pages::kHuge)) {
    WICK_TRY(ThreadTeam team, ThreadTeam::create(usable_threads()));
    std::fill_n(buffer->data(), kMemoryProbeBytes,
                std::byte{1});  // pages are in place before the clock starts
    const double speed = read_bandwidth(team, {buffer->data(), kMemoryProbeBytes});
    rows.push_back({"read_bandwidth", cat(human_bytes(static_cast<std::uint64_t>(speed)), "/s")});
  }
  const auto store = Store::open();
  rows.push_back({"store", store ? store->root().string() : to_string(store.error()),
                  store ? "" : store.error().hint});
  if (store) {
    const auto models = store->list();
    const auto n = models ? models->size() : 0;
    rows.push_back({"models", models ? std::to_string(n) : to_string(models.error()),
                    n > 0 ? "" : cat("fetch one with: wick model pull ", kDefaultModel), false});
  }
  const auto network = http_library();
  rows.push_back({"network", network ? *network : to_string(network.error()),
                  network ? "" : network.error().hint});
  add_shell_rows(rows);
  add_config_rows(settings, rows);
  bool is_well = true;
  Object object;
  for (const Row& row : rows) {
    is_well = is_well && (row.advice.empty() || !row.is_needed);
    if (is_json) {
      object[row.key] = row.value;
    } else {
      print({padded(printable(row.key), 18), printable(row.value), "\n"});
      if (!row.advice.empty()) print({padded({}, 18), "→ ", printable(row.advice), "\n"});
    }
  }
  if (is_json) print_json(JsonValue(object));
  return is_well ? kExitOk : kExitUsage;
}

}  // namespace

Action setup_doctor(Flags flags) {
  struct DoctorFlags {
    OptionFlags settings = {};
    bool is_json = false;
  };

  const auto o = std::make_shared<DoctorFlags>();
  flags.toggle("--json", o->is_json, "one JSON object");
  o->settings.add_file(flags);
  return [o] { return run_doctor(o->settings, o->is_json); };
}

}  // namespace wick
