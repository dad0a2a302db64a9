import { expect, test } from "bun:test";
import { headerOf } from "../../src/transport/sip/messages/message.ts";
import type { Registration } from "../../src/transport/sip/registering.ts";
import { phone } from "./phones.ts";
import { registrar } from "./registrar.ts";

const REGISTRATION: Omit<Registration, "server"> = {
  uri: "sip:trunk.example",
  addressOfRecord: "sip:acme@trunk.example",
  credentials: { username: "acme", password: "of-the-trunk" },
  seconds: 120,
  former: null,
};

test("a registration proves the password and points to us for as long as the trunk allows", async () => {
  const trunk = await registrar({ granted: 90 });
  const ours = await phone();
  const contact = `sip:parley@${ours.address}`;
  expect(await ours.register({ ...REGISTRATION, server: trunk.target })).toEqual({
    registered: { contact, seconds: 90 },
  });
  expect([...trunk.bindings]).toEqual([contact]);
  // A request that is not answered soon is sent again.
  const asked = trunk.asked.map((request) => `${request.uri} ${headerOf(request, "to")} ${headerOf(request, "cseq")}`);
  expect([...new Set(asked)]).toEqual([
    "sip:trunk.example <sip:acme@trunk.example> 1 REGISTER",
    "sip:trunk.example <sip:acme@trunk.example> 2 REGISTER",
  ]);
  trunk.stop();
});

test("a registration removes the previous process's binding", async () => {
  const trunk = await registrar();
  const [before, after] = [await phone(), await phone()];
  const server = trunk.target;
  await before.register({ ...REGISTRATION, server });
  await after.register({ ...REGISTRATION, server, former: `sip:parley@${before.address}` });
  expect([...trunk.bindings]).toEqual([`sip:parley@${after.address}`]);
  await after.register({ ...REGISTRATION, server, former: `sip:parley@${after.address}` });
  expect([...trunk.bindings]).toEqual([`sip:parley@${after.address}`]);
  trunk.stop();
});

test("a trunk that wants longer registrations gets them", async () => {
  const trunk = await registrar({ shortest: 600, granted: 600 });
  const ours = await phone();
  expect(await ours.register({ ...REGISTRATION, server: trunk.target })).toMatchObject({
    registered: { seconds: 600 },
  });
  trunk.stop();
});

test.each([
  ["writes it as it sees it behind NAT", () => ['"us" <sip:parley@203.0.113.9:1024;ob>;q=1;Expires="20"']],
  ["adds parameters to it", ([uri]: string[]) => [`<${uri};transport=udp>;expires=20`]],
  ["writes it without brackets", ([uri]: string[]) => [`${uri};expires=20`]],
  ["has others too, in one header", ([uri]: string[]) => [`<sip:other@192.0.2.1>;expires=5, <${uri}>;expires=20`]],
  ["has others too, and rewrites all", () => ["<sip:a@192.0.2.1>;expires=90", "<sip:b@192.0.2.1>;expires=20"]],
])("a registration lasts as long as the trunk says, even if the trunk %s", async (_how, shows) => {
  const trunk = await registrar({ shows });
  const ours = await phone();
  expect(await ours.register({ ...REGISTRATION, server: trunk.target })).toMatchObject({ registered: { seconds: 20 } });
  trunk.stop();
});

test("a trunk that refuses the password, or does not answer, is reported as such", async () => {
  const trunk = await registrar();
  const ours = await phone();
  const wrong = { ...REGISTRATION, server: trunk.target, credentials: { username: "acme", password: "guess" } };
  expect(await ours.register(wrong)).toEqual({ refused: 401, reason: "Unauthorized" });
  trunk.goDown();
  expect(await ours.register(wrong)).toEqual({ refused: 408, reason: "Request Timeout" });
  trunk.stop();
});
