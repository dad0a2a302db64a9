import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { plivoSignature, twilioSignature } from "@parley/shared/carriers/signatures";
import { type CallingBack, callbackUrl } from "@parley/shared/carriers/urls";
import { openDatabase } from "@parley/shared/db/database";
import { startFailure } from "@parley/shared/domain/start-webhook";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { fewUnverified } from "@parley/shared/shares/few-at-once";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { createTestDatabase } from "@parley/testkit/database";
import { failureOf } from "@parley/testkit/failures";
import type { CallRequest } from "../../src/call/port.ts";
import { type CallbackContext, handleCallback } from "../../src/carriers/callbacks/handle-callback.ts";
import { holdIncoming } from "../../src/carriers/callbacks/hold-incoming.ts";
import { type IncomingCalls, incomingCalls } from "../../src/carriers/callbacks/incoming-calls.ts";
import type { CarrierEvent } from "../../src/carriers/carrier.ts";
import { transferEvent } from "../../src/carriers/documents.ts";
import type { ArrivedStream } from "../../src/transport/media-stream/connection.ts";

const PUBLIC_URL = "https://api.acme.example/parley/";
const TOKEN = "0123456789abcdef0123456789abcdef";
const OWNER = "own_01m7yyhwgbk5r2v7x0z4b6d8f1";
const TWILIO = "car_0000000000000000000000000t";
const PLIVO = "car_0000000000000000000000000p";
const CALL = "call_01m7yyhwgbk5r2v7x0z4b6d8f1";
const SPOKEN = "call_01m7yyhwgbk5r2v7x0z4b6d8f2";
const PERSON = "call_01m7yyhwgbk5r2v7x0z4b6d8f3";
const AGENT = "agt_01m7yyhwgbk5r2v7x0z4b6d8f1";
const STAYS = new AbortController().signal;
const [NUMBER, CALLER] = ["+14155550160", "+14155550161"];

let clock: FakeClock;
let incoming: IncomingCalls;
let ctx: CallbackContext;
/** The events of the outgoing call, the calls that began, and the media streams that are expected. */
let reported: CarrierEvent[];
let started: CallRequest[];
let expectedIds: string[];
/** The owner of the number, and the error that refuses the agent. */
let numberOf: string | null;
let refusal: ServiceError | null;
/** The provider of the outgoing call's carrier. */
let callCarrier: string;
/** Whether somebody waits for the audio of the call to a person, and how that call has ended. */
let isAwaited: boolean;
let unanswered: string[];
/** How long the start webhook may take, why a conversation may not begin, and what began and was completed. */
let startWebhookMs: number;
let startRefusal: ServiceError | null;
let begun: string[];
let completed: { conversationId: string; outcome: number }[];

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

