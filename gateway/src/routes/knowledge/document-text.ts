import type { ReadDocumentResponse } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { ServiceError } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { Clients } from "../../clients.ts";
import { presentDocument } from "../../present/knowledge.ts";

/** Idle limit for a client that reads a long text. */
const READ_TIMEOUT_MS = 600_000;

/** A document with its text, as JSON that is sent as fast as the client reads, because a text may have 20 MiB. */
export async function documentWithText(
  knowledge: Clients["knowledge"],
  key: { ownerId: string; knowledgeBaseId: string; documentId: string },
  origin: CallOrigin,
  headers: Headers,
): Promise<Response> {
  const parts = knowledge.readDocument(key, { origin, timeoutMs: READ_TIMEOUT_MS })[Symbol.asyncIterator]();
  const { value: first } = await parts.next();
  if (first?.event?.$case !== "document") throw new ServiceError("internal", "The document cannot be read");
  headers.set("Content-Type", "application/json; charset=utf-8");
  const shown = JSON.stringify(presentDocument(first.event.value));
  return new Response(bodyOf(`${shown.slice(0, -1)},"text":"`, parts), { headers });
}

function bodyOf(head: string, parts: AsyncIterator<ReadDocumentResponse>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let text = head;
  return new ReadableStream<Uint8Array>(
    {
      async pull(body) {
        if (text !== "") {
          body.enqueue(encoder.encode(text));
          text = "";
          return;
        }
        const { value, done } = await parts.next();
        body.enqueue(encoder.encode(done ? '"}' : escaped(value)));
        if (done) body.close();
      },
      async cancel() {
        await parts.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

function escaped({ event }: ReadDocumentResponse): string {
  return event?.$case === "text" ? JSON.stringify(event.value).slice(1, -1) : "";
}
