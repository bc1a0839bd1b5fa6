#include "shell/paths.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "shell/name_index.h"
#include "shell/value.h"

namespace wick::shell {

std::string normal_path(std::string_view path, std::string_view cwd) {
  const bool is_absolute = path.starts_with('/') || cwd.starts_with('/');
  std::string out;
  int names = 0;  // in `out`, without the `..` in front
  const auto add = [&](std::string_view text) {
    while (!text.empty()) {
      std::size_t slash = 0;  // names are short: no call for each
      while (slash < text.size() && text[slash] != '/')
        ++slash;
      const std::string_view name = text.substr(0, slash);
      text.remove_prefix(std::min(slash + 1, text.size()));
      if (name.empty() || name == ".") continue;
      const bool is_up = name == "..";
      if (is_up && names > 0) {
        const std::size_t last = out.rfind('/');
        out.resize(last == std::string::npos ? 0 : last);
        --names;
      } else if (!is_up || !is_absolute) {
        if (is_absolute || !out.empty()) out += '/';
        out += name;
        names += is_up ? 0 : 1;
      }
    }
  };
  out.reserve(cwd.size() + path.size() + 2);
  if (!path.starts_with('/')) add(cwd);
  add(path);
  if (out.empty()) out = is_absolute ? '/' : '.';
  return out;
}

bool may_match(std::string_view pattern, std::string_view name) noexcept {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
      continue;
    }
    bool is_match = p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]);
    std::size_t next = p + 1;
    if (p < pattern.size() && pattern[p] == '[') {
      const std::size_t close = pattern.find(']', p + 2);
      if (close != std::string_view::npos) {  // whatever the bracket holds: it may match
        is_match = true;
        next = close + 1;
      }
    }
    if (is_match) {
      p = next;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

namespace {

bool below(std::string_view path, std::string_view folder) noexcept {  // or the same
  if (folder.empty()) return false;
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

constexpr std::array<std::string_view, 25> kTops = {
    "/bin", "/boot",  "/dev",  "/etc",   "/home",   "/lib",     "/lib32",       "/lib64", "/libx32",
    "/opt", "/proc",  "/root", "/run",   "/sbin",   "/srv",     "/sys",         "/usr",   "/var",
    "/mnt", "/media", "/nix",  "/Users", "/System", "/Library", "/Applications"};

}  // namespace

bool may_leave_by_link(std::string_view path, std::string_view cwd,
                       std::initializer_list<std::string_view> real) {
  if (path.find("..") == std::string_view::npos) return false;
  std::string at(path.starts_with('/') ? "" : cwd);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      at += '/';
      at += name;
      continue;
    }
    const bool is_real = at.empty() || std::any_of(real.begin(), real.end(),
                                                   [&](auto folder) { return below(folder, at); });
    if (!is_real) return true;
    const std::size_t last = at.rfind('/');
    at.resize(last == std::string::npos ? 0 : last);
  }
  return false;
}

namespace {

// Folders below those of the first level that a system cannot do without.
constexpr std::array<std::string_view, 24> kDeep = {
    "/usr/bin",         "/usr/lib",       "/usr/sbin",    "/usr/share",   "/usr/local",
    "/usr/lib64",       "/usr/include",   "/usr/libexec", "/var/lib",     "/var/log",
    "/var/spool",       "/var/mail",      "/var/cache",   "/var/www",     "/lib/modules",
    "/etc/ssh",         "/etc/pam.d",     "/etc/ssl",     "/etc/systemd", "/var/lib/dpkg",
    "/usr/lib/modules", "/etc/sudoers.d", "/private/etc", "/private/var"};

bool is_home(std::string_view path, std::string_view home) {
  if (!home.empty() && path == home) return true;
  if (path == "/root") return true;
  for (const std::string_view top : {std::string_view("/home/"), std::string_view("/Users/")}) {
    if (path.starts_with(top) && path.find('/', top.size()) == std::string_view::npos &&
        path.size() > top.size())
      return true;
  }
  return false;
}

constexpr std::string_view tree_at(std::size_t i) noexcept {
  return i < kTops.size() ? kTops[i] : kDeep[i - kTops.size()];
}

constexpr std::size_t kTrees = kTops.size() + kDeep.size();

constexpr auto kTreeSlots = [] {
  NameSlots<kTrees> out{};
  for (std::size_t i = 0; i < kTrees; ++i)
    add_name(out, tree_at(i), i);
  return out;
}();

bool is_system_tree(std::string_view path) {
  if (path == "/") return true;
  constexpr std::size_t kLongest = 16;  // "/usr/lib/modules"
  if (!path.starts_with('/') || path.size() > kLongest) return false;
  return find_name(kTreeSlots, hash_of(path), kTrees,
                   [&](std::size_t i) { return tree_at(i) == path; }) < kTrees;
}

constexpr std::string_view kTmp[] = {"/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/run/user"};

}  // namespace

