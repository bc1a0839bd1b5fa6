// History, secrets, quoting, undo and trash.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "assist/history.h"
#include "assist/limits.h"
#include "assist/quote.h"
#include "assist/run_shell.h"
#include "assist/trash.h"
#include "assist/undo.h"
#include "base/strings.h"
#include "support/temp_dir.h"

namespace wick::assist {
namespace {

namespace fs = std::filesystem;
using shell::Dialect;

shell::Verdict verdict_of(const std::string& command, const fs::path& cwd) {
  return shell::judge(command, Dialect::kBash, shell::Mode::kScript, {.cwd = cwd.string()});
}

UndoPlan plan(const std::string& command, const fs::path& cwd) {
  return plan_undo(command, Dialect::kBash, verdict_of(command, cwd), cwd.string());
}

// Names, modes, contents and links below a folder.
std::map<std::string, std::string> tree(const fs::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat status = {};
    ::lstat(entry.path().c_str(), &status);
    std::string what = cat(static_cast<int>(status.st_mode), " ");
    if (entry.is_symlink()) what += fs::read_symlink(entry.path()).string();
    if (S_ISREG(status.st_mode)) {
      std::ifstream in(entry.path());
      what.append(std::istreambuf_iterator<char>(in), {});
    }
    out[entry.path().lexically_relative(folder).string()] = what;
  }
  return out;
}

// One sh for all commands of a test: a random sequence starts the tools, but no shell each time.
class OneShell {
 public:
  OneShell() {
    int in[2] = {}, out[2] = {};
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], kStatus);
    std::string name = "sh";
    char* const argv[] = {name.data(), nullptr};
    if (::posix_spawn(&shell_, "/bin/sh", &actions, nullptr, argv, environ) != 0) std::abort();
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    commands_ = in[1];
    statuses_ = out[0];
  }

  ~OneShell() {
    ::close(commands_);
    ::close(statuses_);
    ::waitpid(shell_, nullptr, 0);
  }

  OneShell(const OneShell&) = delete;
  OneShell& operator=(const OneShell&) = delete;

  int run(const std::string& command, const fs::path& cwd) const {
    const std::string text =
        cat("cd ", quote_word(cwd.string(), Dialect::kPosix), " && { ", command,
            "\n} </dev/null >/dev/null 2>&1 ", kStatus, ">&-; echo $? >&", kStatus, "\n");
    const auto size = static_cast<ssize_t>(text.size());
    if (::write(commands_, text.data(), text.size()) != size) std::abort();
    std::string status;
    for (char c = 0; ::read(statuses_, &c, 1) == 1 && c != '\n';)
      status += c;
    return status.empty() ? -1 : std::atoi(status.c_str());
  }

 private:
  static constexpr int kStatus = 9;  // the descriptor of the answers, in the shell

  pid_t shell_ = 0;
  int commands_ = -1, statuses_ = -1;
};

int run(const std::string& command, const fs::path& cwd) {
  return OneShell().run(command, cwd);
}

void write_file(const fs::path& path, std::string_view content) {
  std::ofstream(path) << content;
}

TEST(AssistQuote, ShellsReadTheWordBack) {
  const test::TempDir folder;
  for (const char* const word : {"a", "", "a b", "it's", "$(x)", "a\\b", "*", "-x", "ä\n!"}) {
    const std::string command = cat("printf %s ", quote_word(word, Dialect::kBash), " > out");
    run(command, folder.path());
    std::ifstream in(folder.path() / "out");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), word);
  }
  EXPECT_EQ(quote_word("it's \\", Dialect::kFish), "'it\\'s \\\\'");
}

