import { DOCUMENT_STATUSES, numberOf } from "@parley/shared/domain/api-names";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { presentDocument, presentDocumentReply } from "../../present/knowledge.ts";
import { pageFigures, pageOf } from "../../present/page.ts";
import { required } from "../../present/required.ts";
import {
  CreateDocumentBody,
  Document,
  DocumentChunk,
  DocumentDeleted,
  DocumentForm,
  DocumentList,
  DocumentReplyList,
  DocumentWithText,
  GetDocumentQuery,
  ListDocumentRepliesQuery,
  ListDocumentsQuery,
  ReplaceDocumentBody,
  StoredDocument,
} from "../../schemas/knowledge.ts";
import { endpoints } from "../endpoint.ts";
import { documentWithText } from "./document-text.ts";
import { nameOfDocument, sendContent } from "./send-content.ts";

const FILE = {
  fields: DocumentForm,
  fileBytesMax: 20 * 1024 * 1024,
  file: "The document: a PDF, a DOCX, HTML, Markdown, plain text or a CSV file.",
};
const ID = "/:document_id";

export function documentRoutes(gate: GateContext, { knowledge, conversations }: Clients) {
  const route = endpoints(gate, { tag: "Knowledge" });
  return new Elysia({ prefix: "/v1/public/knowledge-bases/:knowledge_base_id/documents" })
    .post(
      "/",
      ...route(
        {
          id: "createDocument",
          summary: "Add a document",
          description:
            "Send a file of at most 20 MiB as a form, or JSON with `name` and `text`, or with `url`. The answer comes at once with the status `PENDING`; the document is read in the background, and is then `READY` or `FAILED`. The same content twice in a knowledge base is one document.",
          scope: "knowledge:write",
          body: CreateDocumentBody,
          form: FILE,
          response: StoredDocument,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, body, file, origin, idempotency, write }) => {
          const content = await sendContent(knowledge, ownerId, { body, file }, origin);
          const { document, duplicate } = await knowledge.createDocument(
            {
              ownerId,
              knowledgeBaseId: params.knowledge_base_id ?? "",
              name: nameOfDocument(body, file),
              content,
              language: body.language ?? undefined,
              idempotency,
            },
            write,
          );
          return { ...presentDocument(required(document)), duplicate };
        },
      ),
    )
    .get(
      "/",
      ...route(
        {
          id: "listDocuments",
          summary: "List documents, newest first",
          scope: "knowledge:read",
          query: ListDocumentsQuery,
          response: DocumentList,
          isList: true,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const page = pageOf(query);
          const status = numberOf(DOCUMENT_STATUSES, query.status);
          const key = { ownerId, knowledgeBaseId: params.knowledge_base_id ?? "" };
          const { documents, total } = await knowledge.listDocuments(
            { ...key, page, search: query.search ?? "", status },
            { origin },
          );
          return { documents: documents.map(presentDocument), ...pageFigures(total, page) };
        },
      ),
    )
    .get(
      ID,
      ...route(
        {
          id: "getDocument",
          summary: "Get a document",
          scope: "knowledge:read",
          query: GetDocumentQuery,
          response: DocumentWithText,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin, headers }) => {
          const key = keyOf(ownerId, params);
          if (query.include === "text") return documentWithText(knowledge, key, origin, headers);
          const { document } = await knowledge.getDocument(key, { origin });
          return presentDocument(required(document));
        },
      ),
    )
    .get(
      `${ID}/chunks/:chunk_id`,
      ...route(
        {
          id: "getChunk",
          summary: "Get a chunk of a document",
          description:
            "The part of a document that a search or a reply's source names. One that the document's new content no longer has is 404.",
          scope: "knowledge:read",
          response: DocumentChunk,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const { documentId, ...key } = keyOf(ownerId, params);
          const chunkId = params.chunk_id ?? "";
          const {
            documentName: name,
            heading,
            text,
          } = await knowledge.getChunk({ ...key, documentId, chunkId }, { origin });
          return { chunk_id: chunkId, document_id: documentId, name, heading, text };
        },
      ),
    )
    .get(
      `${ID}/replies`,
      ...route(
        {
          id: "listDocumentReplies",
          summary: "List the replies that used a document",
          description:
            "The replies whose model was given parts of the document, newest first. A reply is gone from here once its conversation is.",
          scope: "conversations:read",
          query: ListDocumentRepliesQuery,
          response: DocumentReplyList,
          isList: true,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const page = pageOf(query);
          const key = keyOf(ownerId, params);
          await knowledge.getDocument(key, { origin });
          const { replies, total } = await conversations.listDocumentReplies(
            { ownerId, documentId: key.documentId, page },
            { origin },
          );
          return { replies: replies.map(presentDocumentReply), ...pageFigures(total, page) };
        },
      ),
    )
    .put(
      ID,
      ...route(
        {
          id: "replaceDocument",
          summary: "Replace a document's content",
          description:
            "Takes the same bodies as adding a document. The old content serves until the new one is read. If that fails, the old content stays, and `error` says why.",
          scope: "knowledge:write",
          body: ReplaceDocumentBody,
          form: FILE,
          response: StoredDocument,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, body, file, origin, idempotency, write }) => {
          const content = await sendContent(knowledge, ownerId, { body, file }, origin);
          const { document, duplicate } = await knowledge.replaceDocument(
            {
              ...keyOf(ownerId, params),
              name: body.name ?? undefined,
              content,
              language: body.language ?? undefined,
              idempotency,
            },
            write,
          );
          return { ...presentDocument(required(document)), duplicate };
        },
      ),
    )
    .delete(
      ID,
      ...route(
        {
          id: "deleteDocument",
          summary: "Delete a document",
          description: "Takes effect at the next search.",
          scope: "knowledge:write",
          response: DocumentDeleted,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const key = keyOf(ownerId, params);
          const { name, deletedAt } = await knowledge.deleteDocument({ ...key, idempotency }, write);
          return { message: "Document deleted", id: key.documentId, name, deleted_at: deletedAt };
        },
      ),
    )
    .post(
      `${ID}/refresh`,
      ...route(
        {
          id: "refreshDocument",
          summary: "Fetch a document's page now",
          description:
            "The text that the document has serves until the page is read. If that fails, the old text stays, and `error` says why.",
          scope: "knowledge:write",
          response: Document,
          refuses: ["condition", "not_found"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const { document } = await knowledge.refreshDocument({ ...keyOf(ownerId, params), idempotency }, write);
          return presentDocument(required(document));
        },
      ),
    );
}

function keyOf(ownerId: string, params: Record<string, string>) {
  return { ownerId, knowledgeBaseId: params.knowledge_base_id ?? "", documentId: params.document_id ?? "" };
}
