import { CallBatchChange } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { numberOf, REPEATED_OUTCOMES, VOICEMAILS } from "@parley/shared/domain/api-names";
import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { minuteOf, readDate } from "../../http/date.ts";
import type { Refusal } from "../../openapi/operation.ts";
import { presentBatch, presentCountedBatch } from "../../present/call-batch.ts";
import { pageFigures, pageOf } from "../../present/page.ts";
import { required } from "../../present/required.ts";
import {
  CallBatchBody,
  CallBatchList,
  CallBatchShown,
  CheckCallBatchBody,
  CheckedCallBatch,
  ListCallBatchesQuery,
} from "../../schemas/calls.ts";
import { endpoint, endpoints } from "../endpoint.ts";
import { versionOf } from "../version.ts";
import { batchCallsOf, csvCallsOf, namingLines } from "./batch-calls.ts";

const BODY_BYTES_MAX = 4 * 1024 * 1024;
/** 10,000 calls with four variables each, and the batch's settings. */
const BODY_VALUES_MAX = 71_000;
/** Enough to see that the columns are right. */
const CHECKED_SHOWN = 5;

export function callBatchRoutes(gate: GateContext, { voices }: Clients) {
  const route = endpoints(gate, { tag: "Calls" });
  const changing = (
    id: string,
    summary: string,
    change: CallBatchChange,
    description: string,
    refuses: readonly Refusal[] = ["not_found"],
  ) =>
    endpoint(
      gate,
      { id, tag: "Calls", summary, description, scope: "calls", response: CallBatchShown, refuses },
      async ({ ownerId, params, idempotency, write }) => {
        const key = { ownerId, batchId: params.batch_id ?? "" };
        const { batch } = await voices.changeCallBatch({ ...key, change, idempotency }, write);
        return presentCountedBatch(required(batch));
      },
    );
  const { CALL_BATCH_CHANGE_PAUSE, CALL_BATCH_CHANGE_RESUME, CALL_BATCH_CHANGE_CANCEL } = CallBatchChange;

  return new Elysia({ prefix: "/v1/public/call-batches" })
    .post(
      "/",
      ...route(
        {
          id: "createCallBatch",
          summary: "Have an agent call many numbers",
          description:
            "Calls up to 10,000 numbers, each in a separate call. Numbers on your do-not-call list are skipped (docs/outbound-calls.md#batches).",
          scope: "calls",
          body: CallBatchBody,
          bodyBytesMax: BODY_BYTES_MAX,
          bodyValuesMax: BODY_VALUES_MAX,
          response: CallBatchShown,
          refuses: ["condition", "not_found", "forbidden"],
        },
        async ({ ownerId, body, request, idempotency, write }) => {
          const { calls, lines } = await batchCallsOf(body, request.signal);
          const settings = settingsOf(body);
          const { batch } = await namingLines(lines, () =>
            voices.createCallBatch({ ownerId, settings, calls, idempotency }, write),
          );
          return presentCountedBatch(required(batch));
        },
      ),
    )
    .post(
      "/check",
      ...route(
        {
          id: "checkCallBatch",
          summary: "Check the CSV of a batch",
          description:
            "Calls nobody and stores nothing: a refusal names the lines that are wrong, as that of a batch would.",
          scope: "calls",
          body: CheckCallBatchBody,
          bodyBytesMax: BODY_BYTES_MAX,
          response: CheckedCallBatch,
        },
        async ({ ownerId, body: { csv }, request, origin }) => {
          const calls = await csvCallsOf(csv, request.signal);
          const lines = calls.map(({ line }) => line);
          const toMobileNumbers = calls.map(({ toMobileNumber }) => toMobileNumber);
          await namingLines(lines, () => voices.checkCallNumbers({ ownerId, toMobileNumbers }, { origin }));
          const shown = calls.slice(0, CHECKED_SHOWN).map(({ line, toMobileNumber, dynamicVariables }) => ({
            line,
            to_mobile_number: toMobileNumber,
            dynamic_variables: dynamicVariables,
          }));
          return { total: calls.length, calls: shown };
        },
      ),
    )
    .get(
      "/",
      ...route(
        {
          id: "listCallBatches",
          summary: "List batches of calls",
          description: "Newest first. A batch is kept for 30 days after its end.",
          scope: "calls",
          query: ListCallBatchesQuery,
          isList: true,
          response: CallBatchList,
        },
        async ({ ownerId, query, origin }) => {
          const page = pageOf(query);
          const { batches, total } = await voices.listCallBatches({ ownerId, page }, { origin });
          return { batches: batches.map(presentBatch), ...pageFigures(total, page) };
        },
      ),
    )
    .get(
      "/:batch_id",
      ...route(
        {
          id: "getCallBatch",
          summary: "Get a batch with its counts",
          scope: "calls",
          response: CallBatchShown,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const { batch } = await voices.getCallBatch({ ownerId, batchId: params.batch_id ?? "" }, { origin });
          return presentCountedBatch(required(batch));
        },
      ),
    )
    .post(
      "/:batch_id/pause",
      ...changing(
        "pauseCallBatch",
        "Pause a batch",
        CALL_BATCH_CHANGE_PAUSE,
        "No further calls start. Calls that are queued or in progress continue.",
      ),
    )
    .post(
      "/:batch_id/resume",
      ...changing(
        "resumeCallBatch",
        "Resume a batch",
        CALL_BATCH_CHANGE_RESUME,
        "Has no effect on a batch that has ended. A batch that was cancelled cannot be resumed.",
        ["not_found", "conflict"],
      ),
    )
    .post(
      "/:batch_id/cancel",
      ...changing(
        "cancelCallBatch",
        "Cancel a batch",
        CALL_BATCH_CHANGE_CANCEL,
        "Permanent. Calls that are ringing or in progress continue; waiting calls are cancelled.",
      ),
    );
}

function settingsOf(body: Static<typeof CallBatchBody>) {
  const { window, retries } = body;
  return {
    name: body.name ?? undefined,
    agentId: body.agent_id,
    ...versionOf(body),
    fromMobileNumber: body.from_mobile_number ?? undefined,
    startAt: body.start_at ? readDate("start_at", body.start_at) : undefined,
    window: window
      ? { fromMinute: minuteOf(window.from_time), toMinute: minuteOf(window.to_time), timezone: window.timezone }
      : undefined,
    retries: retries
      ? {
          max: retries.max,
          afterMinutes: retries.after_minutes,
          on: [...new Set(retries.on)].map((name) => numberOf(REPEATED_OUTCOMES, name)),
        }
      : undefined,
    metadata: body.metadata ?? undefined,
    isTestCall: body.is_test_call ?? false,
    maxDurationSeconds: body.max_duration_seconds ?? undefined,
    ringSeconds: body.ring_seconds ?? undefined,
    voicemail: numberOf(VOICEMAILS, body.voicemail ?? undefined),
  };
}
