import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { eventually } from "@parley/shared/testing/eventually";
import { listening } from "../listening.ts";
import { answer, phone, to } from "./phones.ts";

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
