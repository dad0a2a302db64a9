import { DEFAULT_EVENTS } from "@parley/shared/portable/events";
import { ALERT_EXAMPLES } from "./alerts.ts";
import type { OperationExamples } from "./example.ts";
import {
  AGENT_ID,
  CARRIER_ID,
  CREATED_AT,
  DELIVERY_ID,
  DESTINATION_ID,
  EVENT_ID,
  KEY_ID,
  NUMBER,
  ONE_PAGE,
  OWNER_ID,
  OWNER_SESSION_ID,
  SECRET_NAME,
  SESSION_ID,
  UPDATED_AT,
  VOICE_ID,
} from "./values.ts";

const PASSWORD = "four words and a comma";
const SECRET = "whsec_4nzHJFqYpBFmKdBjBbVmYjVEpMpBV1pEM2m9TNb1Cgg=";

const owner = {
  owner_id: OWNER_ID,
  name: "Acme",
  email: "ops@acme.example",
  tier: "pro",
  rate_limit_per_minute: 500,
  created_at: CREATED_AT,
};
const key = {
  key_id: KEY_ID,
  name: "Production",
  prefix: "vk_3JHs9fk2",
  scopes: ["agents:read", "chat"],
  status: "active",
  expires_at: "2099-01-31T09:30:00.000Z",
  created_at: CREATED_AT,
};
const destination = {
  destination_id: DESTINATION_ID,
  name: "Production",
  url: "https://hooks.acme.example/parley",
  request_type: "POST",
  retry_schedule: "standard",
  status: "enabled",
  events: DEFAULT_EVENTS,
  old_secret_valid_until: null,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
};
const failed = {
  started_at: CREATED_AT,
  duration_ms: 42,
  http_status: 503,
  error: null,
  response_excerpt: "out of service",
};
const delivery = {
  delivery_id: DELIVERY_ID,
  destination_id: DESTINATION_ID,
  event_id: EVENT_ID,
  event: "conversation.completed",
  conversation_id: SESSION_ID,
  is_test: true,
  status: "failed",
  attempts: [1, 2, 3, 4].map((number) => ({ number, ...failed })),
  next_attempt_at: null,
  created_at: CREATED_AT,
};
const sent = {
  ...delivery,
  payload: JSON.stringify({ event: delivery.event, conversation_id: SESSION_ID, is_test_call: true }),
  attempts: delivery.attempts.map((attempt) => ({
    ...attempt,
    request: {
      method: destination.request_type,
      url: destination.url,
      headers: {
        "user-agent": "Parley",
        "content-type": "multipart/form-data; boundary=parley-5f0c6d1e",
        "webhook-id": EVENT_ID,
        "webhook-timestamp": "1769851800",
        "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
      },
    },
  })),
};
const number = { mobile_number: NUMBER, telephony_provider: "TWILIO" };
const ownNumber = { ...number, carrier_id: null };
const trunk = { provider: "SIP", host: "trunk.example", transport: "TLS", username: "acme" };
const carrier = {
  carrier_id: CARRIER_ID,
  ...trunk,
  password: "********orse",
  allowed_addresses: ["192.0.2.0/24"],
  created_at: CREATED_AT,
};
const registered = {
  ...trunk,
  carrier_id: CARRIER_ID,
  password: "********orse",
  allowed_addresses: [],
  created_at: CREATED_AT,
  registration: {
    state: "REFUSED",
    since: UPDATED_AT,
    expires_at: null,
    sip_status: 403,
    reason: "Forbidden",
  },
};
const voice = {
  id: VOICE_ID,
  name: "Our receptionist",
  provider: "OPENAI",
  gender: "FEMALE",
  language: "en-US",
  preview_url: "https://cdn.acme.example/receptionist.mp3",
};
const openAi = { provider_name: "OPENAI", key_variable: "OPENAI_API_KEY", is_ready: true };
const settings = {
  retention_days: 90,
  timezone: "Europe/Berlin",
  tier: "pro",
  rate_limit_per_minute: 500,
  session_rate_limit_per_minute: 300,
};
/** With `include=cost`. */
const modelFigures = {
  replies: 48,
  input_tokens: 20_160,
  output_tokens: 3_840,
  cost_usd_micros: 12_720,
  unpriced_replies: 0,
};
const figures = { conversations: 12, ...modelFigures };

