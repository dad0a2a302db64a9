import { deferredScript } from "../deferred.tsx";

/** Everything that opens over a page; its script is not among the page's first. */
export const overlays = deferredScript(() => import("./opened.ts"));