bool is_tmp(std::string_view path) noexcept {
  for (const std::string_view folder : kTmp) {
    if (below(path, folder) && path.size() > folder.size()) return true;
  }
  return false;
}

bool is_tmp_folder(std::string_view path) noexcept {
  return std::find(std::begin(kTmp), std::end(kTmp), path) != std::end(kTmp);
}

namespace {

bool is_device(std::string_view path) noexcept {
  if (!path.starts_with("/dev/")) return false;
  return !is_tmp(path) && !is_sink(path) && path != "/dev/shm";
}

// The part in front of the first component with glob characters, and whether the pattern names all
// entries there.
struct Glob {
  std::string folder;
  std::string name;  // the first component with glob characters
  bool is_all = false;
};

Glob split_glob(std::string_view path) {
  Glob out;
  std::size_t at = 0;
  while (at < path.size()) {
    std::size_t end = path.find('/', at + (path[at] == '/'));
    end = std::min(end, path.size());
    const std::string_view component = path.substr(at, end - at);
    if (has_wildcard(component)) {
      out.folder = path.substr(0, at);
      std::string_view name = component;
      if (name.starts_with('/')) name.remove_prefix(1);
      out.name = name;
      out.is_all = name.find_first_not_of("*?.[]!^") == std::string_view::npos;
      break;
    }
    at = end;
  }
  if (out.folder.empty()) out.folder = path.starts_with('/') ? '/' : '.';
  return out;
}

bool is_in_system(std::string_view path) {
  const std::string_view top = path.substr(0, path.find('/', 1));
  return is_system_tree(top) && top != "/mnt" && top != "/media";
}

bool is_in_a_home(std::string_view path, std::string_view home) {
  return (!home.empty() && below(path, home)) || path.starts_with("/home/") ||
         path.starts_with("/Users/");
}

Scope scope_of_glob(std::string_view path, Reach reach, const Folders& folders) {
  const Glob glob = split_glob(path);
  if (glob.folder == "/dev") return Scope::kDevice;
  if (glob.is_all && glob.folder != "/") {
    return scope_of(glob.folder, {.is_tree = true, .is_narrowed = reach.is_narrowed}, folders);
  }
  if (glob.folder == "/") {  // /u*: may be a system tree
    for (const std::string_view top : kTops) {
      if (may_match(glob.name, top.substr(1)))
        return reach.is_narrowed ? Scope::kSystem : Scope::kTree;
    }
    return Scope::kOutside;
  }
  if (glob.folder == "/home" || glob.folder == "/Users") {
    return reach.is_narrowed ? Scope::kSystem : Scope::kTree;
  }
  for (const std::string_view deep : kDeep) {
    const std::size_t slash = deep.rfind('/');
    if (reach.is_tree && deep.substr(0, slash) == glob.folder &&
        may_match(glob.name, deep.substr(slash + 1)))
      return Scope::kTree;
  }
  const Scope folder = scope_of(glob.folder, {.is_tree = true}, folders);
  switch (folder) {
    case Scope::kCwdAll:
      return below(glob.folder, folders.cwd) || glob.folder == "." ? Scope::kPattern
                                                                   : Scope::kOutside;
    case Scope::kTree:
      return is_home(glob.folder, folders.home) ? Scope::kOutside : Scope::kSystem;
    case Scope::kOutside:
      return is_in_a_home(glob.folder, folders.home) ? Scope::kOutside : Scope::kPattern;
    default:
      return folder;
  }
}

}  // namespace

