// The server's routes. Paths are relative to the page, so a proxy may serve it below any path.

export class ApiError extends Error {
  constructor(status, { message, code, param } = {}, retryAfter = 0) {
    super(message || `The server answered with status ${status}`);
    Object.assign(this, { status, code, param, retryAfter });
  }
}

// The server could not be reached, or went away.
export class Unreachable extends Error {
  isUnreachable = true;
}

const KEY = "wick.key";
export const key = {
  get: () => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? "",
  set(value, isRemembered) {
    sessionStorage.setItem(KEY, value);
    if (isRemembered) localStorage.setItem(KEY, value);
    else localStorage.removeItem(KEY);
  },
};

async function call(path, body, signal) {
  const headers = {};
  if (key.get()) headers.authorization = `Bearer ${key.get()}`;
  if (body) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(new URL(path, document.baseURI), {
      method: body ? "POST" : "GET",
      headers,
      signal,
      body: body && JSON.stringify(body),
      cache: "no-store",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Unreachable("The server does not answer");
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new ApiError(response.status, told.error, Number(response.headers.get("retry-after")) || 0);
}

export const models = async () => (await (await call("v1/models")).json()).data;
export const estimate = async (body, signal) => (await call("v1/estimate", body, signal)).json();
export const isHealthy = () =>
  call("health").then(
    () => true,
    () => false,
  );

// The chunks of a streamed chat. An error in the stream is thrown as ApiError.
export async function* chat(body, signal) {
  const response = await call(
    "v1/chat/completions",
    { ...body, stream: true, stream_options: { include_usage: true } },
    signal,
  );
  for await (const data of eventData(response.body, signal)) {
    if (data === "[DONE]") return;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new ApiError(200, chunk.error);
    yield chunk;
  }
  throw new Unreachable("The server went away before the end of the answer");
}

// The data of server-sent events. The server writes one line of data for each, and ends lines with \n.
async function* eventData(stream, signal) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.startsWith("data: ")) yield line.slice(6);
    }
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Unreachable("The server went away before the end of the answer");
  } finally {
    reader.cancel().catch(() => {});
  }
}
