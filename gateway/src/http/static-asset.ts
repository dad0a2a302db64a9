import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** Serves content that does not change while the process runs. */
export type StaticAsset = (request: Request) => Promise<Response>;

type Encoding = "br" | "gzip" | "identity";

const PREFERENCE: readonly Encoding[] = ["br", "gzip", "identity"];
/** At higher levels Brotli takes seconds for the largest script and saves little. */
const BROTLI_QUALITY = 6;

/**
 * Serves a compressed asset that browsers cache and revalidate by ETag. Builds each encoding once, on first use, off
 * the event loop.
 */
export function staticAsset(read: () => Promise<Uint8Array>, headers: Record<string, string>): StaticAsset {
  const bytes = once(read);
  const hash = once(async () =>
    new Bun.CryptoHasher("sha256")
      .update(await bytes())
      .digest("base64url")
      .slice(0, 22),
  );
  const forms: Record<Encoding, () => Promise<Uint8Array>> = {
    br: once(async () => brotli(await bytes(), { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })),
    gzip: once(async () => promisify(gzip)(await bytes())),
    identity: bytes,
  };
  return async (request) => {
    const encoding = chooseEncoding(request.headers.get("accept-encoding"));
    // Each encoding is a separate representation, so it has its own ETag.
    const etag = `"${await hash()}-${encoding}"`;
    const common = { ...headers, ETag: etag, Vary: "Accept-Encoding", "Cache-Control": "no-cache" };
    if (isKnown(request.headers.get("if-none-match"), etag))
      return new Response(null, { status: 304, headers: common });
    const encoded = encoding === "identity" ? {} : { "Content-Encoding": encoding };
    const body = (await forms[encoding]()) as Uint8Array<ArrayBuffer>;
    return new Response(body, { headers: { ...common, ...encoded } });
  };
}

const brotli = promisify(brotliCompress);

/** The encoding to send, by the quality values of RFC 9110, section 12.5.3; the smallest among equals. */
export function chooseEncoding(accepted: string | null): Encoding {
  if (accepted === null) return "identity";
  const qualities = new Map(
    accepted.split(",").map((item) => {
      const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
      return [name, quality === undefined ? 1 : Number(quality)] as const;
    }),
  );
  const qualityOf = (encoding: Encoding) =>
    qualities.get(encoding) ?? qualities.get("*") ?? (encoding === "identity" ? Number.MIN_VALUE : 0);
  const best = PREFERENCE.filter((encoding) => qualityOf(encoding) > 0).sort((a, b) => qualityOf(b) - qualityOf(a));
  return best[0] ?? "identity";
}

function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  const known = ifNoneMatch?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return known.includes(etag) || known.includes("*");
}

/** Caches only success: after a failure the next call tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error) => {
      made = null;
      throw error;
    });
    return made;
  };
}
