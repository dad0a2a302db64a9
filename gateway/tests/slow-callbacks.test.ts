import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { ownGateway } from "./own-gateway.ts";

const passed: string[] = [];
const voices = {
  checkCallbackId: async () => ({}),
  handleCarrierCallback: async ({ form }: { form: string }) => {
    passed.push(form);
    return { document: "" };
  },
};
const app = ownGateway({ voices });

beforeEach(() => {
  passed.length = 0;
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** A callback whose body arrives as the test says. */
function callback(provider: string) {
  const body = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const cancelled = Promise.withResolvers<void>();
  const request = new Request(`http://gateway/v1/carriers/${provider}/call_01m7yyhwn1d5e9h3k7p2r6t0v4/status`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new ReadableStream({ start: (controller) => body.resolve(controller), cancel: () => cancelled.resolve() }),
  });
  return { answer: app.handle(request), body: body.promise, cancelled: cancelled.promise };
}

const bytes = (text: string) => new TextEncoder().encode(text);
/** The real one, because the test's timers are fake. */
const { setImmediate: soon } = globalThis;
const pause = () => new Promise<void>((resolve) => soon(resolve));

test.each(["twilio", "plivo"])(
  "a callback from %s whose body trickles in is refused after ten seconds",
  async (provider) => {
    const { answer, body, cancelled } = callback(provider);
    const sender = await body;
    for (let second = 0; second < 10; second++) {
      sender.enqueue(bytes("a"));
      await pause();
      jest.advanceTimersByTime(1_000);
    }
    const { status, headers } = await answer;
    expect([status, headers.get("connection")]).toEqual([408, "close"]);
    await cancelled;
    expect(passed).toEqual([]);
  },
);

test("a callback whose body comes in pieces is passed on whole", async () => {
  const { answer, body } = callback("twilio");
  const sender = await body;
  for (const piece of ["CallSid=CA", "1&CallStatus=", "completed"]) {
    sender.enqueue(bytes(piece));
    await pause();
  }
  sender.close();
  expect((await answer).status).toBe(204);
  expect(passed).toEqual(["CallSid=CA1&CallStatus=completed"]);
});
