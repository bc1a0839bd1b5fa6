// The routes of the server: translation between the JSON of four APIs (OpenAI's, Anthropic's,
// Ollama's, llama.cpp's own) and a Provider. They know no socket; http/handler.h says what passes.
//
//   for (http::Route& route : server::make_routes(provider, {.version = "0.1.0"})) …
//
// Handlers may be called from many threads at once. What they return keeps what it needs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/counters.h"
#include "http/handler.h"
#include "provider/provider.h"
#include "server/admission.h"
#include "server/api_keys.h"
#include "server/audit.h"
#include "server/model_files.h"
#include "server/traces.h"

namespace wick::server {

// A model that requests may name; `name` is the provider's name.
struct ServedModel {
  std::string name = {};
  std::vector<std::string> aliases = {};
  std::vector<std::string> adapters = {};  // LoRA; a request may name one as its model
};

using ServedModelList = std::shared_ptr<const std::vector<ServedModel>>;

// What may change while the server runs.
struct Settings {
  Generation defaults = {};  // below what a request says
  AdmissionRules admission = {};
};

struct ServerOptions {
  std::string version = {};
  // The served models; the first is the default. Called for each request, on any thread. Empty:
  // those of Provider::models().
  std::function<ServedModelList()> models = {};
  bool takes_any_model = false;  // an unknown name means the first model, as in llama.cpp
  // Called for each request, on any thread. Empty: Settings{}.
  std::function<std::shared_ptr<const Settings>()> settings = {};
  bool has_vllm_metrics = false;           // the names "vllm:…" beside "wick_…" in /metrics
  bool has_page = true;                    // the web page at "/"
  std::function<bool()> is_ready = {};     // for /ready; empty: always
  std::shared_ptr<ModelFiles> files = {};  // null: nothing is fetched or removed
  std::shared_ptr<Traces> traces = {};     // null: none are told
  std::shared_ptr<Audit> audit = {};       // null: there is no audit log
  std::shared_ptr<ApiKeys> keys = {};      // null: there are no keys
  // What the transport counts, for /metrics; null or empty: nothing is told of it.
  std::function<const http::Counters*()> transport = {};
  const Clock* clock = &Clock::machine();
};

// A row of the table of routes, for documents.
struct RouteInfo {
  http::Access access;
  std::string_view verb, path, help;
  std::uint32_t api = 0;  // bit of Api whose fields its body has; 0 = none
};

std::vector<RouteInfo> route_infos();

std::vector<http::Route> make_routes(std::shared_ptr<Provider> provider, ServerOptions options);

}  // namespace wick::server
