import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { presentChunk, presentKnowledgeBase } from "../../present/knowledge.ts";
import { pageFigures, pageOf } from "../../present/page.ts";
import { required } from "../../present/required.ts";
import {
  CreateKnowledgeBaseBody,
  FoundChunks,
  KnowledgeBase,
  KnowledgeBaseDeleted,
  KnowledgeBaseList,
  ListKnowledgeBasesQuery,
  SearchKnowledgeBody,
  UpdateKnowledgeBaseBody,
} from "../../schemas/knowledge.ts";
import { endpoints } from "../endpoint.ts";

const CHUNKS_DEFAULT = 6;

export function knowledgeBaseRoutes(gate: GateContext, { knowledge }: Clients) {
  const route = endpoints(gate, { tag: "Knowledge" });
  return new Elysia({ prefix: "/v1/public/knowledge-bases" })
    .post(
      "/",
      ...route(
        {
          id: "createKnowledgeBase",
          summary: "Create a knowledge base",
          scope: "knowledge:write",
          body: CreateKnowledgeBaseBody,
          response: KnowledgeBase,
          refuses: ["conflict"],
        },
        async ({ ownerId, body, idempotency, write }) => {
          const wanted = { ownerId, name: body.name, description: body.description ?? "", idempotency };
          const { knowledgeBase } = await knowledge.createKnowledgeBase(wanted, write);
          return presentKnowledgeBase(required(knowledgeBase));
        },
      ),
    )
    .get(
      "/",
      ...route(
        {
          id: "listKnowledgeBases",
          summary: "List knowledge bases, newest first",
          scope: "knowledge:read",
          query: ListKnowledgeBasesQuery,
          response: KnowledgeBaseList,
          isList: true,
        },
        async ({ ownerId, query, origin }) => {
          const page = pageOf(query);
          const { knowledgeBases, total } = await knowledge.listKnowledgeBases(
            { ownerId, page, search: query.search ?? "" },
            { origin },
          );
          return { knowledge_bases: knowledgeBases.map(presentKnowledgeBase), ...pageFigures(total, page) };
        },
      ),
    )
    .get(
      "/:knowledge_base_id",
      ...route(
        {
          id: "getKnowledgeBase",
          summary: "Get a knowledge base",
          scope: "knowledge:read",
          response: KnowledgeBase,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const key = { ownerId, knowledgeBaseId: params.knowledge_base_id ?? "" };
          const { knowledgeBase } = await knowledge.getKnowledgeBase(key, { origin });
          return presentKnowledgeBase(required(knowledgeBase));
        },
      ),
    )
    .patch(
      "/:knowledge_base_id",
      ...route(
        {
          id: "updateKnowledgeBase",
          summary: "Change a knowledge base",
          scope: "knowledge:write",
          body: UpdateKnowledgeBaseBody,
          response: KnowledgeBase,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, body, idempotency, write }) => {
          const key = { ownerId, knowledgeBaseId: params.knowledge_base_id ?? "" };
          const { name } = body;
          const description = body.description === null ? "" : body.description;
          const { knowledgeBase } = await knowledge.updateKnowledgeBase(
            { ...key, name, description, idempotency },
            write,
          );
          return presentKnowledgeBase(required(knowledgeBase));
        },
      ),
    )
    .delete(
      "/:knowledge_base_id",
      ...route(
        {
          id: "deleteKnowledgeBase",
          summary: "Delete a knowledge base with its documents",
          description: "Takes effect at the next search. A knowledge base that agents use is refused with 409.",
          scope: "knowledge:write",
          response: KnowledgeBaseDeleted,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const knowledgeBaseId = params.knowledge_base_id ?? "";
          const { name, documentsDeleted, deletedAt } = await knowledge.deleteKnowledgeBase(
            { ownerId, knowledgeBaseId, idempotency },
            write,
          );
          return {
            message: "Knowledge base deleted",
            id: knowledgeBaseId,
            name,
            documents_deleted: documentsDeleted,
            deleted_at: deletedAt,
          };
        },
      ),
    )
    .post(
      "/:knowledge_base_id/search",
      ...route(
        {
          id: "searchKnowledgeBase",
          summary: "Search a knowledge base as a turn would",
          description:
            "The chunks that an agent would be given, with their scores, for you to see why an answer is right or wrong.",
          scope: "knowledge:read",
          body: SearchKnowledgeBody,
          response: FoundChunks,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, body, origin }) => {
          const { chunks } = await knowledge.search(
            {
              ownerId,
              knowledgeBaseId: params.knowledge_base_id ?? "",
              query: body.query,
              maxChunks: body.max_chunks ?? CHUNKS_DEFAULT,
              language: body.language ?? undefined,
            },
            { origin },
          );
          return { chunks: chunks.map(presentChunk) };
        },
      ),
    );
}
