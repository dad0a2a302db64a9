import type { TestTurn } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { PassingTime } from "@parley/shared/shares/passing-time";
import type { CallNews } from "../call/port.ts";
import type { Line } from "./line.ts";

/** A test's user: says a line when the agent has finished, unless it is to interrupt, and notes what came of each. */
export interface PoliteCaller {
  /** What the call reports. */
  news(news: CallNews): void;
  /** The call is connected, and the agent has begun to greet if it does. */
  connected(): void;
  /** The agent connects the user elsewhere: says nothing, unless the agent speaks again. */
  transferring(): void;
  /** A frame with the agent's voice was heard. */
  heardVoice(): void;
  /** Takes the next line. Resolves when there is room for another. */
  add(line: Line): Promise<void>;
  /** No more lines come: hangs up when all are answered. */
  noMore(): void;
  /** Either side has hung up: says nothing more. */
  left(): void;
  /** The call is over and has reported everything: tells what is known of turns that are open. */
  over(): void;
}

interface PoliteCallerParts {
  clock: PassingTime;
  /** Resolves when the line was said and its keys are pressed; never rejects. */
  say(line: Line): Promise<void>;
  hangUp(reason: string): void;
  /** Called once for the greeting, then once for each line, unless the call ends before. */
  tell(turn: TestTurn): void;
}

/** A line, or the beginning of the call, and what was recognized and heard since. */
interface OpenTurn {
  recognized: string[];
  heard: string[];
  /** When the line had been said; null until then. */
  saidAt: number | null;
  /** When the agent's voice was first heard after that. */
  audibleAt: number | null;
  /** The agent has finished a reply after that. */
  isAnswered: boolean;
}

/** How long the agent may stay silent, while it neither thinks nor speaks, until a line counts as not answered. */
const NO_ANSWER_MS = 20_000;
/** Lines that wait. */
const WAITING_MAX = 2;

export function politeCaller({ clock, say, hangUp, tell }: PoliteCallerParts): PoliteCaller {
  const waiting: { line: Line; taken(): void }[] = [];
  /** Oldest first. Two while a line interrupts the reply to the line before. */
  const turns: OpenTurn[] = [newTurn()];
  let agent: Extract<CallNews, { type: "state" }>["state"] = "listening";
  /** What was recognized, as far as it may change. */
  let partial = "";
  /** What the agent has said by itself, such as a reminder, while no line was open. */
  let unasked: string[] = [];
  let isConnected = false;
  let isSaying = false;
  let isLast = false;
  let isTransferred = false;
  let isOver = false;
  let isDue = false;
  let stopWaiting = () => {};
  let stopInterruption = () => {};

  const finish = () => {
    const turn = turns.shift();
    if (turn) tell(toTurn(turn));
  };

  /** Does what the agent's silence makes possible, once everything that one event of the call has led to is reported. */
  const proceed = () => {
    if (isDue) return;
    isDue = true;
    queueMicrotask(() => {
      isDue = false;
      proceedNow();
    });
  };

  const proceedNow = () => {
    stopWaiting();
    if (isOver || !isConnected || isSaying || isTransferred || agent !== "listening") return;
    const open = turns[0];
    if (open && !(open.isAnswered && partial === "")) {
      stopWaiting = clock.after(NO_ANSWER_MS, () => {
        partial = "";
        open.isAnswered = true;
        proceedNow();
      });
      return;
    }
    finish();
    if (turns.length > 0) return proceedNow();
    if (waiting.length > 0) begin();
    else if (isLast) hangUp("All lines were said and answered");
  };

  const begin = () => {
    const next = waiting.shift();
    if (!next) return;
    stopWaiting();
    stopInterruption();
    const turn = newTurn(unasked);
    unasked = [];
    turns.push(turn);
    isSaying = true;
    next.taken();
    void say(next.line).then(() => {
      isSaying = false;
      turn.saidAt = clock.now();
      proceed();
    });
  };

  const interruptInTime = () => {
    const [open, newer] = turns;
    const atMs = waiting[0]?.line.interruptAtMs ?? null;
    if (isOver || isSaying || atMs === null || newer || open?.audibleAt == null) return;
    stopInterruption();
    stopInterruption = clock.after(Math.max(0, open.audibleAt + atMs - clock.now()), begin);
  };

  return {
    news: (news) => {
      if (news.type === "state") {
        agent = news.state;
        if (agent !== "listening") isTransferred = false;
      }
      if (news.type === "user") {
        partial = news.isFinal ? "" : news.text;
        if (news.isFinal) {
          // Who is answered has interrupted whatever was said before.
          if (turns.length > 1) finish();
          turns.at(-1)?.recognized.push(news.text);
        }
      }
      if (news.type === "agent" && news.isFinal) {
        const open = turns[0];
        (open?.heard ?? unasked).push(news.text);
        if (turns.length > 1) finish();
        else if (open && !isSaying) open.isAnswered = true;
      }
      proceed();
    },
    connected: () => {
      isConnected = true;
      const greeting = turns[0] as OpenTurn;
      greeting.saidAt = clock.now();
      greeting.isAnswered = agent === "listening";
      proceed();
    },
    transferring: () => {
      isTransferred = true;
    },
    heardVoice: () => {
      const open = turns[0];
      if (!open || open.saidAt === null || open.audibleAt !== null) return;
      open.audibleAt = clock.now();
      interruptInTime();
    },
    add: (line) => {
      const { promise, resolve: taken } = Promise.withResolvers<void>();
      waiting.push({ line, taken });
      interruptInTime();
      proceed();
      return waiting.length < WAITING_MAX ? Promise.resolve() : promise;
    },
    noMore: () => {
      isLast = true;
      proceed();
    },
    left: () => {
      isOver = true;
      stopWaiting();
      stopInterruption();
    },
    over: () => {
      for (const turn of turns.splice(0)) if (turn.recognized.length + turn.heard.length > 0) tell(toTurn(turn));
      for (const { taken } of waiting) taken();
    },
  };
}

function newTurn(heard: string[] = []): OpenTurn {
  return { recognized: [], heard, saidAt: null, audibleAt: null, isAnswered: false };
}

function toTurn({ recognized, heard, saidAt, audibleAt }: OpenTurn): TestTurn {
  return {
    recognized: recognized.join(" "),
    heard: heard.join(" "),
    latencyMs: saidAt === null || audibleAt === null ? undefined : Math.round(audibleAt - saidAt),
  };
}
