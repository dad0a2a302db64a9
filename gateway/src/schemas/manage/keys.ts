import { KEY_STATUSES, namesOf, SCOPES } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { At, Id, Resource } from "../resources.ts";
import { DateTimeText, Maybe, Nullable, OneOf } from "../types.ts";
import { Name } from "./fields.ts";

export const CreateKeyBody = Type.Object(
  {
    name: Maybe(Name, "Name to recognize the key by."),
    scopes: Maybe(
      // An empty list must not mean every scope.
      Type.Array(OneOf(SCOPES), { minItems: 1, maxItems: 100 }),
      "What the key may do. Default: `*`, which is everything but `agents:override`.",
    ),
    expires_at: Maybe(DateTimeText, "When the key stops working, a time in the future. Default: never."),
  },
  { $id: "CreateKeyRequest", description: "An API key." },
);

export const ListKeysQuery = Type.Object({
  include: Type.Optional(OneOf(["last_use"] as const, { description: "`last_use`: when each key was last used." })),
});

const keyFields = {
  key_id: Id("ID of the key.", "key_01m7yyhwdzeb28n9gms8rr2qyg"),
  name: Nullable(Type.String(), "Name to recognize the key by."),
  prefix: Type.String({ description: "The key's first 11 characters.", examples: ["vk_3JHs9fk2"] }),
  scopes: Type.Array(Type.String(), {
    description: "What the key may do; `*` is everything but `agents:override`.",
    examples: [["*"]],
  }),
  status: OneOf(namesOf(KEY_STATUSES), { description: "Whether the key works." }),
  expires_at: Nullable(At(), "When the key stops working, null for never."),
  created_at: At("When the key was created."),
};

export const Key = Resource("Key", keyFields);

export const KeyList = Resource("KeyList", {
  keys: Type.Array(
    Resource("ListedKey", {
      ...keyFields,
      last_used_at: Type.Optional(
        Nullable(At(), "With `include=last_use`: when the key was last used, to within five minutes; null for never."),
      ),
    }),
    { description: "All keys, newest first." },
  ),
});

export const NewKey = Resource("NewKey", {
  ...keyFields,
  api_key: Type.String({ description: "The key itself, which is not shown again." }),
});
