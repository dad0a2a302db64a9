import { CONVERSATION_STATUSES, CONVERSATION_TYPES, namesOf } from "@parley/shared/domain/api-names";
import { TEST_CHANNELS, TEST_KINDS, TEST_LIMITS, UNMOCKED, UNPRICED } from "@parley/shared/domain/tests";
import { type Static, Type } from "@sinclair/typebox";
import { About, DateTimeText, DynamicVariables, Maybe, OneOf, PageQuery, strict, Text, Words } from "../types.ts";
import { Assertion, Message, Mock, Model } from "./parts.ts";

const Name = Words({ max: 100, description: "Name of the test, unique for the agent.", example: "Looks up an order" });
const Required =
  "Whether a version can be published only if this test has passed. Needs an agent whose `publishing` is `manual`.";

/** The fields beside name and required. */
const definitionFields = {
  kind: Maybe(
    OneOf(TEST_KINDS),
    "`scripted`: the user says `messages`, in order. `simulated`: a model plays the user. Default: `scripted`.",
  ),
  channel: Maybe(
    OneOf(TEST_CHANNELS),
    "`voice` holds a call in which a voice speaks the user's lines. Default: `text`.",
  ),
  repeat: Maybe(
    Type.Integer({ minimum: 1, maximum: TEST_LIMITS.repeat }),
    "How often the conversation is held. Default: 1.",
  ),
  pass_at_least: Maybe(
    Type.Integer({ minimum: 1, maximum: TEST_LIMITS.repeat }),
    "How many of these must pass. Default: all.",
  ),
  messages: Maybe(
    Type.Array(Message, { maxItems: TEST_LIMITS.messages }),
    "`scripted`: what the user says, as texts or, in a call, as lines.",
  ),
  persona: Maybe(Words({ max: 4_000, example: "A customer who is in a hurry." }), "`simulated`: who the user is."),
  goal: Maybe(
    Words({ max: 4_000, example: "Learn where order A-1001 is." }),
    "`simulated`: what the user wants. The user ends the conversation once this is reached, or gives up.",
  ),
  first_message: Maybe(
    Words({ max: TEST_LIMITS.message }),
    "`simulated`: what the user says first. Default: the model decides.",
  ),
  turns_max: Maybe(
    Type.Integer({ minimum: 1, maximum: TEST_LIMITS.turns }),
    "`simulated`: after how many messages of the user the conversation ends. Default: 10.",
  ),
  model: Maybe(Model, "`simulated`: who plays the user. Default: the agent's own model at temperature 0."),
  variables: DynamicVariables,
  tool_mocks: Maybe(
    Type.Array(Mock, { maxItems: TEST_LIMITS.mocks }),
    "What tools answer, so that nothing outside is called.",
  ),
  unmocked: Maybe(
    OneOf(UNMOCKED),
    "A call that no mock answers: `error` tells the model that it failed, `real` makes it. Default: `error`.",
  ),
  assertions: Maybe(
    Type.Array(Assertion, { maxItems: TEST_LIMITS.assertions }),
    "What must be true after the conversation; at least one.",
  ),
};

export const CreateTestBody = Type.Object(
  { name: Name, required: Maybe(Type.Boolean(), `${Required} Default: false.`), ...definitionFields },
  { $id: "CreateTestRequest", description: "A test. Fields that you leave out have their default." },
);
export type CreateTestBody = Static<typeof CreateTestBody>;

export const UpdateTestBody = Type.Object(
  {
    name: Type.Optional(Name),
    required: Type.Optional(
      Type.Boolean({ description: `${Required} To clear it, a key needs the scope \`agents:override\`.` }),
    ),
    ...definitionFields,
  },
  {
    $id: "UpdateTestRequest",
    description: "The fields to change. Those that you leave out stay as they are; null restores a default.",
  },
);
export type UpdateTestBody = Static<typeof UpdateTestBody>;

export const UpdateTestQuery = Type.Object({
  if_updated_at: Type.Optional(
    About(
      DateTimeText,
      "The `updated_at` of the test that the change is based on. If the test has changed since, the request is refused with 409.",
    ),
  ),
});

export const TestFromConversationBody = Type.Object(
  {
    conversation_id: Text({
      min: 1,
      max: 100,
      description: "A conversation of the agent.",
      example: "0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c",
    }),
    name: Maybe(
      Name,
      "Name of the test. Default: the user's first words, numbered if the agent has a test of that name.",
    ),
  },
  { $id: "TestFromConversationRequest", description: "The conversation to make a test of." },
);

const Version = Type.Union([
  Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  OneOf(["published", "latest"] as const),
]);
const WHICH = "The version to test: a number, `published` or `latest`.";
export const TestedVersion = Maybe(Version, `${WHICH} Default: \`latest\`.`);
const cap = {
  max_cost_usd: Maybe(
    Type.Number({ minimum: 0.000001, maximum: 10_000 }),
    "Once the models have cost as much, no further conversation begins, and the run ends with `ERROR`. Default: no cap.",
  ),
  unpriced: Maybe(
    OneOf(UNPRICED),
    "`allow` runs with `max_cost_usd` although a model's price is not known; its replies then count as free. Default: refused.",
  ),
};

export const RunTestsBody = Type.Object(
  {
    agent_version: TestedVersion,
    tests: Maybe(
      Type.Array(Text({ min: 1, max: 100 }), { maxItems: TEST_LIMITS.ofAgent }),
      "IDs or names of the tests to run. Default: all of the agent.",
    ),
    ...cap,
  },
  { ...strict, $id: "RunTestsRequest", description: "Which tests to run against which version." },
);

export const ReplayBody = Type.Object(
  {
    agent_version: About(Version, WHICH),
    conversations: Maybe(
      Type.Object(
        {
          conversation_ids: Maybe(
            Type.Array(Text({ min: 1, max: 100 }), { maxItems: 100 }),
            "Only these. Default: the newest that match.",
          ),
          conversation_type: Maybe(OneOf(namesOf(CONVERSATION_TYPES)), "Only of this channel."),
          conversation_status: Maybe(OneOf(namesOf(CONVERSATION_STATUSES)), "Only with this status."),
          from: Maybe(DateTimeText, "Only those that began then or later."),
          to: Maybe(DateTimeText, "Only those that began before."),
          agent_version: Maybe(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), "Only those of this version."),
          search: Maybe(Text({ max: 200 }), "Only those whose transcript has this text."),
        },
        strict,
      ),
      "Which conversations of the agent to replay. Default: the newest.",
    ),
    max: Maybe(
      Type.Integer({ minimum: 1, maximum: TEST_LIMITS.conversations, examples: [50] }),
      "The most conversations to replay. Default: all of `conversation_ids`; required without them.",
    ),
    channel: Maybe(
      OneOf(TEST_CHANNELS),
      "`text` replays calls as chats too, which is faster; `voice` speaks the user's words in calls. Default: `text`.",
    ),
    ...cap,
  },
  { ...strict, $id: "CreateReplayRequest", description: "Which conversations to replay against which version." },
);
export type ReplayBody = Static<typeof ReplayBody>;

export const ListRunsQuery = Type.Object(PageQuery);

export const GetRunQuery = Type.Object({
  test_id: Type.Optional(
    Text({ max: 100, description: "Only the results of this test.", example: "tst_01m7yyhx0v8x2b6d0f4h7j1m5p" }),
  ),
});

export const GetReplayQuery = Type.Object({
  conversation_id: Type.Optional(
    Text({
      max: 100,
      description: "Only the result of this conversation.",
      example: "0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c",
    }),
  ),
});