beforeEach(async () => {
  // The clock starts at the same time in each test.
  await db`delete from incoming_calls`;
  [reported, started, expectedIds, refusal, callCarrier] = [[], [], [], null, TWILIO];
  [isAwaited, unanswered] = [true, []];
  [startWebhookMs, startRefusal, begun, completed] = [0, null, [], []];
  numberOf = TWILIO;
  clock = fakeClock();
  const carrierOf = (carrierId: string) => ({
    ownerId: OWNER,
    carrierId,
    provider: carrierId === TWILIO ? "TWILIO" : "PLIVO",
    settings: { allowedAddresses: [], authToken: TOKEN },
    createdAt: undefined,
  });
  const exists = (carrierId: string) => [TWILIO, PLIVO].includes(carrierId);
  incoming = incomingCalls({
    db,
    clock,
    log: silentLogger,
    accounts: { findCarrierOfNumber: async () => ({ carrier: numberOf ? carrierOf(numberOf) : undefined }) },
    agents: {
      findCallee: async ({ called, ofOwnerId }) => ({
        agent: called === NUMBER && ofOwnerId === OWNER ? { ownerId: OWNER, agentId: AGENT } : undefined,
      }),
    },
    checkAgent: async () => {
      if (refusal) throw refusal;
      return { startWebhookMs };
    },
    conversations: {
      startConversation: async ({ conversationId }) => {
        if (startRefusal) throw startRefusal;
        begun.push(conversationId);
        return { conversation: undefined, lastSequence: 0 };
      },
      completeConversation: async ({ conversationId, outcome }) => {
        completed.push({ conversationId, outcome });
        return { status: 3 };
      },
    },
    expectMedia: async ({ callId }) => {
      expectedIds.push(callId);
      return { url: `wss://voice.acme.example/media/${expectedIds.length}` };
    },
    callsMax: 2,
    unknownNumberSentence: "Nobody <here> & gone.",
  });
  ctx = {
    publicUrl: PUBLIC_URL,
    incoming,
    people: {
      find: async (callId) =>
        callId === PERSON ? { ownerId: OWNER, callId, carrierId: callCarrier, provider: "TWILIO" } : null,
      answer: async () => (isAwaited ? ["wss://voice.acme.example/media/1", "wss://voice.acme.example/media/2"] : null),
      ended: async ({ callId }, { how }) => void unanswered.push(`${callId} ${how}`),
    },
    spoken: {
      find: async (callId) =>
        callId === SPOKEN ? { ownerId: OWNER, callId, carrierId: TWILIO, sentence: "Your code is 1." } : null,
    },
    verifyFewAtOnce: fewUnverified(),
    accounts: {
      findCarrier: async ({ carrierId }) => ({ carrier: exists(carrierId) ? carrierOf(carrierId) : undefined }),
      getCarrierCredentials: async ({ carrierId }) => {
        if (!exists(carrierId)) throw new ServiceError("not_found", "Carrier not found");
        return { carrier: carrierOf(carrierId) };
      },
    },
    calledBack: {
      find: async (callId) => (callId === CALL ? { ownerId: OWNER, carrierId: callCarrier } : null),
      answer: async (_, { machine }) => (machine ? null : { url: "wss://voice.acme.example/media/out" }),
      report: async (call, event) => {
        expect(call).toMatchObject({ ownerId: OWNER, callId: CALL });
        reported.push(event);
      },
    },
  };
});

/** Holds an incoming call whose audio has arrived. @returns false if it is none */
function hold(stream: ArrivedStream) {
  return holdIncoming(
    {
      db,
      log: silentLogger,
      carriersOf: async () => {
        throw new Error("not asked for");
      },
      startCall: async (call, connect) => {
        started.push(call);
        await connect({} as never, new AbortController().signal, async () => {});
        return { conversationId: call.conversationId ?? "", ended: new Promise(() => {}), hangUp: () => {} };
      },
    },
    stream,
  );
}

interface Sent {
  provider?: CallingBack;
  id?: string;
  event?: string;
  form: Record<string, string>;
  token?: string;
  /** What the carrier signed, if it differs from what is sent. */
  signed?: Partial<Pick<Sent, "id" | "event" | "form">>;
  publicUrl?: string;
}

/** A callback as the carrier signs and sends it. */
function send({ provider = "twilio", id = TWILIO, event = "voice", form, token = TOKEN, ...rest }: Sent) {
  const { signed = {}, publicUrl = PUBLIC_URL } = rest;
  const url = callbackUrl(publicUrl, provider, signed.id ?? id, signed.event ?? event);
  const params = new URLSearchParams(signed.form ?? form);
  const signature =
    provider === "twilio" ? twilioSignature(token, url, params) : plivoSignature(token, url, params, "7");
  const callback = { provider, id, event, form: new URLSearchParams(form), signatures: [signature], nonce: "7" };
  return handleCallback(ctx, callback, STAYS);
}

const ringing = (form: Record<string, string> = {}) => ({
  CallSid: crypto.randomUUID(),
  To: NUMBER,
  From: CALLER,
  ...form,
});

