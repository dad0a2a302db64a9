import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { obtain } from "@parley/testkit/programs/obtain";
import { Glob } from "bun";
import type { Leg } from "../../src/transport/leg.ts";
import type { Invite } from "../../src/transport/sip/answering.ts";
import { listening, tone } from "../listening.ts";
import { freePort } from "./free-port.ts";
import { type Phone, phone } from "./phones.ts";

const program = await obtain("kamailio");
const [modules = ""] = [...new Glob("/usr/lib/*/kamailio/modules/tm.so").scanSync({ absolute: true })];
const server = { protocol: "UDP" as const, address: "127.0.0.1", port: await freePort() };
const listen = `udp:${server.address}:${server.port}`;
const args = ["-f", join(import.meta.dir, "kamailio.cfg"), "-l", listen, "-L", join(modules, ".."), "-DD", "-E"];
const kamailio = Bun.spawn([program, ...args], { stdio: ["ignore", "ignore", "ignore"] });
afterAll(async () => {
  kamailio.kill();
  await kamailio.exited;
});

/** Registers as an account of kamailio's. */
async function registered(account: string, invited: (invite: Invite) => void): Promise<Phone> {
  // Another process may take longer than 20 ms to answer.
  const ours = await phone(invited, "UDP", { t1Ms: 500 });
  // Repeated until kamailio listens.
  await eventually(async () => {
    const answer = await ours.register({
      uri: "sip:trunk.example",
      server,
      addressOfRecord: `sip:${account}@trunk.example`,
      credentials: { username: account, password: "of-the-trunk" },
      seconds: 30,
      former: null,
    });
    // It grants at least a minute.
    expect(answer).toMatchObject({ registered: { seconds: 60 } });
  });
  return ours;
}

test("a call through kamailio reaches the registered side with the number that was dialed, and both hear each other", async () => {
  const callee = listening();
  let leg: Leg | undefined;
  let dialled: string | undefined;
  await registered("acme", (invite) => {
    dialled = invite.to?.user;
    void invite.accept(callee.to).then((accepted) => (leg = accepted));
  });
  const caller = listening();
  const calling = await registered("bob", () => {});
  const called = await calling.call(
    {
      uri: "sip:14155550123@trunk.example",
      server,
      from: "<sip:bob@trunk.example>",
      credentials: { username: "bob", password: "of-the-trunk" },
      signal: new AbortController().signal,
    },
    caller.to,
  );
  expect(dialled).toBe("14155550123");
  (called as { answered: Leg }).answered.play(tone(500, 0.5));
  await eventually(() => expect(leg).toBeDefined());
  leg?.play(tone(1_500, 0.5));
  await eventually(() => {
    expect(callee.heardTone(500)).toBeTrue();
    expect(caller.heardTone(1_500)).toBeTrue();
  });
  await leg?.hangUp();
  await eventually(() => expect(caller.endings).toEqual(["hung_up"]));
});
