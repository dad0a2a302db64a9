import { makeValidator, str } from "envalid";

const address = makeValidator<string>((text) => {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`must be an http or https address, not "${text}"`);
  return text.replace(/\/+$/, "");
});

/** Of a server of embeddings that speaks OpenAI's protocol. */
export const EMBEDDINGS_VARIABLES = {
  PARLEY_EMBEDDINGS_URL: address({ default: "", desc: "base address of the embeddings' server, with its version" }),
  PARLEY_EMBEDDINGS_MODEL: str({ default: "", desc: "model of the embeddings" }),
  PARLEY_EMBEDDINGS_API_KEY: str({ default: "", desc: "key for the embeddings' server" }),
};

export interface EmbeddingsConfig {
  PARLEY_EMBEDDINGS_URL: string;
  PARLEY_EMBEDDINGS_MODEL: string;
  PARLEY_EMBEDDINGS_API_KEY: string;
}
