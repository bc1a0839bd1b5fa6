// What carries the bytes: several addresses, Unix sockets, sockets of a service manager, TLS.
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>

#include "http/fixture_test.h"
#include "support/temp_dir.h"

namespace wick::http::test {
namespace {

template <class T, void (*kFree)(T*)>
struct Free {
  void operator()(T* it) const { kFree(it); }
};

template <class T, void (*kFree)(T*)>
using Owned = std::unique_ptr<T, Free<T, kFree>>;

// A certificate for localhost that signs itself, and its key.
void make_certificate(const TlsFiles& files, long serial) {
  const Owned<EVP_PKEY, EVP_PKEY_free> key(EVP_EC_gen("P-256"));
  const Owned<X509, X509_free> certificate(X509_new());
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86400);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  std::FILE* file = std::fopen(files.certificate.c_str(), "w");
  PEM_write_X509(file, certificate.get());
  std::fclose(file);
  file = std::fopen(files.key.c_str(), "w");
  PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
}

// A client of TLS over one RawClient's socket.
class TlsClient {
 public:
  explicit TlsClient(int port, int version = 0)
      : raw_(port), context_(SSL_CTX_new(TLS_client_method())) {
    if (version != 0) {
      SSL_CTX_set_min_proto_version(context_.get(), version);
      SSL_CTX_set_max_proto_version(context_.get(), version);
      SSL_CTX_set_security_level(context_.get(), 0);
    }
    timeval patience{.tv_sec = kPatienceMs / 1000, .tv_usec = 0};
    ::setsockopt(raw_.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), raw_.fd());
    const unsigned char offer[] = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    SSL_set_alpn_protos(ssl_.get(), offer, sizeof(offer));
    is_connected_ = SSL_connect(ssl_.get()) == 1;
  }

  bool is_connected() const noexcept { return is_connected_; }

  long serial() const {
    const Owned<X509, X509_free> certificate(SSL_get1_peer_certificate(ssl_.get()));
    return ASN1_INTEGER_get(X509_get_serialNumber(certificate.get()));
  }

