import { DOCUMENT_STATUSES, namesOf } from "@parley/shared/domain/api-names";
import { type Static, Type } from "@sinclair/typebox";
import { At, Id, Message, PageFigures, Resource } from "./resources.ts";
import { Count, Maybe, Nullable, OneOf, PageQuery, Text, Words } from "./types.ts";

const BaseName = Words({ max: 100, description: "Name, which need not be unique.", example: "Price lists" });
const BaseDescription = Text({
  max: 500,
  description: "What is in it. Models read it to decide when to search.",
  example: "Prices and terms of delivery.",
});

export const CreateKnowledgeBaseBody = Type.Object(
  { name: BaseName, description: Maybe(BaseDescription) },
  { $id: "CreateKnowledgeBaseRequest", description: "A knowledge base, which is empty at first." },
);

export const UpdateKnowledgeBaseBody = Type.Object(
  { name: Type.Optional(BaseName), description: Maybe(BaseDescription) },
  { $id: "UpdateKnowledgeBaseRequest", description: "Fields to change; others stay unchanged." },
);

export const ListKnowledgeBasesQuery = Type.Object({
  ...PageQuery,
  search: Type.Optional(
    Text({ max: 200, description: "Part of the name or description, in any case.", example: "price" }),
  ),
});

export const KnowledgeBaseId = Id("ID of the knowledge base.", "kb_01m7yyhws9j3m6r1v4x8z2b5c7");
export const DocumentsHash = Type.String({
  pattern: "^[0-9a-f]{16}$",
  description:
    "Hash of the names and texts of its documents. The same documents have the same hash, uploaded anew too; one that has no text yet does not count.",
  examples: ["9f86d081884c7d65"],
});
export const KnowledgeBase = Resource(
  "KnowledgeBase",
  {
    id: KnowledgeBaseId,
    name: Type.String({ description: "Name of the knowledge base." }),
    description: Type.String({ description: "What is in it." }),
    document_count: Count("Number of its documents."),
    chunk_count: Count("Number of chunks: the parts of documents that searches find."),
    embedded_chunks: Count("Chunks that searches compare by meaning too."),
    bytes: Count("What its documents take of the account's limit: their texts, and content that waits."),
    characters: Count("Characters of its documents' texts."),
    documents_hash: DocumentsHash,
    created_at: At("When it was created."),
    updated_at: At("When its name or description last changed."),
  },
  "Documents that agents answer from.",
);

export const KnowledgeBaseList = Resource("KnowledgeBaseList", {
  knowledge_bases: Type.Array(KnowledgeBase, { description: "Knowledge bases of the page, newest first." }),
  ...PageFigures,
});

export const KnowledgeBaseDeleted = Resource("KnowledgeBaseDeleted", {
  message: Message,
  id: KnowledgeBaseId,
  name: Type.String({ description: "Name of the knowledge base." }),
  documents_deleted: Count("Number of documents that were deleted."),
  deleted_at: At("When the knowledge base was deleted."),
});

const Language = Text({
  pattern: "^[a-z]{2}$",
  form: "be a code of ISO 639-1, such as en",
  description: "Language as a code of ISO 639-1.",
  example: "en",
});
const DocumentName = Words({ max: 255, description: "Name of the document.", example: "Prices 2026" });

/** The fields of a form beside its file. */
export const DocumentForm = Type.Object({
  name: Type.Optional({ ...DocumentName, description: "Name of the document. Default: that of the file." }),
  language: Type.Optional({ ...Language, description: "Language of the document. Default: recognized." }),
});

const content = {
  text: Maybe(
    Text({ min: 1, example: "Small repairs cost 40 euros." }),
    "The document's text: plain text, or Markdown if the name ends in `.md`. Send longer ones than 1 MiB as a file.",
  ),
  url: Maybe(
    Text({ min: 1, max: 2_000, example: "https://shop.example/prices" }),
    "Address of a page that becomes the document: text, HTML, PDF or DOCX of at most 20 MiB.",
  ),
  refresh_hours: Maybe(
    Type.Integer({ minimum: 1, maximum: 720 }),
    "Hours between two fetches of the page. Default: it is fetched once.",
  ),
  language: Maybe(Language, "Language of the document. Default: recognized."),
};

export const CreateDocumentBody = Type.Object(
  { name: Maybe(DocumentName, "Name of the document. Required with `text`. Default: the address."), ...content },
  { $id: "CreateDocumentRequest", description: "A document: `name` and `text`, or `url`." },
);
export type DocumentBody = Static<typeof CreateDocumentBody>;

export const ReplaceDocumentBody = Type.Object(
  { name: Maybe(DocumentName, "Name of the document. Default: as before."), ...content },
  { $id: "ReplaceDocumentRequest", description: "New content of a document: `text` or `url`." },
);