test("an incoming call is streamed to the agent of the called number, and held when its audio arrives", async () => {
  const form = ringing();
  const document = await send({ form });
  expect(document).toBe(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Response><Connect><Stream url="wss://voice.acme.example/media/1"/></Connect></Response>`,
  );
  const stream = arrived(expectedIds[0] ?? "");
  expect(await hold(stream)).toBeTrue();
  expect(stream.outcome()).toBe("accepted");
  expect(started).toMatchObject([
    {
      ownerId: OWNER,
      agentId: AGENT,
      channel: {
        type: "TELEPHONY",
        callingType: "INBOUND",
        toMobileNumber: NUMBER,
        fromMobileNumber: CALLER,
        telephonyProvider: "TWILIO",
      },
      // Another process hangs it up if this one dies before the audio is connected.
      farEnd: { type: "carrier", carrierId: TWILIO, carrierCallId: form.CallSid },
    },
  ]);
  expect(await hold(arrived("call_00000000000000000000000000"))).toBeFalse();
});

test("Plivo's numbers and documents have Plivo's form", async () => {
  numberOf = PLIVO;
  const form = { CallUUID: "u-1", To: NUMBER.slice(1), From: "anonymous", Event: "StartApp" };
  expect(await send({ provider: "plivo", id: PLIVO, event: "answer", form })).toEndWith(
    `<Response><Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000">wss://voice.acme.example/media/1</Stream></Response>`,
  );
  await hold(arrived(expectedIds[0] ?? ""));
  expect(started).toMatchObject([{ channel: { toMobileNumber: NUMBER, fromMobileNumber: undefined } }]);
  expect(await send({ provider: "plivo", id: PLIVO, event: "hangup", form })).toBe("");
});

test("a call that is reported twice is one call, and a minute later its audio is refused", async () => {
  const form = ringing();
  await send({ form });
  await send({ form });
  expect(new Set(expectedIds).size).toBe(1);
  for (const id of expectedIds) await hold(arrived(id));
  expect(new Set(started.map(({ conversationId }) => conversationId)).size).toBe(1);
  clock.advance(61_000);
  expect(await send({ form })).toEndWith("<Response><Hangup/></Response>");
});

test("beyond a hundred calls a minute for each that an owner may have, callers hear that the number is busy", async () => {
  for (let calls = 0; calls < 200; calls++) {
    const form = ringing();
    expect(await send({ form })).toContain("<Stream");
    await send({ event: "status", form: { ...form, CallStatus: "completed" } });
  }
  expect(await send({ form: ringing() })).toContain("<Reject");
  clock.advance(61_000);
  expect(await send({ form: ringing() })).toContain("<Stream");
});

describe("while all of an owner's places are taken", () => {
  const PLIVO_SENT = { provider: "plivo", id: PLIVO, event: "answer" } as const;
  const plivoCall = () => ({ CallUUID: crypto.randomUUID(), To: NUMBER.slice(1), From: CALLER.slice(1) });
  const takePlaces = async () => {
    const forms = [ringing(), ringing()];
    const documents = await Promise.all(forms.map((form) => send({ form })));
    for (const document of documents) expect(document).toContain("<Stream");
    return forms;
  };

  test("a call is refused as busy before it is answered, even if the calls before it are not held yet", async () => {
    await takePlaces();
    expect(await send({ form: ringing() })).toContain(`<Response><Reject reason="busy"/></Response>`);
    numberOf = PLIVO;
    expect(await send({ ...PLIVO_SENT, form: plivoCall() })).toContain(`<Response><Hangup reason="busy"/></Response>`);
  });

  test("a call that has its place is told the same when its carrier asks again", async () => {
    const [form = {}] = await takePlaces();
    expect(await send({ form })).toContain("<Stream");
  });

  test("of calls that ring at once, only as many are answered as there are places", async () => {
    const documents = await Promise.all(Array.from({ length: 10 }, () => send({ form: ringing() })));
    expect(documents.filter((document) => document.includes("<Stream"))).toHaveLength(2);
    expect(documents.filter((document) => document.includes("<Reject"))).toHaveLength(8);
  });

  test.each([
    [
      "its carrier reports that a caller has left",
      () => send({ event: "status", form: { ...first, CallStatus: "canceled" } }),
    ],
    ["a call's audio does not arrive within a minute", async () => clock.advance(61_000)],
    ["a call is over that was held", () => hold(arrived(expectedIds[0] ?? ""))],
  ])("a place is free again when %s", async (_, free) => {
    [first = {}] = await takePlaces();
    await free();
    expect(await send({ form: ringing() })).toContain("<Stream");
  });
  let first: Record<string, string>;

  test("a place is not kept for a call that its agent cannot hold", async () => {
    refusal = new ServiceError("condition", "Agent has no LLM configuration: set llm");
    for (let calls = 0; calls < 5; calls++) expect(await send({ form: ringing() })).toContain("<Say");
    refusal = null;
    await takePlaces();
  });
});

