import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { ownGateway } from "./own-gateway.ts";

const app = ownGateway({});

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** The real one, because the test's timers are fake. */
const { setImmediate: soon } = globalThis;
const pause = () => new Promise<void>((resolve) => soon(resolve));

test.each(["/v1/manage/sign-in", "/v1/public/widget-tokens"])(
  "a body for %s, which needs no key, has ten seconds to arrive",
  async (path) => {
    const body = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
    const request = new Request(`http://gateway${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: "http://gateway", host: "gateway" },
      body: new ReadableStream({ start: (controller) => body.resolve(controller) }),
    });
    const answer = app.handle(request);
    const sender = await body.promise;
    for (let second = 0; second < 10; second++) {
      sender.enqueue(new TextEncoder().encode(" "));
      for (let turn = 0; turn < 5; turn++) await pause();
      jest.advanceTimersByTime(1_000);
    }
    const { status, headers } = await answer;
    expect([status, headers.get("connection")]).toEqual([408, "close"]);
  },
);
