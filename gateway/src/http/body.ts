import { readBounded } from "@parley/shared/bounded-bytes";
import { cancelled } from "@parley/shared/errors";
import { refuseUnstorable } from "@parley/shared/json/storable-json";
import { HttpError } from "../problem.ts";
import { refuseManyValues } from "./json-values.ts";
import { leaveRest } from "./unread-bodies.ts";

const KIB = 1024;
/** The default limit of a route. */
export const BYTES_MAX = 1024 * KIB;
/** Time limit for a body from a caller without a key, which is short: slow senders would take the room of others. */
export const STRANGERS_WITHIN_MS = 10_000;
const JSON_TYPE = /^application\/json\s*(;|$)/i;

type JsonObject = Record<string, unknown>;

interface JsonLimits {
  /** 1 MiB by default. */
  bytesMax?: number | undefined;
  /** 10,000 by default. */
  valuesMax?: number | undefined;
  /** Time limit for the whole body; none by default. */
  withinMs?: number | undefined;
  /** Whether no body means an empty object. */
  isOptional?: boolean | undefined;
}

interface JsonBody {
  value: JsonObject;
  /** The bytes as sent, for the fingerprint of an idempotency key. */
  bytes: Uint8Array;
}

/**
 * Reads the JSON object that a request carries (docs/api-reference.md#request-bodies).
 * @throws HttpError 413 over `bytesMax`, 415 for another type or a compressed body, 400 for anything but a JSON object, 408 for one that
 *   takes longer than `withinMs`; ServiceError invalid for JSON that cannot be stored: a NUL character, a number that a double cannot hold, more than 32 levels or `valuesMax` values
 */
export async function readJson(
  request: Request,
  { bytesMax = BYTES_MAX, valuesMax, withinMs, isOptional = false }: JsonLimits = {},
): Promise<JsonBody> {
  const length = Number(request.headers.get("content-length") ?? 0);
  if (length > bytesMax) throw tooLarge(bytesMax);
  const type = request.headers.get("content-type");
  if (type !== null && !JSON_TYPE.test(type)) throw notJsonType();
  if (isEncoded(request)) throw encoded();
  const bytes =
    withinMs === undefined
      ? await readBytes(request, bytesMax)
      : await readRaw(request, { bytesMax, withinMs, keep: () => {} });
  if (bytes.byteLength === 0 && isOptional) return { value: {}, bytes };
  if (bytes.byteLength > 0 && type === null) throw notJsonType();
  refuseManyValues(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), "The request body", valuesMax);
  const value = parse(bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new HttpError(400, "The request body must be a JSON object");
  }
  refuseUnstorable(value, "The request body", "", valuesMax);
  return { value: value as JsonObject, bytes };
}

/**
 * Reads a body of another type as text.
 * @throws HttpError 413 over `bytesMax`, 415 for another type or a compressed body, 408 for one that takes longer than ten seconds, 400
 *   for what is not UTF-8
 */
export async function readText(request: Request, type: RegExp, typeName: string, bytesMax: number): Promise<string> {
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge(bytesMax);
  if (!type.test(request.headers.get("content-type") ?? "")) {
    throw new HttpError(415, `The request body must be sent with Content-Type: ${typeName}`);
  }
  return utf8(await readRaw(request, { bytesMax, withinMs: STRANGERS_WITHIN_MS, keep: () => {} }));
}

/** @throws HttpError 400 for what is not UTF-8 */
export function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new HttpError(400, "The request body is not UTF-8");
  }
}

interface RawLimits {
  bytesMax: number;
  /** Time limit for the whole body: a slow sender holds memory that others need. */
  withinMs: number;
  /** Called before bytes are kept, with their total so far; throws to refuse them. */
  keep(bytes: number): void;
}

/**
 * Reads a body as it was sent, for a signature over its bytes.
 * @throws HttpError 413 over `bytesMax`, 415 for a compressed body, 408 for one that takes longer than `withinMs`
 */
export async function readRaw(request: Request, { bytesMax, withinMs, keep }: RawLimits): Promise<Uint8Array> {
  refuseUnreadable(request, bytesMax);
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow(withinMs)), withinMs);
  const chunks: Uint8Array[] = [];
  try {
    for (let length = 0; ; ) {
      const { done, value } = await Promise.race([reader.read(), late.promise]);
      if (done) return Buffer.concat(chunks);
      length += value.byteLength;
      if (length > bytesMax) throw tooLarge(bytesMax);
      keep(length);
      chunks.push(value);
    }
  } catch (error) {
    // Bytes that still arrive are not kept.
    leaveRest(request);
    await reader.cancel().catch(() => {});
    throw isAbort(error) ? cancelled(error) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Refuses what `readRaw` would, by the headers alone. @throws HttpError 413, 415 */
export function refuseUnreadable(request: Request, bytesMax: number): void {
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge(bytesMax);
  if (isEncoded(request)) throw encoded();
}

function isEncoded({ headers }: Request): boolean {
  return !["", "identity"].includes(headers.get("content-encoding")?.toLowerCase() ?? "");
}

function encoded(): HttpError {
  return new HttpError(415, "The request body must be sent without Content-Encoding");
}

/** @throws ServiceError cancelled when the client disconnects before the end of the body */
async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  try {
    return await receive(request, bytesMax);
  } catch (error) {
    leaveRest(request);
    throw isAbort(error) ? cancelled(error) : error;
  }
}

/** The client has disconnected. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** Reads a body of unknown length only up to the limit. */
async function receive(request: Request, bytesMax: number): Promise<Uint8Array> {
  if (request.headers.has("content-length")) return new Uint8Array(await request.arrayBuffer());
  const bytes = await readBounded(request, bytesMax);
  if (!bytes) throw tooLarge(bytesMax);
  return bytes;
}

function parse(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) throw new HttpError(400, "The request body is empty. It must be a JSON object.");
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return LONG_DIGITS.test(text) ? JSON.parse(text, exactOrNaN) : JSON.parse(text);
  } catch {
    throw new HttpError(400, "The request body is not valid JSON");
  }
}

/** The fewest digits of an integer that a double may not hold. */
const LONG_DIGITS = /\d{16}/;

/** Integers of more digits are taken to lose some: comparing them takes long, and a double shows no more than 17. */
const COMPARED_DIGITS = 40;

/** Returns NaN, which JSON does not have, for an integer that would lose digits: an account number must not change. */
function exactOrNaN(_name: string, value: unknown, { source } = { source: "" }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value;
  if (!Number.isFinite(value)) return value;
  return source.length > COMPARED_DIGITS || BigInt(value) !== BigInt(source) ? Number.NaN : value;
}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError(413, tooLargeDetail(bytesMax));
}

/** What a client reads whose body is over the limit. */
export function tooLargeDetail(bytesMax = BYTES_MAX): string {
  const limit = bytesMax < KIB * KIB ? `${bytesMax / KIB} KiB` : `${bytesMax / KIB / KIB} MiB`;
  return `The request body must be at most ${limit}`;
}

function tooSlow(withinMs: number): HttpError {
  return new HttpError(408, `The request body must arrive within ${withinMs / 1_000} seconds`, { Connection: "close" });
}

function notJsonType(): HttpError {
  return new HttpError(415, "The request body must be sent with Content-Type: application/json");
}