test.each(["+266696687", "+86282452253", "Anonymous", "Restricted", "unavailable"])(
  "a caller whom Twilio or Plivo reports as %s is withheld",
  async (From) => {
    await send({ form: ringing({ From }) });
    numberOf = PLIVO;
    const form = { CallUUID: "u-1", To: NUMBER.slice(1), From: From.replace("+", "") };
    await send({ provider: "plivo", id: PLIVO, event: "answer", form });
    for (const id of expectedIds) await hold(arrived(id));
    expect(started).toMatchObject([
      { channel: { fromMobileNumber: undefined } },
      { channel: { fromMobileNumber: undefined } },
    ]);
  },
);

test.each([
  ["an incoming call", {}],
  ["an outgoing call", { id: CALL, event: "status" }],
])("a carrier's id of %s is not stored if it has more than 200 characters", async (_, target) => {
  const longest = ringing({ CallSid: "C".repeat(200), CallStatus: "ringing" });
  await send({ ...target, form: longest });
  const failed = failureOf(send({ ...target, form: { ...longest, CallSid: "C".repeat(201) } }));
  expect(await failed).toMatchObject({ kind: "condition" });
});

test("callers of a number without an agent, or of another carrier's number, hear the configured sentence", async () => {
  const sentence = `<Say language="en-US">Nobody &lt;here&gt; &amp; gone.</Say><Hangup/>`;
  expect(await send({ form: ringing({ To: "+14155550162" }) })).toContain(sentence);
  numberOf = PLIVO;
  expect(await send({ form: ringing() })).toContain(sentence);
  numberOf = null;
  expect(await send({ form: ringing() })).toContain(sentence);
  expect(expectedIds).toEqual([]);
});

test("a call that the agent cannot hold is refused at once: busy while the owner's places are taken", async () => {
  refusal = new ServiceError("rate_limited", "This account has 10 calls under way");
  expect(await send({ form: ringing() })).toContain(`<Reject reason="busy"/>`);
  refusal = new ServiceError("condition", "Agent has no LLM configuration: set llm");
  expect(await send({ form: ringing() })).toContain("<Say");
  expect(expectedIds).toEqual([]);
});

test("the start webhook is asked while an incoming call rings, and a call that it lets nobody begin is busy", async () => {
  startWebhookMs = 3_000;
  const form = ringing();
  expect(await send({ form })).toContain("<Stream");
  expect(begun).toHaveLength(1);
  await hold(arrived(expectedIds[0] ?? ""));
  expect(started).toMatchObject([{ conversationId: begun[0] }]);
  startRefusal = startFailure("The agent's start webhook failed", "");
  expect(await send({ form: ringing() })).toContain("<Reject");
});

test("a conversation that began while its call rang ends if nobody holds the call", async () => {
  startWebhookMs = 3_000;
  await send({ form: ringing() });
  const [jobs] = Object.values(incoming.queues);
  const payload = { conversationId: begun[0] };
  await jobs?.run({ ownerId: OWNER, jobId: "unheld", payload, attempts: 1 } as never, STAYS as never);
  expect(completed).toEqual([{ conversationId: begun[0] ?? "", outcome: Outcome.OUTCOME_CANCELLED }]);
});

test("a stream whose call cannot begin is closed", async () => {
  await send({ form: ringing() });
  const stream = arrived(expectedIds[0] ?? "", new Error("gone"));
  expect(await hold(stream)).toBeTrue();
  expect(stream.outcome()).toBe("refused");
});

test.each([
  ["queued", []],
  ["initiated", []],
  ["ringing", [{ type: "ringing", carrierCallId: "CA1" }]],
  ["in-progress", [{ type: "answered", carrierCallId: "CA1", machine: null }]],
  ["completed", [end("completed", null, 7)]],
  ["busy", [end("busy", null, 7)]],
  ["no-answer", [end("no_answer", null, 7)]],
  ["canceled", [end("cancelled", null, 7)]],
  ["failed", [end("failed", "Twilio 13224: the call failed", 7)]],
])("Twilio's status %s reports %j to the call, however often and in whatever order", async (CallStatus, events) => {
  const form = { CallSid: "CA1", CallStatus, CallDuration: "7", ErrorCode: "13224" };
  for (let time = 1; time <= 2; time++) {
    expect(await send({ id: CALL, event: "status", form })).toBe("");
    expect(reported).toEqual(Array.from({ length: time }, () => events as never).flat());
  }
});

