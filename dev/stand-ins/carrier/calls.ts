import { setTimeout as sleep } from "node:timers/promises";
import { type Callbacks, callbacksOf } from "./callbacks.ts";
import { readDocument, type Verb } from "./document.ts";
import { type Media, openMedia } from "./media.ts";
import type { Script } from "./scripts.ts";

/** A carrier's words for what happens to a call. */
export interface Dialect {
  /** The status is Twilio's word. */
  changed(call: SimulatedCall, status: string): void;
  /** The form of the request for a document. */
  asked(call: SimulatedCall): Record<string, string>;
}

export interface SimulatedCall {
  provider: "TWILIO" | "PLIVO";
  account: string;
  authToken: string;
  carrierCallId: string;
  direction: "inbound" | "outbound";
  /** E.164. */
  from: string;
  to: string;
  /** Twilio's word: queued, ringing, in-progress, completed, busy, no-answer, canceled or failed. */
  status: string;
  /** How often the phone rang. */
  rings: number;
  /** The sentences that the carrier said, where it dialed, and what went wrong. */
  notes: string[];
  heardBytes: number;
  saidLines: number;
  answeredAt: number | null;
  script: Script;
  callbacks: Callbacks;
  media: Media | null;
  dialect: Dialect;
  speak(sentence: string): Promise<Uint8Array>;
}

const OVER = ["completed", "busy", "no-answer", "canceled", "failed"];

export function isOver({ status }: SimulatedCall): boolean {
  return OVER.includes(status);
}

type NewCall = Omit<
  SimulatedCall,
  "status" | "rings" | "notes" | "heardBytes" | "saidLines" | "answeredAt" | "callbacks" | "media"
>;

/** @param sent called with each callback */
export function newCall(given: NewCall, sent: (url: string, status: number) => void): SimulatedCall {
  const { provider, authToken, script } = given;
  const callbacks = callbacksOf({ provider, authToken, callbacks: script.callbacks, sent });
  const empty = { status: "queued", rings: 0, notes: [], heardBytes: 0, saidLines: 0, answeredAt: null, media: null };
  return { ...given, ...empty, callbacks };
}

/** Rings a phone that an agent calls. Never rejects. @param answerUrl of the document */
export async function ring(call: SimulatedCall, answerUrl: string): Promise<void> {
  const { outcome, ring_ms } = call.script;
  change(call, "initiated");
  if (outcome !== "failed") {
    call.rings++;
    change(call, "ringing");
  }
  await sleep(ring_ms);
  if (isOver(call)) return;
  const unanswered = { busy: "busy", no_answer: "no-answer", failed: "failed" } as const;
  if (outcome in unanswered) return change(call, unanswered[outcome as keyof typeof unanswered]);
  await answer(call, answerUrl);
}

/** Someone answered: Parley for a call that comes in, the phone for one that goes out. Never rejects. */
export async function answer(call: SimulatedCall, url: string): Promise<void> {
  if (call.direction === "outbound") {
    call.answeredAt = Date.now();
    change(call, "in-progress");
  } else change(call, "ringing");
  try {
    await obey(call, readDocument(await call.callbacks.ask(url, call.dialect.asked(call))));
  } catch (error) {
    call.notes.push(String(error));
    change(call, "failed");
  }
}

/** Carries out a document. */
async function obey(call: SimulatedCall, steps: readonly Verb[]): Promise<void> {
  for (const [at, step] of steps.entries()) {
    if (step.verb === "reject") return change(call, "busy");
    if (call.answeredAt === null) {
      call.answeredAt = Date.now();
      change(call, "in-progress");
    }
    if (step.verb === "hang_up") return hangUp(call);
    if (step.verb === "say") call.notes.push(`said: ${step.text}`);
    if (step.verb === "press") call.notes.push(`pressed ${step.keys}`);
    if (step.verb === "dial") call.notes.push(`dialled ${step.to} from ${step.from}`);
    if (step.verb === "redirect")
      return obey(call, readDocument(await call.callbacks.ask(step.url, call.dialect.asked(call))));
    if (step.verb === "stream") return stream(call, step.url, steps.slice(at + 1));
  }
  hangUp(call);
}

/** Ends the call for either side. */
export function hangUp(call: SimulatedCall): void {
  if (isOver(call)) return;
  change(call, call.answeredAt === null ? "canceled" : "completed");
  call.media?.close();
}

/** A new document takes the place of the one that is carried out. */
export async function redirect(call: SimulatedCall, xml: string): Promise<void> {
  const media = call.media;
  call.media = null;
  media?.close();
  try {
    await obey(call, readDocument(xml));
  } catch (error) {
    call.notes.push(String(error));
    hangUp(call);
  }
}

/** @param next what follows if the other side closes the stream */
function stream(call: SimulatedCall, url: string, next: readonly Verb[]): void {
  const { provider, account, carrierCallId, script, speak } = call;
  const media = openMedia({
    provider,
    url,
    account,
    carrierCallId,
    script,
    speak,
    over: (how) => {
      call.heardBytes += media.heard();
      call.saidLines += media.said();
      // After its last verb the document is over, and with it the call, unless it was redirected.
      if (call.media !== media) return;
      if (how === "closed" && next.length > 0) void obey(call, next).catch((error) => call.notes.push(String(error)));
      else hangUp(call);
    },
  });
  call.media = media;
}

function change(call: SimulatedCall, status: string): void {
  if (isOver(call)) return;
  call.status = status === "initiated" ? "queued" : status;
  call.dialect.changed(call, status);
  if (isOver(call)) call.callbacks.ended();
}
