import { CARRIER_BASE_URLS } from "@parley/shared/carriers/base-urls";
import { ConfigError, type ConfigOf, positiveInteger, positiveNumber, readConfig } from "@parley/shared/config";
import { allowList } from "@parley/shared/egress/allow-list";
import { SERVICE_VARIABLES } from "@parley/shared/process/service";
import { ENCRYPTION_KEY } from "@parley/shared/sealing";
import { makeValidator, port, str } from "envalid";
import { parseRecordingsPlace } from "./recording/files/place.ts";
import { parseDefaultStt, parseDefaultTts } from "./speech/default-speech.ts";
import { CREDENTIAL_VARIABLES } from "./speech/providers.ts";
import type { PortRange } from "./transport/rtp/ports.ts";
import { type IceServer, needsCredentials } from "./web-calls/ice-servers.ts";

const portRange = makeValidator(parsePortRange);
const iceServers = makeValidator(parseIceServers);
const listenAddress = makeValidator(parseListenAddress);
const webSocketUrl = makeValidator(parseWebSocketUrl);
const defaultStt = makeValidator(parseDefaultStt);
const defaultTts = makeValidator(parseDefaultTts);
const prefixes = makeValidator(parsePrefixes);
const recordingsPlace = makeValidator(parseRecordingsPlace);

