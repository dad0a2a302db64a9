import { afterEach, expect, test } from "bun:test";
import { responseTo } from "../../src/transport/sip/messages/derived-messages.ts";
import { headerOf, isRequest, readSip, type SipRequest, writeSip } from "../../src/transport/sip/messages/message.ts";
import { listening } from "../listening.ts";
import { phone } from "./phones.ts";

const CREDENTIALS = { username: "acme", password: "of-the-trunk" };

const servers: { stop(): void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
});

type Answer = readonly [status: number, challenge?: string | undefined];

/** A server that gives these answers, one to each request, and the last one to all others. */
async function server(...answers: Answer[]) {
  const asked: SipRequest[] = [];
  const socket = await Bun.udpSocket({
    hostname: "127.0.0.1",
    socket: {
      data: (from, bytes, port, address) => {
        const message = readSip(bytes);
        if (!message || !isRequest(message) || message.method === "ACK") return;
        const known = asked.findIndex((each) => headerOf(each, "cseq") === headerOf(message, "cseq"));
        const at = known >= 0 ? known : asked.push(message) - 1;
        const [status, challenge] = answers[Math.min(at, answers.length - 1)] as Answer;
        const header = status === 407 ? "proxy-authenticate" : "www-authenticate";
        const headers = challenge === undefined ? {} : { [header]: challenge };
        from.send(writeSip(responseTo(message, status, "Answer", { toTag: "theirs", headers })), port, address);
      },
    },
  });
  servers.push({ stop: () => socket.close() });
  return { asked, target: { protocol: "UDP" as const, address: "127.0.0.1", port: socket.port } };
}

const asks = (nonce: string, more = "", realm = "r") => `Digest realm="${realm}", nonce="${nonce}", qop="auth"${more}`;
const STALE = ", stale=true";

/** Which nonces each request answers. */
const noncesOf = (asked: readonly SipRequest[]) =>
  asked.map(({ headers }) =>
    ["authorization", "proxy-authorization"]
      .flatMap((name) => headers.get(name) ?? [])
      .map((value) => /nonce="(\w+)"/.exec(value)?.[1]),
  );

/** What a server answers, which nonces our requests prove the password with, and the outcome. */
const CONVERSATIONS: [string, Answer[], string[][], number][] = [
  ["one that asks once", [[401, asks("a")], [200]], [[], ["a"]], 200],
  ["a proxy that finds the nonce too old", [[407, asks("a")], [407, asks("b", STALE)], [200]], [[], ["a"], ["b"]], 200],
  [
    "one that writes TRUE in quotes",
    [[401, asks("a")], [401, asks("b", ', stale="TRUE"')], [200]],
    [[], ["a"], ["b"]],
    200,
  ],
  ["a proxy and then the server", [[407, asks("a")], [401, asks("b")], [200]], [[], ["a"], ["b", "a"]], 200],
  ["two proxies", [[407, asks("a")], [407, asks("b", "", "other")], [200]], [[], ["a"], ["a", "b"]], 200],
  [
    "one that refuses the password",
    [
      [401, asks("a")],
      [401, asks("b")],
    ],
    [[], ["a"]],
    401,
  ],
  [
    "one that says false",
    [
      [407, asks("a")],
      [407, asks("b", ", stale=false")],
    ],
    [[], ["a"]],
    407,
  ],
  ["one that never has enough", [[407, asks("a", STALE)]], [[], ["a"], ["a"], ["a"], ["a"]], 407],
  ["one whose scheme we lack", [[401, "Bearer x"]], [[]], 401],
];

test.each(CONVERSATIONS)("a call over %s shows its credentials rightly", async (_whom, answers, nonces, status) => {
  // A description would be needed for a call, so the server is busy.
  const trunk = await server(...answers.map(([each, challenge]): Answer => [each === 200 ? 486 : each, challenge]));
  const ours = await phone();
  const { signal } = new AbortController();
  const call = { uri: "sip:+1@trunk.example", server: trunk.target, from: "<sip:us@trunk.example>", signal };
  const outcome = await ours.call({ ...call, credentials: CREDENTIALS }, listening().to);
  expect(outcome).toMatchObject({ refused: status === 200 ? 486 : status });
  expect(noncesOf(trunk.asked)).toEqual(nonces);
  expect(trunk.asked.map((request) => headerOf(request, "cseq"))).toEqual(nonces.map((_, at) => `${at + 1} INVITE`));
});

test.each(CONVERSATIONS)(
  "a registration with %s shows its credentials rightly",
  async (_whom, answers, nonces, status) => {
    const trunk = await server(...answers);
    const ours = await phone();
    const outcome = await ours.register({
      uri: "sip:trunk.example",
      addressOfRecord: "sip:acme@trunk.example",
      server: trunk.target,
      credentials: CREDENTIALS,
      seconds: 120,
      former: null,
    });
    expect(outcome).toMatchObject(status === 200 ? { registered: { seconds: 120 } } : { refused: status });
    expect(noncesOf(trunk.asked)).toEqual(nonces);
  },
);
