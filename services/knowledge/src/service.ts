import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { RoomSettings } from "@parley/shared/domain/full";
import { createEgress } from "@parley/shared/egress/egress";
import { expiredKeys } from "@parley/shared/idempotency/keys";
import { IDEMPOTENCY_KEYS } from "@parley/shared/idempotency/store";
import { oldRows } from "@parley/shared/jobs/old-rows";
import type { WorkerSettings } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process/running";
import { startService } from "@parley/shared/process/service";
import { registered } from "@parley/shared/rpc/registration";
import type { KnowledgeConfig } from "./config.ts";
import type { KnowledgeContext } from "./context.ts";
import { PAGE_BYTES_MAX } from "./ingest/fetch-page.ts";
import { ingestion } from "./ingest/ingest.ts";
import { refreshes } from "./ingest/refresh.ts";
import { removals } from "./ingest/remove.ts";
import { MIGRATIONS } from "./migrations.ts";
import { forgetOwners } from "./owners/forget-owner.ts";
import { addContent } from "./rpc/add-content.ts";
import { createDocument } from "./rpc/create-document.ts";
import { createKnowledgeBase } from "./rpc/create-knowledge-base.ts";
import { deleteDocument } from "./rpc/delete-document.ts";
import { deleteKnowledgeBase } from "./rpc/delete-knowledge-base.ts";
import { gatherKnowledge } from "./rpc/gather-knowledge.ts";
import { getChunk } from "./rpc/get-chunk.ts";
import { getDocument } from "./rpc/get-document.ts";
import { getKnowledgeBase } from "./rpc/get-knowledge-base.ts";
import { listDocuments } from "./rpc/list-documents.ts";
import { listKnowledgeBases } from "./rpc/list-knowledge-bases.ts";
import { readDocument } from "./rpc/read-document.ts";
import { refreshDocument } from "./rpc/refresh-document.ts";
import { replaceDocument } from "./rpc/replace-document.ts";
import { resolveKnowledgeBases } from "./rpc/resolve-knowledge-bases.ts";
import { search } from "./rpc/search.ts";
import { updateKnowledgeBase } from "./rpc/update-knowledge-base.ts";
import { createSearch } from "./search/search.ts";
import { fewSearches } from "./searching.ts";
import { UNTAKEN_PARTS } from "./store/contents.ts";
import { createParser, type Parser } from "./text/parse.ts";

interface KnowledgeSettings extends Pick<WorkerSettings, "pollMs"> {
  clock?: Clock;
  parser?: Parser;
}

/** @param settings a clock, the polling interval of the job worker, and a parser, for tests */
export function startKnowledge(
  config: KnowledgeConfig,
  log: Logger,
  { clock: given, pollMs, parser = createParser() }: KnowledgeSettings = {},
): Promise<Running> {
  return startService(
    {
      name: "knowledge",
      definition: KnowledgeServiceService,
      migrations: MIGRATIONS,
      clock: given,
      pollMs,
      build: ({ db, clock, connect, stopping }) => {
        const index = createSearch({ db, clock, log, embeddings: config });
        const searching = fewSearches(index);
        const agents = connect(AgentServiceService, "agent", config.PARLEY_AGENT_ADDRESS);
        const allow = config.PARLEY_ALLOWED_PRIVATE_HOSTS;
        const egress = createEgress({ allow, maxResponseBytes: PAGE_BYTES_MAX });
        const ctx: KnowledgeContext = {
          db,
          clock,
          agents,
          allowedHosts: allow,
          room: roomOf(config.PARLEY_KNOWLEDGE_OWNER_BYTES),
          documentsMax: config.PARLEY_KNOWLEDGE_OWNER_DOCUMENTS,
        };
        return [
          {
            handlers: {
              createKnowledgeBase: createKnowledgeBase(ctx),
              listKnowledgeBases: registered(listKnowledgeBases(ctx), { isList: true }),
              getKnowledgeBase: getKnowledgeBase(ctx),
              updateKnowledgeBase: updateKnowledgeBase(ctx),
              deleteKnowledgeBase: deleteKnowledgeBase(ctx),
              addContent: addContent(ctx),
              createDocument: createDocument(ctx),
              listDocuments: registered(listDocuments(ctx), { isList: true }),
              getDocument: getDocument(ctx),
              readDocument: readDocument(ctx),
              getChunk: getChunk(ctx),
              replaceDocument: replaceDocument(ctx),
              deleteDocument: deleteDocument(ctx),
              refreshDocument: refreshDocument(ctx),
              resolveKnowledgeBases: resolveKnowledgeBases(ctx),
            },
            queues: {
              ...ingestion({ ...ctx, parser, ask: egress.ask, stopping, changed: index.changed }),
              ...removals(db),
            },
            sweeps: [
              refreshes(db),
              oldRows(db, "delete-untaken-parts", 10 * 60_000, [UNTAKEN_PARTS]),
              expiredKeys(db, [IDEMPOTENCY_KEYS]),
            ],
          },
          {
            handlers: {
              search: registered(search(ctx, searching), { hasOwnShares: true }),
              gatherKnowledge: registered(gatherKnowledge(ctx, searching), { hasOwnShares: true }),
            },
            queues: index.queues,
            sweeps: index.sweeps,
          },
          forgetOwners(ctx),
          { stop: egress.close },
        ];
      },
    },
    config,
    log,
  );
}

function roomOf(bytesMax: number): RoomSettings {
  return { bytesMax, what: "Documents", remedy: "delete documents that you no longer need" };
}
