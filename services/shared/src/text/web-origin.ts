const CHARACTERS_MAX = 300;

/**
 * The origin of web pages that a text names, as browsers write it: `HTTPS://Shop.Example:443/` names `https://shop.example`. Null for
 * anything else, such as a host without a scheme, or an address with a path.
 */
export function webOriginOf(text: string): string | null {
  if (text.length > CHARACTERS_MAX) return null;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname.includes("*")) return null;
  const isBare = url.href === `${url.origin}/` && !/[?#]/.test(text);
  return isBare ? url.origin : null;
}
