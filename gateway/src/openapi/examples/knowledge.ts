import type { OperationExamples } from "./example.ts";
import {
  AGENT_ID,
  CHUNK_ID,
  CREATED_AT,
  DOCUMENT_ID,
  DOCUMENTS_HASH,
  KNOWLEDGE_BASE_ID,
  ONE_PAGE,
  SESSION_ID,
  UPDATED_AT,
} from "./values.ts";

const TEXT = "# Repairs\n\nSmall repairs cost 40 euros, large ones 90.";
const NEW_TEXT = "# Repairs\n\nSmall repairs cost 45 euros, large ones 95.";

const base = {
  id: KNOWLEDGE_BASE_ID,
  name: "Price lists",
  description: "Prices and terms of delivery.",
  document_count: 1,
  chunk_count: 1,
  embedded_chunks: 1,
  bytes: 53,
  characters: 53,
  documents_hash: DOCUMENTS_HASH,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
};
const pending = {
  id: DOCUMENT_ID,
  knowledge_base_id: KNOWLEDGE_BASE_ID,
  name: "prices.md",
  status: "PENDING",
  error: null,
  media_type: null,
  language: null,
  bytes: 53,
  characters: 0,
  chunk_count: 0,
  embedded_chunks: 0,
  url: null,
  refresh_hours: null,
  refreshed_at: null,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
};
const ready = {
  ...pending,
  status: "READY",
  media_type: "text/markdown",
  language: "en",
  characters: 53,
  chunk_count: 1,
  embedded_chunks: 1,
};

export const KNOWLEDGE_EXAMPLES: OperationExamples = {
  createKnowledgeBase: {
    request: { name: base.name, description: base.description },
    response: {
      ...{ ...base, document_count: 0, chunk_count: 0, embedded_chunks: 0, bytes: 0, characters: 0 },
      documents_hash: "0000000000000000",
    },
  },
  listKnowledgeBases: { response: { knowledge_bases: [base], ...ONE_PAGE } },
  getKnowledgeBase: { response: base },
  updateKnowledgeBase: {
    request: { description: "Prices, terms of delivery, and opening hours." },
    response: { ...base, description: "Prices, terms of delivery, and opening hours.", updated_at: UPDATED_AT },
  },
  createDocument: {
    requests: {
      text: { summary: "A text", value: { name: pending.name, text: TEXT } },
      page: { summary: "A page", value: { url: "https://shop.example/prices", refresh_hours: 24 } },
    },
    form: { file: TEXT, name: pending.name },
    response: { ...pending, duplicate: false },
  },
  listDocuments: { response: { documents: [ready], ...ONE_PAGE } },
  getDocument: { response: ready },
  listDocumentReplies: {
    response: {
      replies: [
        {
          conversation_id: SESSION_ID,
          agent_id: AGENT_ID,
          seq: 3,
          beginning: "Small repairs cost 40 euros.",
          created_at: UPDATED_AT,
        },
      ],
      ...ONE_PAGE,
    },
  },
  getChunk: {
    response: {
      chunk_id: CHUNK_ID,
      document_id: DOCUMENT_ID,
      name: pending.name,
      heading: "Repairs",
      text: "Small repairs cost 40 euros, large ones 90.",
    },
  },
  replaceDocument: {
    request: { text: NEW_TEXT },
    form: { file: NEW_TEXT },
    response: { ...ready, status: "PENDING", bytes: 106, updated_at: UPDATED_AT, duplicate: false },
  },
  refreshDocument: {
    response: {
      ...pending,
      id: "doc_01m7yyhwtz8q2v5y9b3d7f1h4k",
      name: "https://shop.example/prices",
      bytes: 0,
      url: "https://shop.example/prices",
      refresh_hours: 24,
    },
  },
  searchKnowledgeBase: {
    request: { query: "What does a small repair cost?", max_chunks: 3 },
    response: {
      chunks: [
        {
          chunk_id: CHUNK_ID,
          document_id: DOCUMENT_ID,
          name: pending.name,
          heading: "Repairs",
          text: "Small repairs cost 40 euros, large ones 90.",
          score: 0.74,
          lexical_score: 0.81,
          semantic_score: 0.68,
        },
      ],
    },
  },
  deleteDocument: {
    response: { message: "Document deleted", id: DOCUMENT_ID, name: pending.name, deleted_at: UPDATED_AT },
  },
  deleteKnowledgeBase: {
    response: {
      message: "Knowledge base deleted",
      id: KNOWLEDGE_BASE_ID,
      name: base.name,
      documents_deleted: 0,
      deleted_at: UPDATED_AT,
    },
  },
};