  std::string protocol() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }

  // What comes up to `mark`, or to the end.
  std::string ask(std::string_view bytes, std::string_view mark) {
    if (!bytes.empty()) SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    std::array<char, 16384> block;
    std::string all;
    for (std::size_t seen = 0; all.find(mark, seen) == std::string::npos;) {
      seen = all.size() - std::min(all.size(), mark.size());
      const int n = SSL_read(ssl_.get(), block.data(), block.size());
      if (n <= 0) break;
      all.append(block.data(), static_cast<std::size_t>(n));
    }
    return all;
  }

  // The server said that it ends, so nobody in between has cut the answer.
  bool ended_cleanly() {
    char byte = 0;
    return SSL_read(ssl_.get(), &byte, 1) <= 0 &&
           (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

  RawClient& raw() noexcept { return raw_; }

 private:
  RawClient raw_;
  Owned<SSL_CTX, SSL_CTX_free> context_;
  Owned<SSL, SSL_free> ssl_;
  bool is_connected_ = false;
};

class HttpTls : public testing::Test {
 protected:
  HttpTls() { make_certificate(files(), 1); }

  TlsFiles files() const {
    return {(folder_.path() / "cert").string(), (folder_.path() / "key").string()};
  }

  ServerOptions options() const {
    ServerOptions options;
    options.tls = files();
    return options;
  }

  wick::test::TempDir folder_;
};

TEST_F(HttpTls, Answers) {
  TestServer server(options());
  EXPECT_TRUE(server->addresses().front().starts_with("https://127.0.0.1:"));
  TlsClient client(server.port());
  ASSERT_TRUE(client.is_connected());
  EXPECT_EQ(client.protocol(), "http/1.1");
  EXPECT_TRUE(client.ask(request("GET /health"), "ok").ends_with("ok"));
  const std::string body(1'000'000, 'x');
  EXPECT_TRUE(client.ask(post("/echo", body, "connection: close\r\n"), body).ends_with(body));
  EXPECT_TRUE(client.ended_cleanly());
}

// More than the kernel's buffers hold: the server writes on as the client reads.
TEST_F(HttpTls, WaitsForAClientThatReadsLater) {
  TestServer server(options());
  TlsClient client(server.port());
  ASSERT_TRUE(client.is_connected());
  std::string body(24 << 20, 'x');
  for (std::size_t at = 0; at < body.size(); at += 4096)
    body[at] = static_cast<char>('a' + at / 4096 % 26);
  body += "the end";
  client.ask(post("/echo", body), "HTTP/1.1 200");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::string answer = client.ask("", "the end");
  EXPECT_TRUE(answer.ends_with(body.substr(body.size() - (20 << 20))));
  EXPECT_TRUE(client.ask(request("GET /health"), "ok").ends_with("ok"));
}

TEST_F(HttpTls, Streams) {
  TestServer server(options());
  TlsClient client(server.port());
  client.ask(request("GET /stream"), "\r\n\r\n");
  for (const char* piece : {"one", "two"}) {
    server.script().add(piece);
    EXPECT_NE(client.ask("", piece).find(piece), std::string::npos);
  }
  client.raw().close();
  EXPECT_TRUE(server.script().gone.wait());
}

TEST_F(HttpTls, RefusesVersionsBefore12) {
  TestServer server(options());
  EXPECT_FALSE(TlsClient(server.port(), TLS1_VERSION).is_connected());
  EXPECT_FALSE(TlsClient(server.port(), TLS1_1_VERSION).is_connected());
  EXPECT_TRUE(TlsClient(server.port(), TLS1_2_VERSION).is_connected());
  EXPECT_TRUE(TlsClient(server.port(), TLS1_3_VERSION).is_connected());
}

TEST_F(HttpTls, ClosesOnWhoeverSpeaksPlainHttp) {
  TestServer server(options());
  RawClient client(server.port());
  client.send(request("GET /health"));
  EXPECT_EQ(client.read_all().find("HTTP/"), std::string::npos);
}

TEST_F(HttpTls, CutsAHandshakeThatTakesTooLong) {
  ServerOptions slow = options();
  slow.limits.head_ms = 50;
  TestServer server(slow);
  RawClient client(server.port());
  client.send("\x16\x03\x01");
  EXPECT_TRUE(client.is_ended());
}

TEST_F(HttpTls, TakesNewFilesForNewConnections) {
  TestServer server(options());
  TlsClient before(server.port());
  EXPECT_EQ(before.serial(), 1);
  make_certificate(files(), 2);
  ASSERT_TRUE(server->reload());
  for (long serial = 1; serial == 1;)  // until the loop has it
    serial = TlsClient(server.port()).serial();
  EXPECT_TRUE(before.ask(request("GET /health"), "ok").ends_with("ok")) << "and keeps the old ones";
  std::ofstream(files().certificate) << "nonsense";
  const auto reloaded = server->reload();
  ASSERT_FALSE(reloaded);
  EXPECT_EQ(reloaded.error().id, "bad_tls_file");
  EXPECT_EQ(TlsClient(server.port()).serial(), 2);
}

TEST_F(HttpTls, FilesThatAreWrongAreErrors) {
  EXPECT_FALSE(open_tls({.certificate = files().certificate}));
  EXPECT_FALSE(open_tls({.certificate = files().key, .key = files().key}));
  EXPECT_FALSE(open_tls({.certificate = files().certificate, .key = files().certificate}));
  TlsFiles other{files().certificate + "2", files().key + "2"};
  make_certificate(other, 3);
  const auto mixed = open_tls({.certificate = files().certificate, .key = other.key});
  ASSERT_FALSE(mixed);
  EXPECT_TRUE(mixed.error().message.find(files().key) != std::string::npos);
}

TEST(HttpListeners, TellThePortThatWasFreeAndListenOnSeveral) {
  ServerOptions options;
  const wick::test::TempDir folder;
  options.listen = {.hosts = {"127.0.0.1", "127.0.0.1"},
                    .port = 0,
                    .unix_paths = {(folder.path() / "s").string()}};
  TestServer server(options);
  ASSERT_EQ(server->addresses().size(), 3U);
  EXPECT_EQ(server->addresses()[2], cat("unix:", options.listen.unix_paths[0]));
  for (int i = 0; i < 2; ++i) {
    const std::string& address = server->addresses()[static_cast<std::size_t>(i)];
    const int port = std::atoi(address.c_str() + address.rfind(':') + 1);
    EXPECT_EQ(RawClient(port).ask(request("GET /health")).status, 200);
  }
  EXPECT_EQ(RawClient(options.listen.unix_paths[0]).ask(request("GET /health")).body, "ok");
}

// Whether this machine has ::1.
bool has_ipv6() {
  const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const bool has =
      fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  if (fd >= 0) ::close(fd);
  return has;
}

TEST(HttpListeners, OfIpv6TakeItsNames) {
  ServerOptions options;
  options.listen = {.hosts = {"::1"}, .port = 0};
  auto server = Server::create(options, {});
  ASSERT_EQ(static_cast<bool>(server), has_ipv6());
  if (server) {
    EXPECT_TRUE((*server)->addresses()[0].starts_with("http://[::1]:"));
  } else {
    EXPECT_EQ(server.error().id, "no_listener");
    EXPECT_NE(server.error().message.find("::1"), std::string::npos);
  }
}

TEST(HttpListeners, OfAUnixSocketAreForTheOwnerAndItsGroup) {
  const wick::test::TempDir folder;
  const std::string path = (folder.path() / "s").string();

  struct stat status = {};
  {
    ServerOptions options;
    options.listen = {.port = 0, .unix_paths = {path}};
    TestServer server(options);
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0660U);
    const auto second = Server::create(options, {});
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("another server listens there"), std::string::npos);
  }

  EXPECT_NE(::stat(path.c_str(), &status), 0) << "it is gone with the server";
}

