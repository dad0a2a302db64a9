import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import http, { type RequestListener } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { eventually } from "../testing/eventually.ts";
import { startRawServer } from "../testing/network/raw-server.ts";
import { parseAllowList } from "./allow-list.ts";
import { createEgress } from "./egress.ts";
import { meterBodies } from "./meter.ts";
import { readBeat } from "./read-beat.ts";

const pem = (name: string) => readFileSync(new URL(`testdata/${name}.pem`, import.meta.url), "utf8");
const KEYS = { key: pem("api-key"), cert: pem("api") };

/** Sends a request whose body may rest after each read. */
async function fetchResting(url: string, controller = new AbortController()) {
  const allow = parseAllowList("127.0.0.1,api.example.test");
  const egress = createEgress({ allow, ca: pem("ca"), resolve: async () => ["127.0.0.1"] });
  meterBodies(controller.signal, { ownerId: "any", received: () => {}, mayRest: () => true });
  return { egress, response: await egress.fetch(url, { signal: controller.signal }) };
}

function beats() {
  let nowMs = 0;
  const planned: (() => void)[] = [];
  const beat = readBeat({ nowMs: () => nowMs, after: (_, then) => planned.push(then) });
  return {
    beat,
    pass: (ms: number) => {
      nowMs += ms;
    },
    goOn: () => {
      for (const then of planned.splice(0)) then();
    },
  };
}

function message(state: { complete?: boolean; destroyed?: boolean } = {}) {
  const calls: string[] = [];
  const socket = { pause: () => calls.push("pause") as never, resume: () => calls.push("resume") as never };
  return { calls, incoming: { complete: false, destroyed: false, ...state, socket } };
}

describe("when sockets rest", () => {
  test("after a read of several pieces a socket rests, and all go on at the next beat", async () => {
    const { beat, goOn } = beats();
    const [one, two] = [message(), message()];
    for (const { incoming } of [one, two]) {
      const tell = beat.follow(incoming, () => true);
      tell();
      tell();
    }
    expect(one.calls).toEqual([]);
    await setImmediate();
    expect([one.calls, two.calls]).toEqual([["pause"], ["pause"]]);
    goOn();
    expect([one.calls, two.calls]).toEqual([
      ["pause", "resume"],
      ["pause", "resume"],
    ]);
  });

  test("a body whose pieces come far apart is read as they come", async () => {
    const { beat, pass } = beats();
    const { calls, incoming } = message();
    const tell = beat.follow(incoming, () => true);
    for (let piece = 0; piece < 5; piece++) {
      pass(20);
      tell();
      await setImmediate();
    }
    expect(calls).toEqual([]);
    pass(5);
    tell();
    await setImmediate();
    expect(calls).toEqual(["pause"]);
  });

  test.each([
    ["a complete message", { complete: true }, true],
    ["a destroyed message", { destroyed: true }, true],
    ["a message whose reader cannot wait", {}, false],
  ])("%s does not rest", async (_, state, mayRest) => {
    const { beat } = beats();
    const { calls, incoming } = message(state);
    const tell = beat.follow(incoming, () => mayRest);
    tell();
    tell();
    await setImmediate();
    expect(calls).toEqual([]);
  });
});

describe("bodies whose sockets rest", () => {
  test.each(["http", "https"])(
    "over %s a body arrives whole, and its connection serves the next request",
    async (scheme) => {
      const pieces = Array.from({ length: 60 }, (_, at) => `piece ${at} `);
      const ports = new Set<unknown>();
      const answer: RequestListener = async (request, response) => {
        ports.add(request.socket.remotePort);
        for (const [at, piece] of pieces.entries()) {
          response.write(piece);
          if (at % 3 === 2) await setImmediate();
        }
        response.end();
      };
      const server = scheme === "https" ? https.createServer(KEYS, answer) : http.createServer(answer);
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      const url = `${scheme}://${scheme === "https" ? "api.example.test" : "127.0.0.1"}:${(server.address() as AddressInfo).port}/`;
      const { egress, response } = await fetchResting(url);
      try {
        expect(await response.text()).toBe(pieces.join(""));
        expect(await (await egress.fetch(url)).text()).toBe(pieces.join(""));
        expect(ports.size).toBe(1);
      } finally {
        egress.close();
        server.close();
      }
    },
  );

  const THREE = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n";

  test("a body that is cut short is an error", async () => {
    await using server = await startRawServer((socket) => socket.end(THREE));
    const { egress, response } = await fetchResting(server.url);
    await expect(response.text()).rejects.toMatchObject({ name: "EgressError", kind: "network" });
    egress.close();
  });

  test("an abort closes the connection", async () => {
    await using server = await startRawServer((socket) => socket.write(THREE));
    const controller = new AbortController();
    const { egress, response } = await fetchResting(server.url, controller);
    const reader = response.body?.getReader();
    await reader?.read();
    controller.abort(new Error("enough"));
    await expect(reader?.closed).rejects.toThrow("enough");
    await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
    egress.close();
  });
});
