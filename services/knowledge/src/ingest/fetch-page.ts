import { type Answer, headersByName } from "@parley/shared/egress/answer";
import type { Egress } from "@parley/shared/egress/egress";
import { EgressError } from "@parley/shared/egress/error";

export const PAGE_BYTES_MAX = 20 * 1024 * 1024;
const WITHIN_MS = 20_000;
const REDIRECTS_MAX = 3;
const ACCEPT = "text/html, text/plain;q=0.9, text/markdown;q=0.9, application/pdf;q=0.8, */*;q=0.1";

type Fetched =
  | { bytes: Uint8Array; contentType: string; etag: string | null }
  /** It is as it was when it had that ETag. */
  | "unchanged"
  /** A sentence. */
  | { reason: string };

/**
 * Fetches one page through the egress guard, which checks each address that it is redirected to as well.
 * @param gone ends it @throws the reason of `gone`
 */
export async function fetchPage(
  ask: Egress["ask"],
  { url, etag }: { url: string; etag: string | null },
  gone: AbortSignal,
): Promise<Fetched> {
  const late = AbortSignal.timeout(WITHIN_MS);
  const signal = AbortSignal.any([gone, late]);
  try {
    return await follow(ask, { url, etag }, signal);
  } catch (error) {
    gone.throwIfAborted();
    if (late.aborted) return { reason: `The page did not arrive within ${WITHIN_MS / 1_000} seconds.` };
    if (!(error instanceof EgressError)) throw error;
    if (error.kind === "too_large") return { reason: "The page is longer than 20 MiB." };
    return { reason: `The page cannot be fetched: ${error.message}.` };
  }
}

async function follow(
  ask: Egress["ask"],
  { url, etag }: { url: string; etag: string | null },
  signal: AbortSignal,
): Promise<Fetched> {
  let place = url;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const answer = await ask(place, { method: "GET", headers: headersOf(etag), redirect: "manual", signal });
    const { location = "", ...headers } = headersByName(answer);
    const target = isRedirect(answer.status) ? URL.parse(location, place) : null;
    if (!target) return await received(answer, headers, etag !== null);
    answer.cancel();
    target.hash = "";
    place = target.href;
  }
  return { reason: `The page was redirected more than ${REDIRECTS_MAX} times.` };
}

function headersOf(etag: string | null): Record<string, string> {
  return { accept: ACCEPT, "user-agent": "Parley", ...(etag !== null && { "if-none-match": etag }) };
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

async function received(answer: Answer, headers: Record<string, string>, hasEtag: boolean): Promise<Fetched> {
  if (answer.status === 304 && hasEtag) {
    answer.cancel();
    return "unchanged";
  }
  if (answer.status !== 200) {
    answer.cancel();
    return { reason: `The page answered with HTTP status ${answer.status}.` };
  }
  const pieces: Uint8Array[] = [];
  for (let read = await answer.read(); read !== null; read = await answer.read()) pieces.push(...read);
  return { bytes: Buffer.concat(pieces), contentType: headers["content-type"] ?? "", etag: headers.etag ?? null };
}
