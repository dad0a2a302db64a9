import { AGENT_FIELDS, nullShownAs, plainAgentFields } from "@parley/shared/domain/agent-fields";
import { START_EXAMPLE } from "./events.ts";
import type { OperationExamples } from "./example.ts";
import { AGENT_ID, CREATED_AT, NUMBER, ONE_PAGE, SECRET_NAME, TOOL_ID, UPDATED_AT } from "./values.ts";

const GREETING = "Hello! This is {{company | Acme}}. How can I help?";
const CONTENT =
  "You answer calls for {{company | Acme}}. The caller is {{customer name: STRING : Name of the caller}}.";

const START_WEBHOOK = {
  url: "https://crm.acme.example/parley/start",
  headers: { Authorization: { secret: SECRET_NAME } },
  timeout_ms: 2000,
  on_failure: "continue",
  channels: ["telephony", "whatsapp"],
};

const request: Record<string, unknown> = {
  agent_name: "Front desk",
  agent_type: "INBOUND",
  agent_description: "Answers questions and books appointments.",
  agent_category: "Customer Service",
  agent_tips: ["Ask it for opening hours."],
  agent_mobile_number: [NUMBER],
  stt: { provider_name: "DEEPGRAM", model_name: "nova-3", language: "en-US", params: {} },
  llm: {
    provider_name: "OPENAI",
    model_name: "gpt-4.1-mini",
    params: { temperature: 0.5 },
    fallbacks: [
      {
        provider_name: "CUSTOM_LLM",
        model_name: "acme-chat",
        params: { base_url: "https://llm.acme.example/v1", api_key: { secret: SECRET_NAME } },
      },
    ],
  },
  tts: {
    provider_name: "OPENAI",
    model_name: "gpt-4o-mini-tts",
    language: "en-US",
    voice_id: "alloy",
    params: { speed: 1.1 },
  },
  call_analysis_enabled: true,
  call_analysis_prompt: { custom_prompt: "Was the caller helped?" },
  call_analysis_schema: { helped: { type: "bool" }, wishes: { type: "Optional[list[str]]" } },
  prompt_content: CONTENT,
  first_message_prompt: GREETING,
  tools: {
    end_call: { message: "Goodbye!" },
    send_dtmf: true,
    transfer_call: {
      transfer_phone_number: "+14155550199",
      message: "One moment, please.",
      mode: "warm",
      briefing: "Say who is calling and what they want.",
      hold_sound: "ringing",
      accept_seconds: 30,
    },
    set_language: { languages: ["en-US", "es-US"] },
  },
  custom_tools: [{ tool_id: TOOL_ID }],
  knowledge: [
    {
      knowledge_base_id: "kb_01m7yyhws9j3m6r1v4x8z2b5c7",
      mode: "tool",
      max_chunks: 6,
      max_characters: 8000,
      min_score: 0.2,
    },
  ],
  timezone: "Europe/Berlin",
  start_webhook: START_WEBHOOK,
  call_settings: { end_of_turn_silence_ms: 600 },
  recording: true,
  whatsapp: { voice_replies: true },
  widget_config: {
    title: "Acme",
    primary_color: "#1A2B3C",
    position: "bottom-right",
    allowed_origins: ["https://shop.example"],
  },
  MediaFiles: [{ fileType: "image/png", mediaUrl: "https://cdn.acme.example/floor-plan.png" }],
};

/** The fields that an answer shows as the request gives them, or else with their default. */
const plainFields = Object.fromEntries(
  plainAgentFields.map((field) => {
    const { api, empty } = AGENT_FIELDS[field];
    return [api, request[api] ?? empty ?? nullShownAs(field)];
  }),
);

const startWebhook = { ...START_WEBHOOK, secret: "********b7oD" };
export const AGENT_EXAMPLE = {
  id: AGENT_ID,
  agent_name: "Front desk",
  agent_type: "INBOUND",
  ...plainFields,
  stt: request.stt,
  llm: request.llm,
  tts: request.tts,
  custom_tools: request.custom_tools,
  handoffs: [],
  knowledge: request.knowledge,
  start_webhook: startWebhook,
  call_analysis_enabled: true,
  call_analysis_prompt: { prompt_name: `agent-${AGENT_ID}-analysis` },
  call_analysis_schema: request.call_analysis_schema,
  prompt: { prompt_name: `agent-${AGENT_ID}`, prompt_version: 1, prompt_content: CONTENT },
  prompt_pinned: false,
  publishing: "auto",
  agent_version: 1,
  latest_version: 1,
  published_version: 1,
  published_mobile_number: [NUMBER],
  dynamic_variables: ["company", "customer_name"],
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
};

export const AGENT_EXAMPLES: OperationExamples = {
  createAgent: {
    request,
    response: {
      ...AGENT_EXAMPLE,
      start_webhook: { ...startWebhook, secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDMrfy5ce5F4s=" },
    },
  },
  listAgents: { response: { agents: [AGENT_EXAMPLE], ...ONE_PAGE } },
  getAgent: { response: AGENT_EXAMPLE },
  updateAgent: {
    request: { agent_description: "Answers questions.", tools: { end_call: true }, version_note: "Ends calls" },
    response: {
      ...AGENT_EXAMPLE,
      agent_description: "Answers questions.",
      tools: { end_call: true },
      updated_at: UPDATED_AT,
      ...{ agent_version: 2, latest_version: 2, published_version: 2 },
    },
  },
  tryStartWebhook: {
    request: { channel: "telephony", dynamic_variables: { order_id: "A-1001" } },
    response: {
      request: {
        method: "POST",
        url: "https://crm.acme.example/parley/start",
        headers: { "content-type": "application/json", authorization: "[secret]" },
        body: JSON.stringify(START_EXAMPLE.question),
      },
      status: 200,
      answer: JSON.stringify(START_EXAMPLE.answer),
      duration_ms: 84,
      error: null,
    },
  },
  deleteAgent: {
    response: { message: "Agent deleted", agent_id: AGENT_ID, agent_name: "Front desk", deleted_at: UPDATED_AT },
  },
  listDynamicVariables: {
    response: {
      agent_id: AGENT_ID,
      agent_name: "Front desk",
      dynamic_variables: [
        { variable_name: "company", required: false, field_type: "STRING", description: "Company" },
        { variable_name: "customer_name", required: true, field_type: "STRING", description: "Name of the caller" },
      ],
    },
  },
};