TEST(HttpListeners, TakeOverASocketThatNobodyAnswersAndNoOtherFile) {
  const wick::test::TempDir folder;
  const std::string path = (folder.path() / "s").string();
  {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ::close(fd);  // as after a crash
  }
  ServerOptions options;
  options.listen = {.port = 0, .unix_paths = {path}};
  { TestServer server(options); }
  std::ofstream(path) << "precious";
  const auto server = Server::create(options, {});
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().message.find("no socket"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path));
  options.listen.unix_paths = {std::string(200, 'x')};
  EXPECT_FALSE(Server::create(options, {}));
}

TEST(HttpListeners, SayWhyTheyCannotListen) {
  TestServer server;
  ServerOptions options;
  options.listen.port = server.port();
  const auto taken = Server::create(options, {});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().id, "no_listener");
  EXPECT_NE(taken.error().hint.find("--port"), std::string::npos);
  options.listen = {.hosts = {"192.0.2.1"}, .port = 0};
  EXPECT_FALSE(Server::create(options, {})) << "not an address of this machine";
  options.listen = {.hosts = {"no such name.invalid"}, .port = 0};
  EXPECT_FALSE(Server::create(options, {}));
  options.listen = {};
  EXPECT_FALSE(Server::create(options, {})) << "nothing to listen on";
}

// A child as a service manager starts it: descriptor 3 listens, the variables say so.
TEST(HttpListeners, TakeTheSocketsOfAServiceManager) {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(listening, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listening, 5), 0);
  ASSERT_EQ(::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::array<int, 2> ready = {};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    ::setenv("LISTEN_FDS", "1", 1);
    const int tell = ::dup2(ready[1], 100);
    ::dup2(listening, 3);
    ServerOptions options;
    options.listen = {.port = 0, .takes_activated = true};
    auto server = Server::create(options, scripted_routes(std::make_shared<Script>()));
    const bool is_right =
        server && (*server)->addresses().size() == 1 && ::getenv("LISTEN_FDS") == nullptr;
    static_cast<void>(::write(tell, is_right ? "y" : "n", 1) == 1);
    if (server) (*server)->run();
    ::_exit(0);
  }
  char is_right = 0;
  ASSERT_EQ(::read(ready[0], &is_right, 1), 1);
  EXPECT_EQ(is_right, 'y');
  EXPECT_EQ(RawClient(ntohs(address.sin_port)).ask(request("GET /health")).body, "ok");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (const int fd : {listening, ready[0], ready[1]})
    ::close(fd);
}

TEST(HttpListeners, LeaveTheSocketsOfAnotherProcessAlone) {
  ::setenv("LISTEN_PID", "1", 1);
  ::setenv("LISTEN_FDS", "1", 1);
  ServerOptions options;
  options.listen = {.hosts = {"127.0.0.1"}, .port = 0, .takes_activated = true};
  const auto server = Server::create(options, {});
  ::unsetenv("LISTEN_PID");
  ::unsetenv("LISTEN_FDS");
  ASSERT_TRUE(server);
  EXPECT_EQ((*server)->addresses().size(), 1U);
}

}  // namespace
}  // namespace wick::http::test