const VARIABLES = {
  ...SERVICE_VARIABLES,
  PARLEY_ACCOUNT_ADDRESS: str({ desc: "host:port of the account service" }),
  PARLEY_AGENT_ADDRESS: str({ desc: "host:port of the agent service" }),
  PARLEY_CONVERSATION_ADDRESS: str({ desc: "host:port of the conversation service" }),
  PARLEY_ALLOWED_PRIVATE_HOSTS: allowList({
    default: [],
    desc: "private hosts and CIDRs that CUSTOM_STT and CUSTOM_TTS may reach",
  }),
  PARLEY_SIP_LISTEN: listenAddress({
    default: "",
    desc: "host:port to serve SIP on, over UDP and TCP; without it there is no SIP",
  }),
  PARLEY_SIP_TLS_CERT: str({ default: "", desc: "PEM file of the certificate to serve SIP over TLS with" }),
  PARLEY_SIP_TLS_KEY: str({ default: "", desc: "PEM file of its key" }),
  PARLEY_SIP_TLS_PORT: port({ default: 5061, desc: "port of SIP over TLS, at the address of PARLEY_SIP_LISTEN" }),
  PARLEY_SIP_TLS_CA: str({
    default: "",
    desc: "PEM file of the authorities that sign trunks' certificates; without it, the publicly trusted ones",
  }),
  PARLEY_SIP_LOOPBACK_OPEN: str({
    default: "",
    choices: ["", "1"],
    desc: "1: programs of this machine may call every agent by SIP without credentials",
  }),
  PARLEY_VOICE_LISTEN: listenAddress({
    default: "",
    desc: "host:port for the WebSockets of carriers' calls; without it there are none",
  }),
  PARLEY_VOICE_URL: webSocketUrl({
    default: "",
    desc: "wss:// address where carriers reach PARLEY_VOICE_LISTEN",
  }),
  PARLEY_VOICE_TLS_CERT: str({ default: "", desc: "PEM file of the certificate to serve carriers' WebSockets with" }),
  PARLEY_VOICE_TLS_KEY: str({ default: "", desc: "PEM file of its key" }),
  PARLEY_INSECURE_VOICE: str({
    default: "",
    choices: ["", "1"],
    desc: "1: TLS ends before the voice service, serve plain WebSockets beyond loopback",
  }),
  PARLEY_RTP_LISTEN: str({ default: "127.0.0.1", desc: "address to receive audio on" }),
  PARLEY_RTP_PORTS: portRange({
    default: { first: 16_384, last: 16_583 },
    desc: "UDP ports for audio; a call needs one",
  }),
  PARLEY_RTP_ADDRESS: str({
    default: "",
    desc: "address that others send audio to, if it is not PARLEY_RTP_LISTEN",
  }),
  PARLEY_ICE_SERVERS: iceServers({
    default: [],
    desc: 'STUN and TURN servers for browsers, as JSON: [{"urls": ["turn:…"]}]',
  }),
  PARLEY_TURN_SECRET: str({
    default: "",
    desc: "secret that the TURN servers share (coturn's static-auth-secret), for credentials that end with each call",
  }),
  PARLEY_TOKEN_KEY: ENCRYPTION_KEY({ desc: "32 bytes in base64 that seal stored tokens, the same on every replica" }),
  PARLEY_DEFAULT_STT: defaultStt({
    default: undefined,
    desc: "speech recognition for agents that have none, as JSON in the form of an agent's stt",
  }),
  PARLEY_DEFAULT_TTS: defaultTts({
    default: undefined,
    desc: "voice for agents that have none, as JSON in the form of an agent's tts",
  }),
  PARLEY_TEST_TTS: defaultTts({
    default: undefined,
    desc: "voice that speaks for the user in tests, as JSON in the form of an agent's tts; PARLEY_DEFAULT_TTS by default",
  }),
  PARLEY_TWILIO_BASE_URL: CARRIER_BASE_URLS.PARLEY_TWILIO_BASE_URL,
  PARLEY_PLIVO_BASE_URL: CARRIER_BASE_URLS.PARLEY_PLIVO_BASE_URL,
  PARLEY_DAILY_BASE_URL: CARRIER_BASE_URLS.PARLEY_DAILY_BASE_URL,
  PARLEY_DAILY_API_KEY: str({
    default: "",
    desc: "API key of a Daily domain, for the owners who have not connected their own",
  }),
  PARLEY_UNKNOWN_NUMBER_SENTENCE: str({
    default: "This number is not in service.",
    desc: "what callers hear at a number that no agent answers",
  }),
  PARLEY_CALLS_DRAIN_MS: positiveNumber({
    default: 3_600_000,
    desc: "how long calls may continue at shutdown, in addition to PARLEY_DRAIN_MS for requests",
  }),
  PARLEY_CALLS_CONCURRENT_MAX: positiveInteger({ default: 10, desc: "concurrent calls per owner" }),
  PARLEY_CALLS_PER_SECOND: positiveInteger({ default: 1, desc: "calls placed per second and carrier account" }),
  PARLEY_CALLS_QUEUED_MAX: positiveInteger({ default: 1_000, desc: "calls of one owner that may wait to be placed" }),
  PARLEY_CALLS_DENIED_PREFIXES: prefixes({
    default: [],
    desc: "prefixes of numbers that agents may not call or transfer to: +1900,+4487; premium and emergency numbers are always denied",
  }),
  PARLEY_PUBLIC_URL: str({
    default: "",
    desc: "https:// address where carriers and clients reach the gateway; without one, there are no calls from or to carriers",
  }),
  PARLEY_RECORDINGS: recordingsPlace({
    default: undefined,
    desc: "folder, or s3://bucket/prefix, for recordings of calls; without it none are made",
  }),
  PARLEY_RECORDINGS_OWNER_BYTES: positiveInteger({
    default: 10 * 1024 ** 3,
    desc: "limit for all recordings of one owner",
  }),
  PARLEY_RECORDINGS_ENDPOINT: str({ default: "", desc: "address of an S3 store other than Amazon's" }),
  PARLEY_RECORDINGS_REGION: str({ default: "", desc: "region of the bucket" }),
  PARLEY_RECORDINGS_ACCESS_KEY: str({ default: "", desc: "access key for the bucket" }),
  PARLEY_RECORDINGS_SECRET_KEY: str({ default: "", desc: "secret access key for the bucket" }),
};

