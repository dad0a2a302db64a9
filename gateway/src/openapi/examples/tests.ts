import type { OperationExamples } from "./example.ts";
import {
  AGENT_ID,
  CREATED_AT,
  DOCUMENT_ID,
  KEY_ID,
  ONE_PAGE,
  REPLAY_ID,
  RUN_ID,
  SESSION_ID,
  TEST_ID,
  UPDATED_AT,
} from "./values.ts";

const NAME = "Looks up an order";
const FROM_CONVERSATION = "As a customer asked";
const TESTED_ID = "0198c1f0-6b8c-7dd4-8d4a-3a2e7a1b2c3d";
const author = { created_by: `key:${KEY_ID}` };

const assertions = [
  { type: "tool_called", turn: 1, tool: "look_up_order", arguments: { order_id: "A-1001" } },
  { type: "contains", turn: 1, value: "on its way" },
  { type: "judge", criterion: "The agent does not promise a date of delivery." },
];
const scripted = {
  name: NAME,
  required: false,
  messages: ["Where is my order A-1001?"],
  variables: { customer_id: "C-17" },
  tool_mocks: [{ tool: "look_up_order", when: { order_id: "A-1001" }, result: { status: "on its way" } }],
  assertions,
};

const test = {
  test_id: TEST_ID,
  agent_id: AGENT_ID,
  name: NAME,
  required: true,
  kind: "scripted",
  channel: "text",
  repeat: 1,
  pass_at_least: 1,
  messages: scripted.messages,
  persona: null,
  goal: null,
  first_message: null,
  turns_max: null,
  model: null,
  variables: scripted.variables,
  tool_mocks: scripted.tool_mocks,
  unmocked: "error",
  assertions,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
  ...author,
};

const transcript = {
  greeting: "Hello, how can I help you?",
  turns: [
    {
      turn: 1,
      user: "Where is my order A-1001?",
      agent: "Your order A-1001 is on its way.",
      tool_calls: [
        {
          name: "look_up_order",
          arguments: { order_id: "A-1001" },
          result: '{"status":"on its way"}',
          is_error: false,
        },
      ],
      handed_off_to: [],
      latency_ms: 640,
      sources: [{ document_id: DOCUMENT_ID, name: "Shipping" }],
    },
  ],
  ended_by: "user",
  language: null,
  analysis: {},
};

const attempt = {
  attempt: 1,
  status: "PASSED",
  started_at: CREATED_AT,
  ended_at: UPDATED_AT,
  conversation_id: TESTED_ID,
  transcript,
  assertions: [
    { type: "tool_called", turn: 1, passed: true, reason: 'look_up_order was called with {"order_id":"A-1001"}' },
    { type: "contains", turn: 1, passed: true, reason: '"Your order A-1001 is on its way." contains "on its way"' },
    { type: "judge", passed: true, reason: "The agent says that the order is on its way and names no date." },
  ],
  error: null,
};
const result = {
  test_id: TEST_ID,
  name: NAME,
  required: true,
  status: "PASSED",
  passed: true,
  passes: 1,
  pass_at_least: 1,
};
const common = {
  agent_id: AGENT_ID,
  agent_version: 12,
  status: "PASSED",
  cost_usd: 0.0012,
  unpriced_replies: 0,
  max_cost_usd: 1,
  conversations: { ended: 1, total: 1 },
  error: null,
  created_at: CREATED_AT,
  ended_at: UPDATED_AT,
  ...author,
};
const run = { run_id: RUN_ID, ...common, results: [{ ...result, attempts: [attempt] }] };
const open = { cost_usd: 0, conversations: { ended: 0, total: 1 }, ended_at: null };
const queued = {
  ...run,
  ...open,
  status: "QUEUED",
  results: [
    {
      ...result,
      status: "QUEUED",
      passed: null,
      passes: 0,
      attempts: [
        {
          ...attempt,
          ...{
            status: "QUEUED",
            started_at: null,
            ended_at: null,
            conversation_id: null,
            transcript: null,
            assertions: [],
          },
        },
      ],
    },
  ],
};
const cancelled = {
  ...queued,
  status: "CANCELLED",
  conversations: { ended: 1, total: 1 },
  ended_at: UPDATED_AT,
  results: queued.results.map((each) => ({
    ...each,
    status: "CANCELLED",
    passed: false,
    attempts: each.attempts.map((its) => ({ ...its, status: "CANCELLED", ended_at: UPDATED_AT })),
  })),
};

