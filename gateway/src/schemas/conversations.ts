import {
  CALL_OUTCOMES,
  CALLING_TYPES,
  CONVERSATION_STATUSES,
  CONVERSATION_TYPES,
  ENDED_BY,
  KNOWLEDGE_STATUSES,
  MESSAGE_DELIVERIES,
  namesOf,
  ROLES,
  TOOL_CALL_STATES,
} from "@parley/shared/domain/api-names";
import { type Static, Type } from "@sinclair/typebox";
import { RepliesUsage } from "./costs.ts";
import { DocumentsHash, KnowledgeBaseId } from "./knowledge.ts";
import { AgentId, At, Id, Message, PageFigures, Resource, Uuid } from "./resources.ts";
import { About, DateTimeText, Nullable, OneOf, PageQuery, Text } from "./types.ts";

export const TimeOfDay = Text({
  pattern: "^([0-1][0-9]|2[0-3]):[0-5][0-9]$",
  form: "be a time of day as HH:MM, 24-hour",
  example: "09:30",
});

/** A client that does not encode the `+` of an offset sends a space. */
const QueryDate: typeof DateTimeText = {
  ...DateTimeText,
  form: `${DateTimeText.form}, with the + of an offset sent as %2B`,
};

export const ListConversationsQuery = Type.Object({
  page: PageQuery.page,
  page_size: Type.Optional(
    Type.Integer({
      default: 10,
      description: "Items on a page. A size above 100 becomes 100, one below 1 becomes 10.",
    }),
  ),
  search: Type.Optional(Text({ max: 200, description: "Part of what was said or of the metadata, in any case." })),
  conversation_id: Type.Optional(Text({ max: 200, description: "Only this conversation." })),
  agent_id: Type.Optional(Text({ max: 200, description: "Only conversations of this agent." })),
  agent_version: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: "Only conversations with this version of the agent. Needs `agent_id`.",
    }),
  ),
  conversation_type: Type.Optional(
    OneOf(namesOf(CONVERSATION_TYPES), { description: "Only conversations on this channel." }),
  ),
  calling_type: Type.Optional(OneOf(namesOf(CALLING_TYPES), { description: "Only calls in this direction." })),
  conversation_status: Type.Optional(
    OneOf(namesOf(CONVERSATION_STATUSES), { description: "Only conversations with this status." }),
  ),
  is_test_call: Type.Optional(Type.Boolean({ description: "Only tests, or only others with `false`." })),
  from_date: Type.Optional(About(QueryDate, "Created at this time or later. A date means its start, in UTC.")),
  to_date: Type.Optional(About(QueryDate, "Created at this time or earlier. A date means its end, in UTC.")),
  from_time: Type.Optional(
    About(TimeOfDay, "First minute of the day. If it is later than `to_time`, the window spans midnight."),
  ),
  to_time: Type.Optional(About(TimeOfDay, "Last minute of the day.")),
  timezone_offset: Type.Optional(
    Type.Integer({
      minimum: -840,
      maximum: 840,
      default: 330,
      description: "Minutes east of UTC of `from_time` and `to_time`.",
    }),
  ),
  include: Type.Optional(
    OneOf(["cost"] as const, { description: "`cost`: what the replies of each conversation used and cost." }),
  ),
  shape: Type.Optional(
    OneOf(["envelope", "flat"] as const, { description: "Shape of the response. Default: `envelope`." }),
  ),
});

const PART = "(replies|cost|sources)";

export const ReadConversationQuery = Type.Object({
  include: Type.Optional(
    Text({
      pattern: `^${PART}(,${PART})*$`,
      form: "be replies, cost or sources, or several of them with commas between them",
      description:
        "`replies`: the model, tokens, timing, and tool calls of each reply of a model. `cost`: also what each cost, and sums of all. `sources`: what a model was given from knowledge bases. Several are separated by commas.",
      example: "cost,sources",
    }),
  ),
});

/** What `include` asks for. */
export function includedBy({ include = "" }: Static<typeof ReadConversationQuery>) {
  const parts = include.split(",");
  const cost = parts.includes("cost");
  return { replies: cost || parts.includes("replies"), cost, sources: parts.includes("sources") };
}

