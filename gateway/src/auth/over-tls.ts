type Fetch = (request: Request) => Response | Promise<Response>;

/** A year, as usual: a browser that came by TLS once does not come without it. Other hosts of the domain are not ours to speak for. */
const TRANSPORT_SECURITY = "max-age=31536000";

/** Whether the client speaks TLS, with us or with the proxy in front of us. Without one, a client can only deceive itself. */
export function isOverTls({ url, headers }: Request): boolean {
  return url.startsWith("https:") || headers.get("x-forwarded-proto") === "https";
}

/** Tells browsers that come over TLS to keep doing so (RFC 6797). */
export function withTransportSecurity(fetch: Fetch): Fetch {
  return async (request) => {
    const isSecure = isOverTls(request);
    const answer = await fetch(request);
    if (isSecure) answer.headers.set("Strict-Transport-Security", TRANSPORT_SECURITY);
    return answer;
  };
}
