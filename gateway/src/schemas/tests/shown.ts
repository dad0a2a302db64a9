import {
  ASSERTION_TYPES,
  ENDED_BY,
  RUN_STATUSES,
  TEST_CHANNELS,
  TEST_KINDS,
  UNMOCKED,
} from "@parley/shared/domain/tests";
import { Type } from "@sinclair/typebox";
import { AgentId, At, Id, PageFigures, Resource, Uuid, Message as What } from "../resources.ts";
import { About, Json, Nullable, OneOf } from "../types.ts";
import { Assertion, Message, Mock, Model } from "./parts.ts";

const TestId = Id("ID of the test.", "tst_01m7yyhx0v8x2b6d0f4h7j1m5p");
const TestName = Type.String({ description: "Name of the test.", examples: ["Looks up an order"] });
const author = Nullable(
  Type.String({ examples: ["key:key_01m7yyhwdaf1m8q3s6v0x2y4z7"] }),
  "Who did so: `key:…`, `session:…` or `operator:…`; null for Parley itself.",
);

export const Test = Resource("Test", {
  test_id: TestId,
  agent_id: AgentId,
  name: TestName,
  required: Type.Boolean({ description: "Whether a version can be published only if this test has passed." }),
  kind: OneOf(TEST_KINDS, { description: "Whether the user has a script or is played by a model." }),
  channel: OneOf(TEST_CHANNELS, { description: "Whether the conversation is a chat or a call." }),
  repeat: Type.Integer({ description: "How often the conversation is held." }),
  pass_at_least: Type.Integer({ description: "How many of these must pass." }),
  messages: Type.Array(Message, { description: "`scripted`: what the user says." }),
  persona: Nullable(Type.String(), "`simulated`: who the user is."),
  goal: Nullable(Type.String(), "`simulated`: what the user wants."),
  first_message: Nullable(Type.String(), "`simulated`: what the user says first."),
  turns_max: Nullable(Type.Integer(), "`simulated`: the most messages of the user."),
  model: Nullable(Model, "`simulated`: who plays the user; null for the agent's own model."),
  variables: About(Json, "Values of variables."),
  tool_mocks: Type.Array(Mock, { description: "What tools answer." }),
  unmocked: OneOf(UNMOCKED, { description: "What becomes of a call that no mock answers." }),
  assertions: Type.Array(Assertion, { description: "What must be true after the conversation." }),
  created_at: At("When the test was created."),
  updated_at: At("When the test was last changed."),
  created_by: author,
});

export const TestList = Resource("TestList", { tests: Type.Array(Test, { description: "By name." }) });

export const TestDeleted = Resource("TestDeleted", {
  message: What,
  test_id: TestId,
  name: TestName,
  deleted_at: At("When the test was deleted."),
});

const Called = Type.Object({
  name: Type.String({ description: "Name of the tool." }),
  arguments: Type.Unknown({ description: "What the model gave it." }),
  result: Type.String({ description: "What the model was told." }),
  is_error: Type.Boolean({ description: "Whether the call failed." }),
});

const Transcript = Resource(
  "TestTranscript",
  {
    greeting: Nullable(Type.String(), "What the agent said first."),
    turns: Type.Array(
      Type.Object({
        turn: Type.Integer({ description: "1 for the user's first message and the reply to it." }),
        user: Type.String({ description: "What the user said; in a call, what was recognized of it." }),
        agent: Type.String({ description: "What the agent said; in a call, what was heard of it." }),
        tool_calls: Type.Array(Called, { description: "The tools that were called." }),
        handed_off_to: Type.Array(Type.String(), { description: "IDs of the agents that took over." }),
        latency_ms: Nullable(
          Type.Integer(),
          "Milliseconds until the first word, in a call until it was heard; null: not measured.",
        ),
        sources: Type.Array(
          Type.Object({
            document_id: Type.String({ description: "ID of the document." }),
            name: Type.String({ description: "Its name then." }),
          }),
          {
            description: "Documents that the model was given.",
          },
        ),
      }),
      { description: "What was said, in order." },
    ),
    ended_by: OneOf(ENDED_BY, { description: "Who ended the conversation." }),
    language: Nullable(Type.String(), "Language that a tool or the start webhook set; null: neither did."),
    analysis: About(Json, "Values of the analysis by field."),
  },
  "What was said in a conversation of a test.",
);

const AssertionResult = Resource("TestAssertionResult", {
  type: OneOf(ASSERTION_TYPES, { description: "The assertion's type." }),
  turn: Type.Optional(Type.Integer({ description: "The assertion's turn; absent: the whole conversation." })),
  passed: Type.Boolean({ description: "Whether it holds." }),
  reason: Type.String({
    description: "Why, for people to read.",
    examples: ['look_up_order was called with {"order_id":"A-1001"}'],
  }),
});