const replayed = {
  conversation_id: SESSION_ID,
  status: "FAILED",
  started_at: CREATED_AT,
  ended_at: UPDATED_AT,
  replayed_conversation_id: TESTED_ID,
  differences: [
    {
      what: "tools",
      before: [{ turn: 1, name: "look_up_order", arguments: { order_id: "A-1001" }, is_error: false }],
      after: [],
    },
    {
      what: "reply",
      reason: "Before, the user learned the order's status; after, the agent asks for its number again.",
    },
  ],
  transcript: {
    ...transcript,
    turns: transcript.turns.map((turn) => ({ ...turn, agent: "What is your order's number?", tool_calls: [] })),
  },
  error: null,
};
const listedReplay = {
  replay_id: REPLAY_ID,
  ...common,
  status: "FAILED",
  conversations: { ended: 1, total: 1, differing: 1, errors: 0 },
};
const replay = { ...listedReplay, results: [replayed] };
const queuedReplay = {
  ...replay,
  ...open,
  status: "QUEUED",
  conversations: { ended: 0, total: 1, differing: 0, errors: 0 },
  results: [
    {
      ...replayed,
      ...{ status: "QUEUED", started_at: null, ended_at: null, replayed_conversation_id: null },
      ...{ differences: [], transcript: null },
    },
  ],
};

export const TEST_EXAMPLES: OperationExamples = {
  createTest: {
    requests: {
      scripted: { summary: "A user with a script", value: scripted },
      simulated: {
        summary: "A user that a model plays",
        value: {
          name: "Calms an angry customer",
          kind: "simulated",
          repeat: 5,
          pass_at_least: 4,
          persona: "A customer whose order is a week late, and who is angry at first.",
          goal: "Learn where order A-1001 is.",
          tool_mocks: scripted.tool_mocks,
          assertions: [{ type: "judge", criterion: "The agent stays polite and tells where the order is." }],
        },
      },
      voice: {
        summary: "A call",
        value: {
          name: "Is heard in a café",
          channel: "voice",
          messages: [{ dtmf: "2#" }, { text: "Where is my order A-1001?", noise: "cafe" }],
          tool_mocks: scripted.tool_mocks,
          assertions: [{ type: "latency_ms", max: 2_500 }],
        },
      },
    },
    response: test,
  },
  listTests: { response: { tests: [test] } },
  getTest: { response: test },
  updateTest: {
    request: { repeat: 3, pass_at_least: 2 },
    response: { ...test, repeat: 3, pass_at_least: 2, updated_at: UPDATED_AT },
  },
  deleteTest: { response: { message: "Test deleted", test_id: TEST_ID, name: NAME, deleted_at: UPDATED_AT } },
  createTestFromConversation: {
    request: { conversation_id: SESSION_ID, name: FROM_CONVERSATION },
    response: { ...test, name: FROM_CONVERSATION, required: false },
  },
  runTests: {
    request: { agent_version: "latest", tests: [NAME], max_cost_usd: 1, unpriced: "allow" },
    response: queued,
  },
  listTestRuns: { response: { runs: [{ ...run, results: [result] }], ...ONE_PAGE } },
  getTestRun: { response: run },
  cancelTestRun: { response: cancelled },
  watchTestRun: {
    events: `event: run\ndata: ${JSON.stringify(queued)}\n\nevent: ended\ndata: ${JSON.stringify(run)}\n\n`,
  },
  createReplay: {
    request: {
      agent_version: "latest",
      conversations: { conversation_type: "CHAT", conversation_status: "COMPLETED", from: CREATED_AT },
      max: 50,
      max_cost_usd: 1,
      unpriced: "allow",
    },
    response: queuedReplay,
  },
  listReplays: { response: { replays: [listedReplay], ...ONE_PAGE } },
  getReplay: { response: replay },
};