const ended = { ...figures, completed: 9, disconnected: 2, failed: 1, call_seconds: 840.5 };
const latencies = {
  text_latency: { replies: 42, p50_ms: 410, p95_ms: 980 },
  call_latency: { replies: 12, p50_ms: 760, p95_ms: null },
};

const SESSION_EXAMPLES: OperationExamples = {
  signIn: { request: { email: owner.email, password: PASSWORD }, response: owner },
  signOut: { response: { message: "Signed out" } },
  getOwner: { response: owner },
  listSessions: {
    response: {
      sessions: [
        {
          session_id: OWNER_SESSION_ID,
          is_current: true,
          user_agent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0",
          created_at: CREATED_AT,
          last_used_at: UPDATED_AT,
          expires_at: "2026-03-02T09:30:00.000Z",
        },
      ],
    },
  },
  endSession: { response: { message: "Session ended" } },
  changePassword: {
    request: { current_password: PASSWORD, new_password: "another four words here" },
    response: { message: "Password changed" },
  },
};

const KEY_EXAMPLES: OperationExamples = {
  listKeys: { response: { keys: [key] } },
  createKey: {
    request: { name: key.name, scopes: key.scopes, expires_at: "2099-01-31T09:30:00Z" },
    response: { ...key, api_key: "vk_3JHs9fk2Qm7XvT4nLr8ZbWc1YdKe6Pg5Ra0SuHoNiM" },
  },
  activateKey: { response: key },
  deactivateKey: { response: { ...key, status: "inactive" } },
  deleteKey: { response: { message: "API key deleted" } },
};

const WEBHOOK_EXAMPLES: OperationExamples = {
  listDestinations: { response: { destinations: [destination] } },
  createDestination: {
    request: {
      name: destination.name,
      url: destination.url,
      request_type: "POST",
      retry_schedule: "extended",
      status: "enabled",
      events: ["conversation.started", "conversation.completed"],
    },
    response: {
      ...destination,
      retry_schedule: "extended",
      events: ["conversation.started", "conversation.completed"],
      secret: SECRET,
    },
  },
  updateDestination: {
    request: { name: "Staging", request_type: "PUT" },
    response: { ...destination, name: "Staging", request_type: "PUT", updated_at: UPDATED_AT },
  },
  deleteDestination: { response: { message: "Destination deleted" } },
  rotateSecret: {
    response: { destination_id: DESTINATION_ID, secret: SECRET, old_secret_valid_until: "2026-02-01T09:30:00.000Z" },
  },
  sendTestEvent: { request: { event: "conversation.started" }, response: { delivery_id: DELIVERY_ID } },
  resendFailedDeliveries: { request: { since: "2026-01-31T09:30:00Z" }, response: { resent: 1 } },
  listDeliveries: { response: { deliveries: [delivery], ...ONE_PAGE } },
  getDelivery: { response: sent },
  resendDelivery: { response: { ...delivery, status: "pending", next_attempt_at: UPDATED_AT } },
};

const secret = {
  name: SECRET_NAME,
  version: 1,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
  created_by: `session:${OWNER_SESSION_ID}`,
};