const Status = OneOf(RUN_STATUSES, {
  description:
    "`PASSED` if every test passed, `ERROR` if one could not be held or the cap was reached; `FAILED` otherwise.",
});
const AgentVersion = Type.Integer({ description: "Version that is tested.", examples: [12] });
const counted = {
  ended: Type.Integer({ description: "Those that have ended." }),
  total: Type.Integer({ description: "All." }),
};
const cost = {
  cost_usd: Type.Number({ description: "What its models have cost so far, in US dollars.", examples: [0.0312] }),
  unpriced_replies: Type.Integer({ description: "Replies whose cost is not known." }),
  max_cost_usd: Nullable(Type.Number(), "The cap; null: none."),
  conversations: Type.Object(counted, { description: "Its conversations." }),
  error: Nullable(Type.String(), "Why it ended with `ERROR` before its end; null otherwise."),
  created_at: At("When it was asked for."),
  ended_at: Nullable(At(), "When it ended; null until then."),
  created_by: author,
};
const times = {
  started_at: Nullable(At(), "When the conversation began."),
  ended_at: Nullable(At(), "When it ended."),
};
const ConversationId = Nullable(Uuid("ID of the conversation, which is stored as any other."), "Null until it begins.");
const transcript = Nullable(
  Transcript,
  "Null until the end, in lists, and if the answer has no room for it: ask for one result alone, or for the conversation.",
);

const run = {
  run_id: Id("ID of the run.", "run_01m7yyhx1r4t7w1y3a5c8e0g2j"),
  agent_id: AgentId,
  agent_version: AgentVersion,
  status: Status,
  ...cost,
};
const result = {
  test_id: TestId,
  name: TestName,
  required: Type.Boolean({ description: "Whether the test was required then." }),
  status: OneOf(RUN_STATUSES, {
    description:
      "What its attempts came to. If it did not pass: `FAILED` if one failed, else `ERROR` if one could not be held.",
  }),
  passed: Nullable(Type.Boolean(), "Whether enough attempts passed; null while that is open."),
  passes: Type.Integer({ description: "Attempts that passed." }),
  pass_at_least: Type.Integer({ description: "Attempts that must pass." }),
};

export const TestRun = Resource("TestRun", {
  ...run,
  results: Type.Array(
    Type.Object({
      ...result,
      attempts: Type.Array(
        Type.Object({
          attempt: Type.Integer({ description: "1 for the first." }),
          status: OneOf(RUN_STATUSES, { description: "How it is with this attempt." }),
          conversation_id: ConversationId,
          transcript,
          assertions: Type.Array(AssertionResult, { description: "How each assertion ended, in order." }),
          error: Nullable(Type.String(), "Why the conversation could not be held."),
          ...times,
        }),
        { description: "The conversations that were held for the test." },
      ),
    }),
    { description: "Its tests." },
  ),
});

const ListedTestRun = Resource("ListedTestRun", {
  ...run,
  results: Type.Array(Type.Object(result), { description: "Its tests, without their attempts." }),
});

export const TestRunList = Resource("TestRunList", {
  runs: Type.Array(ListedTestRun, { description: "Newest first." }),
  ...PageFigures,
});

const Difference = Resource("ReplayDifference", {
  what: OneOf(["tools", "outcome", "analysis", "reply"] as const, { description: "What differs." }),
  field: Type.Optional(Type.String({ description: "The field of the analysis." })),
  before: Type.Optional(Type.Unknown({ description: "As it is stored." })),
  after: Type.Optional(Type.Unknown({ description: "As it was in the replay." })),
  reason: Type.Optional(Type.String({ description: "Of `reply`: what the judge says." })),
});

const replay = {
  replay_id: Id("ID of the replay.", "rpl_01m7yyhx2b6d0f4h7j1m5p8r2t"),
  agent_id: AgentId,
  agent_version: AgentVersion,
  status: OneOf(RUN_STATUSES, {
    description: "`PASSED` if nothing differs, `ERROR` if a conversation could not be replayed; `FAILED` otherwise.",
  }),
  ...cost,
  conversations: Type.Object(
    {
      ...counted,
      differing: Type.Integer({ description: "Those in which something differs." }),
      errors: Type.Integer({ description: "Those that could not be replayed." }),
    },
    { description: "Its conversations." },
  ),
};

export const Replay = Resource("Replay", {
  ...replay,
  results: Type.Array(
    Type.Object({
      conversation_id: Uuid("ID of the stored conversation."),
      status: OneOf(RUN_STATUSES, { description: "`PASSED` if nothing differs." }),
      replayed_conversation_id: ConversationId,
      differences: Type.Array(Difference, { description: "What differs from the stored conversation." }),
      documents_changed: Type.Optional(
        Type.Boolean({
          description:
            "True if a knowledge base had other documents than for the stored conversation, which may explain a difference; else left out.",
        }),
      ),
      transcript,
      error: Nullable(Type.String(), "Why the conversation could not be replayed."),
      ...times,
    }),
    { description: "Its conversations, newest first." },
  ),
});

const ListedReplay = Resource("ListedReplay", replay);

export const ReplayList = Resource("ReplayList", {
  replays: Type.Array(ListedReplay, { description: "Newest first." }),
  ...PageFigures,
});
