import type { HoldTestCallRequest, HoldTestCallResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Line } from "@parley/shared/domain/tests";
import { ServiceError } from "@parley/shared/errors";
import type { Drivers, Held, HeldConversation } from "./driver.ts";
import type { Said } from "./user.ts";

/** A call that takes longer is not a test's. */
const CALL_TIMEOUT_MS = 15 * 60_000;

/** Holds a call in which a voice says the user's lines. @throws ServiceError as the call does */
export async function holdCall({ voices }: Drivers, held: HeldConversation): Promise<Held> {
  const { ownerId, agentId, agentVersion, conversationId, setup, origin } = held;
  held.begun(conversationId);
  const turns: { latencyMs: number | null }[] = [];
  const said: Said[] = [];
  const answered = Promise.withResolvers<void>();
  let next = answered;
  let isOver = false;
  let isCutShort = false;
  let failure: unknown;

  async function* steps(): AsyncGenerator<HoldTestCallRequest> {
    const start = { ownerId, agentId, agentVersion, conversationId, dynamicVariables: undefined, test: setup };
    yield { start, step: undefined };
    while (true) {
      try {
        // A line that interrupts has to be there when the reply to the line before begins.
        const known = held.isScripted ? await held.next(said) : null;
        if (!(known && "line" in known && known.line.interrupt_at_ms != null)) {
          await next.promise;
          next = Promise.withResolvers();
          if (isOver) return;
        }
        const asked = known ?? (await held.next(said));
        if (isOver) return;
        if ("ends" in asked) {
          isCutShort = asked.ends === "system";
          return yield { start: undefined, step: { $case: "hangUp", value: true } };
        }
        said.push({ by: "user", text: asked.line.text });
        yield { start: undefined, step: { $case: "line", value: lineOf(asked.line) } };
      } catch (error) {
        failure = error;
        return;
      }
    }
  }

  function take({ news }: HoldTestCallResponse): void {
    if (news?.$case === "turn") {
      const { heard, latencyMs } = news.value;
      if (said.length > 0 || heard !== "") said.push({ by: "agent", text: heard });
      turns.push({ latencyMs: latencyMs ?? null });
    } else if (news?.$case === "end") {
      isOver = true;
      if (news.value.endedBy === "failure")
        failure ??= new ServiceError("upstream_failed", `The call could not go on: ${news.value.reason}`);
    }
    next.resolve();
  }

  try {
    for await (const news of voices.holdTestCall(steps(), { origin, timeoutMs: CALL_TIMEOUT_MS })) take(news);
  } finally {
    isOver = true;
    next.resolve();
  }
  if (failure) throw failure;
  // The first one is the greeting's.
  return { conversationId, isCutShort, latenciesMs: turns.slice(1).map(({ latencyMs }) => latencyMs) };
}

function lineOf({ text, noise, interrupt_at_ms: interruptAtMs, dtmf }: Line) {
  return {
    text,
    noise: noise ?? undefined,
    interruptAtMs: interruptAtMs ?? undefined,
    dtmf: dtmf ?? undefined,
  };
}
