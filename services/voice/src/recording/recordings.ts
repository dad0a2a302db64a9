import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { keepEvent } from "@parley/shared/owner-events/hand-over";
import type { Handlers } from "@parley/shared/rpc/server";
import { type PassingTime, passingTime } from "@parley/shared/shares/passing-time";
import { counter } from "@parley/shared/telemetry/instruments";
import { untilAnswered } from "../call/transcript.ts";
import { forgetRecordings } from "../rpc/forget-recordings.ts";
import { readRecording } from "../rpc/read-recording.ts";
import type { CallKey } from "../store/calls.ts";
import { deleteRecording, findRecording, finishRecording, insertRecording, markRemoving } from "../store/recordings.ts";
import { nameOf, type RecordingFiles } from "./files/files.ts";
import { type CallRecorder, recorderOf } from "./record-call.ts";

/** The recordings of calls, from their beginning to their deletion. */
export interface Recordings {
  /** Begins the recording of a call whose agent wants one. Null if it cannot be recorded, which is logged; the call continues. */
  begin(call: CallKey, clock: PassingTime): Promise<CallRecorder | null>;
  /** Where the owner finds the recording of a call that is over; null if it has none. */
  addressOf(call: CallKey): Promise<string | null>;
  /** Requests the job that completes the file of a call that is over. Does nothing if it has none. */
  finish(call: CallKey): Promise<void>;
  /** Deletes recordings, by a job. */
  remove(ownerId: string, conversationIds: readonly string[]): Promise<void>;
  handlers: Handlers<typeof VoiceServiceService>;
  queues: Record<string, Queue>;
}

interface RecordingsOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  /** Null: nothing is recorded. */
  files: RecordingFiles | null;
  /** The gateway's public address. */
  publicUrl: string;
  /** Limit for all recordings of one owner, in bytes. */
  ownerBytesMax: number;
}

/** Four hours. */
const RECORDING_BYTES_MAX = 64 * 1024 * 1024;
const FINISH = "finish-recording";
const REMOVE = "remove-recordings";

const failures = counter("parley.recordings.failed", "Calls that were not recorded, or only in part, by reason");
const REASONS = {
  unset: "PARLEY_RECORDINGS is not set",
  full: "the owner's recordings are too large",
  database: "the database is unreachable",
  unwritten: "it could not be written",
};

export function recordings({ db, clock, log, files, publicUrl, ownerBytesMax }: RecordingsOptions): Recordings {
  // Reported from the start, because a counter that first appears at 1 has no rate to alert on.
  for (const reason of Object.values(REASONS)) failures().add(0, { reason });
  const failed = (call: CallKey, reason: string, err?: unknown) => {
    failures().add(1, { reason });
    const who = { owner_id: call.ownerId, conversation_id: call.conversationId };
    log.warn({ ...who, reason, ...(err !== undefined && { err }) }, "a call is not recorded");
    const object = { status: "failed", url: null, bytes: null, reason, finished_at: null };
    const happened = { ...call, event: "recording.failed", object, happenedAt: clock.now() } as const;
    untilAnswered(passingTime, () => keepEvent(db, happened)).catch((error) =>
      log.warn({ ...who, err: error }, "could not keep the event of a call that is not recorded"),
    );
    return null;
  };

  const remove: Recordings["remove"] = (ownerId, conversationIds) =>
    db.begin(async (tx) => {
      const ids = await markRemoving(tx, ownerId, conversationIds);
      if (ids.length === 0) return;
      const job = { ownerId, jobId: `${REMOVE}-${ids[0]}`, queue: REMOVE, payload: { conversationIds: ids } };
      await enqueueJob(tx, { ...job, dueAt: clock.now() });
    }) as Promise<void>;

  return {
    begin: async (call, time) => {
      if (!files) return failed(call, REASONS.unset);
      try {
        const room = { bytesMax: RECORDING_BYTES_MAX, ownerBytesMax, now: clock.now() };
        if (!(await insertRecording(db, call, room))) return failed(call, REASONS.full);
      } catch (err) {
        return failed(call, REASONS.database, err);
      }
      return recorderOf({
        file: files.create(nameOf(call)),
        bytesMax: RECORDING_BYTES_MAX,
        clock: time,
        failed: (err) => failed(call, REASONS.unwritten, err),
      });
    },
    addressOf: async (call) => (await findRecording(db, call)) && urlOf(call),
    finish: async (call) => {
      if (!(await findRecording(db, call))) return;
      const jobId = `${FINISH}-${call.conversationId}`;
      const payload = { conversationId: call.conversationId };
      await enqueueJob(db, { ownerId: call.ownerId, jobId, queue: FINISH, payload, dueAt: clock.now() });
    },
    remove,
    handlers: {
      readRecording: readRecording({ db, files }),
      forgetRecordings: forgetRecordings({ db, remove }),
    },
    queues: files
      ? {
          // Both are retried without end: a file is neither lost nor kept because its store was down.
          [FINISH]: {
            concurrency: 4,
            run: ({ ownerId, payload }) =>
              finishFile({ ownerId, conversationId: (payload as { conversationId: string }).conversationId }, files),
          },
          [REMOVE]: {
            concurrency: 4,
            run: async ({ ownerId, payload }) => {
              const { conversationIds } = payload as { conversationIds: string[] };
              for (const conversationId of conversationIds) await removeFile({ ownerId, conversationId }, files);
            },
          },
        }
      : {},
  };

  async function finishFile(call: CallKey, store: RecordingFiles): Promise<void> {
    const bytes = await store.finish(nameOf(call));
    if (bytes === null) return deleteRecording(db, call);
    const isKept = await db.begin(async (tx) => {
      const now = clock.now();
      const before = await finishRecording(tx, call, bytes, now);
      const object = { status: "ready", url: urlOf(call), bytes, reason: null, finished_at: now.toISOString() };
      if (before === "recording") await keepEvent(tx, { ...call, event: "recording.ready", object, happenedAt: now });
      return before !== null;
    });
    // Its conversation was deleted in the meantime.
    if (!isKept) await removeFile(call, store);
  }

  function urlOf({ conversationId }: CallKey): string {
    return `${publicUrl}/v1/public/conversations/${conversationId}/recording`;
  }

  async function removeFile(call: CallKey, store: RecordingFiles): Promise<void> {
    await store.remove(nameOf(call));
    await deleteRecording(db, call);
  }
}
