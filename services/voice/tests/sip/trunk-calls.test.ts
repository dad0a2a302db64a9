import { expect, test } from "bun:test";
import { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import { startFailure } from "@parley/shared/domain/start-webhook";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { fewAtOnce } from "@parley/shared/shares/few-at-once";
import { eventually } from "@parley/testkit/eventually";
import type { CallRequest } from "../../src/call/port.ts";
import { ADMISSIONS, answerInvite, type InviteContext } from "../../src/sip-calls/answer-invite.ts";
import { CONFIRMATIONS_MAX, confirmations } from "../../src/sip-calls/confirmations.ts";
import { digestLimits, WRONG_MAX } from "../../src/sip-calls/digest-limits.ts";
import type { Invite } from "../../src/transport/sip/answering.ts";
import type { Proof } from "../../src/transport/sip/challenger.ts";
import { headerOf, isRequest, type SipMessage } from "../../src/transport/sip/messages/message.ts";
import { listening } from "../listening.ts";
import { type Phone, phone, to } from "./phones.ts";
import { rawPeer } from "./raw-peer.ts";

const NUMBER = "+14155550123";
const TRUNK = { host: "trunk.example:5080", username: "acme", password: "of-the-trunk" };

/** Phone calls to one number of one owner, and to a second number of another owner that has no agent. */
function office(
  settings: Partial<CarrierSettings>,
  { hasVoice = true, refusal = null as ServiceError | null, alsoOf = [] as string[] } = {},
) {
  const requests: CallRequest[] = [];
  const announced: string[] = [];
  const looked: string[] = [];
  const ctx = {
    accounts: {
      findTrunk: async ({ mobileNumber }) => ({
        carrier: [NUMBER, "+14155550124"].includes(mobileNumber)
          ? {
              ownerId: "own_1",
              carrierId: "car_1",
              provider: "SIP",
              settings: CarrierSettings.fromPartial(settings),
              createdAt: undefined,
            }
          : undefined,
      }),
    },
    agents: {
      findCallee: async ({ called, ofOwnerId }) => {
        const owners = ["own_1", ...alsoOf].filter((ownerId) => ofOwnerId === undefined || ownerId === ofOwnerId);
        const [ownerId, other] = called === NUMBER ? owners : [];
        return { agent: ownerId && !other ? { ownerId, agentId: "agt_1" } : undefined };
      },
    },
    addressesOf: async (host) => {
      looked.push(host);
      return host === "trunk.example" ? ["198.51.100.7", "2001:db8::7"] : [];
    },
    admitFewAtOnce: fewAtOnce(ADMISSIONS),
    confirm: confirmations(),
    limitDigests: digestLimits(() => 0),
    isLoopbackOpen: true,
    checkCall: async () => {
      if (refusal) throw refusal;
    },
    startCall: async (request, connect) => {
      if (refusal) throw refusal;
      requests.push(request);
      await connect(listening().to, new AbortController().signal, async () => {});
      return { conversationId: "1", ended: new Promise(() => {}), hangUp: () => {} };
    },
    announce: async (ownerId) => {
      if (hasVoice) announced.push(ownerId);
      return hasVoice;
    },
    log: silentLogger,
  } satisfies InviteContext;
  return { ctx, requests, looked, announced };
}

interface Given {
  from?: string;
  called?: string;
  to?: string;
  caller?: string;
  shows?: { username: string; password: string };
  over?: "UDP" | "TCP" | "TLS";
}

/** An invite that records its outcome. */
function invite({ from = "198.51.100.7", called = NUMBER, to: dialled = called, caller, shows, over = "UDP" }: Given) {
  const uri = (user: string) => ({ scheme: "sip" as const, user, host: "x", port: null, params: new Map() });
  const outcome: string[] = [];
  let proof: Proof | null = null;
  const given = {
    called: uri(called),
    to: uri(dialled),
    identities: caller === undefined ? [] : [uri(caller)],
    callId: "1",
    source: { protocol: over, address: from, port: 5060 },
    cancelled: new AbortController().signal,
    hasShown: ({ username, password }) => {
      const isRight = shows?.username === username && shows?.password === password;
      proof = shows ? (isRight ? "right" : "wrong") : null;
      if (isRight) return true;
      outcome.push("401");
      return false;
    },
    isThere: () => over !== "UDP",
    hasCredentials: shows !== undefined,
    proof: () => proof,
    ring: () => {},
    accept: async () => {
      outcome.push("200");
      return { hangUp: async () => void outcome.push("BYE") } as never;
    },
    refuse: (status) => void outcome.push(String(status)),
    refuseOnce: (status) => void outcome.push(String(status)),
  } satisfies Invite;
  return { given, outcome };
}

async function called(settings: Partial<CarrierSettings>, given: Given, how: Parameters<typeof office>[1] = {}) {
  const { ctx, requests, looked, announced } = office(settings, how);
  const { given: asked, outcome } = invite(given);
  await answerInvite(ctx, asked);
  return { outcome, requests, looked, announced };
}

test("a call from an address of the number's trunk reaches the agent of the trunk's owner", async () => {
  const { outcome, requests } = await called(TRUNK, { caller: "+442071838750" });
  expect(outcome).toEqual(["200"]);
  expect(requests).toMatchObject([
    {
      ownerId: "own_1",
      agentId: "agt_1",
      channel: {
        type: "TELEPHONY",
        callingType: "INBOUND",
        toMobileNumber: NUMBER,
        fromMobileNumber: "+442071838750",
      },
    },
  ]);
});

test.each(["198.51.100.7", "127.0.0.1"])(
  "a call from %s reaches the agent of the trunk's owner, whoever else's agents have the number",
  async (from) => {
    const { outcome, requests } = await called(TRUNK, { from }, { alsoOf: ["own_2"] });
    expect(outcome).toEqual(["200"]);
    expect(requests).toMatchObject([{ ownerId: "own_1", agentId: "agt_1" }]);
  },
);

test.each([
  ["without a plus", { called: "14155550123" }],
  ["with the international prefix", { called: "0014155550123" }],
  ["in To, when the registration is called", { called: "acme", to: "14155550123" }],
])("a number is recognized %s", async (_how, given) => {
  expect((await called(TRUNK, given)).outcome).toEqual(["200"]);
});

test("a call that its agent's start webhook lets nobody begin is answered with 503", async () => {
  const refusal = startFailure("The agent's start webhook failed", "");
  expect((await called(TRUNK, {}, { refusal })).outcome).toEqual(["503"]);
});

test.each(["unavailable", "deadline"] as const)(
  "a call that is refused with %s because a service is away may go elsewhere",
  async (kind) => {
    const refusal = new ServiceError(kind, "The agent service did not answer");
    expect((await called(TRUNK, {}, { refusal })).outcome).toEqual(["503"]);
  },
);

test("a caller who withholds the number has none", async () => {
  const { requests } = await called(TRUNK, { caller: "anonymous" });
  expect(requests[0]?.channel).toMatchObject({ fromMobileNumber: undefined });
});

test.each([
  ["192.0.2.77", "200"],
  ["::ffff:192.0.2.77", "200"],
  ["192.0.3.77", "401"],
  ["198.51.100.7", "401"],
  ["2001:db8::7", "401"],
])("with a list of addresses, a call from %s is answered with %s", async (from, status) => {
  const { outcome, looked } = await called({ host: "trunk.example", allowedAddresses: ["192.0.2.0/24"] }, { from });
  expect(outcome).toEqual([status]);
  expect(looked).toEqual([]);
});

test.each([
  ["UDP", "UDP", "200"],
  ["UDP", "TCP", "200"],
  ["UDP", "TLS", "200"],
  ["TCP", "UDP", "401"],
  ["TCP", "TCP", "200"],
  ["TCP", "TLS", "200"],
  ["TLS", "UDP", "401"],
  ["TLS", "TCP", "401"],
  ["TLS", "TLS", "200"],
] as const)("a call from the address of a %s trunk over %s is answered with %s", async (transport, over, status) => {
  expect((await called({ ...TRUNK, transport }, { over })).outcome).toEqual([status]);
});

test("a call over UDP that finds the owner's last place taken after it is confirmed is hung up", async () => {
  const { ctx, announced } = office(TRUNK);
  const { given, outcome } = invite({});
  const startCall = async () => {
    throw new ServiceError("rate_limited", "This account has 10 calls in progress, which is its limit");
  };
  await answerInvite({ ...ctx, startCall }, given);
  expect({ outcome, announced }).toEqual({ outcome: ["200", "BYE"], announced: [] });
});

test("an address that another owner's trunk has too admits nobody to a number that is not proven; credentials do", async () => {
  const { ctx } = office(TRUNK);
  const findTrunk = async (request: { mobileNumber: string }) => ({
    ...(await ctx.accounts.findTrunk(request)),
    needsDigest: true,
  });
  const { username, password } = TRUNK;
  for (const [shows, status] of [
    [undefined, "401"],
    [{ username, password }, "200"],
  ] as const) {
    const { given, outcome } = invite({ ...(shows && { shows }) });
    await answerInvite({ ...ctx, accounts: { findTrunk } }, given);
    expect(outcome).toEqual([status]);
  }
});

test("a call from elsewhere needs the trunk's credentials", async () => {
  const from = "203.0.113.9";
  const { username, password } = TRUNK;
  expect((await called(TRUNK, { from, shows: { username, password } })).outcome).toEqual(["200"]);
  expect((await called(TRUNK, { from, shows: { username, password: "guess" } })).outcome).toEqual(["401"]);
  expect((await called({ host: "trunk.example" }, { from, shows: { username: "", password: "" } })).outcome).toEqual([
    "401",
  ]);
});

/** The outcomes of calls that show these credentials, in order. */
async function tried(tries: readonly Given[], seconds = () => 0) {
  const { ctx } = office(TRUNK);
  const limited = { ...ctx, limitDigests: digestLimits(() => seconds() * 1_000) };
  const outcomes: string[] = [];
  for (const each of tries) {
    const { given, outcome } = invite(each);
    await answerInvite(limited, given);
    outcomes.push(...outcome);
  }
  return outcomes;
}

const GUESS = { from: "203.0.113.9", shows: { username: "acme", password: "guess" } };
const RIGHT = { from: "203.0.113.9", shows: { username: "acme", password: "of-the-trunk" } };

test("a network with too many wrong passwords proves no more of them for a minute; others do, and so does its challenge", async () => {
  const guesses = Array(WRONG_MAX.ofNetwork).fill(GUESS);
  const elsewhere = { ...RIGHT, from: "203.0.113.10" };
  expect((await tried([...guesses, RIGHT, { from: RIGHT.from }, elsewhere])).slice(WRONG_MAX.ofNetwork)).toEqual([
    "403",
    "401",
    "200",
  ]);
  let seconds = 0;
  const passing = () => seconds;
  const wait = {
    ...RIGHT,
    get from() {
      seconds = 61;
      return RIGHT.from;
    },
  };
  expect((await tried([...guesses, RIGHT, wait], passing)).slice(WRONG_MAX.ofNetwork)).toEqual(["403", "200"]);
});

test("a number with too many wrong passwords is guessed at no more, from whatever network and in whatever form", async () => {
  const called = ["14155550123", "0014155550123", NUMBER];
  const guesses = Array.from({ length: WRONG_MAX.ofNumber }, (_, at) => ({
    ...GUESS,
    from: `203.0.113.${at}`,
    called: called[at % 3] as string,
  }));
  const next = { ...GUESS, from: "198.18.0.1" };
  const other = { ...next, called: "+14155550199" };
  expect((await tried([...guesses, next, other])).slice(WRONG_MAX.ofNumber)).toEqual(["403", "401"]);
});

test("right passwords are never too many", async () => {
  expect(new Set(await tried(Array(100).fill(RIGHT)))).toEqual(new Set(["200"]));
});

test.each([
  ["a number", { called: NUMBER }],
  ["the name of a registration", { called: "parley", to: NUMBER }],
])("a call from this machine to %s needs neither", async (_whom, given) => {
  expect((await called({ host: "trunk.example" }, { from: "127.0.0.1", ...given })).outcome).toEqual(["200"]);
});

test("where this machine is not open, its calls are those of a stranger or of a trunk", async () => {
  const { ctx } = office({ host: "trunk.example", allowedAddresses: ["127.0.0.2"] });
  const outcomeOf = async (given: Given) => {
    const { given: asked, outcome } = invite(given);
    await answerInvite({ ...ctx, isLoopbackOpen: false }, asked);
    return outcome;
  };
  expect(await outcomeOf({ from: "127.0.0.1" })).toEqual(["401"]);
  expect(await outcomeOf({ from: "127.0.0.1", called: "agt_1" })).toEqual(["401"]);
  expect(await outcomeOf({ from: "127.0.0.2" })).toEqual(["200"]);
});

test("strangers get the same answer for every number", async () => {
  for (const number of [NUMBER, "+14155550124", "+14155550199", "agt_1", ""])
    expect((await called(TRUNK, { from: "203.0.113.9", called: number })).outcome).toEqual(["401"]);
});

const WITHOUT_AGENT = "+14155550124";

test.each([
  ["over the trunk", {}],
  ["from this machine", { from: "127.0.0.1" }],
])(
  "a call %s to an imported number without an agent hears the operator's sentence, and is no conversation",
  async (_how, given) => {
    const { outcome, requests, announced } = await called(TRUNK, { called: WITHOUT_AGENT, ...given });
    expect({ outcome, requests, announced }).toEqual({ outcome: [], requests: [], announced: ["own_1"] });
  },
);

test("without a voice for the sentence, a number without an agent is not found", async () => {
  expect((await called(TRUNK, { called: WITHOUT_AGENT }, { hasVoice: false })).outcome).toEqual(["404"]);
});

test("a number that nobody has imported is not found", async () => {
  const { outcome, announced } = await called(TRUNK, { called: "+14155550199", from: "127.0.0.1" });
  expect({ outcome, announced }).toEqual({ outcome: ["404"], announced: [] });
});

test("callers of an agent that cannot hold calls hear the sentence, and callers of a busy one hear that it is busy", async () => {
  const cannot = new ServiceError("condition", "Agent has no STT configuration: set stt");
  expect(await called(TRUNK, {}, { refusal: cannot })).toMatchObject({ outcome: [], announced: ["own_1"] });
  expect((await called(TRUNK, {}, { refusal: cannot, hasVoice: false })).outcome).toEqual(["480"]);
  const busy = new ServiceError("rate_limited", "This account has 10 calls in progress, which is its limit");
  expect(await called(TRUNK, {}, { refusal: busy })).toMatchObject({ outcome: ["486"], announced: [] });
});

test("strangers have few calls looked up at once, and a trunk's call is answered meanwhile", async () => {
  const { ctx, requests } = office(TRUNK);
  const { promise: found, resolve: find } = Promise.withResolvers<void>();
  let asked = 0;
  const findTrunk: typeof ctx.accounts.findTrunk = async (request) => {
    if (request.mobileNumber === NUMBER) return ctx.accounts.findTrunk(request);
    asked++;
    await found;
    return { carrier: undefined };
  };
  const slow = { ...ctx, accounts: { findTrunk } };
  const strangers = Array.from({ length: 40 }, () => invite({ from: "203.0.113.9", called: "+14155550199" }));
  const answers = strangers.map(({ given }) => answerInvite(slow, given));
  await answerInvite(slow, invite({}).given);
  expect(requests).toHaveLength(1);
  expect(asked).toBe(ADMISSIONS.atOnce);
  find();
  await Promise.all(answers);
  expect(strangers.every(({ outcome }) => outcome.join() === "401")).toBeTrue();
});

test("a caller who gives up before its trunk is looked up is not answered again", async () => {
  const { ctx } = office(TRUNK);
  const { given, outcome } = invite({});
  await answerInvite(ctx, { ...given, cancelled: AbortSignal.abort() });
  expect(outcome).toEqual([]);
});

/** Has calls from a phone on loopback seem to come from an address of the trunk. */
const fromTrunk = (given: Invite): Invite => ({ ...given, source: { ...given.source, address: "198.51.100.7" } });

test("a call over UDP takes no place and starts no agent before its caller confirms the answer", async () => {
  const { ctx, requests } = office(TRUNK);
  const parley = await phone((given) => void answerInvite(ctx, fromTrunk(given)));
  const forger = await rawPeer(parley);
  const invite = { ...forger.request("INVITE", {}, forger.description()), uri: `sip:${NUMBER}@${parley.address}` };
  forger.send(invite);
  const answer = await forger.answerTo(invite, 200);
  await forger.asked("BYE");
  expect(requests).toEqual([]);

  const trunk = await rawPeer(parley);
  const real = { ...trunk.request("INVITE", {}, trunk.description()), uri: `sip:${NUMBER}@${parley.address}` };
  trunk.send(real);
  const to = headerOf(await trunk.answerTo(real, 200), "to");
  expect(to).not.toBe(headerOf(answer, "to"));
  expect(requests).toEqual([]);
  trunk.send(trunk.request("ACK", { to }));
  await eventually(() => expect(requests).toHaveLength(1));
  for (const peer of [forger, trunk]) peer.stop();
});

test("calls that nobody confirms leave ports for audio to the calls of others, and keep no caller out", async () => {
  const { ctx, requests } = office(TRUNK);
  let accepted = 0;
  const parley = await phone((given) => void answerInvite(ctx, counting(fromTrunk(given))), "UDP", { t1Ms: 10_000 });
  function counting(given: Invite): Invite {
    const accept: Invite["accept"] = async (...how) => {
      accepted++;
      return given.accept(...how).finally(() => accepted--);
    };
    return { ...given, accept };
  }
  const forger = await rawPeer(parley);
  for (let at = 0; at < 15; at++)
    forger.send({
      ...forger.request("INVITE", { "call-id": `forged-${at}` }, forger.description()),
      uri: `sip:${NUMBER}@${parley.address}`,
    });
  const received = (what: (message: SipMessage) => boolean) => forger.received.filter(what);
  await eventually(() => expect(received((message) => !isRequest(message) && message.status === 200)).toHaveLength(15));
  await eventually(() => expect(accepted).toBe(CONFIRMATIONS_MAX));
  const ended = received(isRequest).map((message) => headerOf(message, "call-id"));
  expect(ended).toEqual(["forged-0", "forged-1", "forged-2", "forged-3", "forged-4"]);

  const trunk = await rawPeer(parley);
  const real = { ...trunk.request("INVITE", {}, trunk.description()), uri: `sip:${NUMBER}@${parley.address}` };
  trunk.send(real);
  trunk.send(trunk.request("ACK", { to: headerOf(await trunk.answerTo(real, 200), "to") }));
  await eventually(() => expect(requests).toHaveLength(1));
  for (const peer of [forger, trunk]) peer.stop();
});

test.each(["UDP", "TCP"] as const)(
  "a call over %s for which no RTP port is free is answered with 503",
  async (over) => {
    const { ctx } = office(TRUNK);
    const parley = await phone((given) => void answerInvite(ctx, fromTrunk(given)), over, {
      rtpPorts: { first: 26_101, last: 26_101 },
    });
    const trunk = await phone();
    const call = { ...to(parley), uri: `sip:${NUMBER}@${parley.address}` };
    expect(await trunk.call(call, listening().to)).toHaveProperty("answered");
    expect(await trunk.call(call, listening().to)).toMatchObject({ refused: 503, reason: "Service Unavailable" });
  },
);

test("a trunk that authenticates by digest is admitted over a real connection", async () => {
  const { ctx, requests } = office(TRUNK);
  const stranger = (given: Invite): Invite => ({ ...given, source: { ...given.source, address: "203.0.113.9" } });
  const parley: Phone = await phone((given) => void answerInvite(ctx, stranger(given)));
  const trunk = await phone();
  const call = { ...to(parley), uri: `sip:${NUMBER}@${parley.address}` };
  const { username, password } = TRUNK;
  expect(await trunk.call({ ...call, credentials: { username, password: "wrong" } }, listening().to)).toMatchObject({
    refused: 401,
  });
  expect(await trunk.call({ ...call, credentials: { username, password } }, listening().to)).toHaveProperty("answered");
  await eventually(() => expect(requests).toHaveLength(1));
});
