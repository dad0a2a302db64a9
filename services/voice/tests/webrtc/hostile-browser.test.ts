import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { tone } from "../listening.ts";
import { callsForTest } from "./connected.ts";

// Anything that ends the process would end everybody's calls, and fails the test.

const { opened, answered, connected, end } = callsForTest();
afterEach(end);

test("a browser that dies affects no other call", async () => {
  const dying = Bun.spawn([process.execPath, join(import.meta.dir, "dying-browser.ts")], {
    stdin: "pipe",
    stdout: "pipe",
    env: { ...process.env },
  });
  const lines = dying.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value: offer = "" } = await lines.read();
  const { peer, agent } = await answered(JSON.parse(offer));
  dying.stdin.write(`${JSON.stringify(peer.answer)}\n`);
  dying.stdin.flush();
  const [leg, other] = [await peer.connected, await connected()];
  leg.play(tone(1_500, 0.5));
  leg.mark("said");
  // It sends no goodbye, and its system refuses our packets.
  dying.kill("SIGKILL");
  await dying.exited;
  await eventually(() => expect(agent.marks).toEqual(["said"]));
  await leg.hangUp();
  expect(agent.endings).toEqual(["ended_by_us"]);
  other.leg.play(tone(1_500, 0.5));
  await eventually(() => expect(other.page.frames.length).toBeGreaterThan(10));
});

test("captions continue after messages that a page need not send", async () => {
  const { page, peer, agent } = await connected();
  await eventually(() => expect(page.channel.isOpen()).toBeTrue());
  for (const text of ["", "hello", "{", "x".repeat(60_000)]) page.channel.sendMessage(text);
  page.channel.sendMessageBinary(new Uint8Array(1_000));
  await eventually(() => {
    peer.tell("hello");
    expect(page.captions).toContain("hello");
  });
  expect(agent.endings).toEqual([]);
});

test("of the channels that a browser opens, the first gets captions and the others are closed", async () => {
  const { page, peer } = await connected();
  await eventually(() => expect(page.channel.isOpen()).toBeTrue());
  const closed: number[] = [];
  for (let at = 0; at < 100; at++) {
    const further = page.connection.createDataChannel(`further ${at}`);
    further.onClosed(() => void closed.push(at));
  }
  await eventually(() => expect(closed).toHaveLength(100));
  await eventually(() => {
    peer.tell("hello");
    expect(page.captions).toContain("hello");
  });
});

test("a browser that floods us with messages, channels or packets loses its call, and no other one", async () => {
  const other = await connected();
  const dropped: string[] = [];
  const flooding = async () => {
    const call = await connected(undefined, { dropped: (reason) => dropped.push(reason) });
    await call.page.opened;
    return call;
  };

  const packets = await flooding();
  for (let sent = 0; sent < 10_000; sent++) packets.page.send(new Uint8Array(1_000));
  await eventually(() => expect(packets.agent.endings).toEqual(["lost"]));

  const messages = await flooding();
  await eventually(() => expect(messages.page.channel.isOpen()).toBeTrue());
  for (let sent = 0; sent < 100; sent++) messages.page.channel.sendMessage("x".repeat(60_000));
  await eventually(() => expect(messages.agent.endings).toEqual(["lost"]));

  const sources = await flooding();
  for (let source = 0; source < 100; source++) sources.page.send(new Uint8Array(100), 1_000 + source);
  await eventually(() => expect(sources.agent.endings).toEqual(["lost"]));

  expect(new Set(dropped)).toEqual(new Set(["too_much"]));
  other.leg.play(tone(1_500, 0.5));
  await eventually(() => expect(other.page.frames.length).toBeGreaterThan(10));
  expect(other.agent.endings).toEqual([]);
});

test("packets that are no audio are not heard", async () => {
  const { page, agent } = await connected();
  await page.opened;
  const report = [0x80, 200, 0, 6, ...new Uint8Array(24)];
  const otherType = [0x80, 96, 0, 1, ...new Uint8Array(30)];
  for (const bytes of [report, otherType]) page.track.sendMessageBinary(Buffer.from(bytes));
  page.send(new Uint8Array(0));
  page.send(new Uint8Array(1_100).fill(0xff));
  await page.say(tone(500, 0.5));
  await eventually(() => expect(agent.heardTone(500)).toBeTrue());
});

test("a caption longer than a browser accepts is dropped", async () => {
  const { page, peer } = await connected((offer) => offer.replace(/a=max-message-size:\d+/, "a=max-message-size:5"));
  await eventually(() => {
    peer.tell("much too long");
    peer.tell("short");
    expect(page.captions).toContain("short");
  });
  expect(page.captions).not.toContain("much too long");
});

test("calls that end in every way at every moment leave nothing that ends the process", async () => {
  const endings = Array.from({ length: 24 }, async (_, at) => {
    const page = await opened();
    const { peer } = await answered(page.offer);
    const hangUp = () => void peer.connected.then((leg) => leg.hangUp()).catch(() => {});
    const closers = [peer.close, page.close, hangUp];
    if (at % 4 > 0) page.accept(peer.answer);
    if (at % 4 > 1) await peer.connected;
    if (at % 4 > 2) await page.say(tone(500, 0.5));
    closers[at % 3]?.();
    closers[(at + 1) % 3]?.();
  });
  await Promise.all(endings);
  const { page, agent } = await connected();
  await page.say(tone(500, 0.5));
  await eventually(() => expect(agent.heardTone(500)).toBeTrue());
});