Scope scope_of(std::string_view path, Reach reach, const Folders& folders) {
  if (is_sink(path)) return Scope::kNone;
  if (reach.is_glob && has_wildcard(path)) return scope_of_glob(path, reach, folders);
  if (is_device(path)) return Scope::kDevice;
  const bool is_tree_root = is_system_tree(path) || is_home(path, folders.home);
  if (is_tree_root) {
    if (reach.is_narrowed) return Scope::kSystem;
    if (reach.is_tree) return Scope::kTree;
    return is_home(path, folders.home) && path != "/root" ? Scope::kNamed : Scope::kSystem;
  }
  if (!path.starts_with('/')) {  // the cwd is not known
    if (path.starts_with(".."))
      return path.find_first_not_of("./") == std::string_view::npos ? Scope::kCwdAll
                                                                    : Scope::kOutside;
    if (path == ".")
      return reach.is_tree ? (reach.is_narrowed ? Scope::kPattern : Scope::kCwdAll) : Scope::kNamed;
    return reach.is_tree ? Scope::kPattern : Scope::kNamed;
  }
  if (!folders.cwd.empty() && folders.cwd != "/" && below(folders.cwd, path)) {  // cwd or above
    if (!reach.is_tree) return Scope::kNamed;
    return reach.is_narrowed ? Scope::kPattern : Scope::kCwdAll;
  }
  if (is_tmp(path)) return reach.is_tree ? Scope::kPattern : Scope::kNamed;
  const bool is_system_cwd = is_system_tree(folders.cwd);
  if (!is_system_cwd && !folders.cwd.empty() && below(path, folders.cwd) &&
      !is_home(folders.cwd, folders.home))
    return reach.is_tree ? Scope::kPattern : Scope::kNamed;
  if (is_in_a_home(path, folders.home)) {
    const bool is_own = !folders.home.empty() && below(path, folders.home);
    if (!is_own) return Scope::kOutside;
    return reach.is_tree && !reach.is_moved ? Scope::kOutside : Scope::kNamed;
  }
  if (is_in_system(path)) return Scope::kSystem;
  // Elsewhere (/data, /mnt/usb): a named file or a pattern is bounded, a whole tree is not, unless
  // it is a part of the working directory.
  const bool is_narrow = reach.is_tree && reach.is_narrowed;
  if (path.rfind('/') == 0 && folders.cwd != "/" && !is_narrow)
    return Scope::kOutside;  // beside the system's own
  if (!reach.is_tree || reach.is_moved) return Scope::kNamed;
  return reach.is_narrowed || folders.cwd == "/" ? Scope::kPattern : Scope::kOutside;
}

bool is_sink(std::string_view path) noexcept {
  static constexpr std::string_view kSinks[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                                "/dev/stdout", "/dev/stderr",  "/dev/stdin",
                                                "/dev/tty",    "/dev/urandom", "/dev/random"};
  if (!path.starts_with("/dev/")) return false;
  return path.starts_with("/dev/fd/") ||
         std::find(std::begin(kSinks), std::end(kSinks), path) != std::end(kSinks);
}

bool is_socket(std::string_view path) noexcept {
  return path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
}

namespace {

constexpr std::uint32_t bit_of(char c) noexcept {
  return 1U << (static_cast<unsigned char>(c) & 31U);
}

// Texts, and a bit for each one's character that tells most: a path without it has none of them.
template <std::size_t kCount>
struct Texts {
  std::array<std::string_view, kCount> all;
  std::uint32_t bits = 0;
};

template <class... T>
constexpr Texts<sizeof...(T)> endings(T... texts) noexcept {
  return {{std::string_view(texts)...}, (bit_of(std::string_view(texts).back()) | ...)};
}

// Each begins with a slash and has a second character.
template <class... T>
constexpr Texts<sizeof...(T)> parts_of_paths(T... texts) noexcept {
  return {{std::string_view(texts)...}, (bit_of(std::string_view(texts)[1]) | ...)};
}

template <std::size_t kCount>
bool ends_with_any(std::string_view path, const Texts<kCount>& ends) {
  return !path.empty() && (bit_of(path.back()) & ends.bits) != 0 &&
         std::any_of(ends.all.begin(), ends.all.end(), [&](std::string_view end) {
           return end.back() == path.back() && path.ends_with(end);
         });
}

template <std::size_t kCount>
bool begins_with_any(std::string_view rest, const Texts<kCount>& parts) {
  return (bit_of(rest[1]) & parts.bits) != 0 &&
         std::any_of(parts.all.begin(), parts.all.end(),
                     [&](std::string_view part) { return rest.starts_with(part); });
}

template <std::size_t... kCounts>
bool has_part(std::string_view path, const Texts<kCounts>&... parts) {
  std::string_view rest = path;
  while (true) {
    rest.remove_prefix(std::min(rest.find('/'), rest.size()));
    if (rest.size() < 2) return false;
    if ((begins_with_any(rest, parts) || ...)) return true;
    rest.remove_prefix(1);
  }
}

}  // namespace

