import type { Schema } from "../../../api/client.ts";
import { unreachable } from "../../../api/client.ts";
import { Problem, problemIn } from "../../../api/problem.ts";

export type StoredDocument = Schema["StoredDocument"];

/** The types that the file chooser offers. */
export const ACCEPTED = ".pdf,.docx,.html,.htm,.md,.markdown,.txt,.csv,.tsv";
const MIB = 1024 * 1024;
const FILE_MIB_MAX = 20;

/**
 * Sends a file as a document's content.
 * @param documentId of the document whose content it replaces; null for a new one
 * @param name of the document; by default that of the file, or as it was
 * @param onProgress is told the share that is sent, 0 to 1
 * @throws Problem with the API's detail
 */
export async function upload(
  { baseId, documentId, file, name }: { baseId: string; documentId: string | null; file: File; name?: string },
  onProgress: (share: number) => void = () => {},
): Promise<StoredDocument> {
  if (file.size > FILE_MIB_MAX * MIB) throw new Problem(413, `The file has more than ${FILE_MIB_MAX} MiB. Split it.`);
  const all = `/v1/public/knowledge-bases/${encodeURIComponent(baseId)}/documents`;
  const form = new FormData();
  form.append("file", file);
  if (name) form.append("name", name);
  // Fetch does not tell how much it has sent.
  const request = new XMLHttpRequest();
  if (documentId === null) request.open("POST", all);
  else request.open("PUT", `${all}/${encodeURIComponent(documentId)}`);
  request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
  await new Promise<void>((resolve, reject) => {
    request.onload = () => resolve();
    request.onerror = () => reject(new TypeError("the connection failed"));
    request.send(form);
  }).catch(unreachable);
  const { status, responseText } = request;
  const body = JSON.parse(responseText || "null");
  if (status >= 200 && status < 300) return body;
  const retryAfter = request.getResponseHeader("retry-after");
  throw problemIn(new Response(null, { status, headers: retryAfter ? { "retry-after": retryAfter } : {} }), body);
}
