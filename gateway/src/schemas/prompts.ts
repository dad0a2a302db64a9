import { namesOf, PROMPT_TYPES } from "@parley/shared/api-names";
import { Type } from "@sinclair/typebox";
import { Maybe, OneOf, PageQuery, Text } from "./types.ts";

export const PromptContent = Text({ min: 1, max: 500_000 });

export const CreatePromptBody = Type.Object({
  prompt_name: Text({ min: 1, max: 100 }),
  prompt_content: PromptContent,
  prompt_metadata: Maybe(Type.Object({ prompt_type: Maybe(OneOf(namesOf(PROMPT_TYPES))) })),
});

export const UpdatePromptBody = Type.Object({ prompt_content: PromptContent });

export const GetPromptQuery = Type.Object({
  version: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "The latest where it is left out." }),
  ),
});

export const ListPromptsQuery = Type.Object({
  ...PageQuery,
  search: Type.Optional(Text({ max: 200, description: "Part of the name or content; case does not matter." })),
  latest_only: Type.Optional(Type.Boolean({ default: true, description: "Only the latest version of each." })),
});
