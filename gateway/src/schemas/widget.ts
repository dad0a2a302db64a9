import { Type } from "@sinclair/typebox";
import { Text } from "./types.ts";

/** What a page asks for a token with. */
export const WidgetTokenBody = Type.Object({
  agent_id: Text({ min: 1, max: 200 }),
  token: Type.Optional(Text({ min: 1, max: 1_500 })),
});

export const WidgetMessageBody = Type.Object({ message: Type.String() });