bool is_key_store(std::string_view path) noexcept {
  static constexpr auto kInside =
      parts_of_paths("/.ssh/", "/.gnupg/", "/.aws/", "/.kube/", "/.config/gcloud/",
                     "/.password-store/", "/keyrings/", "/Keychains/");
  static constexpr auto kWhole =
      endings("/.ssh", "/.gnupg", "/.aws", "/.password-store", "/keyrings");
  return (has_part(path, kInside) && is_credential(path, "")) || ends_with_any(path, kWhole);
}

bool is_endless_device(std::string_view path) {
  const std::string normal = normal_path(path, "");
  return normal == "/dev/zero" || normal == "/dev/urandom" || normal == "/dev/random";
}

namespace {

// A .pem file may hold a key, unless its name says that it is a certificate.
bool is_private_pem(std::string_view path) noexcept {
  if (!path.ends_with(".pem")) return false;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.find("key") != std::string_view::npos || name.find("priv") != std::string_view::npos)
    return true;
  for (const std::string_view word : {"cert", "chain", "pub", "crl", "bundle"}) {
    if (name.find(word) != std::string_view::npos) return false;
  }
  return !name.starts_with("ca") && !name.starts_with("dh") && !name.starts_with("root-ca");
}

// .env.local, .env.production …
bool is_environment(std::string_view path) noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with(".env.")) return false;
  const std::string_view end = name.substr(name.rfind('.') + 1);
  return end != "example" && end != "sample" && end != "template" && end != "dist";
}

}  // namespace

bool is_credential(std::string_view path, std::string_view home) noexcept {
  static_cast<void>(home);
  if (path.ends_with(".pub") || path.ends_with("/known_hosts") || path.ends_with("/.ssh/config"))
    return false;
  static constexpr auto kHidden =
      parts_of_paths("/.ssh/", "/.gnupg/", "/.aws/", "/.azure/", "/.config/gcloud", "/.kube/",
                     "/.docker/config.json", "/.mozilla/", "/.password-store", "/.config/gh/hosts");
  static constexpr auto kOpen = parts_of_paths(
      "/google-chrome/", "/chromium/", "/Login Data", "/cookies.sqlite", "/key4.db", "/logins.json",
      "/keyrings/", "/Keychains/", "/etc/ssl/private", "/etc/ssh/ssh_host", "/secrets/");
  if (path.starts_with("/proc/") && path.ends_with("/environ")) return true;
  static constexpr auto kEnds =
      endings("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/.netrc", "/.pgpass",
              "/.git-credentials", "/.npmrc", "/.pypirc", "/id_rsa", "/id_ed25519", "/id_ecdsa",
              "/id_dsa", ".key", ".p12", ".pfx", ".kdbx", "/.env", "/credentials", "/.vault-token",
              "/.my.cnf", "/.htpasswd", "/proc/self/environ", "/credentials.toml",
              "/credentials.tfrc.json", "/.terraformrc", "/.s3cfg", "/.boto", "/rclone.conf",
              "/.msmtprc", "/.fetchmailrc", "/wallet.dat", "/.ssh", "/.aws", "/.gnupg");
  return has_part(path, kHidden, kOpen) || ends_with_any(path, kEnds) || path == "id_rsa" ||
         path == ".env" || path == "credentials" || is_private_pem(path) || is_environment(path);
}

namespace {

// Component by component; a wildcard in front matches no dot.
bool path_may_match(std::string_view pattern, std::string_view path) noexcept {
  while (true) {
    const std::size_t cut = pattern.find('/');
    const std::size_t end = path.find('/');
    const std::string_view part = pattern.substr(0, cut);
    const std::string_view name = path.substr(0, end);
    if (name.starts_with('.') && !part.starts_with('.') && !part.starts_with('[')) return false;
    if (!may_match(part, name)) return false;
    if (cut == std::string_view::npos || end == std::string_view::npos)
      return cut == std::string_view::npos && end == std::string_view::npos;
    pattern.remove_prefix(cut + 1);
    path.remove_prefix(end + 1);
  }
}

}  // namespace