export const ConversationId = Uuid("ID of the conversation; of a chat, its session's.");
export const ConversationType = OneOf(namesOf(CONVERSATION_TYPES), { description: "Channel of the conversation." });
export const Status = OneOf(namesOf(CONVERSATION_STATUSES), {
  description: "Whether it is in progress, or how it ended.",
});
export const CallingType = OneOf(namesOf(CALLING_TYPES), { description: "Direction of the call." });
export const RecordId = Id("ID of the record.", "cnv_01m7yyhwpyegyarwxc0gvz1xd5");

const Stage = (what: string) => Type.Optional(Type.Integer({ description: `Until ${what}.` }));

const Figure = (what: string) => Nullable(Type.Integer({ minimum: 0 }), `${what}; null if unknown.`);

export const ToolCall = Resource(
  "ToolCall",
  {
    tool_call_id: Id("ID of the call, unique in the conversation.", "tcl_01m7yyhwpyegyarwxc0gvz1xd5"),
    name: Type.String({ description: "Name of the tool.", examples: ["set_language"] }),
    arguments: Type.String({ description: "JSON, as the model wrote it.", examples: ['{"language":"es"}'] }),
    result: Type.String({
      description: "The result that the model was told; if the call failed, the reason.",
      examples: ["The conversation continues in Spanish (es). Answer the user in it now."],
    }),
    status: OneOf(namesOf(TOOL_CALL_STATES), {
      description:
        "What became of the call. `REQUESTED` and `RUNNING` calls have no result yet. Nobody knows whether an `UNKNOWN` one had an effect, because the process that made it ended.",
    }),
    is_error: Type.Boolean({ description: "Whether the call failed, was cancelled, or its outcome is unknown." }),
    is_cut: Type.Boolean({ description: "Whether only the beginning of `name`, `arguments` or `result` is kept." }),
    http_status: Nullable(
      Type.Integer({ examples: [200] }),
      "Status of the tool's HTTP answer; null if there was none.",
    ),
    note: Nullable(Type.String(), "What else there is to know of the call; null if nothing."),
    mocked: Type.Optional(
      Type.Boolean({ description: "True if a mock of the conversation's test answered the call; else left out." }),
    ),
    attempts: Type.Integer({ description: "Requests that were made for it.", minimum: 0 }),
    started_ms: Figure("Milliseconds from the request to the call"),
    duration_ms: Figure("Milliseconds that the tool took"),
    offset: Type.Integer({ description: "Characters of the message before the call.", minimum: 0 }),
  },
  "A tool call of an agent's model.",
);

const DocumentSets = (description: string) =>
  Type.Array(Type.Object({ knowledge_base_id: KnowledgeBaseId, documents_hash: DocumentsHash }), { description });

const KnowledgeOfReply = Type.Object(
  {
    status: OneOf(namesOf(KNOWLEDGE_STATUSES), {
      description:
        "How the search ended. `partial`: by words alone, or in some of the knowledge bases. `timed_out`, `unavailable`: the model was given nothing of it, and answered without.",
    }),
    duration_ms: Type.Integer({ minimum: 0, description: "Milliseconds that the reply's searches took together." }),
    truncated: Type.Optional(Type.Boolean({ description: "True if whole documents were cut; else left out." })),
    document_sets: DocumentSets("The documents that each knowledge base had; empty if none answered."),
  },
  { description: "How knowledge bases were searched for the reply." },
);

const Sources = Type.Array(
  Type.Object({
    knowledge_base_id: Type.String({
      description: "ID of the knowledge base that the document is in.",
      examples: ["kb_01m7yyhws9j3m6r1v4x8z2b5c7"],
    }),
    document_id: Type.String({ description: "ID of the document.", examples: ["doc_01m7yyhwt4k7n2s5w8y1a3d6f9"] }),
    name: Type.String({ description: "Its name then.", examples: ["Prices 2026"] }),
    chunk_id: Nullable(
      Type.String({ examples: ["chk_01m7yyhwt9m2q5t8x1b4e7g0j3"] }),
      "The chunk that was found; null if the model was given the whole document.",
    ),
    score: Nullable(Type.Number({ minimum: 0, maximum: 1 }), "Score of the chunk, from 0 to 1; null with it."),
  }),
  { description: "What the model was given from knowledge bases." },
);

