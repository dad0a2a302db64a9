/** Path and query of a request as sent. Avoids the URL parser, which throws on some Host headers. */
export function targetOf({ url }: Request): string {
  return hasHost(url) ? url.slice(url.indexOf("/", url.indexOf("//") + 2)) : url;
}

/** The path of a request as sent, without its query. */
export function pathOf(request: Request): string {
  const [path = ""] = targetOf(request).split("?", 1);
  return path;
}

/** Without a valid Host header, Bun uses the bare path as the URL. */
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
