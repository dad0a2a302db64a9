import { applyTheme } from "../app/stored-theme.ts";
import { earlyRequests, FIRST_REQUESTS, READ_WITHIN_MS } from "./requests.ts";

/** Runs before the page is painted and long before its main script: applies the theme, and sends the page's first requests. */
applyTheme();
const named = document.querySelector<HTMLMetaElement>(`meta[name="${FIRST_REQUESTS}"]`);
const send = (path: string) => fetch(path, { signal: AbortSignal.timeout(READ_WITHIN_MS) });
if (named) globalThis.parleyEarly = earlyRequests(JSON.parse(named.content), location, send);
