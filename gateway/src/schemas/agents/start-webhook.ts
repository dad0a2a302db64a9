import { namesOf } from "@parley/shared/domain/api-names";
import { CHANNELS } from "@parley/shared/domain/channels";
import { START_FAILURES } from "@parley/shared/domain/tools";
import { type Static, Type } from "@sinclair/typebox";
import { Resource } from "../resources.ts";
import { Headers } from "../tools/parts.ts";
import { About, Maybe, OneOf, Text } from "../types.ts";

const Url = Text({
  min: 1,
  max: 2048,
  description: "Address that is asked: https, or http for a host that the operator allows.",
  example: "https://crm.acme.example/parley/start",
});
const Failure = OneOf(namesOf(START_FAILURES), {
  description: "What becomes of a conversation without a proper answer.",
});
export const Channel = OneOf(CHANNELS, { description: "Where a conversation is held." });

/** As requests give it. */
export const StartWebhook = Type.Object(
  {
    url: Url,
    headers: Maybe(
      Headers,
      "Further headers by name: a text, which may have `{{variables}}`, or `{ secret }`. A mask stands for the value that it was made from.",
    ),
    secret: Maybe(
      Text({
        max: 100,
        description: "Secret that signs the question.",
        example: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
      }),
      "Secret that signs the question as Standard Webhooks: `whsec_` and at least 24 bytes in base64. Left out, the agent keeps the one that it has, or gets a new one.",
    ),
    timeout_ms: Maybe(
      Type.Integer({ minimum: 500, maximum: 7000, examples: [3000] }),
      "Milliseconds that an answer may take. Default: 3000.",
    ),
    on_failure: Maybe(Failure, "Whether a conversation begins without a proper answer. Default: `continue`."),
    channels: Maybe(
      Type.Array(Channel, { minItems: 1, maxItems: CHANNELS.length }),
      "Channels whose conversations are asked about, each once. Default: all of them.",
    ),
  },
  {
    additionalProperties: false,
    $id: "StartWebhookRequest",
    description: "Your server, which is asked once before a conversation begins.",
  },
);
export type StartWebhookBody = Static<typeof StartWebhook>;

/** As responses show it. */
export const StartWebhookShown = Resource(
  "StartWebhook",
  {
    url: Url,
    headers: About(Headers, "Further headers by name. Texts are masked."),
    secret: Type.String({
      description:
        "Secret that signs the question: whole in the response to the request that set it, masked in all others.",
      examples: ["********b7oD"],
    }),
    timeout_ms: Type.Integer({ description: "Milliseconds that an answer may take.", examples: [3000] }),
    on_failure: Failure,
    channels: Type.Union([Type.Array(Channel), Type.Null()], {
      description: "Channels whose conversations are asked about; null for all of them.",
    }),
  },
  "Your server, which is asked once before a conversation begins.",
);
