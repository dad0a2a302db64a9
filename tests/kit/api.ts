export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed when it is JSON, else the text. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on it field by field
  body: any;
}

/** The HTTP API, called with a key or a session. */
export interface Api {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Sends one request unchanged, with the credentials unless `headers` have others. */
  send(method: string, path: string, init?: { body?: Bun.BodyInit; headers?: Record<string, string> }): Promise<Answer>;
  /** Runs a streamed chat turn, and leaves the body unread. */
  chat(body: object, signal?: AbortSignal, headers?: Record<string, string>): Promise<Response>;
}

/**
 * The public API, `from` a client's address that the gateway trusts. Paths are below its prefix, except those with two slashes:
 * `//healthz` means `/healthz`.
 */
export function createApi(url: string, apiKey: string, from?: string): Api {
  return apiOf(url, "/v1/public", { "x-api-key": apiKey, ...comingFrom(from) });
}

/** The management API, with paths in the same form. */
export function createManageApi(url: string, token: string, from?: string): Api {
  return apiOf(url, "/v1/manage", { ...(token !== "" && { cookie: `parley_session=${token}` }), ...comingFrom(from) });
}

function comingFrom(address: string | undefined): Record<string, string> {
  return address === undefined ? {} : { "x-forwarded-for": address };
}

function apiOf(url: string, prefix: string, given: Record<string, string>): Api {
  const addressOf = (path: string) => (path.startsWith("//") ? `${url}${path.slice(1)}` : `${url}${prefix}${path}`);
  const json = (body: unknown) => ({ body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  const send: Api["send"] = async (method, path, { body, headers } = {}) => {
    const response = await fetch(addressOf(path), {
      method,
      headers: { ...given, ...headers },
      ...(body !== undefined && { body }),
    });
    return answerOf(response);
  };
  return {
    send,
    get: (path, headers = {}) => send("GET", path, { headers }),
    post: (path, body, headers = {}) => {
      const sent = json(body);
      return send("POST", path, { body: sent.body, headers: { ...sent.headers, ...headers } });
    },
    chat: (body, signal, headers = {}) => {
      const sent = json(body);
      return fetch(addressOf("/chat"), {
        method: "POST",
        body: sent.body,
        headers: { ...sent.headers, ...given, ...headers },
        ...(signal && { signal }),
      });
    },
  };
}

/** Reads a response to its end, and of a stream of events, which has none, its beginning. */
export async function answerOf(response: Response): Promise<Answer> {
  const isEndless = /events$/.test(new URL(response.url).pathname) && response.status === 200;
  const text = isEndless ? await beginningOf(response) : await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}
