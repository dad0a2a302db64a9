import { expect, test } from "bun:test";
import { readVoiceConfig } from "./config.ts";

const NEEDED = {
  DATABASE_URL: "postgres://x",
  PARLEY_ACCOUNT_ADDRESS: "a:1",
  PARLEY_AGENT_ADDRESS: "b:1",
  PARLEY_CONVERSATION_ADDRESS: "c:1",
  PARLEY_TOKEN_KEY: Buffer.alloc(32).toString("base64"),
};

test("calls have an hour to end at shutdown unless the operator says otherwise", () => {
  expect(readVoiceConfig(NEEDED).PARLEY_CALLS_DRAIN_MS).toBe(3_600_000);
  expect(readVoiceConfig({ ...NEEDED, PARLEY_CALLS_DRAIN_MS: "14400000" }).PARLEY_CALLS_DRAIN_MS).toBe(14_400_000);
});

test.each([
  ["PARLEY_VOICE_LISTEN", "0.0.0.0:8090", "PARLEY_VOICE_URL is missing"],
  ["PARLEY_VOICE_LISTEN", "localhost", "must be an IP address and a port"],
  ["PARLEY_VOICE_URL", "https://voice.example.com", "must be an address such as wss://voice.example.com"],
  ["PARLEY_RTP_LISTEN", "0.0.0.0", "PARLEY_RTP_ADDRESS is missing"],
  ["PARLEY_SIP_TLS_CERT", "sip.pem", "PARLEY_SIP_TLS_CERT and PARLEY_SIP_TLS_KEY go together: set both"],
  ["PARLEY_ICE_SERVERS", '[{"urls": "turn:turn.example.com"}]', "PARLEY_TURN_SECRET is missing"],
  ["PARLEY_TOKEN_KEY", "short", "must be 32 bytes in base64"],
])("%s %s is refused with what to change", (name, value, sentence) => {
  expect(() => readVoiceConfig({ ...NEEDED, [name]: value })).toThrow(sentence);
});
