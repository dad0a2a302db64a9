/** The name of the page's `meta` element with the paths of its first requests, as JSON. */
export const FIRST_REQUESTS = "first-requests";
/** How long a read may take, in milliseconds: longer than the gateway waits for a service, so that its own error is told. */
export const READ_WITHIN_MS = 10_000;
/** Stands in a path for the name or id that the page's address ends with. */
export const ANY_ID = "_";

/** The response to a request that was sent early; null if there is none, or if it was taken. */
export type TakeEarly = (url: string) => Promise<Response> | null;

declare global {
  var parleyEarly: TakeEarly | undefined;
}

/**
 * Sends a page's first requests. Each response is given once, so that whatever asks again, also after signing in, asks the server.
 * @param paths the first asks who is signed in; the others are of the page without filters
 */
export function earlyRequests(
  paths: readonly string[],
  { pathname, search, origin }: { pathname: string; search: string; origin: string },
  send: (path: string) => Promise<Response>,
): TakeEarly {
  const id = pathname.slice(pathname.lastIndexOf("/") + 1);
  const wanted = search === "" ? paths : paths.slice(0, 1);
  const sent = new Map(
    wanted.map((path) => {
      const filled = path.replace(OF_THE_ID, (_, before: string) => `${before}${id}`);
      const response = send(filled);
      // The code that takes the response handles a failure; until then it must not count as unhandled.
      response.catch(() => {});
      return [`${origin}${filled}`, response];
    }),
  );
  return (url) => {
    const response = sent.get(url) ?? null;
    sent.delete(url);
    return response;
  };
}

const OF_THE_ID = new RegExp(`([/=])${ANY_ID}(?=$|[/?&])`, "g");
