import { invalid } from "@parley/shared/errors";
import { refuseUnstorable } from "@parley/shared/json/storable-json";
import { HttpError } from "../problem.ts";
import { readRaw } from "./body.ts";

const KIB = 1024;
/** For the whole form. */
const WITHIN_MS = 5 * 60_000;
/** Beside the file: the other fields, and what separates them. */
const ENVELOPE_BYTES = 64 * KIB;
const FORM_TYPE = /^multipart\/form-data\s*;/i;

export interface FormFile {
  /** As the client named it; "" if it did not. */
  name: string;
  type: string;
  bytes: Uint8Array;
}

export interface FormBody {
  /** The fields beside the file. */
  value: Record<string, string>;
  file: FormFile;
  /** What the form says, for the fingerprint of an idempotency key: each client separates its parts by another text each time. */
  bytes: Uint8Array;
  /** Of the whole body. */
  length: number;
}

export function isForm(request: Request): boolean {
  return FORM_TYPE.test(request.headers.get("content-type") ?? "");
}

/** The longest body of a form with a file of this length. */
export function formBytesMax(fileBytesMax: number): number {
  return fileBytesMax + ENVELOPE_BYTES;
}

/**
 * Reads a form with one file, in its field `file`.
 * @throws HttpError 413 for a file over `fileBytesMax`, 415 for a compressed body, 408 for a form that takes longer than five minutes, 400 for anything else; ServiceError invalid
 *   without a file, or with texts that cannot be stored
 */
export async function readForm(request: Request, fileBytesMax: number): Promise<FormBody> {
  const tooLarge = () => new HttpError(413, `The file must be at most ${fileBytesMax / KIB / KIB} MiB`);
  const limits = { bytesMax: formBytesMax(fileBytesMax), withinMs: WITHIN_MS, keep: () => {} };
  const body = await readRaw(request, limits).catch((error) => {
    throw error instanceof HttpError && error.status === 413 ? tooLarge() : error;
  });
  const type = request.headers.get("content-type") ?? "";
  const form = await new Response(body, { headers: { "content-type": type } }).formData().catch(() => null);
  if (!form) throw new HttpError(400, "The request body is not valid multipart/form-data");
  const sent = form.get("file");
  if (sent === null || typeof sent === "string") throw invalid("file", "file is required: a part with a file name");
  if (sent.size > fileBytesMax) throw tooLarge();
  const file = { name: sent.name, type: sent.type, bytes: new Uint8Array(await sent.arrayBuffer()) };
  const fields = [...form.entries()].filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const value = Object.fromEntries(fields);
  refuseUnstorable(value, "The request body");
  const said = JSON.stringify([value, file.name, file.type]);
  const bytes = new Bun.CryptoHasher("sha256").update(said).update(file.bytes).digest();
  return { value, file, bytes, length: body.byteLength };
}
