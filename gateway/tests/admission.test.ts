import { expect, test } from "bun:test";
import { createAdmission, type Sender } from "../src/admission.ts";

const MIB = 1024 * 1024;
const BODY_BYTES = 900_000;

/** Whose handler never answers, and what it was asked for. */
function admissionOf(senderOf: (request: Request) => Sender) {
  const admitted: Request[] = [];
  const admission = createAdmission(senderOf);
  const serve = admission.admitting((request) => {
    admitted.push(request);
    return new Promise(() => {});
  });
  return { admission, serve, admitted };
}

const stranger = (address: string): Sender => ({ known: null, isKeyless: false, address });
const fromHeaders = ({ headers }: Request): Sender => ({
  known: headers.get("known"),
  isKeyless: headers.has("keyless"),
  address: headers.get("address") ?? "192.0.2.1",
});

function post(headers: Record<string, string> = {}): Request {
  return new Request("http://gateway/", {
    method: "POST",
    headers: { "Content-Length": String(BODY_BYTES), ...headers },
  });
}

test.each([
  ["of known length", {}],
  ["of unknown length", { "Content-Length": "", "Transfer-Encoding": "chunked" }],
])("an address has at most 8 MiB of bodies %s on their way, whatever the number of its connections", (_, headers) => {
  const { serve, admitted } = admissionOf(() => stranger("192.0.2.1"));
  const answers = Array.from({ length: 1_000 }, () => serve(post(headers)));
  expect(admitted.length * BODY_BYTES).toBeWithin(6 * MIB, 8 * MIB);
  // Refusals are no promises: whoever waits for one receives the body in the meantime.
  const refusals = answers.filter((answer) => answer instanceof Response);
  expect(refusals).toHaveLength(1_000 - admitted.length);
  expect([refusals[0]?.status, refusals[0]?.headers.get("retry-after")]).toEqual([429, "1"]);
});

test("all addresses together have at most 64 MiB of bodies on their way", () => {
  let sent = 0;
  const { serve, admitted } = admissionOf(() => stranger(`192.0.2.${sent++}`));
  for (let at = 0; at < 250; at++) void serve(post());
  expect(admitted.length * BODY_BYTES).toBeWithin(60 * MIB, 64 * MIB);
});

test("large bodies of strangers keep neither a sign-in nor a known key from being served", () => {
  const { serve, admitted } = admissionOf(fromHeaders);
  for (let at = 0; at < 250; at++) void serve(post({ address: `192.0.2.${at}` }));
  const before = admitted.length;
  void serve(post({ "Content-Length": "100" }));
  void serve(post({ known: "key" }));
  expect(admitted).toHaveLength(before + 2);
});

test("a body takes no room of its address once its sender is known or its request is answered", async () => {
  const answers: ((answer: Response) => void)[] = [];
  const admission = createAdmission(() => stranger("192.0.2.1"));
  const serve = admission.admitting(() => new Promise((resolve) => answers.push(resolve)));
  const requests = Array.from({ length: 20 }, () => post());
  const begun = requests.map(serve);
  const atOnce = answers.length;
  expect(atOnce).toBeLessThan(20);
  await admission.enter("own_1", requests[0] as Request, { bytesMax: MIB });
  void serve(post());
  expect(answers).toHaveLength(atOnce + 1);
  answers[1]?.(new Response());
  await begun[1];
  void serve(post());
  expect(answers).toHaveLength(atOnce + 2);
});

test("an address may send 6,000 requests a minute without a key, and any number with one", () => {
  const { serve, admitted } = admissionOf(fromHeaders);
  const get = (headers: Record<string, string>) => serve(new Request("http://gateway/openapi.json", { headers }));
  for (let at = 0; at < 6_000; at++) void get({ keyless: "1" });
  expect(get({ keyless: "1" })).toMatchObject({ status: 429 });
  void get({ keyless: "1", address: "192.0.2.2" });
  void get({});
  expect(admitted).toHaveLength(6_002);
});

test("bodies of an owner's requests wait for its earlier ones beyond 16 MiB, and other owners' do not", async () => {
  const { admission } = admissionOf(fromHeaders);
  const entered = await Promise.all(
    Array.from({ length: 18 }, () => admission.enter("own_1", post(), { bytesMax: MIB })),
  );
  let isIn = false;
  const next = admission.enter("own_1", post(), { bytesMax: MIB }).then((held) => {
    isIn = true;
    return held;
  });
  await admission.enter("own_2", post(), { bytesMax: MIB });
  await admission.enter("own_1", post({ "Content-Length": "100" }), { bytesMax: MIB });
  expect(isIn).toBe(false);
  entered[0]?.release();
  await next;
});

test("a body of unknown length counts as the longest until it has arrived", async () => {
  const { admission } = admissionOf(fromHeaders);
  const chunked = () => post({ "Content-Length": "", "Transfer-Encoding": "chunked" });
  const entered = await Promise.all(
    Array.from({ length: 16 }, () => admission.enter("own_1", chunked(), { bytesMax: MIB })),
  );
  let isIn = false;
  const next = admission.enter("own_1", chunked(), { bytesMax: MIB }).then(() => {
    isIn = true;
  });
  await admission.enter("own_2", chunked(), { bytesMax: MIB });
  expect(isIn).toBe(false);
  entered[0]?.received(100);
  entered[1]?.received(100);
  await next;
});
