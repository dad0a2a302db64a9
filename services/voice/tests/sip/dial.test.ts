import { expect, test } from "bun:test";
import { openPhoneAudio, PHONE_HZ } from "@parley/shared/phone/audio";
import { dial } from "@parley/shared/phone/dial";
import type { MediaAddress } from "@parley/shared/phone/session-description";
import { eventually } from "@parley/testkit/eventually";
import type { Leg } from "../../src/transport/leg.ts";
import type { Invite } from "../../src/transport/sip/answering.ts";
import { listening, tone } from "../listening.ts";
import { answer, phone } from "./phones.ts";

const NOWHERE: MediaAddress = { address: "127.0.0.1", port: 9 };

test("a terminal's phone and an agent hear each other until the agent hangs up", async () => {
  const agent = listening();
  let leg: Leg | undefined;
  const answering = await phone((invite) => void invite.accept(agent.to).then((accepted) => (leg = accepted)));
  let energy = 0;
  const audio = await openPhoneAudio("127.0.0.1", {
    heard: (frame) => {
      energy = Math.max(energy, ...frame);
    },
  });
  const call = await dial({ server: answering.address, callee: "agent", media: audio.at });
  audio.connect(call.media);
  audio.say(tone(250, 1).subarray(0, PHONE_HZ));
  await eventually(() => expect(leg).toBeDefined());
  leg?.play(tone(1_500, 0.5));
  await eventually(() => {
    // The tone has 16,000 samples a second, so it is an octave lower here.
    expect(agent.heardTone(125)).toBeTrue();
    expect(energy).toBeGreaterThan(10_000);
  });
  await leg?.hangUp();
  expect(await call.ended).toBe("hung_up");
  audio.close();
});

test("a terminal's phone hangs up", async () => {
  const agent = listening();
  const answering = await phone(answer(agent.to));
  const call = await dial({ server: answering.address, callee: "agent", media: NOWHERE });
  await call.hangUp();
  expect(await call.ended).toBe("ended_by_us");
  await eventually(() => expect(agent.endings).toEqual(["hung_up"]));
});

test("a terminal's phone learns why it was refused", async () => {
  const answering = await phone((invite) => invite.refuse(486, "Busy Here"));
  const calling = dial({ server: answering.address, callee: "agent", media: NOWHERE });
  await expect(calling).rejects.toThrow("The call was not answered: 486 Busy Here");
});

test("a terminal's phone that gives up stops the ringing", async () => {
  const rung = Promise.withResolvers<Invite>();
  const answering = await phone((invite) => {
    invite.ring();
    rung.resolve(invite);
  });
  const patience = new AbortController();
  const calling = dial({ server: answering.address, callee: "agent", media: NOWHERE, signal: patience.signal });
  const { cancelled } = await rung.promise;
  patience.abort(new Error("enough"));
  await expect(calling).rejects.toThrow("enough");
  await eventually(() => expect(cancelled.aborted).toBeTrue());
});
