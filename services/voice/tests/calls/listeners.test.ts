import { afterEach, expect, test } from "bun:test";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { FRAME_SAMPLES, type Pcm, SILENT_FRAME } from "../../src/audio/pcm.ts";
import { newCall, REQUEST } from "../kit/scripted-call.ts";
import { listening, tone } from "../listening.ts";
import { browser } from "../webrtc/browser.ts";

const pages: { close(): void }[] = [];
afterEach(() => {
  for (const page of pages.splice(0)) page.close();
});

const FRAMES = 5;

/** A call, and what its listeners do. */
async function heldCall() {
  const call = await newCall();
  const key = { ownerId: REQUEST.ownerId, conversationId: call.conversationId };
  const offers = (offer: string, listenerId = newUuid()) =>
    call.all.command(key, { $case: "listen", value: { listenerId, offer } });
  const opened = async () => {
    const page = await browser();
    pages.push(page);
    return page;
  };
  return {
    ...call,
    offers,
    opened,
    /** A page that listens. */
    listens: async () => {
      const [page, listenerId] = [await opened(), newUuid()];
      const answered = await offers(page.offer, listenerId);
      page.accept(answered?.answer ?? "");
      await page.opened;
      await eventually(() => expect(page.channel.isOpen()).toBeTrue());
      return { page, answer: answered?.answer ?? "", listenerId };
    },
    leave: (listenerId: string) => call.all.command(key, { $case: "leave", value: listenerId }),
    /** The user says 500 Hz, and the agent 1,500 Hz. */
    talk: async () => {
      const [user, agent] = [tone(500, 1), tone(1_500, 1)];
      for (let at = 0; at < FRAMES * FRAME_SAMPLES; at += FRAME_SAMPLES) {
        call.listener().heard(user.subarray(at, at + FRAME_SAMPLES));
        call.listener().sending(agent.subarray(at, at + FRAME_SAMPLES), 0);
      }
      await call.time.pass(20 * FRAMES);
    },
  };
}

/** Whether a tone is in what was heard. */
function heardTone(frames: readonly (Pcm | null)[], hz: number): boolean {
  const ears = listening();
  for (const frame of frames) ears.to.heard(frame ?? SILENT_FRAME);
  return ears.heardTone(hz, 3);
}

test("whoever listens hears both sides of a call and cannot be heard, until the call ends", async () => {
  const call = await heldCall();
  const { page, answer } = await call.listens();
  expect(answer).toContain("a=sendonly");
  expect(answer).not.toContain("a=sendrecv");
  await page.say(tone(700, 0.5));
  await eventually(async () => {
    await call.talk();
    expect([heardTone(page.frames, 500), heardTone(page.frames, 1_500)]).toEqual([true, true]);
  });
  expect([heardTone(call.leg.sent, 700), heardTone(page.frames, 700)]).toEqual([false, false]);
  await call.leaves();
  await call.ended;
  await eventually(() => expect(page.channel.isOpen()).toBeFalse());
  expect(await call.offers((await call.opened()).offer)).toBeNull();
});

test("a listener who leaves ends nothing, and a token connects once", async () => {
  const call = await heldCall();
  const { page, listenerId } = await call.listens();
  expect(await call.leave(listenerId)).toEqual({ refusal: null });
  await eventually(() => expect(page.channel.isOpen()).toBeFalse());
  const again = await call.offers((await call.opened()).offer, listenerId);
  expect(again?.refusal).toBe("The token was used: ask for another one");
  expect(call.leg.hungUp).toBeFalse();
  await call.leaves();
});

test("a call has five listeners at most", async () => {
  const call = await heldCall();
  const { offer } = await call.opened();
  for (let listener = 0; listener < 5; listener++) expect((await call.offers(offer))?.refusal).toBeNull();
  expect((await call.offers(offer))?.refusal).toBe("5 people listen to this call already");
  await call.leaves();
});

test("an offer that would only send is refused with a sentence", async () => {
  const call = await heldCall();
  const { offer } = await call.opened();
  const { refusal } = (await call.offers(offer.replaceAll("a=sendrecv", "a=sendonly"))) ?? {};
  expect(refusal).toBe("The SDP offer cannot be answered: it does not receive audio");
  await call.leaves();
});
