import { invalid } from "@parley/shared/errors";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { readDate } from "../../http/date.ts";
import { pageFigures, pageOf } from "../../present/page.ts";
import { required } from "../../present/required.ts";
import { presentListedReplay, presentReplay } from "../../present/tests.ts";
import { GetReplayQuery, ListRunsQuery, ReplayBody } from "../../schemas/tests/requests.ts";
import { Replay, ReplayList } from "../../schemas/tests/shown.ts";
import { endpoints } from "../endpoint.ts";
import { testedVersionOf } from "../version.ts";
import { microsOf } from "./test-request.ts";

/** More than the conversations may take to be found. */
const FIND_TIMEOUT_MS = 60_000;

/** Replays of stored conversations against a version of their agent. */
export function replayRoutes(gate: GateContext, { agents }: Clients) {
  const route = endpoints(gate, { tag: "Tests" });
  return new Elysia({ prefix: "/v1/public/agents/:agent_id/replays" })
    .post(
      "/",
      ...route(
        {
          id: "createReplay",
          summary: "Replay conversations against a version",
          description:
            "The users of stored conversations say the same to the version, whose tools answer what they answered then. A call that was not recorded is an error: nothing goes out. Answers at once; `GET` lists what differs. A key needs the scope `conversations:read` too.",
          scope: "tests:run",
          body: ReplayBody,
          response: Replay,
          refuses: ["forbidden", "not_found", "conflict"],
        },
        async ({ ownerId, params, body, idempotency, write, requireScope }) => {
          requireScope("conversations:read");
          const { replay } = await agents.createReplay(
            {
              ...{ ownerId, agentId: params.agent_id ?? "", agentVersion: testedVersionOf(body) },
              conversations: filterOf(body),
              max: maxOf(body),
              channel: body.channel ?? "text",
              maxCostUsdMicros: microsOf(body.max_cost_usd),
              allowUnpriced: body.unpriced === "allow",
              idempotency,
            },
            { ...write, timeoutMs: FIND_TIMEOUT_MS },
          );
          return presentReplay(required(replay), true);
        },
      ),
    )
    .get(
      "/",
      ...route(
        {
          id: "listReplays",
          summary: "List the replays of an agent's conversations, newest first",
          description:
            "Without the results of conversations, which are counted: get one replay for them. Replays are kept as runs of tests are.",
          scope: "tests:read",
          query: ListRunsQuery,
          response: ReplayList,
          isList: true,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const page = pageOf(query);
          const { replays, total } = await agents.listReplays(
            { ownerId, agentId: params.agent_id ?? "", page },
            { origin },
          );
          return { replays: replays.map(presentListedReplay), ...pageFigures(total, page) };
        },
      ),
    )
    .get(
      "/:replay_id",
      ...route(
        {
          id: "getReplay",
          summary: "Get a replay with what differs",
          description:
            "A key without the scope `conversations:read` sees which kinds of things differ, and no transcripts, because these have what users said.",
          scope: "tests:read",
          query: GetReplayQuery,
          response: Replay,
          isList: true,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin, hasScope }) => {
          const key = { ownerId, agentId: params.agent_id ?? "", replayId: params.replay_id ?? "" };
          const { replay } = await agents.getReplay(
            { ...key, conversationId: query.conversation_id ?? "" },
            { origin },
          );
          return presentReplay(required(replay), hasScope("conversations:read"));
        },
      ),
    );
}

/** @throws ServiceError invalid if it is not said */
function maxOf({ max, conversations }: ReplayBody): number {
  const named = conversations?.conversation_ids?.length ?? 0;
  if (max == null && named === 0) throw invalid("max", "max is required without conversations.conversation_ids");
  return max ?? named;
}

function filterOf({ conversations }: ReplayBody) {
  const { conversation_ids, conversation_type, conversation_status, from, to, agent_version, search } =
    conversations ?? {};
  return {
    conversationIds: conversation_ids ?? [],
    type: conversation_type ?? "",
    status: conversation_status ?? "",
    from: from == null ? undefined : readDate("conversations.from", from),
    to: to == null ? undefined : readDate("conversations.to", to),
    agentVersion: agent_version ?? undefined,
    search: search ?? "",
  };
}
