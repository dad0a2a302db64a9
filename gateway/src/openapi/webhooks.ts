import { EVENT_NAMES, EVENTS, type EventName } from "@parley/shared/portable/events";
import { StartAnswer, StartQuestion } from "../schemas/agents/start-question.ts";
import { payloadSchema } from "../schemas/events.ts";
import { EVENT_EXAMPLES, START_EXAMPLE } from "./examples/events.ts";
import { EVENT_ID } from "./examples/values.ts";
import { type Components, type Json, shown } from "./schema.ts";

/** The requests that destinations receive, as POST, PUT and PATCH, and start webhooks when conversations begin. */
export function webhooks(components: Components): Json {
  const events = EVENT_NAMES.map((event) => {
    const payload = { ...shown(payloadSchema(event), components) };
    return [event, { post: describe(event, payload) }] as const;
  });
  return { ...Object.fromEntries(events), "conversation.start": { post: startQuestion(components) } };
}

/** What an agent's start webhook is asked, as POST. */
function startQuestion(components: Components): Json {
  const json = (schema: Json, example: object) => ({ "application/json": { schema, example } });
  return {
    operationId: "conversationStart",
    summary: "A conversation is about to begin",
    description:
      "Sent to the agent's `start_webhook`, once before the greeting, while a call still rings. It is not repeated (docs/live.md#start-webhook).",
    security: [],
    parameters: signature("start webhook's secret", "start_0199d0c4-5c1f-7c5e-8f70-4a9a5c1b2d3e"),
    requestBody: { required: true, content: json(shown(StartQuestion, components), START_EXAMPLE.question) },
    responses: {
      "2XX": {
        description: "How the conversation begins. An empty answer changes nothing.",
        content: json(shown(StartAnswer, components), START_EXAMPLE.answer),
      },
      default: {
        description:
          "A failure, as is no answer within `timeout_ms`: the agent's `on_failure` says what becomes of it.",
      },
    },
  };
}

function describe(event: EventName, payload: Json): Json {
  return {
    operationId: operationId(event),
    summary: EVENTS[event].what,
    description: DELIVERY,
    security: [],
    parameters: signature("destination's secret", EVENT_ID),
    requestBody: {
      required: true,
      content: {
        "multipart/form-data": {
          schema: {
            type: "object",
            required: ["event", "payload"],
            properties: {
              event: { type: "string", const: event, description: "Name of the event." },
              payload: {
                type: "string",
                description: "The event as JSON.",
                contentMediaType: "application/json",
                contentSchema: payload,
              },
            },
          },
          example: { event, payload: JSON.stringify(EVENT_EXAMPLES[event]) },
        },
      },
    },
    responses: {
      "2XX": { description: "Received. Any other response, or none within 10 seconds, is a failure." },
      "4XX": {
        description:
          "Failed. Parley makes four attempts in all, 10 seconds apart, or eight over 24 hours if the destination says so.",
      },
    },
  };
}

const DELIVERY =
  "Sent to every enabled destination of the owner that gets the event. A destination with the request type GET gets the same two fields as query parameters. An event can arrive more than once: recognize it by its `webhook-id`. The events of a conversation arrive in order.";

const header = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  example,
  schema: { type: "string" },
});
const signature = (secret: string, id: string) => [
  header("webhook-id", "ID of the event, the same on every attempt.", id),
  header("webhook-timestamp", "Unix second of this attempt.", "1769851800"),
  header(
    "webhook-signature",
    `One or more signatures separated by spaces, each \`v1,\` and the Base64 of HMAC-SHA256 over \`<webhook-id>.<webhook-timestamp>.<payload>\` with the ${secret}.`,
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
];

function operationId(event: string): string {
  return event.replace(/\.(\w)/, (_, first: string) => first.toUpperCase());
}