test.each([
  ["human", [false]],
  ["unknown", []],
  ["fax", [true]],
  ["machine_start", [true]],
  ["machine_end_beep", [true, "ready"]],
  ["machine_end_silence", [true, "ready"]],
])("Twilio's detection of %s reports %j to the call", async (AnsweredBy, told) => {
  await send({ id: CALL, event: "machine", form: { CallSid: "CA1", AnsweredBy } });
  expect(reported.map((event) => (event.type === "answered" ? event.machine : "ready"))).toEqual(told as never);
});

test.each([
  ["ring", { CallStatus: "ringing" }, [{ type: "ringing", carrierCallId: "u-1" }]],
  ["machine", { Machine: "false" }, [{ type: "answered", carrierCallId: "u-1", machine: false }]],
  ["hangup", { CallStatus: "completed", Duration: "9" }, [end("completed", null, 9, "u-1")]],
  [
    "hangup",
    { CallStatus: "timeout", HangupCauseName: "No Answer", HangupCauseCode: "3000" },
    [end("no_answer", "Plivo 3000: No Answer", null, "u-1")],
  ],
  ["hangup", { CallStatus: "busy", HangupCause: "Busy Line" }, [end("busy", "Plivo Busy Line", null, "u-1")]],
])("Plivo's %s with %j reports %j to the call", async (event, form, events) => {
  callCarrier = PLIVO;
  await send({ provider: "plivo", id: CALL, event, form: { CallUUID: "u-1", ...(form as Record<string, string>) } });
  expect(reported).toEqual(events as never);
});

test("an outgoing call that is answered is streamed, and hung up when no process expects it", async () => {
  const answered = (AnsweredBy?: string) => ({ CallSid: "CA1", ...(AnsweredBy !== undefined && { AnsweredBy }) });
  expect(await send({ id: CALL, event: "answer", form: answered() })).toContain("/media/out");
  expect(await send({ id: CALL, event: "answer", form: answered("machine_start") })).toContain("<Hangup/>");
});

test("whoever answers a call that tells a sentence hears it, as often as the carrier asks", async () => {
  for (let time = 1; time <= 2; time++)
    expect(await send({ id: SPOKEN, event: "answer", form: { CallSid: "CA1" } })).toEndWith(
      `<Response><Say language="en-US">Your code is 1.</Say><Hangup/></Response>`,
    );
  expect(await send({ id: SPOKEN, event: "status", form: { CallSid: "CA1", CallStatus: "completed" } })).toBe("");
  expect(await failureOf(send({ id: SPOKEN, event: "answer", form: {}, token: "0" }))).toMatchObject({
    kind: "forbidden",
  });
  expect(reported).toEqual([]);
});

test.each([
  ["twilio", TWILIO, `<Connect><Stream url="wss://voice.acme.example/media/2"/></Connect>`],
  ["plivo", PLIVO, `contentType="audio/x-mulaw;rate=8000">wss://voice.acme.example/media/2</Stream>`],
] as const)(
  "a person who answers over %s is streamed to each address in turn, until nobody waits for them anymore",
  async (provider, carrierId, last) => {
    callCarrier = carrierId;
    const asked = { provider, id: PERSON, event: "answer", form: { CallSid: "CA1", CallUUID: "CA1" } } as const;
    const again = callbackUrl(PUBLIC_URL, provider, PERSON, "answer");
    const document = await send(asked);
    expect(document).toContain("wss://voice.acme.example/media/1");
    expect(document).toEndWith(`${last}<Redirect method="POST">${again}</Redirect></Response>`);
    isAwaited = false;
    expect(await send(asked)).toEndWith("<Response><Hangup/></Response>");
  },
);

test("the end of a call to a person is told to whoever waits for it, and needs the carrier's signature", async () => {
  const sent = { id: PERSON, event: "status", form: { CallSid: "CA1", CallStatus: "busy" } };
  expect(await failureOf(send({ ...sent, token: "0" }))).toMatchObject({ kind: "forbidden" });
  expect(unanswered).toEqual([]);
  expect(await send({ ...sent, form: { ...sent.form, CallStatus: "ringing" } })).toBe("");
  expect(await send(sent)).toBe("");
  expect(unanswered).toEqual([`${PERSON} busy`]);
});

