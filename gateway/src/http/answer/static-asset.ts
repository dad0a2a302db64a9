import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** Serves content that does not change while the process runs. */
export type StaticAsset = (request: Request) => Promise<Response>;

type Encoding = "zstd" | "br" | "gzip" | "identity";
/** The content, and its compressed forms, each read when it is first asked for. */
export type Forms = { identity: () => Promise<Uint8Array> } & Partial<Record<Encoding, () => Promise<Uint8Array>>>;

const PREFERENCE: readonly Encoding[] = ["br", "zstd", "gzip", "identity"];
/** At higher levels Brotli takes seconds for the largest script and saves little. */
const BROTLI_QUALITY = 6;

/** Builds each encoding once, on first use, off the event loop. */
export function compressedForms(read: () => Promise<Uint8Array>): Forms {
  const bytes = once(read);
  return {
    br: async () => brotli(await bytes(), { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    gzip: async () => promisify(gzip)(await bytes()),
    identity: bytes,
  };
}

/**
 * Serves an asset in the encoding that the client prefers, which browsers cache and revalidate by ETag. Keeps each form
 * in memory after its first use.
 * @param headers of every answer; without a Cache-Control among them, browsers ask each time whether it changed
 */
export function staticAsset(forms: Forms, headers: Record<string, string>): StaticAsset {
  const read = Object.fromEntries(Object.entries(forms).map(([encoding, form]) => [encoding, once(form)])) as Forms;
  const offered = PREFERENCE.filter((encoding) => read[encoding]);
  const hash = once(async () =>
    new Bun.CryptoHasher("sha256")
      .update(await read.identity())
      .digest("base64url")
      .slice(0, 22),
  );
  return async (request) => {
    const encoding = chooseEncoding(request.headers.get("accept-encoding"), offered);
    // Each encoding is a separate representation, so it has its own ETag.
    const etag = `"${await hash()}-${encoding}"`;
    const common = { "Cache-Control": "no-cache", ...headers, ETag: etag, Vary: "Accept-Encoding" };
    if (isKnown(request.headers.get("if-none-match"), etag))
      return new Response(null, { status: 304, headers: common });
    const encoded = encoding === "identity" ? {} : { "Content-Encoding": encoding };
    const body = (await (read[encoding] ?? read.identity)()) as Uint8Array<ArrayBuffer>;
    return new Response(body, { headers: { ...common, ...encoded } });
  };
}

const brotli = promisify(brotliCompress);

/**
 * The encoding to send, by the quality values of RFC 9110, section 12.5.3; the first offered among equals.
 * @param offered the encodings that exist, smallest first
 */
export function chooseEncoding(accepted: string | null, offered: readonly Encoding[]): Encoding {
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
  const best = offered.filter((encoding) => qualityOf(encoding) > 0).sort((a, b) => qualityOf(b) - qualityOf(a));
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
