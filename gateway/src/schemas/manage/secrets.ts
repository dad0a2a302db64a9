import { Type } from "@sinclair/typebox";
import { At, Resource } from "../resources.ts";
import { Nullable, Text } from "../types.ts";

const Value = Text({
  min: 8,
  max: 8_192,
  description: "The value, which is never shown again.",
  example: "sk_live_51H8mC2eZvKYlo2C",
});

export const CreateSecretBody = Type.Object(
  {
    name: Text({
      min: 1,
      max: 64,
      pattern: "^[a-zA-Z0-9_][a-zA-Z0-9_.-]*$",
      form: "begin with a letter, a digit or an underscore, and have only these, dots and hyphens",
      description: "Name by which tools and agents refer to the secret, unique among your secrets.",
      example: "shop_api_key",
    }),
    value: Value,
  },
  { $id: "CreateSecretRequest", description: "A secret that tools or models send." },
);

export const SetSecretBody = Type.Object(
  { value: Value },
  { $id: "SetSecretRequest", description: "A new value of a secret." },
);

export const Secret = Resource(
  "Secret",
  {
    name: Type.String({
      description: "Name by which tools and agents refer to the secret.",
      examples: ["shop_api_key"],
    }),
    version: Type.Integer({ description: "1 for the first value, one more with each new one." }),
    created_at: At("When the secret was created."),
    updated_at: At("When it got its value."),
    created_by: Nullable(
      Type.String({ examples: ["session:ses_01m7yyhwdzeb28n9gms8rr2qyg"] }),
      "Who created the secret: a session, or an operator.",
    ),
  },
  "A secret, without its value.",
);

export const SecretList = Resource("SecretList", {
  secrets: Type.Array(Secret, { description: "All secrets, by name." }),
});