export const MANAGEMENT_EXAMPLES: OperationExamples = {
  ...ALERT_EXAMPLES,
  listSecrets: { response: { secrets: [secret] } },
  createSecret: { request: { name: SECRET_NAME, value: "sk_live_51H8mC2eZvKYlo2C" }, response: secret },
  setSecret: {
    request: { value: "sk_live_7pQ2dTnXb0uRw4Gz" },
    response: { ...secret, version: 2, updated_at: UPDATED_AT },
  },
  deleteSecret: { response: { message: "Secret deleted" } },
  ...SESSION_EXAMPLES,
  ...KEY_EXAMPLES,
  ...WEBHOOK_EXAMPLES,
  listOwnMobileNumbers: { response: { mobile_numbers: [ownNumber] } },
  addMobileNumber: { request: number, response: ownNumber },
  listDoNotCall: { response: { numbers: [{ mobile_number: NUMBER, created_at: CREATED_AT }], ...ONE_PAGE } },
  addDoNotCall: { request: { mobile_number: NUMBER }, response: { mobile_number: NUMBER, created_at: CREATED_AT } },
  removeDoNotCall: { response: { message: "Number removed from the do-not-call list" } },
  callWithCode: { response: { expires_at: "2026-01-31T09:40:00.000Z" } },
  proveMobileNumber: {
    request: { code: "042137" },
    response: { ...ownNumber, state: "PROVEN", proven_by: "CODE", note: null },
  },
  removeMobileNumber: { response: { message: "Mobile number removed" } },
  listCarriers: {
    response: { carriers: [registered], sip_address: "203.0.113.7:5060", sip_tls_address: "203.0.113.7:5061" },
  },
  connectCarrier: {
    request: { ...trunk, password: "correct horse", allowed_addresses: ["192.0.2.0/24"] },
    response: carrier,
  },
  getCarrier: { response: carrier },
  disconnectCarrier: { response: { message: "Carrier disconnected" } },
  listCarrierNumbers: {
    response: { numbers: [{ mobile_number: NUMBER, name: "Front desk", takes_calls: true, imported: false }] },
  },
  importCarrierNumber: {
    request: { mobile_number: NUMBER },
    response: { mobile_number: NUMBER, telephony_provider: "SIP", carrier_id: CARRIER_ID },
  },
  listClonedVoices: { response: { voices: [voice], total_count: 1, page: 1, page_size: 10, has_more: false } },
  addClonedVoice: {
    request: {
      provider: voice.provider,
      voice_id: VOICE_ID,
      name: voice.name,
      gender: voice.gender,
      language: voice.language,
      preview_url: voice.preview_url,
    },
    response: voice,
  },
  removeClonedVoice: { response: { message: "Voice removed" } },
  getModelSetup: {
    response: {
      llm: [openAi, { provider_name: "MISTRAL", key_variable: "MISTRAL_API_KEY", is_ready: false }],
      default_llm: { provider_name: "OPENAI", model_name: "gpt-5-mini", params: {} },
    },
  },
  getSpeechSetup: {
    response: {
      stt: [{ provider_name: "DEEPGRAM", key_variable: "DEEPGRAM_API_KEY", is_ready: false }],
      tts: [openAi],
      sts: [openAi],
    },
  },
  startTestChat: {
    request: { agent_id: AGENT_ID, dynamic_variables: { company: "Acme" }, draft: { agent_name: "Front desk" } },
    response: { session_id: SESSION_ID, first_message: "Hello, this is Acme. How can I help you?", agent_id: AGENT_ID },
  },
  getSettings: { response: settings },
  getCallPolicy: { response: { countries: ["US"], calls_per_day: 200, minutes_per_day: 300 } },
  updateSettings: { request: { retention_days: 90, timezone: "Europe/Berlin" }, response: settings },
  getStatistics: {
    response: {
      days: [{ day: "2026-01-31", channels: [{ conversation_type: "CHAT", ...ended }], ...latencies }],
      total: { ...ended, ...latencies },
      agents: [{ agent_id: AGENT_ID, ...ended }],
      models: [{ provider_name: "OPENAI", model_name: "gpt-5-mini", ...modelFigures }],
    },
  },
  getUsage: {
    response: {
      days: [{ day: "2026-01-31", ...figures }],
      stored_bytes: 48_210_733,
      stored_bytes_max: 107_374_182_400,
      total: figures,
    },
  },
};
