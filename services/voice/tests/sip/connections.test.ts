import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { eventually } from "@parley/testkit/eventually";
import type { Leg } from "../../src/transport/leg.ts";
import type { Invite } from "../../src/transport/sip/answering.ts";
import { headersOf, writeSip } from "../../src/transport/sip/messages/message.ts";
import { openSipSockets, type Target } from "../../src/transport/sip/sockets.ts";
import { listening } from "../listening.ts";
import { answer, phone, to } from "./phones.ts";
import { rawPeer } from "./raw-peer.ts";

test("one address gets at most 32 connections, and another one when it has closed one", async () => {
  const callee = await phone(answer(), "TCP");
  const open = new Set<Socket>();
  const hold = () => {
    const socket = connect(callee.server.port, callee.server.address);
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
    return new Promise((resolve) => socket.on("connect", resolve));
  };
  for (let count = 0; count < 40; count++) await hold();
  await eventually(() => expect(open.size).toBe(32));
  const [first] = open;
  first?.destroy();
  await eventually(async () => {
    const caller = await phone();
    expect(await caller.call(to(callee), listening().to)).toHaveProperty("answered");
  });
  for (const socket of open) socket.destroy();
});

test("a connection that carries a call stays open, and one without is closed", async () => {
  const [caller, callee] = [listening(), listening()];
  const accepted = Promise.withResolvers<Leg>();
  const invited = (invite: Invite) => void invite.accept(callee.to).then(accepted.resolve);
  const answering = await phone(invited, "TCP", { idleSeconds: 1 });
  expect(await (await phone()).call(to(answering), caller.to)).toHaveProperty("answered");
  for (let count = 0; count < 2; count++) {
    const idle = connect(answering.server.port, answering.server.address);
    await new Promise((resolve) => idle.on("end", resolve).resume());
    idle.destroy();
  }
  await (await accepted.promise).hangUp();
  await eventually(() => expect(caller.endings).toEqual(["hung_up"]));
});

test("strangers' connections that send nothing but keep-alives, or pieces of a message that never ends, are closed", async () => {
  // The system's timers have steps of four seconds.
  const answering = await phone(answer(), "TCP", { idleSeconds: 5 });
  const stranger = async (first: string, again: string) => {
    const socket = connect(answering.server.port, answering.server.address).resume();
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    socket.on("close", close).on("error", close);
    socket.write(first);
    const sending = setInterval(() => socket.write(again), 100);
    await closed;
    clearInterval(sending);
    socket.destroy();
  };
  await Promise.all([stranger("\r\n\r\n", "\r\n\r\n"), stranger("OPTIONS sip:x SIP/2.0\r\n", "X: y\r\n")]);
});

test("a call over TCP whose peer has closed its connection and cannot be connected to ends as lost", async () => {
  const agent = listening();
  const answering = await phone(answer(agent.to), "TCP", { silentMs: 100, t1Ms: 2_000 });
  // Only its messages are used: a description of audio, and the names of a call.
  const peer = await rawPeer(answering);
  const invite = peer.request("INVITE", { "content-type": "application/sdp" }, peer.description());
  invite.headers.set("via", ["SIP/2.0/TCP 127.0.0.1:9;branch=z9hG4bKtcp"]);
  const socket = connect(answering.server.port, answering.server.address).setEncoding("utf8");
  socket.write(writeSip(invite));
  const answered = Promise.withResolvers<string>();
  socket.on("data", (text: string) => text.includes("SIP/2.0 200") && answered.resolve(text));
  const to = /^To: (.*)\r$/m.exec(await answered.promise)?.[1] ?? "";
  const ack = peer.request("ACK", { to, via: "SIP/2.0/TCP 127.0.0.1:9;branch=z9hG4bKack" });
  socket.write(writeSip(ack), () => socket.destroy());
  // Long before a request that gets no answer is given up.
  await eventually(() => expect(agent.endings).toEqual(["lost"]));
  peer.stop();
});

test("a phone calls over TCP while strangers hold all connections that it accepts", async () => {
  const [caller, callee] = [await phone(answer(), "TCP"), await phone(answer(), "TCP")];
  const open: Socket[] = [];
  for (let count = 0; count < 1_024; count++) {
    const { port, address: host } = caller.server;
    const socket = connect({ port, host, localAddress: `127.0.0.${10 + (count % 32)}` }).on("error", () => {});
    open.push(socket);
    await new Promise((resolve) => socket.on("connect", resolve));
  }
  const signal = AbortSignal.timeout(3_000);
  expect(await caller.call(to(callee, signal), listening().to)).toHaveProperty("answered");
  for (const socket of open) socket.destroy();
});

/** Sends requests to trunks of owners, each trunk at an address of its own that accepts connections. */
async function callingTrunks() {
  const connected = new Map<string, number>();
  const of = (from: string, change: number) => connected.set(from, (connected.get(from) ?? 0) + change);
  const trunks = Bun.listen<undefined>({
    hostname: "0.0.0.0",
    port: 0,
    socket: {
      open: ({ localAddress }) => void of(localAddress, 1),
      close: ({ localAddress }) => void of(localAddress, -1),
      data: () => {},
    },
  });
  const unreachable: string[] = [];
  const sockets = await openSipSockets(
    { hostname: "127.0.0.1", port: 0 },
    {
      received: () => {},
      malformed: () => {},
      isInUse: () => false,
      unreachable: ({ address }, why) => unreachable.push(`${address} ${why}`),
    },
  );
  const headers = headersOf({ "call-id": "c", cseq: "1 OPTIONS", from: "<sip:a@b>;tag=1", to: "<sip:c@d>" });
  return {
    unreachable,
    /** The addresses that have a connection. */
    reached: () => [...connected].filter(([, count]) => count > 0).map(([address]) => address),
    call: (ownerId: string, address: string) => {
      const target: Target = { protocol: "TCP", address, port: trunks.port, ownerId };
      sockets.send({ method: "OPTIONS", uri: `sip:${address}`, headers, body: "" }, target);
    },
    stop: () => {
      sockets.stop();
      trunks.stop(true);
    },
  };
}

test("an owner with many trunks has 100 connections, and others have theirs", async () => {
  const trunks = await callingTrunks();
  for (let at = 1; at <= 102; at++) trunks.call("own_1", `127.0.1.${at}`);
  trunks.call("own_2", "127.0.2.1");
  await eventually(() => expect(trunks.reached()).toHaveLength(101));
  expect(trunks.reached()).toContain("127.0.2.1");
  expect(trunks.unreachable.toSorted()).toEqual([
    "127.0.1.101 its owner has too many connections",
    "127.0.1.102 its owner has too many connections",
  ]);
  trunks.stop();
});

test("when all connections are open, an owner with few trunks gets one of the owner with the most", async () => {
  const trunks = await callingTrunks();
  for (let at = 1; at <= 1_024; at++) {
    const owner = Math.ceil(at / 100);
    trunks.call(`own_${owner}`, `127.1.${owner}.${at % 100}`);
  }
  trunks.call("own_few", "127.2.0.1");
  await eventually(() => expect(trunks.reached()).toContain("127.2.0.1"));
  await eventually(() => expect(trunks.reached()).toHaveLength(1_024));
  expect(trunks.reached()).not.toContain("127.1.1.1");
  trunks.stop();
});
