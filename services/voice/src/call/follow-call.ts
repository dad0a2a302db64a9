import type { Logger } from "@parley/shared/log";
import type { CallRecorder } from "../recording/record-call.ts";
import type { CallEnd, CallKey } from "../store/calls.ts";
import type { FarEnd } from "../transport/leg.ts";
import { ENDED_BY } from "./call-over.ts";
import { complete } from "./complete-call.ts";
import type { HeldCall } from "./held-call.ts";
import { CALL_SECONDS_MAX, type CallRequest, type Connect, NotConnected } from "./port.ts";
import type { StartCallOptions } from "./prepare-call.ts";
import type { QueuedAudio } from "./queued-audio.ts";
import { asServiceError, dateOf, untilAnswered } from "./transcript.ts";
import { guardedLeg, leavingLeg } from "./transfer.ts";

/** Connects the other party and completes the conversation when it is over. Never rejects. */
export async function follow(
  options: StartCallOptions & { queued: QueuedAudio },
  { maxDurationSeconds = CALL_SECONDS_MAX, takeBack }: CallRequest,
  key: CallKey,
  held: HeldCall,
  recorder: CallRecorder | null,
  connect: Connect,
): Promise<CallEnd> {
  const { clock, live, log } = options;
  let connectedAt: number | null = null;
  let unreached: NotConnected | null = null;
  let stopLimit = () => {};
  const unwanted = new AbortController();
  held.ended.then(() => unwanted.abort());
  let stored = Promise.resolve();
  // In order, so that an earlier state does not replace a later one.
  const store = (how: () => Promise<void>) => {
    stored = stored.then(how).catch((err) => log.warn({ err }, "could not store how far a call is connected"));
    return stored;
  };
  const reachedBy = (farEnd: FarEnd) => store(() => live.reachedBy(key, farEnd));
  const connected = connect(held.listener, unwanted.signal, reachedBy).then(
    async (leg) => {
      connectedAt = clock.now();
      const shared = options.queued.shared(key.ownerId, leg, unwanted.signal);
      held.connected(
        guardedLeg(
          leavingLeg(shared, key, options),
          options.denialOf,
          (to) => options.transferring?.(key.ownerId, to) ?? Promise.resolve(),
        ),
      );
      stopLimit = clock.after(maxDurationSeconds * 1_000, () => held.hangUp("time_over"));
      await store(() => live.connected(key, leg.farEnd?.() ?? null));
      return held.ended;
    },
    async (error) => {
      // The call ended first, so a failure to connect no longer matters.
      if (unwanted.signal.aborted) return held.ended;
      held.fail("The other party could not be connected");
      if (takeBack && error instanceof NotConnected && error.how === "unreached") unreached = error;
      return { ...(await held.ended), ...notConnected(error, log) };
    },
  );
  const { outcome, reason, notes, endedAt } = await connected;
  stopLimit();
  const durationSeconds = connectedAt === null ? 0 : Math.max(0, Math.round((endedAt - connectedAt) / 100) / 10);
  const answeredAt = dateOf(connectedAt, options) ?? null;
  const endedBy = connectedAt === null ? undefined : ENDED_BY[reason];
  const ended: CallEnd = { outcome, notes, durationSeconds };
  let end = ended;
  await recorder?.end();
  try {
    if (takeBack && unreached) {
      await live.release(key);
      await takeBack(unreached);
      return ended;
    }
    end = await untilAnswered(clock, () => options.recordEnd(key, ended));
    const hasRecording = recorder !== null && connectedAt !== null;
    const recordingUrl = hasRecording ? await untilAnswered(clock, () => options.recordings.addressOf(key)) : null;
    await untilAnswered(clock, () => complete(options.conversations, key, end, { recordingUrl, answeredAt, endedBy }));
    if (recorder) await untilAnswered(clock, () => options.recordings.finish(key));
    await live.release(key);
  } catch (err) {
    log.error({ err, conversation_id: key.conversationId }, "a call could not be completed yet");
    await live.abandon(key).catch(() => {});
  }
  return end;
}

const OUTCOMES = {
  no_answer: "NO_ANSWER",
  busy: "BUSY",
  cancelled: "CANCELLED",
  failed: "ERROR",
  unreached: "ERROR",
  left: "HUNG_UP_EARLY",
} as const satisfies Record<NotConnected["how"], CallEnd["outcome"]>;

function notConnected(error: unknown, log: Logger): Pick<CallEnd, "outcome" | "notes"> {
  if (!(error instanceof NotConnected)) {
    log.warn({ err: error }, "a call could not be connected");
    return { outcome: "ERROR", notes: asServiceError(error).detail };
  }
  return { outcome: OUTCOMES[error.how], notes: error.note };
}