test("Plivo gets the destination of a transferred call", async () => {
  const event = transferEvent({ from: NUMBER, to: "+14155550169" });
  expect(await send({ provider: "plivo", id: PLIVO, event, form: { CallUUID: "u-1" } })).toContain(
    `<Dial callerId="${NUMBER}" timeLimit="1800"><Number>+14155550169</Number></Dial>`,
  );
});

test.each<[string, Partial<Sent>]>([
  ["another token", { token: `${TOKEN}0` }],
  ["the signature of another call", { signed: { id: "car_00000000000000000000000000" } }],
  ["the signature of another event", { signed: { event: "elsewhere" } }],
  ["a parameter changed", { signed: { form: { CallSid: "CA1", To: NUMBER } } }],
  ["the address of another installation", { publicUrl: "https://evil.example" }],
])("a callback with %s is refused and changes nothing", async (_, wrong) => {
  const form = ringing();
  expect(await failureOf(send({ form, ...wrong }))).toMatchObject({ kind: "forbidden" });
  expect(await failureOf(send({ id: CALL, event: "status", form, ...wrong }))).toMatchObject({ kind: "forbidden" });
  expect([reported, expectedIds]).toEqual([[], []]);
});

test("a carrier without a token, such as a SIP trunk, takes no callbacks", async () => {
  const bare = {
    ...ctx,
    accounts: { ...ctx.accounts, getCarrierCredentials: async () => ({ carrier: bareCarrier() }) },
  };
  const form = new URLSearchParams(ringing());
  const url = callbackUrl(PUBLIC_URL, "twilio", TWILIO, "voice");
  const signatures = [twilioSignature("", url, form)];
  const callback = { provider: "twilio", id: TWILIO, event: "voice", form, signatures, nonce: "" } as const;
  expect(await failureOf(handleCallback(bare, callback, STAYS))).toMatchObject({ kind: "forbidden" });
});

test("forged callbacks are looked up a few at a time, and a true one passes most of them", async () => {
  const asked: string[] = [];
  const findCarrier: CallbackContext["accounts"]["findCarrier"] = async (request) => {
    asked.push(request.carrierId);
    await new Promise((resolve) => setImmediate(resolve));
    return accounts.findCarrier(request);
  };
  const { accounts } = ctx;
  ctx = { ...ctx, accounts: { ...accounts, findCarrier } };
  const ids = Array.from({ length: 50 }, (_, at) => `car_${String(at).padStart(26, "0")}`);
  const forged = ids.flatMap((id) => [
    failureOf(send({ id, form: ringing() })),
    failureOf(send({ id, form: ringing() })),
  ]);
  const before = asked.length;
  expect(await send({ form: ringing() })).toContain("<Stream");
  expect(before).toBeLessThan(5);
  // Ids take turns, so each of the fifty is served once before.
  expect(asked.indexOf(TWILIO)).toBeLessThan(60);
  for (const failure of await Promise.all(forged)) expect(failure).toMatchObject({ kind: "not_found" });
});

test.each(["car_00000000000000000000000000", "call_00000000000000000000000000", "own_1", "", "car_\u0000"])(
  "a callback for %j, which names no call, is not found",
  async (id) => {
    expect(await failureOf(send({ id, form: ringing() }))).toMatchObject({
      kind: "not_found",
      detail: "Call not found",
    });
  },
);

test("a carrier of one provider takes no callbacks of the other", async () => {
  const sent = { provider: "plivo", id: TWILIO, event: "answer", form: ringing() } as const;
  expect(await failureOf(send(sent))).toMatchObject({ kind: "not_found" });
});

function bareCarrier() {
  const settings = { allowedAddresses: [] };
  return { ownerId: OWNER, carrierId: TWILIO, provider: "TWILIO", settings, createdAt: undefined };
}

function end(how: string, notes: string | null, durationSeconds: number | null, carrierCallId = "CA1") {
  return { type: "ended", carrierCallId, end: { how, notes, durationSeconds } };
}

/** A stream that a carrier has opened for a call. */
function arrived(callId: string, failure?: Error): ArrivedStream & { outcome(): string } {
  let outcome = "open";
  return {
    ownerId: OWNER,
    callId,
    carrierCallId: "CA1",
    gone: new AbortController().signal,
    accept: () => {
      if (failure) throw failure;
      outcome = "accepted";
      return {} as never;
    },
    resume: () => {},
    refuse: () => {
      outcome = "refused";
    },
    outcome: () => outcome,
  };
}
