import { responseTo } from "./messages/derived-messages.ts";
import { readValue } from "./messages/grammar.ts";
import { headerOf, type SipMessage, type SipRequest, type SipResponse } from "./messages/message.ts";

/** How often a call must be refreshed to stay alive (RFC 4028), and by whom. */
export interface Refreshes {
  everySeconds: number;
  areOurs: boolean;
}

/** What a request asks for, and the headers that agree to it; or the refusal of an interval that is too short. */
type Wanted = { refreshes: Refreshes | null; headers: Record<string, string> } | { minSeconds: number };

interface SessionTimer {
  /** Begins anew: the call was refreshed. Null: it needs no refreshes. */
  set(refreshes: Refreshes | null): void;
  /** Tries a refresh that failed once more, before the call expires. */
  retry(): void;
  stop(): void;
}

interface SessionTimerOptions {
  /** Refreshes the call. */
  refresh(): void;
  /** The call was not refreshed in time. */
  expired(): void;
  /** Milliseconds in a second: 1,000, and less for tests with a shorter T1. */
  secondMs: number;
}

/** Shorter intervals cost more messages than they are worth (RFC 4028, section 4). */
const SHORTEST_SECONDS = 90;
/** A longer one is as good as none, and timers have a limit. */
const LONGEST_SECONDS = 86_400;
const RETRY_SECONDS = 5;

/** Reads an INVITE or UPDATE. */
export function wantedRefreshes(request: SipRequest): Wanted {
  const asked = readInterval(request);
  if (!asked) return { refreshes: null, headers: {} };
  const theyCan = request.headers.get("supported")?.some((value) => value.toLowerCase() === "timer") ?? false;
  if (theyCan && asked.seconds < SHORTEST_SECONDS) return { minSeconds: SHORTEST_SECONDS };
  // Whoever cannot refresh relies on us: a proxy has asked.
  const areOurs = !theyCan || asked.refresher === "uas";
  const seconds = Math.max(asked.seconds, SHORTEST_SECONDS);
  return {
    refreshes: { everySeconds: seconds, areOurs },
    headers: {
      "session-expires": `${seconds};refresher=${areOurs ? "uas" : "uac"}`,
      ...(!areOurs && { require: "timer" }),
    },
  };
}

/** Refuses an interval that is too short. */
export function tooShort(request: SipRequest, minSeconds: number): SipResponse {
  return responseTo(request, 422, "Session Interval Too Small", { headers: { "min-se": String(minSeconds) } });
}

/** Reads the answer to an INVITE or UPDATE of ours. */
export function grantedRefreshes(response: SipResponse): Refreshes | null {
  const granted = readInterval(response);
  return granted && { everySeconds: granted.seconds, areOurs: granted.refresher !== "uas" };
}

/** Whether a peer takes an UPDATE, the lightest refresh. */
export function takesUpdates(message: SipMessage): boolean {
  return message.headers.get("allow")?.some((method) => method.toUpperCase() === "UPDATE") ?? false;
}

/** Refreshes a call at half of its interval, or ends one that the peer does not refresh (RFC 4028, section 10). */
export function sessionTimer({ refresh, expired, secondMs }: SessionTimerOptions): SessionTimer {
  let timers: ReturnType<typeof setTimeout>[] = [];
  let hasEnded = false;
  const after = (seconds: number, run: () => void) => {
    if (!hasEnded) timers.push(setTimeout(run, seconds * secondMs));
  };
  const stop = () => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
  };
  return {
    set: (refreshes) => {
      stop();
      if (!refreshes) return;
      const { everySeconds, areOurs } = refreshes;
      after(everySeconds - Math.min(32, everySeconds / 3), expired);
      if (areOurs) after(everySeconds / 2, refresh);
    },
    retry: () => after(RETRY_SECONDS, refresh),
    stop: () => {
      hasEnded = true;
      stop();
    },
  };
}

function readInterval(message: SipMessage): { seconds: number; refresher: string | undefined } | null {
  const { value, params } = readValue(headerOf(message, "session-expires"));
  if (!/^\d{1,10}$/.test(value)) return null;
  return { seconds: Math.min(Number(value), LONGEST_SECONDS), refresher: params.get("refresher")?.toLowerCase() };
}
