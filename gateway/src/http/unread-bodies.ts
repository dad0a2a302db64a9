type Fetch = (request: Request) => Response | Promise<Response>;

/** A connection is not closed for the rest of a shorter body, which costs less to receive than a new connection. */
const RECEIVED_BYTES_MAX = 64 * 1024;

/**
 * Releases the body of a request that was answered without reading it, such as one over its rate. Otherwise the runtime
 * keeps what has arrived until garbage collection, without counting it: refused bodies of 1 MB took more than a
 * gigabyte. After the response to a long body, or one of unknown length, of which something is left, the connection is closed instead of
 * receiving the rest. The runtime gives nobody the body of a GET or HEAD.
 */
export function withoutUnreadBodies(fetch: Fetch): Fetch {
  return async (request) => {
    const answer = await fetch(request);
    const isLeft = isWithoutBody(request) || (await dropBody(request));
    if (isLeft && isLong(request)) answer.headers.set("Connection", "close");
    return answer;
  };
}

const dropped = new WeakSet<Request>();

/** Call it when the reading of a body ends before the body may have. */
export function leaveRest(request: Request): void {
  dropped.add(request);
}

/** Releases the body of a request, and what arrives of it later. @returns whether there is one that nobody has read */
async function dropBody(request: Request): Promise<boolean> {
  if (dropped.has(request)) return true;
  // Accessing `body` creates a stream even for a request without one.
  if (request.bodyUsed || !hasBody(request)) return false;
  dropped.add(request);
  await request.body?.cancel().catch(() => {});
  return true;
}

function hasBody(request: Request): boolean {
  const { headers } = request;
  return !isWithoutBody(request) && (headers.has("content-length") || headers.has("transfer-encoding"));
}

function isWithoutBody({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

function isLong({ headers }: Request): boolean {
  return headers.has("transfer-encoding") || Number(headers.get("content-length")) > RECEIVED_BYTES_MAX;
}
