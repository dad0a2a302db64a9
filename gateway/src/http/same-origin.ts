import { ServiceError } from "@parley/shared/errors";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Prevents cross-site request forgery
 * (https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html): browsers
 * send a request's origin in Sec-Fetch-Site or Origin, and a client that sends neither is not a browser.
 * @param begins whether the request begins something although its method is safe
 * @throws ServiceError forbidden
 */
export function refuseOtherOrigins(request: Request, begins = false): void {
  if (SAFE_METHODS.has(request.method) && !begins) return;
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  if (site !== null ? site === "same-origin" || site === "none" : origin === null || isOwn(origin, request)) return;
  throw new ServiceError("forbidden", "The request comes from another site's page");
}

function isOwn(origin: string, request: Request): boolean {
  const parsed = URL.parse(origin);
  return parsed !== null && parsed.host === request.headers.get("host");
}
