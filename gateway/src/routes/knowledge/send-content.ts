import type { DocumentContent } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import { invalid } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { Clients } from "../../clients.ts";
import type { FormFile } from "../../http/form.ts";
import type { DocumentBody } from "../../schemas/knowledge.ts";

const PART_BYTES = 1024 * 1024;
/** Endings of names that tell what a text is. */
const TEXT_ENDING = /\.(md|markdown|csv|tsv|html?)$/i;

interface Sent {
  body: DocumentBody;
  file: FormFile | null;
}

/**
 * Hands a document's bytes to the knowledge service, part by part, because a message is bounded.
 * @returns what names them there, or the page that is to be fetched
 * @throws ServiceError invalid unless there is one content
 */
export async function sendContent(
  knowledge: Clients["knowledge"],
  ownerId: string,
  { body, file }: Sent,
  origin: CallOrigin,
): Promise<DocumentContent> {
  const { url, text, refresh_hours: refreshHours, name } = body;
  if (file) return send(file);
  if ((url == null) === (text == null)) throw invalid("text", "Give exactly one of a file, text and url");
  if (url != null) return { source: { $case: "page", value: { url, refreshHours: refreshHours ?? undefined } } };
  if (refreshHours != null) throw invalid("refresh_hours", "refresh_hours needs a url: leave it out");
  const fileName = TEXT_ENDING.test(name ?? "") ? (name ?? "") : "";
  return send({ name: fileName, type: "text/plain", bytes: new TextEncoder().encode(text ?? "") });

  async function send({ name: fileName, type: contentType, bytes }: FormFile): Promise<DocumentContent> {
    const contentId = newUuid();
    for (let part = 0; part * PART_BYTES < bytes.length; part++) {
      const data = Buffer.from(bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES));
      await knowledge.addContent({ ownerId, contentId, part, data }, { origin });
    }
    const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest();
    const stored = { contentId, bytes: bytes.length, sha256, fileName, contentType };
    return { source: { $case: "stored", value: stored } };
  }
}

/** The name of a new document: a file's own unless another is given. */
export function nameOfDocument({ name }: DocumentBody, file: FormFile | null): string | undefined {
  // Some clients send the whole path.
  return name ?? file?.name.split(/[\\/]/).at(-1)?.slice(-255);
}