bool may_be_credential(std::string_view pattern, std::string_view home) noexcept {
  static constexpr std::string_view kSystem[] = {"/etc/shadow",
                                                 "/etc/shadow-",
                                                 "/etc/gshadow",
                                                 "/etc/gshadow-",
                                                 "/etc/sudoers",
                                                 "/proc/self/environ",
                                                 "/proc/1/environ",
                                                 "/etc/ssh/ssh_host_rsa_key",
                                                 "/etc/ssl/private/ssl-cert-snakeoil.key"};
  static constexpr std::string_view kHome[] = {"/.ssh",
                                               "/.aws",
                                               "/.gnupg",
                                               "/.ssh/id_rsa",
                                               "/.ssh/id_ed25519",
                                               "/.ssh/id_ecdsa",
                                               "/.netrc",
                                               "/.pgpass",
                                               "/.npmrc",
                                               "/.git-credentials",
                                               "/.aws/credentials",
                                               "/.pypirc",
                                               "/.vault-token",
                                               "/.my.cnf",
                                               "/.docker/config.json",
                                               "/.env",
                                               "/.kube/config",
                                               "/.config/gh/hosts.yml"};
  const std::string_view begin = pattern.substr(0, pattern.find_first_of("*?["));
  const auto matches = [&](std::string_view file) {
    return file.starts_with(begin) && path_may_match(pattern, file);
  };
  if (std::any_of(std::begin(kSystem), std::end(kSystem), matches)) return true;
  const std::size_t slash = pattern.rfind('/');
  const std::string_view last = pattern.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (last.starts_with('.') && may_match(last, ".env")) return true;
  if (home.empty()) return std::any_of(std::begin(kHome), std::end(kHome), matches);
  if (!home.starts_with(begin.substr(0, home.size()))) return false;
  std::string full(home);
  return std::any_of(std::begin(kHome), std::end(kHome), [&](std::string_view file) {
    full.resize(home.size());
    full += file;
    return matches(full);
  });
}

bool is_own_rc(std::string_view path, std::string_view home) noexcept {
  if (home.empty() || !path.starts_with(home)) return false;
  const std::string_view rest = path.substr(home.size());
  static constexpr std::string_view kFiles[] = {
      "/.bashrc",      "/.bash_profile", "/.bash_login", "/.profile",
      "/.zshrc",       "/.zshenv",       "/.zprofile",   "/.zlogin",
      "/.bash_logout", "/.bash_aliases", "/.inputrc",    "/.vimrc",
      "/.xprofile",    "/.xinitrc",      "/.gitconfig",  "/.config/fish/config.fish",
      "/.ssh/config"};
  return std::find(std::begin(kFiles), std::end(kFiles), rest) != std::end(kFiles);
}

bool is_persistence(std::string_view path, std::string_view home) noexcept {
  static constexpr auto kPlaces = parts_of_paths(
      "/.git/hooks/", "/.git/config", "/etc/cron", "/var/spool/cron", "/etc/systemd/",
      "/.config/systemd/", "/.config/autostart", "/etc/init.d/", "/etc/profile", "/etc/rc.local",
      "/LaunchAgents/", "/LaunchDaemons/", "/etc/udev/", "/etc/ld.so.preload", "/.config/fish/");
  return is_own_rc(path, home) || has_part(path, kPlaces) || path.starts_with(".git/hooks/") ||
         path == ".git/config" || path.ends_with("/authorized_keys");
}

bool is_trust_root(std::string_view path) noexcept {
  static constexpr std::string_view kFiles[] = {
      "/etc/passwd",  "/etc/shadow",   "/etc/group",        "/etc/gshadow",
      "/etc/sudoers", "/etc/pam.conf", "/etc/ld.so.preload"};
  return std::find(std::begin(kFiles), std::end(kFiles), path) != std::end(kFiles) ||
         path.starts_with("/etc/sudoers.d/") || path.starts_with("/etc/pam.d/");
}

bool is_history_file(std::string_view path, std::string_view home) noexcept {
  static_cast<void>(home);
  static constexpr auto kEnds =
      endings("/.bash_history", "/.zsh_history", "/.history", "/fish_history");
  return ends_with_any(path, kEnds) || path.starts_with("/var/log/");
}

}  // namespace wick::shell
