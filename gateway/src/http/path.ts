/** Path and query of a request as sent. No parser is asked: it would throw on what a client may write into the Host header. */
export function targetOf({ url }: Request): string {
  return hasHost(url) ? url.slice(url.indexOf("/", url.indexOf("//") + 2)) : url;
}

/** The path of a request as sent, without its query. */
export function pathOf(request: Request): string {
  const [path = ""] = targetOf(request).split("?", 1);
  return path;
}

/** Without a Host header, or with one that is none, Bun gives the bare path as the address. */
export function hasHost(url: string): boolean {
  return !url.startsWith("/");
}

/**
 * Whether a request has several Host headers, which a proxy and the gateway could read differently
 * (https://www.rfc-editor.org/rfc/rfc9112#section-3.2). Bun joins them with commas, which no host contains.
 */
export function hasManyHosts({ headers }: Request): boolean {
  return headers.get("host")?.includes(",") ?? false;
}
