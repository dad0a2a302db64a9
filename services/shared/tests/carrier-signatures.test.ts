import { expect, test } from "bun:test";
import fc from "fast-check";
import { getExpectedTwilioSignature, validateRequest } from "twilio/lib/webhooks/webhooks";
import { plivoSignature, twilioSignature } from "../src/carriers/signatures.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const URL = "https://api.acme.example/v1/carriers/twilio/car_01m7yyhwgbk5r2v7x0z4b6d8f1/voice";

test("Twilio's own example gets the signature that Twilio gives for it", () => {
  // From the tests of Twilio's library, twilio-node.
  const form = new URLSearchParams({
    CallSid: "CA1234567890ABCDE",
    Caller: "+14158675309",
    Digits: "1234",
    From: "+14158675309",
    To: "+18005551212",
  });
  const url = "https://mycompany.com/myapp.php?foo=1&bar=2";
  expect(twilioSignature("12345", url, form)).toBe("RSOYDt4T1cUTdK1PDd93/VVr8B8=");
});

test("Twilio's library signs every form as we do, and accepts our signatures", () => {
  const names = fc.constantFrom("CallSid", "From", "To", "CallStatus", "a", "A", "Zoë");
  fc.assert(
    fc.property(fc.array(fc.tuple(names, fc.string({ unit: "grapheme" })), { maxLength: 8 }), (pairs) => {
      const form = new URLSearchParams(pairs);
      const params = Object.fromEntries([...new Set(form.keys())].map((name) => [name, form.getAll(name)]));
      const signature = twilioSignature(TOKEN, URL, form);
      expect(signature).toBe(getExpectedTwilioSignature(TOKEN, URL, params));
      expect(validateRequest(TOKEN, signature, URL, params)).toBeTrue();
    }),
  );
});

test("a form with a parameter changed, added or removed has another signature", () => {
  const form = { CallSid: "CA1", CallStatus: "completed", CallDuration: "7" };
  const signature = twilioSignature(TOKEN, URL, new URLSearchParams(form));
  for (const other of [{ ...form, CallDuration: "8" }, { ...form, Extra: "" }, { CallSid: "CA1" }])
    expect(twilioSignature(TOKEN, URL, new URLSearchParams(other))).not.toBe(signature);
  expect(twilioSignature(TOKEN, URL.replace("voice", "status"), new URLSearchParams(form))).not.toBe(signature);
  expect(twilioSignature(`${TOKEN}0`, URL, new URLSearchParams(form))).not.toBe(signature);
});

test("Plivo signs the URL, a question mark, the sorted parameters and the nonce", () => {
  const url = "https://api.acme.example/v1/carriers/plivo/call_01m7yyhwgbk5r2v7x0z4b6d8f1/ring";
  const form = new URLSearchParams({ To: "14155550123", CallUUID: "97ceeb52", CallStatus: "ringing" });
  const text = `${url}?CallStatusringingCallUUID97ceeb52To14155550123.12345`;
  const expected = new Bun.CryptoHasher("sha256", TOKEN).update(text).digest("base64");
  expect(plivoSignature(TOKEN, url, form, "12345")).toBe(expected);
  expect(plivoSignature(TOKEN, url, form, "12346")).not.toBe(expected);
});
