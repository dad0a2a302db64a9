import { failed } from "../tool.ts";
import type { BuiltinTool, ToolConfig } from "./builtin.ts";
import { languageName, parseLanguage } from "./language.ts";

export const setLanguage: BuiltinTool = {
  definition: (config) => {
    const languages = languagesOf(config);
    return {
      name: "set_language",
      description:
        "Sets the language of the conversation. Use it when the user asks for another language or switches to one; then answer in it.",
      inputSchema: {
        type: "object",
        properties: {
          language: {
            type: "string",
            description: "A BCP 47 tag such as es or pt-BR.",
            ...(languages.length > 0 && { enum: languages }),
          },
        },
        required: ["language"],
        additionalProperties: false,
      },
    };
  },
  run: (input, config) => {
    const wanted = parseLanguage(input?.language);
    if (!wanted) return failed('"language" must be a BCP 47 tag such as es or pt-BR.');
    const languages = languagesOf(config);
    const isOffered = languages.length === 0 || languages.some((offered) => parseLanguage(offered) === wanted);
    if (!isOffered) return failed(`This language is not available. Available languages: ${languages.join(", ")}.`);
    const result = `The conversation continues in ${languageName(wanted)}. Answer the user in it now.`;
    return { result, isError: false, language: wanted, action: { type: "set_language", language: wanted } };
  },
};

function languagesOf({ languages }: ToolConfig): string[] {
  return Array.isArray(languages) ? languages.filter((language) => typeof language === "string") : [];
}