export interface VoiceConfig extends ConfigOf<typeof VARIABLES> {
  /** The values of `CREDENTIAL_VARIABLES`. */
  credentials: Readonly<Record<string, string>>;
}

/** @throws ConfigError naming every variable that is missing or wrong. */
export function readVoiceConfig(env: Record<string, string | undefined>): VoiceConfig {
  const read: Record<string, unknown> = readConfig(env, { ...VARIABLES, ...CREDENTIAL_VARIABLES });
  if (["0.0.0.0", "::"].includes(String(read.PARLEY_RTP_LISTEN)) && read.PARLEY_RTP_ADDRESS === "")
    throw new ConfigError(
      "PARLEY_RTP_ADDRESS is missing: phones cannot send audio to PARLEY_RTP_LISTEN, which means every address",
    );
  if (/^(0\.0\.0\.0|\[::\]):/.test(String(read.PARLEY_VOICE_LISTEN)) && read.PARLEY_VOICE_URL === "")
    throw new ConfigError(
      "PARLEY_VOICE_URL is missing: carriers cannot connect to PARLEY_VOICE_LISTEN, which means every address",
    );
  if ((read.PARLEY_SIP_TLS_CERT === "") !== (read.PARLEY_SIP_TLS_KEY === ""))
    throw new ConfigError("PARLEY_SIP_TLS_CERT and PARLEY_SIP_TLS_KEY go together: set both");
  if (read.PARLEY_RECORDINGS && read.PARLEY_PUBLIC_URL === "")
    throw new ConfigError("PARLEY_PUBLIC_URL is missing: PARLEY_RECORDINGS needs it for the addresses of recordings");
  if (read.PARLEY_TURN_SECRET === "" && (read.PARLEY_ICE_SERVERS as IceServer[]).some(needsCredentials))
    throw new ConfigError(
      "PARLEY_TURN_SECRET is missing: a TURN server in PARLEY_ICE_SERVERS has no username and credential of its own",
    );
  const credentials = Object.fromEntries(
    Object.keys(CREDENTIAL_VARIABLES).map((name) => [name, String(read[name] ?? "")]),
  );
  return { ...(read as ConfigOf<typeof VARIABLES>), credentials };
}

function parseListenAddress(text: string): string {
  if (text !== "" && !/^(\[[0-9a-fA-F:.]+\]|[0-9.]+):\d{1,5}$/.test(text))
    throw new Error(`must be an IP address and a port, such as 127.0.0.1:5060, not "${text}"`);
  return text;
}

function parseWebSocketUrl(text: string): string {
  if (text !== "" && !/^wss?:\/\/[^\s?#]+$/.test(text))
    throw new Error(`must be an address such as wss://voice.example.com, not "${text}"`);
  return text.replace(/\/+$/, "");
}

function parsePrefixes(text: string): string[] {
  const given = text.split(",").map((each) => each.trim());
  const wrong = given.find((each) => !/^\+\d{1,15}$/.test(each));
  if (text !== "" && wrong !== undefined) throw new Error(`must be prefixes such as +1900,+4487, not "${wrong}"`);
  return text === "" ? [] : given;
}

function parsePortRange(text: string): PortRange {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(last) };
  if (!(range.first >= 1 && range.first < range.last && range.last <= 65_535))
    throw new Error(`must be two ports such as 16384-16583, not "${text}"`);
  return range;
}

function parseIceServers(text: string): IceServer[] {
  const wrong = new Error('must be JSON such as [{"urls": ["stun:stun.example.com"]}]');
  const servers = parsedJson(text, wrong);
  if (!Array.isArray(servers)) throw wrong;
  return servers.map(({ urls, username, credential }) => {
    const all: unknown[] = Array.isArray(urls) ? urls : [urls];
    if (!all.every((url) => typeof url === "string" && /^(stun|turn)s?:/.test(url))) throw wrong;
    return { urls: all as string[], username, credential };
  });
}

function parsedJson(text: string, wrong: Error): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong;
  }
}
