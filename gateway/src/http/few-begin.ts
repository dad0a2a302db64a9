type Fetch = (request: Request) => Response | Promise<Response>;

/** Requests that begin in one turn of the event loop. */
const BEGUN_MAX = 64;
/** For a request whose client has gone: nobody receives it. */
const GONE_STATUS = 499;

/**
 * Lets few requests begin in each turn of the event loop, in the order of their arrival. The runtime reads half a megabyte of a
 * connection at once: thousands of requests, if their responses are ready at once, as those of `/healthz` and of unknown routes are.
 * It closes a connection on which a request arrives while another one waits for its response; the one that waits then never begins.
 */
export function fewBegin(fetch: Fetch): Fetch {
  let begun = 0;
  const waiting = new Set<() => void>();
  const startAgain = () => {
    begun = 0;
    for (const begin of waiting) {
      if (begun === BEGUN_MAX) break;
      note();
      waiting.delete(begin);
      begin();
    }
  };
  const note = () => {
    if (begun++ === 0) setImmediate(startAgain);
  };
  const waitTurn = ({ signal }: Request) =>
    new Promise<void>((resolve) => {
      const begin = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        waiting.delete(begin);
        resolve();
      };
      waiting.add(begin);
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
