import { applyTheme } from "../app/stored-theme.ts";
import { earlyRequests, FIRST_REQUESTS } from "./requests.ts";

/** Runs before the page is painted and long before its main script: applies the theme, and sends the page's first requests. */
applyTheme();
const named = document.querySelector<HTMLMetaElement>(`meta[name="${FIRST_REQUESTS}"]`);
if (named) globalThis.parleyEarly = earlyRequests(JSON.parse(named.content), location, (path) => fetch(path));
