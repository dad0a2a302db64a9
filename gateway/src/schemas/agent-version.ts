import { Type } from "@sinclair/typebox";
import { Maybe, OneOf, Text } from "./types.ts";

/** What a request may say of the version with which a conversation begins. */
export interface AskedVersion {
  agent_version?: number | string | null | undefined;
}

const WHAT =
  "The version of the agent with which the conversation begins, and which it keeps: a number, `published` (the default), of which a traffic split may give several, or `latest`, published or not.";

export const AgentVersion = Maybe(
  Type.Union([
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, examples: [3] }),
    OneOf(["published", "latest"] as const),
  ]),
  WHAT,
);

export const AgentVersionQuery = Type.Optional(
  Text({
    pattern: "^([1-9][0-9]{0,8}|published|latest)$",
    form: "be the number of a version, published or latest",
    description: WHAT,
    example: "latest",
  }),
);