export const TranscriptMessage = Resource(
  "Message",
  {
    role: OneOf(namesOf(ROLES), { description: "Who said it." }),
    content: Type.String({ description: "What was said." }),
    timestamp: At("When it was said; of a spoken message, when it had been said."),
    filler: Type.Optional(
      Type.Boolean({
        description: "True of what a caller heard while a tool ran, and the model did not say; else left out.",
      }),
    ),
    started_at: Type.Optional(At("When its first word was heard, for spoken messages that were measured.")),
    latency: Type.Optional(
      Type.Object(
        {
          end_of_turn: Stage("the decision that the user had finished"),
          transcript: Stage("the last words of the transcript"),
          first_word: Stage("the model's first word"),
          first_audio: Stage("the first audio of the voice"),
          audible: Stage("the first audio on the wire"),
          unfinished: Type.Optional(
            Type.Boolean({
              description:
                "True if the user's last words seemed unfinished (“my number is”), so the end of the turn took three times the usual silence; else left out.",
            }),
          ),
        },
        { description: "Milliseconds from the end of the user's speech, for spoken replies that were measured." },
      ),
    ),
    by: Type.Optional(
      OneOf(["operator"] as const, { description: "An operator wrote this message in the agent's place." }),
    ),
    reply: Type.Optional(
      Type.Object(
        {
          provider_name: Type.String({ description: "Provider of the model.", examples: ["OPENAI"] }),
          model_name: Type.String({ description: "Name of the model.", examples: ["gpt-5-mini"] }),
          input_tokens: Figure("Input tokens"),
          output_tokens: Figure("Output tokens"),
          cost_usd_micros: Type.Optional(
            Figure("Only with `include=cost`: cost at the price of that time, in millionths of a US dollar"),
          ),
          first_word_ms: Figure("Milliseconds until its first word"),
          total_ms: Figure("Milliseconds until its end"),
          is_partial: Type.Boolean({ description: "Whether the reply was cut short, or is still being generated." }),
          partial_reason: Nullable(
            Type.String({ examples: ["length"] }),
            "Why the model cut it short, in its provider's words. Null if the model did not.",
          ),
        },
        { description: "The model, tokens, and timing of a model's reply; only with `include=replies` or `cost`." },
      ),
    ),
    tool_calls: Type.Optional(
      Type.Array(ToolCall, {
        description:
          "Only with `include=replies` or `cost`: the tools that the model called for this reply, or, if nothing was said then, after this message.",
      }),
    ),
    knowledge: Type.Optional({
      ...KnowledgeOfReply,
      description: "Only with `include=sources`: how knowledge bases were searched for the reply.",
    }),
    sources: Type.Optional({
      ...Sources,
      description: "Only with `include=sources`: what the model was given from knowledge bases, at most 100.",
    }),
    delivery_status: Type.Optional(
      OneOf(namesOf(MESSAGE_DELIVERIES), { description: "Delivery status of a message that was sent over WhatsApp." }),
    ),
    delivery_error: Type.Optional(
      Type.String({ description: "If the delivery failed: WhatsApp's error code.", examples: ["131047"] }),
    ),
  },
  "A message of the transcript.",
);

export const AnalysisItem = Resource("AnalysisItem", {
  name: Type.String({ description: "Name of the field." }),
  value: Type.Unknown({ description: "Value of the field; null if the model gave no value of its type." }),
  type: Type.String({ description: "Type of the field.", examples: ["bool"] }),
  error: Type.Optional(Type.String({ description: "Why there is no value." })),
});

export const KeptVersion = Nullable(
  Type.Integer({ minimum: 1, examples: [3] }),
  "The version of `agent_id` that the conversation began with and keeps to its end. Null: it tries a draft, of whichever version.",
);

