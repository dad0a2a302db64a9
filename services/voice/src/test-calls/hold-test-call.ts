import type {
  HoldTestCallRequest,
  HoldTestCallResponse,
  TestCallEnd,
  TestCallStart,
} from "@parley/proto/parley/voice/v1/voice_service.ts";
import { cancelled, invalid, ServiceError } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/call";
import type { PassingTime } from "@parley/shared/shares/passing-time";
import { type Connect, NotConnected, type StartCall } from "../call/port.ts";
import { asServiceError } from "../call/transcript.ts";
import type { CallEnd } from "../store/calls.ts";
import { type LoopbackOptions, openLoopback } from "../transport/rtp/loopback.ts";
import { type LineVoice, lineVoice, readyLine } from "./line.ts";
import { testPhone } from "./phone.ts";
import { type PoliteCaller, politeCaller } from "./polite-caller.ts";

export interface TestCallOptions extends LineVoice {
  startCall: StartCall;
  rtp: LoopbackOptions;
  clock: PassingTime;
}

const MINUTES_MAX = 10;
const LINES_MAX = 100;

/**
 * Holds a call in which a voice says the lines of a test's user. Resolves when the call is over and stored.
 * @param steps the lines, and the end
 * @param tell called with each turn, then with the end
 * @throws ServiceError as `StartCall` does; condition without a voice, invalid for a wrong line, what that voice fails with; unavailable if this
 *   process stops
 */
export async function holdTestCall(
  { startCall, rtp, clock, ...voice }: TestCallOptions,
  { agentVersion, test, dynamicVariables = test?.dynamicVariables, ...key }: TestCallStart,
  steps: AsyncIterable<HoldTestCallRequest>,
  { signal, stopping }: Pick<Call, "signal" | "stopping">,
  tell: (news: NonNullable<HoldTestCallResponse["news"]>) => void,
): Promise<void> {
  const speak = lineVoice(voice);
  const over = new AbortController();
  let hungUp: string | null = null;
  let fault: ServiceError | null = null;
  const phone = testPhone({ heardVoice: () => caller.heardVoice(), left: () => caller.left() });
  const hangUp = (reason: string) => {
    hungUp ??= reason;
    phone.hangUp();
  };
  const caller: PoliteCaller = politeCaller({
    ...{ clock, say: phone.say, hangUp },
    tell: (turn) => tell({ $case: "turn", value: turn }),
  });
  const connect: Connect = async (listener) => {
    const legs = await openLoopback(rtp, phone.watching(listener), phone.listener).catch((error) => {
      throw new NotConnected("failed", asServiceError(error).detail);
    });
    phone.use(legs.theirs);
    // The agent joins the call, and begins to greet, as soon as this has returned.
    setImmediate(caller.connected);
    return legs.ours;
  };
  const request = { ...key, agentVersion, test, dynamicVariables, channel: { type: "WEB" as const } };
  const { news: watch, transferring } = caller;
  const { ended, hangUp: giveUp } = await startCall({ ...request, watch, transferring }, connect);

  const gone = AbortSignal.any([signal, stopping]);
  gone.addEventListener("abort", giveUp, { once: true });
  if (gone.aborted) giveUp();
  const stopLimit = clock.after(MINUTES_MAX * 60_000, () => hangUp(`The call has lasted ${MINUTES_MAX} minutes`));
  const until = AbortSignal.any([gone, over.signal]);
  readSteps(steps, caller, (text) => speak(text, until)).then(caller.noMore, (error) => {
    fault = asServiceError(error);
    giveUp();
  });

  const end = await ended;
  over.abort();
  stopLimit();
  gone.removeEventListener("abort", giveUp);
  if (signal.aborted) throw cancelled();
  if (stopping.aborted)
    throw new ServiceError("unavailable", "The process that held the call is stopping: hold another");
  if (fault) throw fault;
  caller.over();
  tell({ $case: "end", value: endOf(end, hungUp) });
}

/** Gives the lines to the caller, one by one as there is room. */
async function readSteps(
  steps: AsyncIterable<HoldTestCallRequest>,
  caller: PoliteCaller,
  speak: Parameters<typeof readyLine>[1],
): Promise<void> {
  let lines = 0;
  for await (const { step } of steps) {
    if (step?.$case === "hangUp") return;
    if (!step) throw invalid("step", "Each request after the first must have a line, or hang up");
    lines++;
    if (lines > LINES_MAX) throw invalid("line", `A test call has at most ${LINES_MAX} lines`);
    await caller.add(await readyLine(step.value, speak));
  }
}

function endOf({ outcome, notes }: CallEnd, hungUp: string | null): TestCallEnd {
  if (hungUp !== null) return { endedBy: "user", reason: hungUp };
  if (outcome === "ERROR") return { endedBy: "failure", reason: notes ?? "The call could not go on" };
  return { endedBy: "agent", reason: notes ?? "The agent hung up" };
}
