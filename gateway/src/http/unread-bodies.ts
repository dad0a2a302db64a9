type Fetch = (request: Request) => Response | Promise<Response>;

/** A connection is not closed for the rest of a shorter body, which costs less to receive than a new connection. */
const RECEIVED_BYTES_MAX = 64 * 1024;

/**
 * Releases the body of a request that was answered without reading it, such as one over its rate. Otherwise the runtime
 * keeps what has arrived until garbage collection, without counting it: refused bodies of 1 MB took more than a
 * gigabyte. After the response to a long body, or one of unknown length, the connection is closed instead of receiving
 * the rest.
 */
export function withoutUnreadBodies(fetch: Fetch): Fetch {
  return async (request) => {
    const answer = await fetch(request);
    // Accessing `body` creates a stream even for a request without one.
    if (request.bodyUsed || !hasBody(request)) return answer;
    await request.body?.cancel().catch(() => {});
    if (isLong(request)) answer.headers.set("Connection", "close");
    return answer;
  };
}

function hasBody({ method, headers }: Request): boolean {
  return method !== "GET" && method !== "HEAD" && (headers.has("content-length") || headers.has("transfer-encoding"));
}

function isLong({ headers }: Request): boolean {
  return headers.has("transfer-encoding") || Number(headers.get("content-length")) > RECEIVED_BYTES_MAX;
}
