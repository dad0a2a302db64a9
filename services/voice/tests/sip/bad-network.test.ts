import { expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import { muLaw } from "@parley/shared/media/g711";
import { eventually } from "@parley/testkit/eventually";
import { agree } from "../../src/transport/sip/messages/sdp.ts";
import { relayTo } from "../kit/bad-network.ts";
import { listening, tone } from "../listening.ts";
import { answer, phone } from "./phones.ts";
import { rawPeer } from "./raw-peer.ts";

const FRAMES = 100;
const KEYS = ["1", "2", "2", "3"];

test("a caller behind a network that loses, doubles and reorders packets is heard whole, and each key once", async () => {
  const agent = listening();
  const answering = await phone(answer(agent.to));
  const peer = await rawPeer(answering);
  const call = await peer.call();
  const { port = 0 } = agree(call.answer.body) ?? {};
  const relay = await relayTo(port, { lost: 0.05, doubled: 0.05, jitterMs: 40, seed: 7 });
  try {
    // The packets come from the relay, whose address is not announced, as behind NAT.
    const audio = tone(500, FRAMES / 50).filter((_, at) => at % 2 === 0);
    for (let at = 0; at < FRAMES; at++) {
      const sound = muLaw.encode(audio.subarray(at * 160, (at + 1) * 160));
      peer.sendRtp(relay.port, { payloadType: 0, sequence: 2 * at, timestamp: at * 160, payload: sound });
      // Each key is pressed for six packets, beside the audio.
      const [key, within] = [Math.floor(at / 20), at % 20];
      const isPressed = KEYS[key] !== undefined && within < 6;
      const event = Uint8Array.of(Number(KEYS[key] ?? 0), within >= 3 ? 0x8a : 0x0a, 0, 160);
      const payload = isPressed ? event : new Uint8Array([0]);
      const keys = { payloadType: isPressed ? 101 : 13, sequence: 2 * at + 1, timestamp: key * 3_200, payload };
      peer.sendRtp(relay.port, keys);
      await sleep(20);
    }
    await eventually(() => expect(agent.frames()).toBeGreaterThanOrEqual(FRAMES - 2));
    expect(relay.outcome.lost).toBeGreaterThan(5);
    expect(relay.outcome.doubled).toBeGreaterThan(5);
    expect(agent.heardTone(500, FRAMES - relay.outcome.lost - 10)).toBeTrue();
    expect(agent.keys).toEqual(KEYS);
    peer.send(call.within("BYE"));
    await eventually(() => expect(agent.endings).toEqual(["hung_up"]));
  } finally {
    relay.stop();
    peer.stop();
  }
});
