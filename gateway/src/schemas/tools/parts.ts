import { namesOf } from "@parley/shared/domain/api-names";
import { PARAMETER_PLACES } from "@parley/shared/domain/tools";
import { type Static, Type } from "@sinclair/typebox";
import { Json, Maybe, OneOf, strict, Text, Words } from "../types.ts";

export const SecretName = Text({
  min: 1,
  max: 64,
  description: "Name of one of your secrets (`/v1/manage/secrets`).",
  example: "shop_api_key",
});
const Variable = Text({
  min: 1,
  max: 100,
  description: "Name of a dynamic or system variable.",
  example: "customer_id",
});
const HeaderName = Text({ min: 1, max: 200, description: "Name of the header.", example: "X-Api-Key" });
const Pointer = Text({
  max: 500,
  description: "JSON pointer (RFC 6901) into the answer; empty for the whole answer.",
  example: "/order/status",
});

export const Parameter = Type.Object(
  {
    name: Text({ min: 1, max: 100, description: "Name of the parameter.", example: "order_id" }),
    in: Maybe(
      OneOf(namesOf(PARAMETER_PLACES)),
      "HTTP tools: where the value goes. Body parameters make one JSON object. Path parameters stand in `url` as `{name}`.",
    ),
    required: Maybe(
      Type.Boolean(),
      "Whether the tool is not called without a value. Default: true for path parameters, which have no other value, else false.",
    ),
    schema: Maybe(
      Json,
      "JSON Schema (draft 2020-12) of a value that the model gives: at most 16 KiB and 8 levels, without `pattern` and `$ref`.",
    ),
    variable: Maybe(Variable, "The variable that has the value."),
    constant: Type.Optional(Type.Unknown({ description: "The value itself: any JSON." })),
    secret: Maybe(SecretName, "HTTP tools: the secret that is the value."),
    allowed_from: Maybe(
      Variable,
      "With `schema`: the list variable that has the only values that the model may give. While it is not set, none is allowed.",
    ),
  },
  {
    ...strict,
    $id: "ToolParameter",
    description: "A parameter with one source of its value: `schema`, `variable`, `constant` or `secret`.",
  },
);

const HeaderValue = Type.Union([
  Text({ max: 2_000, description: "Text, which may have `{{variables}}`.", example: "application/json" }),
  Type.Object({ secret: SecretName }, strict),
]);
export const Headers = Type.Record(Type.String(), HeaderValue, {
  description: "Headers by name: a text, which may have `{{variables}}`, or `{ secret }`.",
});

export const Auth = Type.Union(
  [
    Type.Object(
      { type: Type.Literal("bearer", { description: "The secret is sent as a bearer token." }), secret: SecretName },
      strict,
    ),
    Type.Object(
      {
        type: Type.Literal("basic", { description: "A user name and the secret as its password." }),
        username: Text({ max: 500, description: "User name." }),
        secret: SecretName,
      },
      strict,
    ),
    Type.Object(
      {
        type: Type.Literal("header", { description: "The secret is sent in a header." }),
        name: HeaderName,
        secret: SecretName,
      },
      strict,
    ),
    Type.Object(
      {
        type: Type.Literal("oauth2_client_credentials", {
          description: "A token that an OAuth issuer gives for the secret (client credentials).",
        }),
        token_url: Text({
          min: 1,
          max: 2048,
          description: "Address that issues tokens.",
          example: "https://login.shop.example/oauth/token",
        }),
        client_id: Text({ min: 1, max: 500, description: "ID of the client.", example: "parley" }),
        secret: SecretName,
        scope: Maybe(Text({ min: 1, max: 1000, description: "Scopes to ask for, separated by spaces." })),
      },
      strict,
    ),
  ],
  { description: "How requests are authenticated, with a secret." },
);

export const Speech = Type.Object(
  {
    before: Maybe(
      Words({ max: 1000 }),
      "`auto`: what the model says with the call. `off`: nothing. Any other text is spoken when the call begins. Default: `auto`.",
    ),
    delayed: Maybe(
      Type.Array(
        Type.Object(
          {
            after_ms: Type.Integer({
              minimum: 500,
              maximum: 120_000,
              description: "Milliseconds from the beginning of the call.",
              examples: [4000],
            }),
            text: Words({ max: 1000, description: "What the agent says then.", example: "Still looking." }),
          },
          strict,
        ),
        { maxItems: 10 },
      ),
      "What the agent says while the call takes longer, by ascending time.",
    ),
    sound: Maybe(
      Text({ min: 1, max: 200, example: "typing" }),
      "Sound while the caller waits and nobody speaks: `typing`, `hold`, `office` or `cafe` in calls that Parley holds. Others are silent.",
    ),
  },
  { ...strict, $id: "ToolSpeech", description: "What a caller hears while the tool runs." },
);

export const Result = Type.Object(
  {
    keep: Maybe(Type.Array(Pointer, { maxItems: 50 }), "What the model sees of the answer. Default: everything."),
    hide: Maybe(Type.Boolean(), "Whether the model sees only that the call succeeded. Default: false."),
  },
  { ...strict, $id: "ToolResult", description: "What the model sees of the answer." },
);

export const Assignment = Type.Object(
  {
    variable: Text({
      min: 1,
      max: 100,
      description: "Dynamic variable that takes the value.",
      example: "order_status",
    }),
    pointer: Pointer,
  },
  { ...strict, $id: "ToolAssignment", description: "A value of the answer that a dynamic variable takes." },
);

export type ParameterBody = Static<typeof Parameter>;
export type HeadersBody = Static<typeof Headers>;
export type AuthBody = Static<typeof Auth>;
