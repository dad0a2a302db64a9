type Fetch = (request: Request) => Response | Promise<Response>;

/** Requests that begin in one turn of the event loop. */
const BEGUN_MAX = 64;

/**
 * Lets few requests begin in one turn of the event loop, the others in the next. The runtime reads half a megabyte of a connection at
 * once: thousands of requests, if their responses are ready at once, as those of `/healthz` and of unknown routes are. It closes a
 * connection on which a request arrives while another one waits for its response.
 */
export function fewBegin(fetch: Fetch): Fetch {
  let begun = 0;
  const startAgain = () => {
    begun = 0;
  };
  return (request) => {
    if (begun === 0) setImmediate(startAgain);
    return ++begun > BEGUN_MAX ? inNextTurn(() => fetch(request)) : fetch(request);
  };
}

async function inNextTurn<T>(work: () => T | Promise<T>): Promise<T> {
  await new Promise((resolve) => setImmediate(resolve));
  return work();
}
