import { deferredScript } from "../deferred.tsx";

/** What opens over a page, whose script is not among the page's first. */
export const overlays = deferredScript(() => import("./opened.ts"));
