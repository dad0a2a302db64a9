import {
  CALL_BATCH_STATUSES,
  CALL_OUTCOMES,
  CALL_STATUSES,
  namesOf,
  REPEATED_OUTCOMES,
  VOICEMAILS,
} from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { AgentVersion } from "./agent-version.ts";
import { TimeOfDay } from "./conversations.ts";
import { At, Id, PageFigures, Resource, Uuid } from "./resources.ts";
import {
  About,
  Count,
  DateTimeText,
  DynamicVariables,
  E164,
  Maybe,
  Metadata,
  Nullable,
  OneOf,
  PageQuery,
  Text,
  TimeZone,
  Words,
} from "./types.ts";

const AgentId = Text({ min: 1, max: 200, description: "ID of the agent.", example: "agt_01m7yyhwdzeb28n9gms8rr2qyg" });
const FromNumber = About(E164, "One of your numbers, with a connected carrier. Default: the agent's first number.");
const MaxDuration = Type.Integer({
  minimum: 10,
  maximum: 14_400,
  description: "Seconds on the line after which the call is hung up. Default: 3600.",
});
const RingSeconds = Type.Integer({
  minimum: 5,
  maximum: 120,
  description: "Seconds that the phone may ring. Default: 45.",
});
const OnVoicemail = OneOf(namesOf(VOICEMAILS), {
  description:
    "What to do if voicemail answers, where the carrier can detect it. `leave_message` says the agent's `call_settings.voicemail_message` after the tone. By default, the agent talks to anyone who answers.",
});

export const CallBody = Type.Object(
  {
    agent_id: AgentId,
    agent_version: AgentVersion,
    to_mobile_number: About(E164, "The number to call. Emergency and premium-rate numbers are refused."),
    from_mobile_number: Maybe(FromNumber),
    dynamic_variables: DynamicVariables,
    metadata: Maybe(Metadata, "Kept with the conversation."),
    is_test_call: Maybe(Type.Boolean(), "Marks the conversation as a test."),
    max_duration_seconds: Maybe(MaxDuration),
    ring_seconds: Maybe(RingSeconds),
    voicemail: Maybe(OnVoicemail),
  },
  { $id: "CreateCallRequest", description: "A call for an agent to make." },
);

const CallStatus = OneOf(namesOf(CALL_STATUSES), { description: "State of the call." });

export const ListCallsQuery = Type.Object({
  ...PageQuery,
  status: Type.Optional(
    Text({
      max: 200,
      pattern: `^(${namesOf(CALL_STATUSES).join("|")})(,(${namesOf(CALL_STATUSES).join("|")}))*$`,
      form: `be one or more of ${namesOf(CALL_STATUSES).join(", ")}, separated by commas`,
      description: "Only calls with one of these statuses, separated by commas.",
      example: "RINGING,IN_PROGRESS",
    }),
  ),
  agent_id: Type.Optional(Text({ max: 200, description: "Only calls of this agent." })),
  to_mobile_number: Type.Optional(About(E164, "Only calls to this number, with its `+` sent as `%2B`.")),
  batch_id: Type.Optional(Text({ max: 200, description: "Only calls of this batch." })),
});

export const CreatedCall = Resource(
  "CreatedCall",
  {
    call_id: Id("ID of the call.", "call_01m7yyhwn1d5e9h3k7p2r6t0v4"),
    conversation_id: Uuid("The conversation that begins when the call is placed."),
    status: CallStatus,
  },
  "A queued call.",
);

export const PhoneCall = Resource(
  "Call",
  {
    call_id: Id("ID of the call.", "call_01m7yyhwn1d5e9h3k7p2r6t0v4"),
    conversation_id: Uuid("Its conversation, which begins when the call is placed, and at the latest when it ends."),
    agent_id: Id("ID of the agent.", "agt_01m7yyhwdzeb28n9gms8rr2qyg"),
    to_mobile_number: Type.String({ description: "The number that is called.", examples: ["+14155550123"] }),
    from_mobile_number: Type.String({ description: "The number that calls.", examples: ["+14155550100"] }),
    status: CallStatus,
    outcome: Nullable(
      OneOf(namesOf(CALL_OUTCOMES)),
      "How it ended: `SUCCESS` is a COMPLETED conversation, `ERROR` a FAILED one, any other a DISCONNECTED one. Null before its end.",
    ),
    notes: Nullable(Type.String(), "What went wrong, with the carrier's own code, or where the call was transferred."),
    created_at: At("When it was accepted."),
    placed_at: Nullable(At(), "When the carrier was last asked to place the call; null before."),
    answered_at: Nullable(At(), "When the call was answered; null if it was not."),
    ended_at: Nullable(At(), "When it ended; null before."),
    duration_seconds: Nullable(Type.Number(), "Seconds between answered and ended; null before its end."),
    is_test_call: Type.Boolean({ description: "Whether it is a test." }),
    batch_id: Nullable(Type.String(), "The batch that it belongs to; null for a single call."),
  },
  "A call that an agent makes.",
);

export const CallList = Resource("CallList", {
  calls: Type.Array(PhoneCall, { description: "Newest first." }),
  ...PageFigures,
});