export const Conversation = Resource("Conversation", {
  id: RecordId,
  conversation_id: ConversationId,
  agent_id: About(AgentId, "The agent with which the conversation began."),
  agent_version: KeptVersion,
  agent_path: Type.Array(
    Type.Object({
      agent_id: AgentId,
      agent_version: Nullable(Type.Integer({ minimum: 1 }), "The agent's version; null: a draft."),
      from_seq: Type.Integer({
        description: "Number of the first message with words of the agent; the conversation's first one has 1.",
        minimum: 1,
      }),
    }),
    { description: "The agents that have held the conversation, in order. The last one answers now." },
  ),
  conversation_type: ConversationType,
  conversation_status: Status,
  conversation_analysis: Nullable(Type.Array(AnalysisItem), "An item for each field, null until there is an analysis."),
  notes: Nullable(Type.String(), "Notes from whoever ended the conversation, or why a reply failed."),
  conversation_transcript: Nullable(
    Type.Array(TranscriptMessage),
    "What was said, oldest first. Null for a call without a transcript; of a long one, the newest messages.",
  ),
  created_by: Nullable(Type.String(), "ID of the user who created it."),
  conversation_metadata: Type.Record(Type.String(), Type.Unknown(), {
    description: "What you sent with it, and fields of its channel such as `last_activity` or `to_mobile_number`.",
  }),
  created_at: At("When the conversation began."),
  updated_at: At("When the conversation last changed."),
  calling_type: Type.Optional(About(CallingType, "Direction of the call, for calls.")),
  outcome: Type.Optional(
    OneOf(namesOf(CALL_OUTCOMES), {
      description: "How the call ended, for calls that ended: it tells what `DISCONNECTED` means.",
    }),
  ),
  ended_by: Type.Optional(
    OneOf(namesOf(ENDED_BY), {
      description:
        "Who ended the conversation: `system` for silence, a limit, a fault or a start webhook. Left out while it lasts, and if nobody knows.",
    }),
  ),
  language: Type.Optional(
    Type.String({
      description: "What a tool or the start webhook has set the conversation's language to, a BCP 47 tag.",
      examples: ["pt-BR"],
    }),
  ),
  test: Type.Optional(
    Type.Object(
      { run_id: Type.String({ description: "ID of the run.", examples: ["run_01m7yyhwv2n5q8t1w4z7c0f3h6"] }) },
      { description: "The run of tests that the conversation belongs to." },
    ),
  ),
  mobile_number: Type.Optional(Type.String({ description: "The other side's phone number, for calls." })),
  duration: Type.Optional(Type.Number({ description: "Duration in seconds, when known." })),
  answered_at: Type.Optional(
    At("When the other party of a call that is over was on the line, which is when its recording begins."),
  ),
  start_webhook: Type.Optional(
    Type.Object(
      {
        status: Nullable(Type.Integer(), "HTTP status of the response; null if none came."),
        duration_ms: Type.Integer({ description: "How long it took, in milliseconds.", examples: [84] }),
        error: Nullable(Type.String(), "Why the answer was not used; null: it was."),
      },
      { description: "What came of asking the agent's start webhook, if it was asked." },
    ),
  ),
  scheduled_call: Type.Optional(
    Type.Object(
      {
        at: At("When to call."),
        reason: Type.Optional(Type.String({ description: "Subject of the call." })),
      },
      { description: "A follow-up call that the agent arranged with the user." },
    ),
  ),
  usage: Type.Optional(RepliesUsage("Only with `include=cost`: what its replies used.")),
  document_sets: Type.Optional(
    DocumentSets(
      "Only with `include=sources`: the documents that each knowledge base had when it last answered for a reply.",
    ),
  ),
});

export const AnalysisStarted = Resource("AnalysisStarted", { conversation_id: ConversationId, message: Message });

const Neighbours = {
  has_next: Type.Boolean({ description: "Whether there is a next page." }),
  has_previous: Type.Boolean({ description: "Whether there is a previous page." }),
};

export const ConversationList = Type.Union(
  [
    Resource(
      "ConversationEnvelope",
      {
        status: OneOf(["success", "error"] as const, { description: "Always `success`." }),
        message: Type.String({ description: "What was done." }),
        data: Type.Array(Conversation, { description: "Conversations of the page, newest first." }),
        pagination: Type.Object(
          { ...PageFigures, ...Neighbours },
          { description: "Position of the page in the list." },
        ),
      },
      "With `shape=envelope`, the default.",
    ),
    Resource(
      "ConversationListFlat",
      {
        conversations: Type.Array(Conversation, { description: "Conversations of the page, newest first." }),
        ...PageFigures,
        ...Neighbours,
      },
      "With `shape=flat`.",
    ),
  ],
  { $id: "ConversationList" },
);
