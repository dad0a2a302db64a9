import type { Chunk } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import type {
  GatherKnowledgeResponse,
  GatherKnowledgeResponse_WholeText,
  KnowledgeServiceService,
  KnowledgeUse,
  ResolvedBase,
} from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { WHOLE_CHARACTERS_MAX } from "@parley/shared/domain/knowledge";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { durations, secondsSince } from "@parley/shared/telemetry/instruments";
import { LRUCache } from "lru-cache";
import type { KnowledgeStatus, ReplyKnowledge } from "../store/reply-knowledge.ts";
import type { ToolChannel } from "../tools/tool.ts";

/** What turns ask of the knowledge service. None of it fails a turn. */
export interface Knowledge {
  /** Searches bases, and reads those that are used as a whole. Without an answer in time there is nothing, and a status that says so. */
  gather(wanted: Wanted, log: Logger): Promise<Gathered>;
  /** The bases as they were when they were last read, which this does again; without an answer, those that are known. */
  basesOf(wanted: Pick<Wanted, "ownerId" | "channel"> & { ids: readonly string[] }): Promise<readonly ResolvedBase[]>;
}

interface Wanted {
  ownerId: string;
  uses: readonly KnowledgeUse[];
  query: string;
  channel: ToolChannel;
}

export interface Gathered {
  chunks: readonly Chunk[];
  texts: readonly GatherKnowledgeResponse_WholeText[];
  known: Omit<ReplyKnowledge, "sources">;
}

/** The whole time of a search. People wait longer for what they read than for what they hear. */
const WITHIN_MS: Readonly<Record<ToolChannel, number>> = { call: 400, chat: 2_000, message: 2_000 };
/** For the way there and back. */
const WAY_MS = 50;
const BASES_REMEMBERED_MAX = 10_000;

const took = durations("parley.knowledge.duration", "Duration of what turns ask of knowledge bases, by status");

type Client = Pick<ServiceClient<typeof KnowledgeServiceService>, "gatherKnowledge" | "resolveKnowledgeBases">;

export function knowledgeOf(client: Client): Knowledge {
  const remembered = new LRUCache<string, ResolvedBase>({ max: BASES_REMEMBERED_MAX });

  async function gather({ channel, ...wanted }: Wanted, log: Logger): Promise<Gathered> {
    const startedAt = performance.now();
    const timeoutMs = WITHIN_MS[channel];
    const request = {
      ...{ ...wanted, uses: [...wanted.uses], withinMs: timeoutMs - WAY_MS },
      ...{ language: undefined, wholeCharactersMax: WHOLE_CHARACTERS_MAX },
    };
    const answer = await client.gatherKnowledge(request, { timeoutMs }).catch((err) => {
      log.warn({ err, owner_id: wanted.ownerId }, "a turn goes on without knowledge");
      return err instanceof ServiceError && err.kind === "deadline" ? ("timed_out" as const) : ("unavailable" as const);
    });
    const status = typeof answer === "string" ? answer : statusOf(answer);
    took().record(secondsSince(startedAt), { status });
    const { chunks, texts, truncated, documentSets } = typeof answer === "string" ? NOTHING : answer;
    const durationMs = Math.round(performance.now() - startedAt);
    return { chunks, texts, known: { status, durationMs, truncated, documentSets } };
  }

  async function readBases(ownerId: string, ids: readonly string[], timeoutMs: number): Promise<void> {
    const request = { ownerId, knowledgeBaseIds: [...ids], withCharacters: false };
    const { results } = await client.resolveKnowledgeBases(request, { timeoutMs });
    for (const { knowledgeBase } of results)
      if (knowledgeBase) remembered.set(keyOf(ownerId, knowledgeBase.knowledgeBaseId), knowledgeBase);
  }

  return {
    gather,
    async basesOf({ ownerId, ids, channel }) {
      const known = () => ids.flatMap((id) => remembered.get(keyOf(ownerId, id)) ?? []);
      const read = readBases(ownerId, ids, WITHIN_MS[channel]).catch(() => {});
      // Nobody waits for names that may have changed.
      if (known().length < ids.length) await read;
      return known();
    },
  };
}

const NOTHING = { chunks: [], texts: [], truncated: false, documentSets: [] };

function statusOf({ partial }: GatherKnowledgeResponse): KnowledgeStatus {
  return partial ? "partial" : "ok";
}

function keyOf(ownerId: string, id: string): string {
  return `${ownerId} ${id}`;
}