TEST(AssistHistory, MasksByShapeAndByName) {
  for (const char* const text :
       {"export API_TOKEN=abc123secret", "mysql --password abc123secret", "password: abc123secret",
        "{\"secret\": \"abc123secret\"}", "curl -u me:abc123secret http://x",
        "https://me:abc123secret@host/x", "Authorization: Bearer abc123secret",
        "Authorization: Basic abc123secret", "PGPASSWORD='abc123secret' psql",
        "-----BEGIN KEY-----\nabc123secret"}) {
    EXPECT_EQ(masked(text).find("abc123secret"), std::string::npos) << masked(text);
    EXPECT_NE(masked(text).find("***"), std::string::npos) << masked(text);
  }
  for (const char* const token :
       {"ghp_0123456789abcdefghij", "sk-0123456789abcdef", "AKIA0123456789ABCDEF",
        "eyJhbGciOiJIUzI1NiJ9.e30.abc", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6gH9"})
    EXPECT_EQ(masked(cat("x ", token, " y")), "x *** y") << token;
  for (const char* const text :
       {"ls -la", "git checkout 0123456789abcdef0123456789abcdef01234567", "find . -name '*.tmp'",
        "sort -u file", "echo basic training", "cat /usr/share/doc/README"})
    EXPECT_EQ(masked(text), text);
}

TEST(AssistHistory, UndoIsStoredWholeOrNotAtAll) {
  const test::TempDir folder;
  const fs::path path = folder.path() / "history.jsonl";
  const std::vector<std::string> whole = {"rm -- /tmp/a", "rmdir -- /tmp/d"};
  for (const std::string& changed :
       {std::string("rm -- /tmp/npm_debug_backup.log"), std::string("rm -- '/tmp/a\nb'"),
        std::string("rm -- '/tmp/\xff'"), std::string(kMaxUndo + 1, 'x')}) {
    EXPECT_FALSE(is_kept_whole(changed)) << changed;
    ASSERT_TRUE(add_history(path, {.command = "x", .undo = {whole[0], changed}}));
    EXPECT_TRUE(read_history(path)->back().undo.empty()) << changed;
  }
  ASSERT_TRUE(add_history(path, {.command = "x", .undo = whole}));
  EXPECT_EQ(read_history(path)->back().undo, whole);
}

TEST(AssistHistory, MasksTheSecretsOfCommands) {
  for (const char* const command : {"sshpass -p S3cret ssh host",
                                    "sshpass -pS3cret ssh host",
                                    "mysql -u root -pS3cret db",
                                    "sudo mysql -uroot '-pS3cret' db",
                                    "docker login -u me -p S3cret registry",
                                    "openssl rsa -passin pass:S3cret -in k",
                                    "curl --user me:S3cret http://x",
                                    "curl -ume:S3cret http://x",
                                    "curl -u 'me:S3cret' http://x",
                                    "echo S3cret | sudo -S ls",
                                    "echo S3cret | docker login -u me --password-stdin",
                                    "htpasswd -b f me S3cret",
                                    "PASS=S3cret cmd",
                                    "DB_PASS='S3cret' cmd",
                                    "env DB_PASS=S3cret cmd",
                                    "wget --http-password S3cret http://x",
                                    "curl -H 'X-Api-Key: S3cret' x",
                                    "curl -H 'Authorization: Token S3cret' x",
                                    "curl -H \"Cookie: session=S3cret\" x",
                                    "curl -b session=S3cret x",
                                    "redis-cli -a S3cret ping",
                                    "unzip -P S3cret a.zip",
                                    "7z x -pS3cret a.7z",
                                    "smbclient -U u%S3cret //h/s",
                                    "ldapsearch -w S3cret",
                                    "psql postgresql://u:S3cret@h/db",
                                    "gpg --passphrase S3cret -d f",
                                    "echo \"the password is S3cret\"",
                                    "curl 'http://x/?key=S3cret&a=b'",
                                    "export TOKEN=\"a\\\"S3cret\"",
                                    "MY_TOKEN=abc'S3cret'",
                                    "ENCRYPTION_KEY=S3cret run",
                                    "ssh host \"mysql -pS3cret db\"",
                                    "for i in 1; do x=$(redis-cli -a S3cret get k); done",
                                    "aws configure set aws_secret_access_key S3cret",
                                    "plink -pw S3cret h",
                                    "mysql -u root -pS3cret",
                                    "my password is S3cret, log in",
                                    "don't run mysql -pS3cret db",
                                    "what's wrong with curl -u me:S3cret http://x"})
    EXPECT_EQ(masked(command).find("S3cret"), std::string::npos) << masked(command);
  EXPECT_EQ(masked("docker login -u me -p S3cret registry"), "docker login -u me -p *** registry");
  EXPECT_EQ(masked("MY_TOKEN=abc'S3cret' x"), "MY_TOKEN=*** x");
  EXPECT_EQ(masked("curl -u 'me:S3cret' x"), "curl -u 'me:***' x");
  for (const char* const command :
       {"docker run -p 8080:80 -v $PWD:/app nginx", "mkdir -p a/b", "tmux new-session -d",
        "ssh -p 22 host", "git commit --author='A B'", "gh auth login", "mysql -p db", "echo $PASS",
        "set -x; config pass", "pass insert web/mail", "cp -p a b", "pwd -P"})
    EXPECT_EQ(masked(command), command);
}

// Where a word becomes a secret by another one: an array, a loop, `read`, an argument, an input.
TEST(AssistHistory, FollowsSecretsToWhereTheyAreWritten) {
  for (const char* const command :
       {"A=(S3cret other); curl -H \"Authorization: Bearer ${A[0]}\" http://x",
        "A+=(S3cret); sshpass -p \"${A[1]}\" ssh h",
        "declare -A T=([k]=S3cret); sshpass -p \"${T[k]}\" ssh h",
        "A[0]=S3cret; curl -u me:${A[0]} http://x",
        "TOKENS=(a S3cret)",
        "for x in S3cret T0ken; do curl -H \"Authorization: Bearer $x\" http://x; done",
        "for token in S3cret; do ./run; done",
        "read -r x <<< S3cret; sshpass -p $x ssh h",
        "read -r TOKEN <<< S3cret",
        "read x <<< 'a S3cret' && sshpass -p \"$x\" ssh h",
        "echo S3cret | while read p; do sshpass -p \"$p\" ssh h; done",
        "while read -r p; do sshpass -p $p ssh h; done <<< S3cret",
        "read x <<EOF\nS3cret\nEOF\nsshpass -p $x ssh h",
        "mapfile -t a <<< S3cret; sshpass -p ${a[0]} ssh h",
        "f() { curl -H \"Authorization: Bearer $1\" http://x; }; f S3cret",
        "f() { sshpass -p \"$2\" ssh $1; }; f host S3cret",
        "f() { local t=$1; sshpass -p \"$t\" ssh h; }; f S3cret",
        "f() { ssh h \"mysql -p$1 db\"; }; f S3cret",
        "f() { sshpass -p \"$@\"; }; f S3cret",
        "set -- S3cret; sshpass -p \"$1\" ssh h",
        "sudo -S ls <<EOF\nS3cret\nEOF",
        "sudo -kS ls <<< S3cret",
        "/usr/bin/sudo --stdin ls <<'E'\nS3cret\nE\n",
        "cat <<EOF | sudo -S ls\nS3cret\nEOF",
        "LANG=C sudo -u bob -S ls <<< S3cret",
        "openssl enc -pass stdin <<< S3cret",
        "gpg --batch --passphrase-fd 0 -d f <<EOF\nS3cret\nEOF"})
    EXPECT_EQ(masked(command).find("S3cret"), std::string::npos) << masked(command);
  EXPECT_EQ(masked("sudo -S ls <<EOF\nS3cret\nEOF"), "sudo -S ls <<EOF\n***\nEOF");
  for (const char* const command :
       {"A=(a b); echo ${A[0]}", "for x in a b; do echo $x; done", "read x <<< abc; echo $x",
        "f() { echo $1; }; f abc", "cat <<EOF\nabc\nEOF", "sudo cat <<EOF\nabc\nEOF",
        "set -- a b; echo $1", "while read x; do echo $x; done <<< abc"})
    EXPECT_EQ(masked(command), command);
}

// A quoted value is masked to its end; one in a variable is masked where the variable is a secret.
TEST(AssistHistory, MasksQuotedPhrasesWhole) {
  for (const char* const text : {"p=\"two words X\"",
                                 "export p='two words X' && ls",
                                 "pin='two words X'",
                                 "q='two words X'; sshpass -p \"$q\" ssh h",
                                 "q=X1; curl -H \"Authorization: Bearer $q\" http://h",
                                 "q=X1; r=$q; s=$r; sshpass -p $s ssh h",
                                 "q=X1; sshpass -p \"${q:-d}\" ssh h",
                                 "q=X1; ssh h \"mysql -u root -p$q\"",
                                 "q='two words X'; echo \"${q}\" | sudo -S ls",
                                 "password=\"two words X\"",
                                 "export DB_PASSWORD='two words X'",
                                 "token: \"two words X\"",
                                 "passphrase=\"two words \\\" X\" gpg",
                                 "PASSWORD=$'two words X'",
                                 "PASSWORD=\"two \"'words X'",
                                 "PASSWORD=two\\ words\\ X",
                                 "PASSWORD=(\"two words X\" b)",
                                 "PASSWORD=\"$(cat f) two words X\"",
                                 "mysql -p\"two words X\"",
                                 "mysql --password \"two words X\" db",
                                 "openssl enc -k \"two words X\"",
                                 "openssl enc -pass \"pass:two words X\"",
                                 "psql \"host=h password='two words X' dbname=d\"",
                                 "ssh h \"export TOKEN='two words X'; run\"",
                                 "sh -c 'PASS=\"two words X\" ./run'",
                                 "docker run -e \"DB_PASS=two words X\" img",
                                 "set -gx TOKEN \"two words X\"",
                                 "kubectl create secret generic s --from-literal=k=\"two words X\"",
                                 "docker login --password-stdin <<< \"two words X\"",
                                 "printf '%s' \"two words X\" | docker login --password-stdin",
                                 "pw=$(echo \"two words X\")",
                                 "curl -H \"X-Api-Key: two words X\" u",
                                 "{\"password\": \"two words X\"}",
                                 "password=\xE2\x80\x9Ctwo words X\xE2\x80\x9D",
                                 "my password is 'two words X' please",
                                 "set the password to \"two words X\"",
                                 "the mnemonic: 'two words X'"}) {
    EXPECT_EQ(masked(text).find("words"), std::string::npos) << masked(text);
    EXPECT_EQ(masked(text).find("X1"), std::string::npos) << masked(text);
    EXPECT_EQ(masked(text).find('X', masked(text).find("***")), std::string::npos) << masked(text);
  }
  EXPECT_EQ(masked("p='two words X'; sshpass -p \"$p\" ssh h"), "p=***; sshpass -p *** ssh h");
  EXPECT_EQ(masked("docker login --password-stdin <<< 'a b'"),
            "docker login --password-stdin <<< ***");
  for (const char* const text :
       {"p=/tmp/x; ls $p", "p='a'; ls", "key='a'; sort -k 2", "for p in 'a b'; do ls; done",
        "openssl req -key f.pem -keyout g", "add the token to file x", "q='a b'; ls \"$q\"",
        "p=\"$HOME/my files\"; ls"})
    EXPECT_EQ(masked(text), text);
}

TEST(AssistHistory, ReadsWhatItWroteAndLeavesOutWhatIsBroken) {
  const test::TempDir folder;
  const fs::path path = folder.path() / "deep/history.jsonl";
  ASSERT_TRUE(add_history(path, {.time = 5, .sentence = "a\n\"b", .command = "ls", .undo = {"x"}}));
  std::ofstream(path, std::ios::app) << "not json\n{}\n[1]\n";
  ASSERT_TRUE(add_history(path, {.command = "pwd", .outcome = "ran", .code = 3}));
  const auto read = read_history(path);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 3U);
  EXPECT_EQ(read->front().sentence, "a\n\"b");
  EXPECT_EQ(read->front().undo, std::vector<std::string>{"x"});
  EXPECT_EQ(read->back().code, 3);
  EXPECT_TRUE(read_history(folder.path() / "none")->empty());
}

TEST(AssistRun, ArgumentsAreTheBytes) {
  const auto words = shell_arguments({.shell = "bash", .command = "-x 'a'"});
  ASSERT_TRUE(words);
  EXPECT_EQ(words->back(), "-x 'a'");
  EXPECT_EQ((*words)[2], "--");
  EXPECT_FALSE(shell_arguments({.shell = "bash", .command = std::string("a\0b", 3)}));
}

TEST(AssistUndo, IsKnownWhereItIsProvable) {
  const test::TempDir folder;
  run("touch a b; mkdir d; ln -s a l; printf x > d/a", folder.path());
  for (const char* const command : {"rm a",
                                    "mv a b",
                                    "mv a d",
                                    "mv a c > log",
                                    "mv a c; ls",
                                    "X=1 mv a c",
                                    "mv *.x c",
                                    "mv $X c",
                                    "mv -f a c",
                                    "touch a",
                                    "chmod -R 700 d",
                                    "chmod 700 l",
                                    "ln a e",
                                    "cp a b",
                                    "mkdir ../x/../y",
                                    "sed -i s/a/b/ a",
                                    "mv a c &",
                                    "mv none c",
                                    "touch npm_debug_backup.log",
                                    "cp a aB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6gH9",
                                    "touch 'new\nline'"})
    EXPECT_FALSE(plan(command, folder.path()).is_known) << command;
  EXPECT_TRUE(plan("ls -la", folder.path()).is_known);
  EXPECT_EQ(plan("mv a 'new name'", folder.path()).commands,
            std::vector<std::string>{cat("mv -n -- '", folder.path().string(), "/new name' ",
                                         folder.path().string(), "/a")});
}

TEST(AssistUndo, AParentBehindALinkIsTheLinksOwn) {
  const test::TempDir folder;
  run("mkdir -p w there/real; ln -s ../there/real w/lnk; echo new > w/a; echo precious > w/c",
      folder.path());
  const fs::path work = folder.path() / "w";
  for (const char* const command : {"mv a lnk/../c", "cp a lnk/../c"}) {
    const UndoPlan undo = plan(command, work);
    ASSERT_TRUE(undo.is_known);
    run(command, work);
    EXPECT_TRUE(fs::exists(folder.path() / "there/c")) << command;
    for (const std::string& line : undo.commands)
      run(line, folder.path());
    EXPECT_FALSE(fs::exists(folder.path() / "there/c")) << command;
    EXPECT_TRUE(fs::exists(work / "a") && fs::exists(work / "c")) << command;
  }
}

TEST(AssistUndo, ARepositoryBehindAFileIsNotTheOuterOne) {
  const test::TempDir folder;
  run("mkdir -p .git/refs/heads sub; echo 'ref: refs/heads/main' > .git/HEAD;"
      "touch .git/refs/heads/main; echo 'gitdir: elsewhere' > sub/.git",
      folder.path());
  EXPECT_TRUE(plan("git switch other", folder.path()).is_known);
  EXPECT_FALSE(plan("git switch other", folder.path() / "sub").is_known);
}

// Random sequences: after undo the tree is the old one, or there was no undo before.
TEST(AssistUndo, TakesBackRandomSequences) {
  const char* const sequences = std::getenv("WICK_TEST_UNDO_SEQUENCES");
  const int n_sequences = sequences == nullptr ? 40 : std::atoi(sequences);
  std::mt19937 random(20'261'124);
  const auto pick = [&](std::initializer_list<const char*> words) {
    return std::string(words.begin()[random() % words.size()]);
  };
  const auto name = [&] { return pick({"a", "b", "c", "'d e'", "s", "s/a", "s/t", "s/t/u", "x"}); };
  const OneShell shell;
  int n_undone = 0;
  for (int i = 0; i < n_sequences; ++i) {
    const test::TempDir folder;
    fs::create_directory(folder.path() / "s");
    for (const auto& [file, content] : {std::pair("a", "1"), {"b", "2"}, {"s/a", "3"}})
      write_file(folder.path() / file, content);
    for (int step = 0; step < 4; ++step) {
      const std::string one = name(), two = name();
      const std::string command = pick({"mv", "mv -n", "cp", "mkdir", "mkdir -p", "touch", "ln -s",
                                        "chmod 640", "chmod u+x", "rm", "mv -v --", "cp -p"}) +
                                  cat(" ", one, " ", two);
      const UndoPlan undo = plan(command, folder.path());
      const auto before = tree(folder.path());
      const int status = shell.run(command, folder.path());
      if (!undo.is_known || status != 0) continue;  // then no undo is offered
      for (const std::string& back : undo.commands)
        ASSERT_EQ(shell.run(back, "/"), 0) << command << " → " << back;
      ASSERT_EQ(tree(folder.path()), before) << command;
      ++n_undone;
      shell.run(command, folder.path());  // the next step starts from there
    }
  }
  EXPECT_GT(n_undone, n_sequences / 4);
}

TEST(AssistTrash, OperandsAreThoseOfTheShell) {
  const test::TempDir folder;
  run("touch a.x b.x 'c d' '*'; mkdir sub", folder.path());
  const auto names = [&](const char* command) {
    const auto found = removed_by(command, Dialect::kBash, verdict_of(command, folder.path()),
                                  folder.path().string());
    std::string out;
    for (const std::string& name : found.value_or(std::vector<std::string>{"none"}))
      out += cat(out.empty() ? "" : "|", fs::path(name).filename().string());
    return out;
  };
  EXPECT_EQ(names("rm *.x"), "a.x|b.x");
  EXPECT_EQ(names("rm -f -- 'c d' \"*\""), "c d|*");
  EXPECT_EQ(names("rm -r sub a.x"), "sub|a.x");
  for (const char* const command : {"rm sub", "rm nothing", "rm $X", "rm {a,b}.x", "rm a.x; ls",
                                    "rm -rf /", "ls a.x", "rm --one-file-system a.x"})
    EXPECT_EQ(names(command), "none") << command;
}

void make_removable_tree(const fs::path& root) {
  fs::create_directories(root / "s/t");
  for (const auto& [file, content] :
       {std::pair("a", "1"), {"b.x", "2"}, {"s/a", "3"}, {"*", "4"}, {"s/t/b.x", "5"}})
    write_file(root / file, content);
  fs::create_symlink("s/t", root / "l");
  fs::create_symlink("no", root / "dead");
  ASSERT_EQ(::mkfifo((root / "p").c_str(), 0644), 0);
  ASSERT_EQ(::chmod((root / "a").c_str(), 0640), 0);
  ASSERT_EQ(::chmod((root / "s/t").c_str(), 0750), 0);
}

// Random commands: the trash takes what rm would remove, and gives it back.
TEST(AssistTrash, GivesBackWhatRandomCommandsRemove) {
  const char* const sequences = std::getenv("WICK_TEST_UNDO_SEQUENCES");
  const int n_sequences = sequences == nullptr ? 40 : std::atoi(sequences);
  std::mt19937 random(20'261'125);
  const auto pick = [&](std::initializer_list<const char*> words) {
    return std::string(words.begin()[random() % words.size()]);
  };
  const OneShell shell;
  int n_restored = 0;
  for (int i = 0; i < n_sequences; ++i) {
    const test::TempDir folder;
    const fs::path work = folder.path() / "work", twin = folder.path() / "twin";
    ASSERT_EQ(::setenv("XDG_DATA_HOME", (folder.path() / "data").c_str(), 1), 0);
    make_removable_tree(work);
    make_removable_tree(twin);
    for (int step = 0; step < 4; ++step) {
      std::string command = pick({"rm", "rm -f", "rm -r", "rm -rf --"});
      for (std::size_t n = 1 + random() % 2; n > 0; --n)
        command += cat(" ", pick({"a", "b.x", "s", "s/a", "*.x", "l", "l/b.x", "l/../a", "dead",
                                  "p", "s/t/", "'*'", "none", "./a", "s/*", "s//t", "?", "\\*"}));
      const auto names =
          removed_by(command, Dialect::kBash, verdict_of(command, work), work.string());
      const auto before = tree(work);
      const int status = shell.run(command, twin);
      if (!names || status != 0) {  // then no trash is offered, or rm itself fails halfway
        shell.run(command, work);
        continue;
      }
      std::vector<Trashed> taken;
      for (const std::string& name : *names) {
        auto moved = move_to_trash(name);
        ASSERT_TRUE(moved) << command << ": " << moved.error().message;
        taken.push_back(*std::move(moved));
      }
      ASSERT_EQ(tree(work), tree(twin)) << command;
      for (; !taken.empty(); taken.pop_back())
        ASSERT_TRUE(restore(taken.back())) << command;
      ASSERT_EQ(tree(work), before) << command;
      ASSERT_TRUE(list_trash().empty()) << command;
      ++n_restored;
      shell.run(command, work);  // the next step starts from there
    }
  }
  EXPECT_GT(n_restored, n_sequences / 2);
  ::unsetenv("XDG_DATA_HOME");
}

}  // namespace
}  // namespace wick::assist