export const ListDocumentsQuery = Type.Object({
  ...PageQuery,
  search: Type.Optional(Text({ max: 200, description: "Part of the name, in any case.", example: "price" })),
  status: Type.Optional(OneOf(namesOf(DOCUMENT_STATUSES), { description: "Status of the documents." })),
});

export const GetDocumentQuery = Type.Object({
  include: Type.Optional(OneOf(["text"] as const, { description: "`text`: the document's text." })),
});

const DocumentId = Id("ID of the document.", "doc_01m7yyhwt4k7n2s5w8y1a3d6f9");

const documentFields = {
  id: DocumentId,
  knowledge_base_id: KnowledgeBaseId,
  name: Type.String({ description: "Name of the document." }),
  status: OneOf(namesOf(DOCUMENT_STATUSES), {
    description:
      "`PENDING`: new content is being read; until then the text that it has serves. `READY`: searches find its text. `FAILED`: it has no text.",
  }),
  error: Nullable(Type.String(), "Why its newest content failed. With `READY`, older content serves."),
  media_type: Nullable(Type.String(), "Type of the content that its text is made of; null before."),
  language: Nullable(Type.String(), "Language of its text; null before there is one."),
  bytes: Count("What it takes of the account's limit: its text, and content that waits."),
  characters: Count("Characters of its text."),
  chunk_count: Count("Number of chunks: the parts that searches find."),
  embedded_chunks: Count("Chunks that searches compare by meaning too."),
  url: Nullable(Type.String(), "Address of its page; null for other documents."),
  refresh_hours: Nullable(Type.Integer(), "Hours between two fetches of the page; null if it is fetched on request."),
  refreshed_at: Nullable(At(), "When the page was last fetched, whether or not that succeeded."),
  created_at: At("When the document was created."),
  updated_at: At("When the document last changed."),
};

export const Document = Resource("Document", documentFields, "A document of a knowledge base.");

export const DocumentWithText = Resource("DocumentWithText", {
  ...documentFields,
  text: Type.Optional(Type.String({ description: "With `include=text`: its text, in Markdown." })),
});

export const StoredDocument = Resource("StoredDocument", {
  ...documentFields,
  duplicate: Type.Boolean({ description: "Whether this document had the same content already, and stays as it was." }),
});

export const DocumentList = Resource("DocumentList", {
  documents: Type.Array(Document, { description: "Documents of the page, newest first." }),
  ...PageFigures,
});

export const ListDocumentRepliesQuery = Type.Object(PageQuery);

export const DocumentReplyList = Resource("DocumentReplyList", {
  replies: Type.Array(
    Type.Object({
      conversation_id: Type.String({ format: "uuid", description: "Conversation of the reply." }),
      agent_id: Type.String({ description: "Agent that holds the conversation." }),
      seq: Type.Integer({ minimum: 1, description: "Place of the reply in the transcript, from 1 on." }),
      beginning: Type.String({ description: "First 300 characters of the reply." }),
      created_at: At("When the reply was stored."),
    }),
    { description: "Replies of the page, newest first." },
  ),
  ...PageFigures,
});

export const DocumentDeleted = Resource("DocumentDeleted", {
  message: Message,
  id: DocumentId,
  name: Type.String({ description: "Name of the document." }),
  deleted_at: At("When the document was deleted."),
});

const ChunkId = Id("ID of the chunk.", "chk_01m7yyhwu6m9q3t7x2z5b8d1f4");
const chunkFields = {
  chunk_id: ChunkId,
  document_id: DocumentId,
  name: Type.String({ description: "Name of the document." }),
  heading: Type.String({ description: "The titles that the chunk stands below; empty for none." }),
  text: Type.String({ description: "Text of the chunk." }),
};

export const DocumentChunk = Resource("DocumentChunk", chunkFields, "A part of a document, as searches find it.");

export const SearchKnowledgeBody = Type.Object(
  {
    query: Words({ max: 4_000, description: "What to look for.", example: "What does a small repair cost?" }),
    max_chunks: Maybe(Type.Integer({ minimum: 1, maximum: 50 }), "The most chunks to return. Default: 6."),
    language: Maybe(Language, "Only documents of this language. Default: all."),
  },
  { $id: "SearchKnowledgeRequest", description: "A search, as a turn of an agent makes it." },
);

const Score = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

export const FoundChunks = Resource("FoundChunks", {
  chunks: Type.Array(
    Type.Object({
      ...chunkFields,
      score: Score("How well it answers, comparable between queries."),
      lexical_score: Score("How well its words match."),
      semantic_score: Nullable(
        Score("How close it is in meaning."),
        "How close it is in meaning; null if not compared.",
      ),
    }),
    { description: "Best first." },
  ),
});
