type Fetch = (request: Request) => Response | Promise<Response>;

/** Requests that begin in one turn of the event loop. */
const BEGUN_MAX = 64;
/** For a request whose client has gone: nobody receives it. */
const GONE_STATUS = 499;

/**
 * Lets few requests begin in each turn of the event loop: those of each key in the order of their arrival, and keys in turns. The
 * runtime reads half a megabyte of a connection at once: thousands of requests, if their responses are ready at once, as those of
 * `/healthz` and of unknown routes are. It closes a connection on which a request arrives while another one waits for its response;
 * the one that waits then never begins.
 */
export function fewBegin(fetch: Fetch): Fetch {
  let begun = 0;
  /** By the key that they name, whose owner is not known yet. */
  const waiting = new Map<string, Set<() => void>>();
  const startAgain = () => {
    begun = 0;
    // Iterating over a map also visits keys that are added in the meantime, at the end.
    for (const [key, begins] of waiting) {
      if (begun === BEGUN_MAX) break;
      const [begin] = begins;
      if (!begin) continue;
      note();
      waiting.delete(key);
      begins.delete(begin);
      if (begins.size > 0) waiting.set(key, begins);
      begin();
    }
  };
  const note = () => {
    if (begun++ === 0) setImmediate(startAgain);
  };
  const waitTurn = ({ signal, headers }: Request) =>
    new Promise<void>((resolve) => {
      const key = headers.get("x-api-key") ?? "";
      const begins = waiting.get(key) ?? new Set();
      const begin = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        begins.delete(begin);
        if (begins.size === 0 && waiting.get(key) === begins) waiting.delete(key);
        resolve();
      };
      waiting.set(key, begins.add(begin));
      signal.addEventListener("abort", leave);
    });
  const inTurn = async (request: Request) => {
    await waitTurn(request);
    return request.signal.aborted ? new Response(null, { status: GONE_STATUS }) : fetch(request);
  };
  return (request) => {
    if (waiting.size > 0 || begun === BEGUN_MAX) return inTurn(request);
    note();
    return fetch(request);
  };
}
