import type { OperationExamples } from "./example.ts";
import { SDP_ANSWER, SDP_OFFER } from "./sdp.ts";
import {
  AGENT_ID,
  CREATED_AT,
  DOCUMENT_ID,
  DOCUMENTS_HASH,
  KNOWLEDGE_BASE_ID,
  ONE_PAGE,
  RECORD_ID,
  SESSION_ID,
  UPDATED_AT,
} from "./values.ts";

const QUESTION = "When do you open on Friday?";
const REPLY = "We open at nine on Friday.";
const GIVEN = { ticket: "T-1001", dynamic_variables: { customer_name: "Ada" } };

/** What a reply from a knowledge base has beside its words. */
const KNOWN = {
  knowledge: {
    status: "ok",
    duration_ms: 21,
    document_sets: [{ knowledge_base_id: KNOWLEDGE_BASE_ID, documents_hash: DOCUMENTS_HASH }],
  },
  sources: [
    {
      knowledge_base_id: KNOWLEDGE_BASE_ID,
      document_id: DOCUMENT_ID,
      name: "Opening hours",
      chunk_id: "chk_01m7yyhwt9m2q5t8x1b4e7g0j3",
      score: 0.82,
    },
  ],
};

const messages = [
  { role: "user", content: QUESTION, timestamp: CREATED_AT },
  { role: "assistant", content: REPLY, timestamp: UPDATED_AT },
];
/** The same with `include=cost,sources`. */
const withReplies = [
  messages[0],
  {
    ...{ ...messages[1], ...KNOWN },
    reply: {
      provider_name: "OPENAI",
      model_name: "gpt-5-mini",
      input_tokens: 52,
      output_tokens: 8,
      cost_usd_micros: 29,
      first_word_ms: 410,
      total_ms: 620,
      is_partial: false,
      partial_reason: null,
    },
    tool_calls: [
      {
        tool_call_id: "tcl_01m7yyhwpyegyarwxc0gvz1xd5",
        name: "set_language",
        arguments: '{"language":"en"}',
        result: "The conversation continues in English (en). Answer the user in it now.",
        status: "SUCCEEDED",
        is_error: false,
        is_cut: false,
        http_status: null,
        note: null,
        attempts: 1,
        started_ms: 240,
        duration_ms: 0,
        offset: 0,
      },
    ],
  },
];
const usage = { replies: 1, input_tokens: 52, output_tokens: 8, mean_first_word_ms: 410, mean_total_ms: 620 };
const withCost = { ...usage, cost_usd_micros: 29, unpriced_replies: 0 };
const metadata = { ...GIVEN, last_activity: UPDATED_AT, session_status: "IN_PROGRESS" };
const turn = { agent_id: AGENT_ID, message: QUESTION, metadata: GIVEN };

const conversation = {
  id: RECORD_ID,
  conversation_id: SESSION_ID,
  agent_id: AGENT_ID,
  agent_version: 3,
  agent_path: [{ agent_id: AGENT_ID, agent_version: 3, from_seq: 1 }],
  start_webhook: { status: 200, duration_ms: 84, error: null },
  conversation_type: "CHAT",
  conversation_status: "IN_PROGRESS",
  conversation_analysis: null,
  notes: null,
  conversation_transcript: messages,
  created_by: null,
  conversation_metadata: metadata,
  created_at: CREATED_AT,
  updated_at: UPDATED_AT,
};

const { conversation_transcript: _, ...withoutTranscript } = conversation;
const told = (id: string, event: string, data: object) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

export const CHAT_EXAMPLES: OperationExamples = {
  startChat: {
    response: {
      session_id: SESSION_ID,
      first_message: "Hello! This is Acme. How can I help?",
      agent_id: AGENT_ID,
    },
  },
  sendMessage: {
    requests: {
      streamed: { summary: "The reply as text, word by word", value: turn },
      whole: { summary: "The reply as JSON, when it is whole", value: { ...turn, streaming: false } },
      client: {
        summary: "The reply with the calls that your client makes",
        value: { ...turn, streaming: false, client_tools: true },
      },
    },
    response: { response: REPLY, session_id: SESSION_ID },
    text: REPLY,
    events: [
      `event: started\ndata: {"session_id":"${SESSION_ID}"}\n\n`,
      `event: text\ndata: {"text":"${REPLY}"}\n\n`,
      `event: done\ndata: ${JSON.stringify({ session_id: SESSION_ID, ...KNOWN })}\n\n`,
    ].join(""),
  },
  listChatSessions: {
    response: {
      object: "list",
      data: [
        {
          id: SESSION_ID,
          object: "chat.session",
          created_at: Date.parse(CREATED_AT) / 1000,
          updated_at: Date.parse(UPDATED_AT) / 1000,
          agent_id: AGENT_ID,
          conversation_name: QUESTION,
          message_count: 2,
          metadata,
        },
      ],
      has_more: false,
      ...ONE_PAGE,
    },
  },
  getChatSession: {
    response: {
      session_id: SESSION_ID,
      agent_id: AGENT_ID,
      status: "IN_PROGRESS",
      messages,
      message_count: 2,
      created_at: CREATED_AT,
      updated_at: UPDATED_AT,
      metadata,
      usage,
    },
  },
};

export const CONVERSATION_EXAMPLES: OperationExamples = {
  listConversations: {
    response: {
      status: "success",
      message: "Conversations retrieved successfully",
      data: [conversation],
      pagination: { ...ONE_PAGE, has_next: false, has_previous: false },
    },
  },
  getConversation: {
    response: {
      ...{ ...conversation, conversation_transcript: withReplies, usage: withCost },
      document_sets: KNOWN.knowledge.document_sets,
    },
  },
  getRecording: { text: "OggS…" },
  watchConversation: {
    events: [
      told("1796000000123", "snapshot", { conversation, state: { muted: false, taken_over: null }, partial: [] }),
      told("1796000000124", "message", { seq: 3, final: true, role: "user", content: "Thanks", timestamp: UPDATED_AT }),
      told("1796000000125", "message", { seq: 4, final: false, role: "assistant", offset: 0, content: "You're " }),
    ].join(""),
  },
  controlConversation: {
    requests: {
      say: { summary: "Have the agent say something", value: { action: "say", text: "Your table is ready." } },
      take_over: { summary: "Answer in the agent's place", value: { action: "take_over" } },
      give_back: { summary: "Have the agent answer again", value: { action: "give_back" } },
    },
    response: {
      muted: false,
      taken_over: { by: { type: "key", id: "key_01m7yyhwpyegyarwxc0gvz1xd5" }, since: UPDATED_AT },
    },
  },
  listenToConversation: {
    response: {
      url: `https://parley.example.com/v1/public/listeners/${SESSION_ID}`,
      token: "v1.3f9a1c20.kqXh0FvYzZ3Yk0sQ9dJ1mP7uR2wT5xB8cN4vL6aE0iG",
      expires_at: UPDATED_AT,
    },
  },
  connectListener: { request: SDP_OFFER, text: SDP_ANSWER },
  endListener: {},
  watchConversations: {
    events: told("1796000000126", "started", withoutTranscript),
  },
  analyzeConversation: { response: { conversation_id: SESSION_ID, message: "Analysis started" } },
};
