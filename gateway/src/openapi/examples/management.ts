import type { OperationExamples } from "./example.ts";
import {
  CREATED_AT,
  DELIVERY_ID,
  DESTINATION_ID,
  EVENT_ID,
  KEY_ID,
  NUMBER,
  ONE_PAGE,
  OWNER_ID,
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
  status: "enabled",
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
const number = { mobile_number: NUMBER, telephony_provider: "TWILIO" };
const voice = {
  id: VOICE_ID,
  name: "Our receptionist",
  provider: "OPENAI",
  gender: "FEMALE",
  language: "en-US",
  preview_url: "https://cdn.acme.example/receptionist.mp3",
};
const settings = { retention_days: 90, tier: "pro", rate_limit_per_minute: 500 };
const figures = { conversations: 12, replies: 48, input_tokens: 20_160, output_tokens: 3_840 };

const SESSION_EXAMPLES: OperationExamples = {
  signIn: { request: { email: owner.email, password: PASSWORD }, response: owner },
  signOut: { response: { message: "Signed out" } },
  getOwner: { response: owner },
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
    request: { name: destination.name, url: destination.url, request_type: "POST", status: "enabled" },
    response: { ...destination, secret: SECRET },
  },
  updateDestination: {
    request: { name: "Staging", request_type: "PUT" },
    response: { ...destination, name: "Staging", request_type: "PUT", updated_at: UPDATED_AT },
  },
  deleteDestination: { response: { message: "Destination deleted" } },
  rotateSecret: {
    response: { destination_id: DESTINATION_ID, secret: SECRET, old_secret_valid_until: "2026-02-01T09:30:00.000Z" },
  },
  sendTestEvent: { response: { delivery_id: DELIVERY_ID } },
  resendFailedDeliveries: { request: { since: "2026-01-31T09:30:00Z" }, response: { resent: 1 } },
  listDeliveries: { response: { deliveries: [delivery], ...ONE_PAGE } },
  getDelivery: { response: delivery },
  resendDelivery: { response: { ...delivery, status: "pending", next_attempt_at: UPDATED_AT } },
};

export const MANAGEMENT_EXAMPLES: OperationExamples = {
  ...SESSION_EXAMPLES,
  ...KEY_EXAMPLES,
  ...WEBHOOK_EXAMPLES,
  listOwnMobileNumbers: { response: { mobile_numbers: [number] } },
  addMobileNumber: { request: number, response: number },
  removeMobileNumber: { response: { message: "Mobile number removed" } },
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
  getSettings: { response: settings },
  updateSettings: { request: { retention_days: 90 }, response: settings },
  getUsage: { response: { days: [{ day: "2026-01-31", ...figures }], total: figures } },
};
