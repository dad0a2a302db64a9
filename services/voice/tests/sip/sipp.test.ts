import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { obtain } from "@parley/testkit/programs/obtain";
import { listening, tone } from "../listening.ts";
import { freePort } from "./free-port.ts";
import { answer, phone, to } from "./phones.ts";

const sipp = await obtain("sipp");
const folder = mkdtempSync(join(tmpdir(), "parley-sipp-"));
// sipp's built-in scenarios read their audio from here.
symlinkSync("/usr/share/sip-tester", join(folder, "pcap"));
afterAll(() => {
  if (folder) rmSync(folder, { recursive: true, force: true });
});

test("sipp's calls are answered, their keys are heard, and they end", async () => {
  const agent = listening();
  const answering = await phone(answer(agent.to));
  await run([answering.address, "-sn", "uac_pcap", "-m", "1"]);
  await eventually(() => expect(agent.endings).toEqual(["hung_up"]));
  expect(agent.keys).toEqual(["1"]);
  // The recording has 236 packets of 30 ms.
  expect(agent.frames()).toBeGreaterThan(300);
  expect(answering.dropped).toEqual({});
});

test.each(["0", "10"])(
  "calls of sipp with session timers, keys and a hold are held while %s of 100 messages are lost",
  async (lost) => {
    const agent = listening();
    const answering = await phone(answer(agent.to), "UDP", { t1Ms: 500 });
    await run([answering.address, "-sf", join(import.meta.dir, "sipp-hold.xml"), "-m", "5", "-r", "5", "-lost", lost]);
    await eventually(() => expect(agent.endings).toEqual(Array(5).fill("hung_up")));
    expect(agent.keys).toEqual(Array(5).fill("1"));
    expect(agent.holds).toEqual(Array(5).fill(true));
  },
);

test("ten calls of sipp at once are held over TCP", async () => {
  const answering = await phone(answer());
  await run([answering.address, "-sn", "uac", "-t", "t1", "-m", "10", "-r", "10", "-d", "200"]);
});

test("a call to sipp is answered, and ended by us", async () => {
  const port = await freePort();
  const server = start(["-sn", "uas", "-m", "1", "-p", String(port)]);
  try {
    const address = { protocol: "UDP", address: "127.0.0.1", port } as const;
    const calling = await phone();
    // Repeated until sipp listens.
    const leg = await eventually(async () => {
      const call = { ...to(calling), uri: `sip:service@127.0.0.1:${port}`, server: address };
      const called = await calling.call(call, listening().to);
      if ("refused" in called) throw new Error(`refused with ${called.refused}`);
      return called.answered;
    });
    leg.play(tone(500, 0.1));
    await leg.hangUp();
    expect(await server.exited).toBe(0);
  } finally {
    server.kill();
  }
});

async function run(args: string[]): Promise<void> {
  const client = start(args);
  const [status, said] = await Promise.all([client.exited, client.stderr.text()]);
  if (status !== 0) throw new Error(`sipp ended with ${status}: ${said}`);
}

function start(args: string[]) {
  const fixed = ["-i", "127.0.0.1", "-mi", "127.0.0.1", "-nostdin", "-timeout", "50", "-timeout_error"];
  return Bun.spawn([sipp, ...args, ...fixed], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
}