const Window = Type.Object(
  {
    from_time: About(
      TimeOfDay,
      "First minute of the day at which calls may start. If it is later than `to_time`, the window spans midnight.",
    ),
    to_time: About(TimeOfDay, "The minute from which calls may no longer start."),
    timezone: TimeZone,
  },
  { additionalProperties: false, $id: "CallWindow", description: "The time of day at which calls may start." },
);

const Retries = Type.Object(
  {
    max: Type.Integer({ minimum: 0, maximum: 10, description: "How many times a number is called again." }),
    after_minutes: Type.Integer({ minimum: 1, maximum: 10_080, description: "Minutes between two calls to a number." }),
    on: Type.Array(OneOf(namesOf(REPEATED_OUTCOMES)), {
      maxItems: 3,
      description:
        "Outcomes after which a number is called again. After `error`, the carrier or Parley failed, perhaps during the conversation.",
    }),
  },
  { additionalProperties: false, $id: "CallRetries", description: "Which numbers are called again." },
);

const BatchCall = Type.Object(
  { to_mobile_number: E164, dynamic_variables: DynamicVariables },
  { additionalProperties: false, $id: "BatchCall", description: "A number to call." },
);

const CALLS_OF_BATCH_MAX = 10_000;

export const CallBatchBody = Type.Object(
  {
    name: Maybe(Words({ max: 100, description: "Name to recognize the batch by.", example: "June renewals" })),
    agent_id: AgentId,
    agent_version: AgentVersion,
    from_mobile_number: Maybe(FromNumber),
    calls: Maybe(
      Type.Array(BatchCall, { maxItems: CALLS_OF_BATCH_MAX }),
      "The numbers to call, in order, at most 10,000. Give either these or `csv`.",
    ),
    csv: Maybe(
      Text({ max: 2_000_000, description: "CSV." }),
      "The numbers as CSV: a column `to_mobile_number`, and a dynamic variable in each other column, separated by commas, semicolons or tabs. The first row has their names.",
    ),
    start_at: Maybe(DateTimeText, "When the first call may start. Default: now."),
    window: Maybe(Window, "Default: at any time."),
    retries: Maybe(Retries, "Default: none."),
    metadata: Maybe(Metadata, "Kept with each conversation."),
    is_test_call: Maybe(Type.Boolean(), "Marks the conversations as tests."),
    max_duration_seconds: Maybe(MaxDuration),
    ring_seconds: Maybe(RingSeconds),
    voicemail: Maybe(OnVoicemail),
  },
  { $id: "CreateCallBatchRequest", description: "Numbers for an agent to call." },
);

export const CheckCallBatchBody = Type.Object(
  { csv: Text({ max: 2_000_000, description: "The numbers as CSV, as for a batch." }) },
  { $id: "CheckCallBatchRequest", description: "Numbers as CSV, to be read but not called." },
);

export const CheckedCallBatch = Resource("CheckedCallBatch", {
  total: Type.Integer({ minimum: 1, description: "Number of phone numbers in the CSV." }),
  calls: Type.Array(
    Resource("CheckedCall", {
      line: Type.Integer({ minimum: 1, description: "Line of the CSV, from 1." }),
      to_mobile_number: Type.String({ description: "The number to call.", examples: ["+14155550188"] }),
      dynamic_variables: Type.Record(Type.String(), Type.String(), {
        description: "Values for the variables in the agent's prompt and greeting.",
        examples: [{ customer_name: "Ada" }],
      }),
    }),
    { description: "The first five." },
  ),
});

export const ListCallBatchesQuery = Type.Object(PageQuery);

const BatchCounts = Resource(
  "CallBatchCounts",
  {
    pending: Count("Not called yet, or waiting to be called again."),
    calling: Count("In the queue, ringing or in progress."),
    do_not_call: Count("Skipped, because they are on your do-not-call list."),
    success: Count("Reached."),
    no_answer: Count("Nobody answered."),
    busy: Count("Busy."),
    cancelled: Count("Cancelled before an answer."),
    hung_up_early: Count("Hung up before the greeting ended."),
    error: Count("The carrier or Parley failed."),
  },
  "The numbers of a batch by state: each number is in exactly one.",
);

const batchFields = {
  batch_id: Id("ID of the batch.", "bat_01m7yyhwq2c6f0j4m8s1v5x9z3"),
  status: OneOf(namesOf(CALL_BATCH_STATUSES), { description: "Whether the batch starts further calls." }),
  name: Nullable(Type.String({ examples: ["June renewals"] }), "Name to recognize the batch by; null without one."),
  agent_id: Id("ID of the agent.", "agt_01m7yyhwdzeb28n9gms8rr2qyg"),
  from_mobile_number: Type.String({ description: "The number that calls.", examples: ["+14155550100"] }),
  total: Count("Number of phone numbers in the batch."),
  start_at: Nullable(At(), "When the first call may start; null for immediately."),
  created_at: At("When the batch was created."),
  ended_at: Nullable(At(), "When it ended or was cancelled; null before."),
};

export const CallBatchShown = Resource(
  "CallBatch",
  { ...batchFields, counts: BatchCounts },
  "Numbers that an agent calls.",
);

export const CallBatchList = Resource("CallBatchList", {
  batches: Type.Array(Resource("CallBatchSummary", batchFields, "A batch without its counts."), {
    description: "Newest first.",
  }),
  ...PageFigures,
});
